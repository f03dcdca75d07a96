"""What do the cards of a page see, of errors that nobody picked? `make errors PAGE=...`.

One recorded run of a page tells which functions of the library its cells call, with which
arguments, and which arrays reach the positive rows of its cards. From that, and from nothing that
its author wrote, come the errors, planted one at a time (planting.py): a formula off by 5 % (a
bound also by 2 and by 10), an argument frozen at its first value, to the power 1.4 or 0.7, or
exchanged with its neighbor; a procedure that stands still, takes one step, throws one coin for
ever or only heads, shows its state too late; a row whose left side is its first entry throughout;
a stored array that is zero, or has its arms exchanged; a mutant (mutations.py) of a function that
the page runs.

An error is *seen* if a positive row of a card turns red. If not, it is *loud* where an assert or an
exception tells; *unseen* where it changes what a positive row compares; else it *reaches nothing*.
The rate is seen / (seen + unseen); the command fails if it is too low. An unseen error that is
looked into and right to stay so has its name and a reason beside the page, in page.yml
(`accepted`), and does not count.
"""

import ast
import itertools
import json
import os
import pickle
import random
import re
import select
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import yaml

from booktools.children import Running, command, in_children, tenth
from booktools.planting import (
    LIBRARY,
    LOAD,
    array,
    as_numpy,
    floating,
    functions,
    plant,
    scalar,
)
from booktools.syntax import Sites
from runproofs.book import claims, comparisons
from runproofs.book.pages import cells
from runproofs.book.register import BOOK

POSITIVE = ("equal", "at_most", "below", "apart", "distinct", "holds", "within")  # of a Row
REASONS = ("the claim stays true: ", "equivalent: ", "unseen: ")  # how an explanation begins
# What no formula depends on, though a number: counts of trials and the like.
STEPS = {"steps", "epochs", "rounds", "sweeps", "iterations"}
SOURCES = {"rng", "seed", "generator", "generators"}  # of randomness: such a function samples
COUNTS = STEPS | SOURCES | {
    "batch", "count", "every", "k", "runs", "sample", "size", "starts", "times", "tol", "trials",
    "visits",
}  # fmt: skip
LARGEST_ARM = 8  # members of an axis of a stored array that are its arms, and not its samples
MANY = 30  # parts of a result that are looked at
# The share that is seen, of what is not explained. At a true rate of 95 % a tenth of the pages with
# N=8, some 45 errors that reach a card, falls below it by chance once in 150 days.
NEEDED = 0.85
FEW = 6  # parts of a result that are changed, one by one
NOISE = 1e-9  # of the larger of 1e-3 and what a row compares: what differs by less is rounding


class Error(NamedTuple):
    """One error, and the cell of the page before which it is planted."""

    name: str
    cell: int
    kind: str
    how: tuple  # for `plant`; of a row its claim and its number


# Running a page -----------------------------------------------------------------------------------


class Sides(NamedTuple):
    """What a row compares: its method, and one side or two."""

    method: str
    sides: list


class Done(BaseException):
    """A positive row is red: nothing more is to be learnt."""


class Noted(ast.NodeTransformer):
    """An assert that fails is noted, and the page goes on to its cards."""

    def visit_Assert(self, node):
        noted = ast.parse("_loud.append('assert')").body
        return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), node.test), noted, []), node)


class Page:
    """A page whose cells run in this process: what its rows compare, and what is loud."""

    def __init__(self, path: Path, stop: bool):
        self.rows, self.firsts, self.red, self.loud, self.stop = {}, {}, [], [], stop
        self.mark = f"{path.stem}, cell "
        trees = [ast.parse(cell.code) for cell in cells(path.read_text("utf-8"))]
        self.cells = [ast.fix_missing_locations(Noted().visit(tree)) for tree in trees]
        self.running = Running(path, animate=lambda *arguments, **options: None)
        self.running.names["_loud"] = self.loud
        plt.switch_backend("agg")
        claims.Check.__exit__ = lambda check, *ended: self.left(*ended)
        for method in POSITIVE:
            self.watch(method)

    def watch(self, method):
        judge = getattr(comparisons.Row, method)

        def watched(row, left, *rest, **options):
            sides = [numbers(side) for side in (left, *rest[:1])]
            judge(row, left, *rest, **options)
            key = row.check.claim.id, len(row.check.rows)
            self.rows[key] = Sides(method, sides)
            if not self.stop and of_many(method, sides, options):
                self.firsts[key] = first_throughout(judge, row, left, rest, options)
            if not row.verdict.compared:
                self.loud.append(row.verdict.measured)
            elif not row.verdict.passed:
                self.red.append(key)
                if self.stop:
                    raise Done

        setattr(comparisons.Row, method, watched)

    def left(self, kind, error, traceback):
        if kind and not issubclass(kind, Done):
            self.loud.append(f"{kind.__name__}: {error}")
            return True
        return False

    def run(self, number: int):
        if failure := self.running.run(self.cells[number], f"{self.mark}{number}"):
            self.loud.append(failure)


