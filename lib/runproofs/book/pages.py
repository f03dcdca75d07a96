"""The pages as they are typed: MyST files, with their code cells."""

import re
from collections.abc import Iterable
from typing import NamedTuple

CELL = re.compile(
    r"^(?P<fence>`{3,})\{code-cell\}.*\n(?P<options>---\n(?s:.*?)\n---\n|(?::.*\n)*)"
    r"(?P<code>(?s:.*?))^(?P=fence)$",
    re.M,
)


class Cell(NamedTuple):
    """A code cell: its code, its options as they are typed, the line of the page it begins at."""

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
