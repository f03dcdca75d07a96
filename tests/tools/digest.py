"""Writes a digest of every entry of the register: `make register`.

A test compares them, so that no number, statement, kind or erratum changes or goes by accident.
"""

import hashlib
import json

from runproofs.book.register import BOOK, Claim, register

FILE = BOOK / "claims" / "digests.txt"


def digest(entry: Claim) -> str:
    """Of all that the entry says."""
    said = json.dumps(entry._asdict(), ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def digests() -> str:
    return "".join(f"{digest(entry)} {entry.id}\n" for entry in register().values())


def changed() -> list[str]:
    """The ids whose entries are not what the file says, or that only one of them has."""
    written, now = (
        dict(line.split()[::-1] for line in text.splitlines())
        for text in (FILE.read_text("utf-8"), digests())
    )
    return sorted({name for name, _ in written.items() ^ now.items()})


if __name__ == "__main__":
    FILE.write_text(digests(), "utf-8")
