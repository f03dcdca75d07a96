"""Break: plausible wrong versions of what a claim is about, which its check must notice.

`page.yml` has them for the claims that are checked on the page beside it:

    breaks:
      thesis/equation-2.1:
      - break: exchange keep and drop
        in: masks.all_masks
        replace: theta**kept * (1 - theta) ** (r - kept)
        by: (1 - theta) ** kept * theta ** (r - kept)

`break` completes the sentence "Break it: ...". `in` is a function of the library, of whose body
`replace` is a piece, or `page`, and then it is a piece of one of the page's cells. A piece occurs
exactly once. `python -m runproofs.book.saboteur` runs each page with one sabotage at a time, as far
as the claim, and demands that a positive row of its card turns red.
"""

import contextlib
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from runproofs.book.register import BOOK, beside


class Break(NamedTuple):
    """One wrong version, and the page (from `book/`, without suffix) whose check must see it."""

    claim: str
    page: str
    sentence: str
    where: str
    replace: str
    by: str

    def __str__(self):
        """The change as a reader would make it: where, the lines that go, the lines that come."""
        where = "on this page" if self.where == "page" else f"in runproofs.{self.where}"
        gone = [f"- {line}" for line in self.replace.splitlines()]
        return "\n".join([where, *gone, *(f"+ {line}" for line in self.by.splitlines())])


@cache
def all_breaks(book: Path = BOOK) -> list[Break]:
    """All of them, page by page. Raises ValueError, naming the page, for a field that is wrong."""
    found = []
    for page, parts in beside(book).items():
        for claim, entries in parts.get("breaks", {}).items():
            for fields in entries:
                if set(fields) != {"break", "in", "replace", "by"}:
                    raise ValueError(f"{page}.yml, {claim}: fields are break, in, replace, by.")
                words = (fields[name].strip() for name in ("break", "in", "replace", "by"))
                found.append(Break(claim, page, *words))
    return found


def invitations(claim: str) -> list[Break]:
    """What the card and the ledger invite a reader to break."""
    return [sabotage for sabotage in all_breaks() if sabotage.claim == claim]


# Breaking things ---------------------------------------------------------------------------------


def replaced(text: str, sabotage: Break) -> str:
    """The text with the one piece replaced; every line of `by` is indented like the piece."""
    lines = sabotage.replace.splitlines()
    pattern = r"\n[ ]*".join(re.escape(line.strip()) for line in lines)
    matches = list(re.finditer(pattern, text))
    if len(matches) != 1:
        raise ValueError(
            f"{sabotage.claim}: {sabotage.replace!r} occurs {len(matches)} times in "
            f"{sabotage.where}, not once."
        )
    start = matches[0].start()
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    by = sabotage.by.replace("\n", "\n" + indent)
    return text[:start] + by + text[matches[0].end() :]


def _codes(code: CodeType):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def broken(sabotage: Break):
    """The function of the library that it changes, and the code that it then has inside wrappers.

    Raises ValueError unless the piece occurs once in a function of that name.
    """
    parts = sabotage.where.split(".")
    for k in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            module = importlib.import_module(".".join(["runproofs", *parts[:k]]))
            break
    else:
        raise ValueError(f"{sabotage.claim}: no module of the library has {sabotage.where}.")
    qualname, source = ".".join(parts[k:]), inspect.getsource(module)
    function = module
    for name in parts[k:]:
        function = getattr(function, name)
    bare = inspect.unwrap(function)
    lines = source.splitlines(keepends=True)
    first = bare.__code__.co_firstlineno - 1
    length = len(inspect.getblock(lines[first:]))
    body = replaced("".join(lines[first : first + length]), sabotage)
    changed = "".join(lines[:first]) + body + "".join(lines[first + length :])
    codes = _codes(compile(changed, module.__file__, "exec"))
    return function, next(code for code in codes if code.co_qualname == qualname)


def break_library(sabotage: Break) -> None:
    """Give the function of the library the changed body, wherever it is imported already.

    Raises ValueError as `broken` does.
    """
    function, code = broken(sabotage)
    if hasattr(function, "cache_clear"):
        function.cache_clear()
    inspect.unwrap(function).__code__ = code
