"""Run the cells of a page in this process, and record what its rows compare and what fails."""

import ast
import inspect
import os
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from runproofs import figures
from runproofs.claims import block, rows
from runproofs.claims.pages import cells

POSITIVE = (
    "equal",
    "at_most",
    "less",
    "not_close",
    "pairwise_different",
    "holds",
    "within",
    "identity",
    "positive",
    "polynomial_identity",
    "certificate",
    "enclosed",
)  # of a Row
NOISE = 1e-9  # of the larger of 1e-3 and what a row compares: what differs by less is rounding


class Done(BaseException):
    """What the run is for is known."""


class Noted(ast.NodeTransformer):
    """An assert that fails is noted, and the cell goes on to its cards."""

    def visit_Assert(self, node):
        noted = ast.parse("try: pass\nexcept Exception as _error: _note(_error)").body[0]
        noted.body = [node]
        return ast.copy_location(noted, node)


class Sides(NamedTuple):
    """What a row compares, one side or two, for a comparison with another run of it."""

    sides: list

    @classmethod
    def of(cls, sides):
        return cls([_numbers(side) for side in sides[:2]])

    def same(self, other: "Sides") -> bool:
        """Whether two runs of a row compare the same, but for rounding."""
        one, other = self.sides, other.sides
        sizes = [np.abs(x).max() for x in (*one, *other) if not isinstance(x, str) and x.size]
        slack = NOISE * max([1e-3, *sizes])
        return len(one) == len(other) and all(
            a == b
            if isinstance(a, str) or isinstance(b, str)
            else a.shape == b.shape and bool(np.all(np.abs(a - b) <= slack))
            for a, b in zip(one, other, strict=True)
        )


def as_numpy(x) -> np.ndarray:
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        x = x.float() if x.dtype.itemsize == 2 and x.is_floating_point() else x  # bfloat16
    return np.asarray(x)


def _numbers(side):
    if callable(side):
        return "a function"  # whose row says itself where it fails
    side = np.array(as_numpy(side))
    if side.dtype.kind == "c":
        return side
    try:
        return side.astype(float)
    except (TypeError, ValueError, OverflowError):  # symbols, integers beyond floats
        return repr(side.tolist())


class Page:
    """A page, run cell by cell, from its folder, past whatever fails. One for a process.

    rows: the sides of the positive rows, by claim and number. red: of those that compare, and fail,
    with their sentence. failures: asserts that fail, exceptions, rows that cannot compare, and,
    unless `until` is set, cards that fail; with the line of the cell. checks: the cards. until: the
    run is Done at the first red row of this claim, or the end of its card; of "", at any red row.
    """

    def __init__(self, path: Path, animations: bool = False):
        self.path, self.cells = path, cells(path.read_text("utf-8"))
        self.rows, self.red, self.failures, self.checks = {}, [], [], []
        self.until, self.observe = None, lambda *row: None
        self.mark = f"{path.stem}, cell "  # how the name of the code of a cell begins
        self.names = {"__name__": "__main__", "_note": self.note}
        os.chdir(path.parent)
        plt.switch_backend("agg")
        figures.animate = _first_and_last if animations else lambda *arguments, **options: None
        leave = block.Check.__exit__
        block.Check.__exit__ = lambda check, *ended: self._leave(leave, check, *ended)
        for method in POSITIVE:
            self._watch(method)

    def run(self, number: int, code: str | None = None) -> None:
        """Run a cell, or other code in its place."""
        self.line = self.cells[number].line
        try:
            tree = Noted().visit(ast.parse(self.cells[number].code if code is None else code))
            exec(
                compile(ast.fix_missing_locations(tree), f"{self.mark}{number}", "exec"), self.names
            )
        except Exception as error:
            self.note(error)
        finally:
            plt.close("all")

    def run_all(self) -> "Page":
        for number in range(len(self.cells)):
            self.run(number)
        return self

    def note(self, error: Exception) -> None:
        said = [f"{type(error).__name__}: {error}"]
        if isinstance(error, block.ClaimFailed):
            said = [f"{error.check.claim.id}: {what}" for what in error.check.wrong()]
        self.failures += [(self.line, what) for what in said]

    def _watch(self, method):
        judge = getattr(rows.Row, method)
        _, *named = (p.name for p in inspect.signature(judge).parameters.values()
                     if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)  # fmt: skip

        def watched(row, *sides, **options):
            sides += tuple(options.pop(name) for name in named[len(sides) :] if name in options)
            compared = Sides.of(sides)
            judge(row, *sides, **options)
            key = row.check.claim.id, len(row.check.rows)
            self.rows[key] = compared
            self.observe(key, judge, row, sides, options)
            if not row.verdict.compared:
                self.failures.append((self.line, f"{row.text}: {row.verdict.measured}"))
            elif not row.verdict.passed:
                self.red.append((*key, row.text))
                if self.until in ("", key[0]):
                    raise Done

        setattr(rows.Row, method, watched)

    def _leave(self, leave, check, kind, error, traceback):
        self.checks.append(check)
        if self.until is None or (kind and not issubclass(kind, Exception)):
            return leave(check, kind, error, traceback)
        if kind:
            self.note(error)
        if check.claim.id == self.until:
            raise Done
        return True


def _first_and_last(fig, update, frames, **options):
    """In place of an animation: two of its frames show whether it can be drawn."""
    update(0)
    update(frames - 1)
    fig.draw_without_rendering()
