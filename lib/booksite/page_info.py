"""The line under the title of a page: what it needs, and how long it takes to read and to run.

The front matter of a page names what it builds on, by labels of pages or sections:

    needs: [ch:shallow-linear, sec:autoencoders]

Reading time: 120 words a minute, half of what prose takes, since a reader of mathematics stops to
think. Prose, open proofs and captions are counted, and the rows of the cards that are seen; what is
folded when the page opens is not, nor is code with its other output. Running time: what the cells
took when they ran last, with the start of Python, two pages at a time.
"""

import json
import re

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.addnodes import pending_xref

WORDS_A_MINUTE = 120
UNREAD = (nodes.literal_block, nodes.comment)
FOLDED = re.compile(r"<details((?!<details).)*?</details>", re.S)  # with no other one inside


def words(node: nodes.Node) -> int:
    """The words of a text that are visible when its page opens."""
    if isinstance(node, nodes.Text):
        return sum(any(letter.isalnum() for letter in word) for word in node.split())
    if isinstance(node, nodes.math | nodes.math_block):
        return 1 if isinstance(node, nodes.math) else 10
    if isinstance(node, nodes.raw):
        return card_words(node.astext()) if 'class="claim-card' in node.astext() else 0
    folded = "dropdown" in node.get("classes", []) or node.get("design_component") == "dropdown"
    if folded or isinstance(node, UNREAD):
        return 0
    return sum(map(words, node.children))


def card_words(html: str) -> int:
    r"""
    >>> card_words(r"<b>two</b> \(a + b\) <details>a<details>b</details></details> ✓ 5")
    3
    """
    while FOLDED.search(html):
        html = FOLDED.sub("", html)
    text = re.sub(r"<[^>]*>", " ", re.sub(r"\\\(.*?\\\)", "x", html, flags=re.S))
    return words(nodes.Text(text))


def is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def reading_time(count: int) -> int:
    """Minutes."""
    return max(1, round(count / WORDS_A_MINUTE))


def running_time(seconds: float) -> str:
    """
    >>> [running_time(seconds) for seconds in (0.3, 7.6, 58.9, 150)]
    ['1 s', '8 s', '59 s', '2 min']
    """
    return f"{max(1, round(seconds))} s" if seconds < 59.5 else f"{round(seconds / 60)} min"


def link(label: str, page: str) -> pending_xref:
    """A link with the title of what has the label."""
    return pending_xref(
        "", nodes.inline("", label), refdoc=page, reftarget=label,
        refdomain="std", reftype="ref", refexplicit=False, refwarn=True,
    )  # fmt: skip


def below_title(doctree: nodes.document, *lines: nodes.Node, after: str = "") -> None:
    """Insert lines under the title of a page; below the line there that has the class `after`."""
    title = next(doctree.findall(nodes.title))
    at = title.parent.index(title) + 1
    at += after in title.parent[at].get("classes", [])
    title.parent[at:at] = lines


def add_head(app, doctree):
    """Put the line under the title of the page that was read."""
    env, page = app.env, app.env.docname
    if "needs" not in env.metadata[page]:
        return
    line = nodes.paragraph("", classes=["page-head"])
    for label in json.loads(env.metadata[page]["needs"]):
        line += [nodes.Text("; " if line.children else "Needs "), link(label, page)]
    if not line.children:
        line += nodes.Text("Needs no other page")
    line += nodes.Text(f" · {reading_time(words(doctree))} min to read")
    runtime = NbMetadataCollector.get_doc_data(env)[page].get("exec_data", {}).get("runtime")
    if runtime is not None and any(doctree.findall(is_cell)):
        line += nodes.Text(f" · cells run in {running_time(runtime)}")
    below_title(doctree, line)


def setup(app):
    app.connect("doctree-read", add_head, 900)  # the front matter has been read
