"""Derive errors of a page from one recorded run, independently of its author.

The run shows which functions of the library the cells call, with which arguments, and which arrays
reach the positive rows of the cards. The errors are:

- a formula that is off by 5% (a bound also by factors 2 and 10);
- an argument that is frozen at its first value, raised to the power 1.4 or 0.7, or exchanged with
  its neighbor;
- a procedure that does nothing, takes one step, tosses the same coin forever or only heads, or
  shows its state too late;
- a row whose left side is its first entry throughout;
- a stored array that is zero, or has its arms exchanged;
- a mutant (syntax.py) of a function that the page runs.
"""

import sys
import time
from collections import defaultdict
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from runproofs.claims.breaks import change, recompiled
from runproofs.claims.rows import Row

from . import plant
from .judge import Error
from .plant import LIBRARY, LOAD, array, floating, functions, named, scalar
from .running import Page, as_numpy
from .syntax import mutants

# Numbers on which no formula depends: counts of trials and the like.
STEPS = {"steps", "epochs", "rounds", "sweeps", "iterations"}
SOURCES = {"rng", "seed", "generator", "generators"}  # of randomness: such a function samples
COUNTS = STEPS | SOURCES | {
    "batch", "count", "every", "k", "runs", "sample", "size", "starts", "times", "tol", "trials",
    "visits",
}  # fmt: skip
LARGEST_ARM = 8  # members of an axis of a stored array that are its arms, and not its samples
MANY = 30  # parts of a result that are looked at
FEW = 6  # parts of a result that are changed, one by one


# The recorded run ---------------------------------------------------------------------------------


class Call:
    """The arguments that the cells of a page give to a function of the library, and its results."""

    def __init__(self, cell: int, names: list[str]):
        self.cell, self.names = cell, names
        self.kinds = {}  # of the arguments of the first call: "number", shapes, "other"
        self.values = {name: [] for name in names}  # the first two different ones
        self.result = None  # the parts of the first one; of what is loaded, by the run's name

    def add(self, frame):
        for name in self.names:
            x = frame.f_locals[name]
            self.kinds.setdefault(name, kind(x))
            value = x if scalar(x) else as_numpy(x).tobytes() if array(x) else None
            if len(self.values[name]) < 2 and value not in self.values[name]:
                self.values[name].append(value)


def kind(x):
    if array(x):
        return tuple(x.shape)
    return "number" if scalar(x) else "function" if callable(x) else "other"


class Recorded(NamedTuple):
    """Of one run: calls by the cells, functions that ran and rows, each with its cell."""

    calls: dict[str, Call]
    ran: dict[str, int]
    rows: dict[tuple, int]
    firsts: dict[tuple, str]  # what becomes of a row whose left side is its first member throughout
    seconds: float
    wrong: list


def record(path: Path) -> Recorded:
    """Run a page in this process and record what it does. Call it in a child process."""
    page, table = Page(path), functions()
    calls, ran, rows, firsts, waiting = {}, {}, {}, {}, {}
    cell = 0

    def by_page(frame):
        """Whether a cell called, also through a wrapper that is not ours, such as `no_grad`."""
        while frame := frame.f_back:
            if frame.f_code.co_filename.startswith(str(LIBRARY)):
                return False
            if frame.f_code.co_filename.startswith(page.mark):
                return True
        return False

    def profile(frame, event, value):
        known = table.get(frame.f_code)
        if known and event == "call":
            ran.setdefault(known.name, cell)
            if by_page(frame) or known.name == LOAD:
                code = frame.f_code
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                names = [name for name in names if name not in ("self", "cls")]
                call = waiting[id(frame)] = calls.setdefault(known.name, Call(cell, names))
                call.add(frame)
        elif event == "return" and (call := waiting.pop(id(frame), None)):
            if known.name == LOAD:
                call.result = (call.result or {}) | {frame.f_locals["path"].stem: parts(value)}
            elif call.result is None:
                call.result = parts(value)

    def observe(key, judge, row, sides, options):
        rows.setdefault(key, cell)
        if of_many(judge.__name__, page.rows[key].sides, options):
            firsts[key] = first_throughout(judge, row, sides, options)

    page.observe, start = observe, time.perf_counter()
    for cell in range(len(page.cells)):
        sys.setprofile(profile)
        page.run(cell)
        sys.setprofile(None)
    seconds = time.perf_counter() - start
    return Recorded(calls, ran, rows, firsts, seconds, page.red + page.failures)


def parts(x, path=()) -> list:
    """(path, shape) of the floating parts of a result; ((), bool) of a truth value."""
    if isinstance(x, bool | np.bool_):
        return [(path, bool)]
    if floating(x):
        return [(path, tuple(getattr(x, "shape", ())))]
    members = enumerate(x) if isinstance(x, tuple | list) else ()
    members = islice(x.items() if isinstance(x, dict) else members, MANY)
    return [found for key, inside in members for found in parts(inside, (*path, key))]


def of_many(method, sides, options) -> bool:
    """Whether a row needs its left side to be of many members, and not one throughout.

    Of what is at most something, or below it, or equal to one number, each member may be the first
    one, and of two sides that are somewhere apart, one. Zeros need no trial: no row passes with a
    side that is 0 throughout and another that is not.
    """
    if len(sides) == 1 or any(isinstance(side, str) or not np.any(side) for side in sides):
        return False
    left, right = sides
    alike = method in ("equal", "within") and np.ptp(np.abs(right)) == 0
    if (
        alike
        or method in ("at_most", "less")
        or (method == "not_close" and not options.get("every"))
    ):
        return False
    return bool(np.ptp(np.abs(left)) > 0.01 * np.abs(left).max())


