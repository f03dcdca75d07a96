"""Writes into the README what is finished, as the register counts it: `make readme`."""

import re
from pathlib import Path

from runproofs.book.register import counts

README = Path(__file__).resolve().parents[2] / "README.md"
FINISHED = (
    "Finished: {chapters} chapters and {companions} companions. Of {registered} registered claims "
    "{checked} are checked and {told} told; {beyond} go beyond the sources, and {errata} slips of "
    "the sources have a counterexample that runs."
)


def renewed(text: str) -> str:
    """The text of the README with today's counts."""
    return re.sub(r"^Finished: .*$", FINISHED.format(**counts()), text, flags=re.M)


if __name__ == "__main__":
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
