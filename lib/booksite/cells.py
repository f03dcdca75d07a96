"""Fold the check cells; warn of pictures without alt text and of output to stderr."""

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)


def look_through(app, doctree):
    """Warn of missing alt texts and of stderr, and fold each check under its card."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("an image without alt text: %s", image["uri"], location=image)
    for block in doctree.findall(nodes.literal_block):
        if "stderr" in block["classes"]:
            logger.warning("a cell wrote to stderr: %s", block.astext().strip(), location=block)
    for cell in doctree.findall(nodes.container):
        tags = cell.get("cell_metadata", {}).get("tags", ())
        if cell.get("nb_element") != "cell_code" or "show-check" in tags:
            continue
        if "\nwith claim(" in f"\n{cell.children[0].astext()}":
            cell["hide_mode"] = "input"
            cell["classes"].append("check")  # book.css sets its code under the card
            cell["prompt_show"], cell["prompt_hide"] = "How this is checked", "Hide the check"


def setup(app):
    app.connect("doctree-read", look_through)
