"""Fold imports and checks; warn of pictures without alt text and of output to stderr."""

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)


def look_through(app, doctree):
    """Warn of missing alt texts and of stderr; fold the imports, and each check under its card."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("an image without alt text: %s", image["uri"], location=image)
    for block in doctree.findall(nodes.literal_block):
        if "stderr" in block["classes"]:
            logger.warning("a cell wrote to stderr: %s", block.astext().strip(), location=block)
    cells = [n for n in doctree.findall(nodes.container) if n.get("nb_element") == "cell_code"]
    for k, cell in enumerate(cells):
        code = f"\n{cell.children[0].astext()}"
        if "show-code" in cell.get("cell_metadata", {}).get("tags", ()):
            continue
        if "\nwith claim(" in code:
            cell["hide_mode"] = "input"
            cell["classes"].append("check")  # book.css sets its code under the card
            cell["prompt_show"], cell["prompt_hide"] = "How this is checked", "Hide the check"
        elif k == 0 and code.startswith(("\nimport ", "\nfrom ")):
            cell["hide_mode"] = "input"
            cell["prompt_show"], cell["prompt_hide"] = "Show the imports", "Hide the imports"


def setup(app):
    app.connect("doctree-read", look_through)
