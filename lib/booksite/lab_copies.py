"""`python -m booksite`: the notebooks of the book to open, change and run, in `_build/lab`.

They are copies of what the last build wrote (notebooks), so a reader's edits change no page. A copy
is renewed with its page until the reader has saved it; then it stays, and the terminal says so if
its page has changed since.
"""

import json
import os
import sys
from pathlib import Path

from .notebooks import FOR_LAB

UNSAVED = 1_000_000_000  # the time of a copy that no reader has saved


def typed(path: Path) -> list:
    """The types and sources of the cells, which do not change when a notebook runs."""
    return [
        (cell["cell_type"], "".join(cell["source"]))
        for cell in json.loads(path.read_bytes())["cells"]
    ]


def renew(made: Path, copies: Path) -> tuple[list[str], list[str]]:
    """Copy the notebooks; returns those written, and those kept because a reader saved them."""
    renewed, kept = [], []
    for path in sorted(made.rglob("*.ipynb")):
        name = path.relative_to(made).as_posix()
        copy = copies / name
        if copy.exists() and copy.stat().st_mtime != UNSAVED:
            kept += [name] * (typed(copy) != typed(path))
        elif not copy.exists() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
            os.utime(copy, (UNSAVED, UNSAVED))
            renewed.append(name)
    return renewed, kept


def main(build: Path = Path("_build")) -> None:
    made, copies = build / FOR_LAB, build / "lab"
    if not made.exists():
        sys.exit("The notebooks are written when the book is built: make book.")
    renewed, kept = renew(made, copies)
    print(f"{copies}: {len(renewed)} notebooks are new. They are yours: no page changes with them.")
    if kept:
        print(f"Kept as you saved them, unlike their pages: {', '.join(kept)}. "
              "Delete or rename one to get it anew.")  # fmt: skip
