"""Turns the knobs of the pages, and runs their cells twice: `python -m booktools.sweep`.

The knobs of a page are the numbers that its readers are invited to change. They stand in one cell
tagged `parameters`, each with its range:

    seed = 62  # any whole number
    theta = 0.7  # 0.05 to 0.95: probability that a unit is kept
    width = 6  # 3 to 12
    law = "gaussian"  # one of "gaussian", "uniform"

A page is run as printed, after which each of its cells runs once more, from the last to the first,
so that it meets what later cells left behind; and with two other seeds, all other knobs at the
lower and then at the upper end of their ranges. No cell may fail, so that every card stays green.
"""

import ast
import re
import sys
from pathlib import Path
from typing import NamedTuple

from booktools.children import Running, command, concluded, in_children, tenth
from runproofs.book.pages import Cell, cells
from runproofs.book.register import BOOK, demand_clone

KNOB = re.compile(r"(?P<name>\w+) = (?P<value>.+?)  # (?P<range>[^:]+)(: .+)?")
NARROWEST = 0.1  # of the larger end: the least width of a range
TURNS = ("as printed, each cell twice", "lower ends", "upper ends")
SHOWN = 200  # characters of an error message


class Knob(NamedTuple):
    """One number of a page that may be changed: its name, value, and the ends of its range."""

    name: str
    value: object
    lower: object
    upper: object


def knob(line: str) -> Knob:
    """The knob that a line of a `parameters` cell defines; ValueError if it defines none."""
    found = KNOB.fullmatch(line)
    if not found:
        raise ValueError(f"{line!r} is not `name = value  # range` or `...  # range: meaning`.")
    name, value, values = found["name"], ast.literal_eval(found["value"]), found["range"].strip()
    if values == "any whole number":
        return Knob(name, value, value + 1, value + 2)
    if values.startswith("one of "):
        choices = ast.literal_eval(f"({values.removeprefix('one of ')},)")
        others = [choice for choice in choices if choice != value]
        if value not in choices or not others:
            raise ValueError(f"{name}: {value!r} and another value must be in {values!r}.")
        return Knob(name, value, others[0], others[-1])
    try:
        lower, upper = (ast.literal_eval(end) for end in values.split(" to "))
    except ValueError:
        raise ValueError(f"{name}: the range {values!r} is not `a to b`.") from None
    if not lower <= value <= upper or lower == upper:
        raise ValueError(f"{name} = {value!r} must lie in its range, {values}.")
    if upper - lower < NARROWEST * max(abs(lower), abs(upper)):
        raise ValueError(f"{name}: from one end of {values} to the other is less than a tenth.")
    return Knob(name, value, lower, upper)


def knobs(page: str) -> list[Knob]:
    """The knobs of a MyST page. ValueError unless one cell has the tag, and each line is a knob."""
    found = [cell.code for cell in cells(page) if is_parameters(cell)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} cells have the tag `parameters`, and one should.")
    return knobs_in(found[0])


def knobs_in(code: str) -> list[Knob]:
    """The knobs of a cell; its empty lines and comments are passed over."""
    return [knob(line) for line in code.splitlines() if line and not line.startswith("#")]


def is_parameters(cell: Cell) -> bool:
    """Whether a cell of a page has the tag `parameters`."""
    return bool(re.search(r"\btags: \[.*\bparameters\b", cell.options))


def turned(cell: Cell, turn: int) -> str:
    """The code of a cell, with every knob at its lower (turn 1) or upper end (2) if it has any."""
    if turn == 0 or not is_parameters(cell):
        return cell.code
    ends = {k.name: k.lower if turn == 1 else k.upper for k in knobs_in(cell.code)}
    return "\n".join(f"{name} = {end!r}" for name, end in ends.items())


def run(path: Path, turn: int) -> list[str]:
    """What fails on a page at one turn of its knobs, in sentences. Use a child process."""
    page = path.read_text("utf-8")
    try:
        knobs(page)
    except ValueError as error:
        return [str(error)]
    running, failures = Running(path, first_and_last), []

    def execute(cell, when):
        where = f"{path.name}:{cell.line}"
        if what := " ".join(running.run(turned(cell, turn), where).split()):
            failures.append(f"line {cell.line}{when}: {what[:SHOWN]}")

    for cell in cells(page):
        execute(cell, "")
    if turn == 0 and not failures:
        for cell in reversed(cells(page)):
            execute(cell, ", run again")
    return failures


def first_and_last(fig, update, frames, **options):
    """In place of a player: two of its frames show whether it can be drawn."""
    update(0)
    update(frames - 1)
    fig.draw_without_rendering()


def pages(book: Path = BOOK) -> list[Path]:
    """The pages with a card, which must have knobs."""
    return [p for p in sorted(book.rglob("*.md")) if "\nwith claim(" in p.read_text("utf-8")]


def check(tasks: list[tuple[Path, int]], jobs: int, out=print) -> list[str]:
    """Run pages at turns of their knobs in children of this process; what fails, in sentences."""
    wrong = []
    for (path, turn), found, seconds in in_children(run, tasks, jobs):
        out(f"{path.stem}, {TURNS[turn]}: {len(found)} failures, {seconds:.0f} s")
        wrong += [f"{path.parent.name}/{path.name}, {TURNS[turn]}: {what}" for what in found]
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Turn the knobs of some pages, a tenth of all, or all; 1 if a cell fails."""
    parser = command("booktools.sweep", main.__doc__)
    parser.add_argument(
        "pages", nargs="*", type=Path, help="such as book/ch2_shallow_linear/index.md"
    )
    options = parser.parse_args(arguments)
    demand_clone("Turning the knobs of the pages")
    paths = [path.resolve() for path in options.pages] or pages()
    tasks = tenth([(path, turn) for path in paths for turn in range(len(TURNS))], options.tenth)
    wrong = check(tasks, options.jobs)
    return concluded(wrong, f"All {len(tasks)} runs of pages are green.")


if __name__ == "__main__":
    sys.exit(main())