def numbers(side):
    """What a row compares, kept for a comparison with another run of it."""
    side = np.array(as_numpy(side))
    if side.dtype.kind == "c":
        return side
    try:
        return side.astype(float)
    except (TypeError, ValueError, OverflowError):  # symbols, integers beyond floats
        return repr(side.tolist())


def of_many(method, sides, options) -> bool:
    """Whether a row needs its left side to be of many members, and not one throughout.

    Of what is at most something, or below it, or equal to one number, each member may be the first
    one, and of two sides that are somewhere apart, one. Zeros need no trial: no row passes with a
    side that is 0 throughout and another that is not.
    """
    if len(sides) == 1 or any(isinstance(side, str) or not np.any(side) for side in sides):
        return False
    left, right = sides
    if method in ("at_most", "below") or (
        method in ("equal", "within") and np.ptp(np.abs(right)) == 0
    ):
        return False
    if method == "apart" and not options.get("every"):
        return False
    return bool(np.ptp(np.abs(left)) > 0.01 * np.abs(left).max())


def first_throughout(judge, row, left, rest, options) -> str:
    """What becomes of a row whose left side is its first member throughout."""
    spoilt = comparisons.Row(SimpleNamespace(**vars(row.check)), row.text)
    spoilt.check.must_be_open = lambda text: None
    members = as_numpy(left)
    try:
        judge(spoilt, np.full_like(members, members.flat[0]), *rest, **options)
    except Exception:
        return "loud"
    return "unseen" if spoilt.verdict.passed else "seen" if spoilt.verdict.compared else "loud"


def same(one: Sides, other: Sides) -> bool:
    """Whether two runs of a row compare the same, but for rounding."""
    one, other = one.sides, other.sides
    sizes = [np.abs(x).max() for x in (*one, *other) if not isinstance(x, str) and x.size]
    slack = NOISE * max([1e-3, *sizes])
    return len(one) == len(other) and all(
        a == b
        if isinstance(a, str) or isinstance(b, str)
        else a.shape == b.shape and bool(np.all(np.abs(a - b) <= slack))
        for a, b in zip(one, other, strict=True)
    )


# The recorded run ---------------------------------------------------------------------------------


class Call:
    """What the cells of a page give to one function of the library, and get from it."""

    def __init__(self, cell: int, names: tuple):
        self.cell, self.names = cell, names
        self.kinds = {}  # of the arguments of the first call: "number", shapes, "other"
        self.values = {name: [] for name in names}  # different ones
        self.result = None  # the parts of the first one; of what is loaded, by the run's name

    def add(self, frame):
        for name in self.names:
            x = frame.f_locals[name]
            self.kinds.setdefault(name, kind(x))
            value = x if scalar(x) else as_numpy(x).tobytes() if array(x) else None
            if value not in self.values[name]:
                self.values[name].append(value)


def kind(x):
    if array(x):
        return tuple(x.shape)
    return "number" if scalar(x) else "function" if callable(x) else "other"


class Recorded(NamedTuple):
    """Of one run: calls by the cells, functions that ran, rows; each with its cell."""

    calls: dict[str, Call]
    ran: dict[str, int]
    rows: dict[tuple, Sides]
    firsts: dict[tuple, str]
    cell_of: dict[tuple, int]
    seconds: float
    wrong: list


