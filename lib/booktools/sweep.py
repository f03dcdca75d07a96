"""Run pages at both ends of their parameters, and each of their cells twice.

The parameters of a page are the numbers that its readers are invited to change. They stand in one
cell tagged `parameters`, each with its range:

    seed = 62  # any whole number
    theta = 0.7  # 0.05 to 0.95: probability that a unit is kept
    width = 6  # 3 to 12
    law = "gaussian"  # one of "gaussian", "uniform"

A page is run as printed, after which each of its cells runs once more, from the last to the first,
so that it meets what later cells left behind; and with two other seeds, all other parameters at the
lower and then at the upper end of their ranges. No cell may fail, so that every card stays green.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

from runproofs.claims.pages import Cell, cells

from .children import command, concluded, in_children, name_of, paths_of, tenth
from .running import Page

PARAMETER = re.compile(r"(?P<name>\w+) = (?P<value>.+?)  # (?P<range>[^:]+)(: .+)?")
NARROWEST = 0.1  # of the larger end: the least width of a range
ENDS = ("as printed, each cell twice", "lower ends", "upper ends")
SHOWN = 200  # characters of an error message


class Parameter(NamedTuple):
    """One number of a page that may be changed: its name, value, and the ends of its range."""

    name: str
    value: object
    lower: object
    upper: object


def parameter(line: str) -> Parameter:
    """The parameter that a line defines; ValueError if it defines none."""
    found = PARAMETER.fullmatch(line)
    if not found:
        raise ValueError(f"{line!r} is not `name = value  # range` or `...  # range: meaning`.")
    name, value, values = found["name"], ast.literal_eval(found["value"]), found["range"].strip()
    if values == "any whole number":
        return Parameter(name, value, value + 1, value + 2)
    if values.startswith("one of "):
        choices = ast.literal_eval(f"({values.removeprefix('one of ')},)")
        others = [choice for choice in choices if choice != value]
        if value not in choices or not others:
            raise ValueError(f"{name}: {value!r} and another value must be in {values!r}.")
        return Parameter(name, value, others[0], others[-1])
    try:
        lower, upper = (ast.literal_eval(end) for end in values.split(" to "))
    except ValueError:
        raise ValueError(f"{name}: the range {values!r} is not `a to b`.") from None
    if not lower <= value <= upper or lower == upper:
        raise ValueError(f"{name} = {value!r} must lie in its range, {values}.")
    if upper - lower < NARROWEST * max(abs(lower), abs(upper)):
        raise ValueError(f"{name}: from one end of {values} to the other is less than a tenth.")
    return Parameter(name, value, lower, upper)


def parameters(page: str) -> list[Parameter]:
    """Those of a MyST page. ValueError unless one cell has the tag, and each line is a parameter.

    Empty lines of the cell and comments are passed over.
    """
    found = [cell.code for cell in cells(page) if _tagged(cell)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} cells have the tag `parameters`, and one should.")
    lines = [line for line in found[0].splitlines() if line and not line.startswith("#")]
    return [parameter(line) for line in lines]


def _tagged(cell: Cell) -> bool:
    return bool(re.search(r"\btags: \[.*\bparameters\b", cell.options))


def run(path: Path, end: int) -> list[str]:
    """A sentence for each failure of a page at one of the ENDS. Call it in a child process."""
    try:
        found = parameters(path.read_text("utf-8"))
    except ValueError as error:
        return [str(error)]
    page = Page(path, animations=True)
    code = "\n".join(f"{p.name} = {(p.lower if end == 1 else p.upper)!r}" for p in found)
    for number, cell in enumerate(page.cells):
        page.run(number, code if end and _tagged(cell) else None)
    when = ""
    if end == 0 and not page.failures:
        when = ", run again"
        for number in reversed(range(len(page.cells))):
            page.run(number)
    return [f"line {line}{when}: {' '.join(what.split())[:SHOWN]}" for line, what in page.failures]


def check(paths: list[Path], jobs: int, k: int | None = None) -> list[str]:
    """Run pages (or a tenth of the runs) at all ENDS in children; a sentence for each failure."""
    wrong = []
    tasks = tenth([(path, end) for path in paths for end in range(len(ENDS))], k)
    for (path, end), found, seconds in in_children(run, tasks, jobs):
        found = ["its run died."] if found is None else found
        print(f"{path.stem}, {ENDS[end]}: {len(found)} failures, {seconds:.0f} s", flush=True)
        wrong += [f"{name_of(path)}, {ENDS[end]}: {what}" for what in found]
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Sweep the parameters of some pages, a tenth of all, or all; 1 if a cell fails."""
    parser = command("sweep", main.__doc__)
    parser.add_argument("pages", nargs="*", help="such as book/ch2_shallow_linear/index.md")
    options = parser.parse_args(arguments)
    return concluded(
        check(paths_of(options.pages), options.jobs, options.tenth), "All runs of pages are green."
    )
