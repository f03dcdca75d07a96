"""The pages as they are typed: MyST files, with code cells, checks, and boxes that state claims."""

import ast
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
    """A statement: its title, its anchor, its text, and the ids of the claims that it states.

    leads_to: the claim on the way to which it is a step, of a box that states none.
    """

    title: str
    label: str
    text: str
    claims: list[str]
    leads_to: str


def boxes(page: str) -> list[Box]:
    """The boxes of a page (`:::{prf:lemma} A title`), in order."""
    found = []
    for box in BOX.finditer(page):
        options = dict(re.findall(r"^:([\w-]+): *(.*)$", box["options"], re.M))
        claims = re.findall(r"[^\s,]+", options.get("claim", ""))
        label, leads_to = options.get("label", ""), options.get("for", "")
        found.append(Box(box["title"].strip(), label, box["text"], claims, leads_to))
    return found


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


# What they check --------------------------------------------------------------------------------

NOT_RUN = re.compile(r"skip-execution|nbval-skip|raises-exception|nbval-raises|nbval-ignore")
NOT_TESTED = re.compile(r"#.*(NBVAL_|PYTEST_VALIDATE)")  # comments that nbval obeys


def checks_in(page: str) -> list[str]:
    """The ids of the `with claim("...")` blocks in the code cells of a MyST page, in order.

    Only what runs at each build counts, and can fail it: a block at the top of a cell, not in a
    function, a condition, a loop or a `try`, with no other manager that might swallow its failure,
    and not in a cell that is skipped or may fail. Raises ValueError for a cell with "claim" that
    Python cannot read, and where `claim` is another than that of `runproofs.book.claims`.
    """
    found, bound = [], False
    for cell in cells(page):
        if "claim" not in cell.code:
            continue
        try:
            tree = ast.parse(cell.code)
        except SyntaxError as error:
            raise ValueError(f"a cell with a claim is not Python: {error}") from None
        bound = bound or any(map(_binds_claim, ast.walk(tree)))
        if not (NOT_RUN.search(cell.options) or NOT_TESTED.search(cell.code)):
            found += filter(None, map(_claimed, tree.body))
    if found and bound:
        raise ValueError("`claim` is imported from runproofs.book.claims, and is nothing else.")
    return found


def _claimed(statement: ast.stmt) -> str | None:
    match statement:
        case ast.With([ast.withitem(ast.Call(ast.Name("claim"), [ast.Constant(str(name)), *_]))]):
            return name
    return None


def _binds_claim(node: ast.AST) -> bool:
    """Whether the name `claim` becomes something else than the block of this book."""
    match node:
        case ast.ImportFrom("runproofs.book.claims"):
            return any("claim" == alias.asname != alias.name for alias in node.names)
        case ast.ImportFrom() | ast.Import():
            return any((alias.asname or alias.name) == "claim" for alias in node.names)
        case ast.Name("claim", ast.Store() | ast.Del()) | ast.arg("claim"):
            return True
        case ast.FunctionDef("claim") | ast.AsyncFunctionDef("claim") | ast.ClassDef("claim"):
            return True
        case ast.ExceptHandler(name="claim") | ast.MatchAs(name="claim"):
            return True
    return False