def record(path: Path) -> Recorded:
    page, table = Page(path, stop=False), functions()
    calls, ran, cell_of, waiting = {}, {}, {}, {}
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
                names = tuple(name for name in names if name not in ("self", "cls"))
                call = calls.setdefault(known.name, Call(cell, names))
                call.add(frame)
                waiting[id(frame)] = call
        elif event == "return" and (call := waiting.pop(id(frame), None)):
            if known.name == LOAD:
                call.result = (call.result or {}) | {frame.f_locals["path"].stem: parts(value)}
            elif call.result is None:
                call.result = parts(value)

    start = time.perf_counter()
    for cell in range(len(page.cells)):
        sys.setprofile(profile)
        page.run(cell)
        sys.setprofile(None)
        cell_of |= {key: cell for key in page.rows if key not in cell_of}
    seconds = time.perf_counter() - start
    for call in calls.values():
        call.values = {name: len(found) for name, found in call.values.items()}
    return Recorded(calls, ran, page.rows, page.firsts, cell_of, seconds, page.red + page.loud)


def parts(x, path=()) -> list:
    """(path, shape) of the floating parts of a result; ((), bool) of a truth value."""
    if isinstance(x, bool | np.bool_):
        return [(path, bool)]
    if floating(x):
        return [(path, tuple(getattr(x, "shape", ())))]
    inner = (
        x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, tuple | list) else ()
    )
    inner = itertools.islice(inner, MANY)
    return [found for key, inside in inner for found in parts(inside, (*path, key))]


# The errors of a page -----------------------------------------------------------------------------


def errors(recorded: Recorded) -> list[Error]:
    """All that the recorded run gives rise to."""
    found = []
    for name, call in recorded.calls.items():
        groups = (of_stored,) if name == LOAD else (of_results, of_arguments, of_procedures)
        for what, group, how, *rest in itertools.chain(*(of(name, call) for of in groups)):
            about = () if name == LOAD else (name,)
            found.append(Error(f"{name}: {what}", call.cell, group, (how, *about, *rest)))
    found += of_rows(recorded)
    found += of_lines(recorded.ran)
    last = max(recorded.cell_of.values())
    return [error for error in found if error.cell <= last]


# Each of these yields (what, kind, how to plant it, and with what beside the function's name).


def of_stored(name, call):
    for run, found in call.result.items():
        for (key,), shape in found:
            label, stored = f"{run} {key}", ("stored", run, key)
            yield f"{label} zero", "zero", *stored, "times", 0.0
            yield f"{label} times 11/10", "stored", *stored, "times", 1.1
            arms = [axis for axis, n in enumerate(shape or ()) if 1 < n <= LARGEST_ARM]
            for axis in arms:
                yield f"{label}, axis {axis} turned round", "exchanged", *stored, "flip", axis


def of_results(name, call):
    factors = [Fraction(21, 20), Fraction(20, 21)]
    if name.startswith("bounds."):
        factors += [Fraction(2), Fraction(1, 2), Fraction(1, 10)]
    sampled = SOURCES & set(call.names) or name.startswith("data.")  # other data would do as well
    for path, shape in call.result[:FEW]:
        label = "".join(f"[{key}] " for key in path)
        if shape is bool:
            if not path:
                yield "the contrary", "negated", "negated"
        elif sampled:
            yield f"{label}zero", "zero", "result", path, Fraction(0)
        else:
            for factor in factors:
                yield f"{label}times {factor}", "scaled", "result", path, factor
        if shape and shape is not bool and not path:
            for argument in [n for n in call.names if call.kinds[n] == shape][:1]:
                yield f"gives back {argument}", "stands still", "identity", argument


def of_arguments(name, call):
    formula = [n for n in call.names if n not in COUNTS]
    of_kind = {n: call.kinds[n] for n in formula if call.kinds[n] not in ("function", "other")}
    for n, its in of_kind.items():
        if call.values[n] > 1:
            yield f"{n} frozen", "frozen", "frozen", n
        if its == "number":
            for exponent in (1.4, 0.7):
                yield f"{n} to the power {exponent}", "power", "argument", n, "power", exponent
    for one, other in itertools.pairwise(of_kind):
        if of_kind[one] == of_kind[other]:
            yield f"{one} and {other} exchanged", "exchanged", "exchanged", one, other


