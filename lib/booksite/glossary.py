"""The directive `definitions`: the defined terms of the book, each with a line and a link.

The terms are the names of the register's definitions and assumptions; the line is how the statement
begins; the link leads to where it is stated.
"""

import re
from html import escape

from runproofs.claims.registry import Claim, register

from .auto_links import rendered
from .markup import add_directive, address, inline
from .statement_index import anchor

DEFINING = {"definition", "assumption"}


def opening(statement: str, line: int = 80) -> str:
    """The first sentences of a statement that fill a line; a point in a formula ends no sentence.

    >>> opening("$x=.5$ is half, i.e. $x<1$. And so on.", line=10)
    '$x=.5$ is half, i.e. $x<1$.'
    """
    for end in re.finditer(r"(?<!i\.e)\.(?=\s)", statement):
        if end.start() >= line and statement[: end.start()].replace("$$", "$").count("$") % 2 == 0:
            statement = statement[: end.end()]
            break

    def number(found: re.Match) -> str:
        return register()[found[0]].number if found[0] in register() else found[0]

    return re.sub(r"[a-z-]+/[a-z\d.-]+\b", number, statement)


def terms() -> list[Claim]:
    """The entries of the register that define a term, by name."""
    found = [entry for entry in register().values() if entry.kind in DEFINING]
    return sorted(found, key=lambda entry: re.sub(r"[^a-z ]", "", entry.title.lower()))


def write(app, page: str, _: str) -> str:
    return "".join(
        f'<p><b><a href="{address(page, *anchor(app, entry))}">{inline(entry.title)}</a></b> '
        f"<small>{escape(entry.number)}</small></p>{rendered(app, opening(entry.statement))}"
        for entry in terms()
    )


def setup(app):
    add_directive(app, "definitions", write)
