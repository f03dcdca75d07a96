"""The pages as they are typed: MyST files, with code cells, checks, and boxes that state claims."""

import re
from collections.abc import Iterable
from typing import NamedTuple

CELL = re.compile(
    r"^(?P<fence>`{3,})\{code-cell\}.*\n(?P<options>---\n(?s:.*?)\n---\n|(?::.*\n)*)"
    r"(?P<code>(?s:.*?))^(?P=fence)$",
    re.M,
)
BOX = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{prf:(?P<kind>(?!proof\b)\w+)\} ?(?P<title>.*)\n"
    r"(?P<options>(?::[\w-]+:.*\n)*)(?P<text>(?s:.*?))^(?P=fence)[ ]*$",
    re.M,
)


class Box(NamedTuple):
    """A statement on a page.

    Attributes
    ----------
    title : str
        Its title.
    label : str
        Its anchor.
    text : str
        What it states, in Markdown.
    claims : list of str
        Ids of the claims that it states.
    leads_to : str
        Of a box that states none, the claim to which it is a step.
    """

    title: str
    label: str
    text: str
    claims: list[str]
    leads_to: str


def boxes(page: str) -> list[Box]:
    """The boxes of a page (``:::{prf:lemma} A title``), in order."""
    found = []
    for box in BOX.finditer(page):
        options = dict(re.findall(r"^:([\w-]+): *(.*)$", box["options"], re.M))
        claims = re.findall(r"[^\s,]+", options.get("claim", ""))
        label, leads_to = options.get("label", ""), options.get("for", "")
        found.append(Box(box["title"].strip(), label, box["text"], claims, leads_to))
    return found


class Cell(NamedTuple):
    """A code cell of a page.

    Attributes
    ----------
    code : str
        Its code.
    options : str
        Its options, as they are typed.
    line : int
        Line of the page at which it begins.
    """

    code: str
    options: str
    line: int


def cells(page: str) -> list[Cell]:
    """The code cells of a page, in order."""
    return [
        Cell(cell["code"], cell["options"], page.count("\n", 0, cell.start("code")) + 1)
        for cell in CELL.finditer(page)
    ]


def with_code(page: str, codes: Iterable[str]) -> str:
    """The page with other code in its cells: as many pieces as it has cells, each ending a line."""
    codes = iter(codes)

    def changed(cell: re.Match) -> str:
        return cell[0][: cell.start("code") - cell.start()] + next(codes) + cell["fence"]

    return CELL.sub(changed, page)


# What they check --------------------------------------------------------------------------------

NOT_RUN = re.compile(r"skip-execution|nbval-skip|raises-exception|nbval-raises|nbval-ignore")
CHECK = re.compile(r"""^with claim\(\s*["']([^"']+)["']""", re.M)


def checks_in(page: str) -> list[str]:
    """The ids of the ``with claim("...")`` blocks at the top of the cells of a page, in order.

    A cell that is skipped, or that may fail, checks nothing.
    """
    checking = (cell.code for cell in cells(page) if not NOT_RUN.search(cell.options))
    return [claim for code in checking for claim in CHECK.findall(code)]