def of_procedures(name, call):
    for n, its in call.kinds.items():
        if n == "step_size" and its == "number":
            yield "stands still", "stands still", "argument", n, "times", 1e-9
        elif n in STEPS and its == "number":
            yield "one step only", "one step", "argument", n, "set", 1
        elif n in ("rng", "seed", "generator"):
            yield "one draw for ever", "one for ever", "coins", n, "Frozen"
            yield "every coin shows heads", "all kept", "coins", n, "Heads"
        elif n == "observe" and its == "function":
            yield "shown too late", "late", "late", n


def of_rows(recorded):
    for claim, number in recorded.firsts:
        name = f"{claim}, row {number}: first"
        yield Error(name, recorded.cell_of[claim, number], "first", (claim, number))


def of_lines(ran):
    """Mutants of the functions that ran."""
    scopes = defaultdict(dict)
    for code, known in functions().items():
        if known.name in ran and not known.name.startswith(("book.", "_arguments.")):
            scopes[code.co_filename][code.co_qualname] = known.name
    for file, names in scopes.items():
        source = Path(file).read_bytes()
        for mutant in Sites(str(Path(file).relative_to(LIBRARY)), source).found:
            if name := names.get(mutant.scope):
                what = f"{name}: {' -> '.join(mutant.lines(source))}"
                yield Error(
                    what, ran[name], "mutant", ("mutant", name, mutant.apply(source).decode())
                )


def sample(found: list[Error], n: int, seed: int) -> list[Error]:
    """n of them at random, as equal a share of each kind as can be; of few, the kinds too."""
    rng, kinds = random.Random(seed), defaultdict(list)
    for error in rng.sample(found, len(found)):
        kinds[error.kind].append(error)
    order = rng.sample(sorted(kinds), len(kinds))
    turns = itertools.chain(*itertools.zip_longest(*(kinds[kind] for kind in order)))
    return sorted(itertools.islice(filter(None, turns), n), key=lambda e: (e.cell, e.name))


# Judging ------------------------------------------------------------------------------------------


