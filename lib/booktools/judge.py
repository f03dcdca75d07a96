"""Let the cards of a page judge errors in it; the unchanged first cells run only once."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from .children import in_children
from .running import Done, Page


class Error(NamedTuple):
    """One error: its name and kind, the cell before which it is made, and what makes it."""

    name: str
    kind: str
    cell: int
    make: Callable[[Page], None]  # called in a child, with the page as it has run so far
    until: str = ""  # of the page: the claim that must see it, or any


class Outcome(NamedTuple):
    """Of a page with an error."""

    red: list[tuple]  # rows: claim, number, sentence
    loud: list[tuple[int, str]]
    rows: dict[tuple, tuple]

    def word(self, rows: dict) -> tuple[str, list[str]]:
        """Seen, loud, unseen or nothing, and the claims of the rows that were reached.

        rows: those of a run without an error, and without a record: a row may count calls.
        """
        if self.red:
            return "seen", [self.red[0][0]]
        if self.loud:
            return "loud", []
        reached = {
            key[0] for key, sides in rows.items()
            if key not in self.rows or not sides.same(self.rows[key])
        }  # fmt: skip
        return ("unseen" if reached else "nothing"), sorted(reached)


def outcomes(page: Page, errors: list[Error], last: int, jobs: int, limit: float) -> Iterator:
    """Run a page as far as the cell `last`; yield (error, its outcome, seconds) for each error.

    Of a child that dies or takes more than `limit` seconds the outcome is loud. Raises RuntimeError
    where an error cannot be made.
    """

    def spoiled(error):
        try:
            error.make(page)
        except Exception as failure:
            raise RuntimeError(f"{error.name} is not planted: {failure}") from failure
        page.until = error.until
        with suppress(Done):
            for cell in range(error.cell, last + 1):
                page.run(cell)
        return Outcome(page.red, page.failures, page.rows)

    for cell in range(last + 1):
        here = [(error,) for error in errors if error.cell == cell]
        for (error,), found, seconds in in_children(spoiled, here, jobs, limit):
            dead = Outcome([], [(0, f"it died, or took more than {limit:.0f} s")], {})
            yield error, found or dead, seconds
        page.run(cell)
