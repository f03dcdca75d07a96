"""The directive `glossary-of-terms`: what the book defines, by name, each with a line and a link.

The terms are the names of the register's definitions and assumptions; the line is how the statement
begins; the link leads to where it is stated.
"""

import re
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from runproofs.book.register import register

from .back_matter import address
from .references import inline, rendered
from .search import anchor

DEFINING = {"definition", "assumption"}


class term_list(nodes.Element):
    """Stands for the terms until all pages are read."""


class Glossary(SphinxDirective):
    def run(self):
        return [term_list()]


def opening(statement: str, line: int = 80) -> str:
    """The first sentences of a statement, as many as make a line; a point in a formula ends none.

    >>> opening("$x=.5$ is half, i.e. $x<1$. And so on.", line=10)
    '$x=.5$ is half, i.e. $x<1$.'
    """
    for end in re.finditer(r"(?<!i\.e)\.(?=\s)", statement):
        if end.start() >= line and statement[: end.start()].replace("$$", "$").count("$") % 2 == 0:
            statement = statement[: end.end()]
            break
    return re.sub(r"[a-z-]+/[a-z\d.-]+\b", number, statement)


def number(found: re.Match) -> str:
    """The number of a claim in place of its id."""
    return register()[found[0]].number if found[0] in register() else found[0]


def terms() -> list:
    """The entries of the register that define something, by their names."""
    found = [entry for entry in register().values() if entry.kind in DEFINING]
    return sorted(found, key=lambda entry: re.sub(r"[^a-z ]", "", entry.title.lower()))


def show(app, doctree, document):
    for place in list(doctree.findall(term_list)):
        lines = []
        for entry in terms():
            page, at = anchor(app, entry)
            link = f'<a href="{address(document, page)}#{at}">{inline(entry.title)}</a>'
            source = f"<small>{escape(entry.number)}</small>"
            lines.append(f"<p><b>{link}</b> {source}</p>{rendered(app, opening(entry.statement))}")
        place.replace_self(nodes.raw("", "".join(lines), format="html"))


def setup(app):
    app.add_node(term_list)
    app.add_directive("glossary-of-terms", Glossary)
    app.connect("doctree-resolved", show)
