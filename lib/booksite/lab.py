"""`python -m booksite`: the notebooks of the book to open, change and run, in `_build/lab`.

They are copies of what the last build wrote (notebooks): what a reader does to them changes no
page. Each is renewed when its page changes, until the reader has changed it, too; then it stays,
and the terminal says so.
"""

import hashlib
import json
import sys
from pathlib import Path

from .notebooks import FOR_LAB


def text_of(content: bytes) -> str:
    """A digest of the cells as they are typed: to open a notebook and to run it changes nothing."""
    cells = json.loads(content)["cells"]
    typed = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return hashlib.sha256(repr(typed).encode()).hexdigest()


def renew(made: Path, copies: Path) -> tuple[list[str], list[str]]:
    """Copy what was made; returns what is new or renewed, and what is kept as a reader left it."""
    ledger = copies / ".made.json"  # of each copy the digests, of all and of its text, when made
    known = json.loads(ledger.read_text("utf-8")) if ledger.exists() else {}
    renewed, kept = [], []
    for path in sorted(made.rglob("*.ipynb")):
        name, content = path.relative_to(made).as_posix(), path.read_bytes()
        copy, now = copies / name, [hashlib.sha256(content).hexdigest(), text_of(content)]
        before = known.get(name)
        if copy.exists():
            if before == now:
                continue
            if before is None or text_of(copy.read_bytes()) != before[1]:
                kept.append(name)
                continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        known[name] = now
        renewed.append(name)
    ledger.write_text(json.dumps(known, indent=0), "utf-8")
    return renewed, kept


def main(build: Path = Path("_build")) -> None:
    made, copies = build / FOR_LAB, build / "lab"
    if not made.exists():
        sys.exit("The notebooks are written when the book is built: make book.")
    copies.mkdir(exist_ok=True)
    renewed, kept = renew(made, copies)
    print(f"{copies}: {len(renewed)} notebooks are new. They are yours: no page changes with them.")
    if kept:
        print(
            f"Kept as you changed them, though their pages have changed since: {', '.join(kept)}. "
            "Delete or rename one to get it anew."
        )