def first_throughout(judge, row, sides, options) -> str:
    spoiled = Row(SimpleNamespace(**vars(row.check)), row.text)
    spoiled.check.must_be_open = lambda text: None
    members = as_numpy(sides[0])
    try:
        judge(spoiled, np.full_like(members, members.flat[0]), *sides[1:], **options)
    except Exception:
        return "loud"
    return "unseen" if spoiled.verdict.passed else "seen" if spoiled.verdict.compared else "loud"


# The errors ---------------------------------------------------------------------------------------


def errors_of(recorded: Recorded) -> list[Error]:
    """All errors that the recorded run suggests; those of kind "first" are judged in that run."""
    found = []
    for name, call in recorded.calls.items():
        for of in (of_stored,) if name == LOAD else (of_results, of_arguments, of_procedures):
            for what, kind, changed in of(name, call):
                make = lambda page, it=(name, changed): plant.plant(*it)  # noqa: E731
                found.append(Error(f"{name}: {what}", kind, call.cell, make))
    for claim, number in recorded.firsts:
        name = f"{claim}, row {number}: first"
        found.append(Error(name, "first", recorded.rows[claim, number], (claim, number)))
    found += of_lines(recorded.ran)
    last = max(recorded.rows.values())
    return [error for error in found if error.cell <= last]


# Each of these yields (what, kind, change).


def of_stored(name, call):
    for run, found in call.result.items():
        for (key,), shape in found:
            label = f"{run} {key}"
            yield f"{label} zero", "zero", plant.stored(run, key, lambda x: x * 0.0)
            yield f"{label} times 11/10", "stored", plant.stored(run, key, lambda x: x * 1.1)
            for axis in [axis for axis, n in enumerate(shape or ()) if 1 < n <= LARGEST_ARM]:
                flipped = plant.stored(run, key, lambda x, axis=axis: np.flip(x, axis))
                yield f"{label}, axis {axis} turned round", "exchanged", flipped


def of_results(name, call):
    factors = [Fraction(21, 20), Fraction(20, 21)]
    if name.startswith("bounds."):
        factors += [Fraction(2), Fraction(1, 2), Fraction(1, 10)]
    sampled = SOURCES & set(call.names) or name.startswith("data.")  # other data would do as well
    for path, shape in call.result[:FEW]:
        label = "".join(f"[{key}] " for key in path)
        if shape is bool:
            if not path:
                yield "the contrary", "negated", plant.result(lambda found, _: not found)
        elif sampled:
            yield f"{label}zero", "zero", plant.scaled(path, Fraction(0))
        else:
            for factor in factors:
                yield f"{label}times {factor}", "scaled", plant.scaled(path, factor)
        if shape and shape is not bool and not path:
            for n in [n for n in call.names if call.kinds[n] == shape][:1]:
                yield f"gives back {n}", "stands still", plant.given(n)


def of_arguments(name, call):
    formula = [n for n in call.names if n not in COUNTS]
    of_kind = {n: call.kinds[n] for n in formula if call.kinds[n] not in ("function", "other")}
    for n, its in of_kind.items():
        if len(call.values[n]) > 1:
            yield f"{n} frozen", "frozen", plant.frozen(n)
        for exponent in (1.4, 0.7) if its == "number" else ():
            changed = numeric(n, lambda x, exponent=exponent: plant.power(x, exponent))
            yield f"{n} to the power {exponent}", "power", changed
    for one, other in pairwise(of_kind):
        if of_kind[one] == of_kind[other]:
            yield f"{one} and {other} exchanged", "exchanged", plant.exchanged(one, other)


def of_procedures(name, call):
    for n, its in call.kinds.items():
        if n == "step_size" and its == "number":
            yield "stands still", "stands still", numeric(n, lambda x: x * 1e-9)
        elif n in STEPS and its == "number":
            yield "one step only", "one step", numeric(n, lambda x: type(x)(1))
        elif n in ("rng", "seed", "generator"):
            yield "one draw forever", "one forever", plant.coins(n, plant.Frozen)
            yield "every coin shows heads", "all kept", plant.coins(n, plant.Heads)
        elif n == "observe" and its == "function":
            yield "shown too late", "late", plant.late(n)


def numeric(name, changed):
    return plant.argument(name, lambda x: changed(x) if scalar(x) else x)


def of_lines(ran):
    """Mutants of the functions that ran, as errors."""
    scopes = defaultdict(dict)
    for code, known in functions().items():
        if known.name in ran and not known.name.startswith(("book.", "_arguments.")):
            scopes[code.co_filename][code.co_qualname] = known.name

    def make(page, name, mutant, source):
        _, bare, outer = named(name)
        change(outer, recompiled(bare, mutant.apply(source).decode()))

    for file, names in scopes.items():
        source = Path(file).read_bytes()
        for mutant in mutants(file, source):
            if name := names.get(mutant.scope):
                what = f"{name}: {' -> '.join(mutant.lines(source))}"
                made = partial(make, name=name, mutant=mutant, source=source)
                yield Error(what, "mutant", ran[name], made)