def in_fork(work, seconds: float):
    """What work() returns, or a sentence if that fails, in a child; None if it dies or is slow."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                answer = work()
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            with open(writer, "wb") as file:
                pickle.dump(answer, file)
        finally:
            os._exit(0)
    os.close(writer)
    end, answer = time.monotonic() + seconds, b""
    with open(reader, "rb", buffering=0) as file:
        while select.select([file], [], [], max(end - time.monotonic(), 0))[0]:
            if not (piece := file.read(1 << 20)):
                break
            answer += piece
    with suppress(ProcessLookupError):
        os.kill(child, 9)
    os.waitpid(child, 0)
    with suppress(EOFError, pickle.UnpicklingError):
        return pickle.loads(answer)


def judge(path: Path, n: int, seed: int, only: str = "", rows: bool = False):
    """Each of n errors of a page, its outcome, and of which claims; what they share runs once.

    What an error reaches is told from a run that nothing recorded: a row may count calls or memory.

    only: a regular expression, found in "kind | name" of those that are planted. rows: each error
    runs to the end of the page; also returned are the rows, (claim, number), that none turned red.

    Raises RuntimeError if the page is not green without an error.
    """
    recorded = in_fork(lambda: record(path), 1800)
    if not isinstance(recorded, Recorded) or recorded.wrong:
        wrong = recorded.wrong if isinstance(recorded, Recorded) else recorded
        raise RuntimeError(f"{path.name} is not green as it stands: {wrong}")
    page, answers, green = Page(path, stop=not rows), [], set(recorded.rows)
    made = [error for error in errors(recorded) if re.search(only, f"{error.kind} | {error.name}")]
    planted, last = sample(made, n, seed), max(recorded.cell_of.values())

    def spoiled(error):
        plant(*error.how)
        with suppress(Done):
            for cell in range(error.cell, last + 1):
                page.run(cell)
        return page.red, page.loud, page.rows

    for cell in range(last + 1):
        for error in [error for error in planted if error.cell == cell]:
            if error.kind == "first":  # is known from the recorded run
                answers.append((error, recorded.firsts[error.how]))
                continue
            answer = in_fork(lambda error=error: spoiled(error), 20 + 4 * recorded.seconds)
            if isinstance(answer, str):
                raise RuntimeError(f"{path.name}: {error.name} is not planted: {answer}")
            answers.append((error, answer))
            green -= set(answer[0]) if answer else set()
        with suppress(Done):
            page.run(cell)
        if page.red or page.loud:
            raise RuntimeError(f"{path.name} is not green twice: {page.red or page.loud}")
    judged = [
        (error, answer, [error.how[0]])
        if error.kind == "first"
        else (error, *outcome(answer, page.rows))
        for error, answer in answers
    ]
    return judged, sorted(green) if rows else []


def outcome(answer, rows: dict) -> tuple[str, list[str]]:
    """Of one error: seen, loud, unseen or nothing; the claim of the red row, or those reached."""
    if answer is None:
        return "loud", []
    red, loud, found = answer
    if red or loud:
        return ("seen", [red[0][0]]) if red else ("loud", [])
    reached = {
        key[0] for key, sides in rows.items() if key not in found or not same(sides, found[key])
    }
    return ("unseen", sorted(reached)) if reached else ("nothing", [])


# The command --------------------------------------------------------------------------------------


def explanations(page: str) -> dict[str, str]:
    """The reasons by name, `accepted` beside the page; ValueError for one that is none."""
    path = BOOK / f"{page}.yml"
    found = yaml.safe_load(path.read_text("utf-8")).get("accepted", {}) if path.exists() else {}
    for name, reason in found.items():
        if not reason.startswith(REASONS):
            raise ValueError(f"{page}.yml, {name!r}: a reason begins with one of {REASONS}.")
    return found


def _judged(page, *which):
    try:
        return judge(BOOK / f"{page}.md", *which)
    except RuntimeError as error:
        return str(error)


def main(arguments=None) -> int:
    """Plant n errors in each page, and print those unseen; 1 if a page is red, or too many are."""
    parser = command("errors.py", __doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="such as book/ch2_shallow_linear/index.md; or all")
    parser.add_argument("-n", type=int, default=60, help="errors a page (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--only", default="", help='a regular expression in "kind | name"')
    parser.add_argument("--rows", action="store_true", help="also name rows that none turned red")
    parser.add_argument("--out", type=Path, help="a file that gets a line of JSON for each")
    options = parser.parse_args(arguments)
    pages = [page.removeprefix("book/").removesuffix(".md") for page in options.pages]
    pages = pages or [
        path.relative_to(BOOK).with_suffix("").as_posix()
        for path in sorted(BOOK.rglob("*.md"))
        if "\nwith claim(" in path.read_text("utf-8")
    ]
    counts, unseen, wrong, green = Counter(), [], [], []
    functions()  # imports the library once for all the children
    tasks = [
        (page, options.n, options.seed, options.only, options.rows)
        for page in tenth(pages, options.tenth)
    ]
    for (page, *_), judged, seconds in in_children(_judged, tasks, options.jobs):
        if isinstance(judged, str):
            wrong.append(judged)
            continue
        known, here = explanations(page), Counter()
        green += [f"{page} | row {number} of {claim}: no error turns it red"
                  for claim, number in judged[1]]  # fmt: skip
        for error, ended, about in judged[0]:
            ended = "explained" if ended == "unseen" and error.name in known else ended
            here[ended] += 1
            if ended == "unseen":
                unseen.append(f"{page} | {error.kind} | {error.name} | {', '.join(about)}")
            if options.out:
                line = [page, error.name, error.kind, ended, about]
                with open(options.out, "a", encoding="utf-8") as file:
                    print(json.dumps(line), file=file)
        print(f"{page}: {said(here)}, {seconds:.0f} s", flush=True)
        counts += here
    print("\n".join([*green, *unseen, *wrong, f"All pages: {said(counts)}"]))
    return int(bool(wrong) or share(counts) < NEEDED)


def share(counts: Counter) -> float:
    """Of the errors that reach a card, how many are seen; 0 if there is none."""
    return counts["seen"] / (counts["seen"] + counts["unseen"] or 1)


def said(counts: Counter) -> str:
    found = ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())
    return f"{share(counts):.0%} seen: {found}"


if __name__ == "__main__":
    sys.exit(main())
