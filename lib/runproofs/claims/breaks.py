"""Breaks: plausible wrong versions of what a claim is about, which its check must notice.

``page.yml`` has them for the claims that are checked on the page beside it::

    breaks:
      thesis/equation-2.1:
      - break: exchange keep and drop
        in: masks.all_masks
        replace: theta**kept * (1 - theta) ** (r - kept)
        by: (1 - theta) ** kept * theta ** (r - kept)

``break`` completes the sentence "Break it: ...". ``in`` is a function of the library, of whose body
``replace`` is a piece, or ``page``, and then it is a piece of one of the page's cells. A piece
occurs exactly once. ``python -m booktools break`` runs each page with one break at a time, as far
as the claim, and demands that a positive row of its card turns red.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from runproofs.claims.registry import BOOK, beside


class Break(NamedTuple):
    """One wrong version of what a claim is about.

    Attributes
    ----------
    claim : str
        Id of the claim whose check must see it.
    page : str
        The page with that check, from ``book/``, without suffix.
    sentence : str
        What it does, after "Break it:".
    where : str
        Function of the library, without ``runproofs.``, or "page".
    replace : str
        Piece of the code, which occurs there once.
    by : str
        What comes in its place.
    """

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
            if not entries:
                raise ValueError(f"{page}.yml, {claim}: there is nothing under `breaks`.")
            for fields in entries:
                if set(fields) != {"break", "in", "replace", "by"}:
                    raise ValueError(f"{page}.yml, {claim}: fields are break, in, replace, by.")
                words = (fields[name].strip() for name in ("break", "in", "replace", "by"))
                found.append(Break(claim, page, *words))
    return found


def invitations(claim: str) -> list[Break]:
    """What the card and the ledger invite a reader to break."""
    return [wrong for wrong in all_breaks() if wrong.claim == claim]


# Breaking things ---------------------------------------------------------------------------------


def replaced(text: str, wrong: Break) -> str:
    """The text with the one piece replaced; every line of ``by`` is indented like the piece."""
    lines = wrong.replace.splitlines()
    pattern = r"\n[ ]*".join(re.escape(line.strip()) for line in lines)
    matches = list(re.finditer(pattern, text))
    if len(matches) != 1:
        raise ValueError(
            f"{wrong.claim}: {wrong.replace!r} occurs {len(matches)} times in "
            f"{wrong.where}, not once."
        )
    start = matches[0].start()
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    by = wrong.by.replace("\n", "\n" + indent)
    return text[:start] + by + text[matches[0].end() :]


def broken(wrong: Break) -> Iterator[None]:
    """The function of the library that it changes, and the code that it then has inside wrappers.

    Raises ValueError unless the piece occurs once in a function of that name.
    """
    parts = wrong.where.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(["runproofs", *parts[:k]]))
            break
        except ModuleNotFoundError as error:
            if not error.name.startswith("runproofs."):  # what the module needs is missing
                raise
    else:
        raise ValueError(f"{wrong.claim}: no module of the library has {wrong.where}.")
    function = module
    for name in parts[k:]:
        function = getattr(function, name)
    lines = inspect.getsource(module).splitlines(keepends=True)
    first = inspect.unwrap(function).__code__.co_firstlineno - 1
    last = first + len(inspect.getblock(lines[first:]))
    body = replaced("".join(lines[first:last]), wrong)
    return function, recompiled(function, "".join([*lines[:first], body, *lines[last:]]))


def recompiled(function: Callable, source: str) -> CodeType:
    """The code that a function has in a changed source of its module."""
    code = inspect.unwrap(function).__code__
    waiting = [compile(source, code.co_filename, "exec")]
    while (found := waiting.pop(0)).co_qualname != code.co_qualname:
        waiting += [constant for constant in found.co_consts if isinstance(constant, CodeType)]
    return found


def change(function: Callable, code: CodeType) -> None:
    """Give a function another code, wherever it is imported already; what it cached is lost."""
    if hasattr(function, "cache_clear"):
        function.cache_clear()
    inspect.unwrap(function).__code__ = code


def break_library(wrong: Break) -> None:
    """Give the function of the library the changed body. Raises ValueError as `broken` does."""
    change(*broken(wrong))
