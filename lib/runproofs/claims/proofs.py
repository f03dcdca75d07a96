"""Rows that prove more than an instance; `Row` has them beside its comparisons."""

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Context
from numbers import Rational

import numpy as np

from runproofs.exact import (
    enclosed,
    is_positive,
    is_positive_semidefinite,
    points_needed,
    random_point,
    rational,
    vanishes,
)

PIECES = 10_000  # of a box, after which an enclosure is given up
LISTED = 6  # symbols that a card names one by one


class Proofs:
    """The methods of a `Row` whose evidence is above "exact". Arguments are exact, or intervals."""

    def identity(self, left, right):
        """left = right for all values of the symbols in them: SymPy reduces each difference to 0.

        left, right: expressions, matrices or arrays of them. Of a fraction, for all values where
        both sides are defined; of a symbol with assumptions, for all values that these allow.
        Two sides that are 0 as they stand fail: a subject that is gone.
        """
        a, b, reason = self._pair(left, right)
        if not reason and self.level != "for-all":
            raise ValueError(f"{self.text!r}: there is no free symbol; without floats, use equal.")
        if not reason and not (a.any() or b.any()):
            reason = "both sides are 0"
        wrong = [] if reason else [d for d in a - b if not vanishes(d)]
        measured = f"{len(wrong)} of {a.size} differ" if wrong else "equal"
        self._judge(reason, not wrong and not reason, measured, "equal")

    def positive(self, expression, *, least=None, most=None):
        """expression > 0 for all real values of its one symbol, from least to most, both allowed.

        expression: of SymPy, a quotient of polynomials with rational coefficients, whose roots
        Sturm's theorem counts. least, most: integers or Fractions, or None where there is no end.
        """
        (a,), _, reason = self._pair(expression, 0)
        if self.level != "for-all" or len(a.free_symbols) != 1:
            raise ValueError(f"{self.text!r}: the expression needs one symbol, and no floats.")
        self.scope = "for all " + f"{least} ≤ " * (least is not None) + _named(*a.free_symbols)
        self.scope += f" ≤ {most}" * (most is not None)
        holds = not reason and is_positive(a, least, most)
        self._judge(reason, holds, "positive" if holds else "not positive", "positive")

    def polynomial_identity(self, sides: Callable, *, degree: int, **shapes: tuple[int, ...]):
        """left = right for all arrays of these shapes: equal in Fractions at random points.

        sides: takes the arrays by their names, and returns left and right, numbers or arrays that
        are polynomials of the entries, of at most this degree in all of them; or quotients of
        polynomials, with the degree that left - right has when multiplied by the denominators.
        shapes: U=(3, 5) draws a matrix with entries in [-1, 1), keep=() a number in (0, 1]. As many
        points are drawn as make the error at most 1e-10; the card states it. A float anywhere
        fails the row, and so does a side that is 0 throughout.
        """
        points, error = points_needed(degree)
        error = Context(prec=1, rounding=ROUND_CEILING).create_decimal(error)
        names = ", ".join(f"{_named(name)} {'×'.join(map(str, shape))}".strip()
                          for name, shape in shapes.items())  # fmt: skip
        rng, reason, wrong = np.random.default_rng(0), "", ""
        for _ in range(points):
            left, right = sides(**random_point(shapes, rng))
            a, b, reason = self._pair(left, right)
            if reason := reason or _no_fraction(a, b):
                break
            wrong = wrong or ("a side is 0" if not a.any() or not b.any() else "")
            wrong = wrong or ("different" if (a != b).any() else "")
        self.level, self.scope = "size", f"for all {names} (error ≤ {error:e})"
        demanded = f"equal at {points} random point{'s' * (points > 1)}"
        self._judge(reason, not (reason or wrong), wrong or demanded, demanded)

    def certificate(self, value, bound, *, semidefinite: Iterable = (), zero=(), nonnegative=()):
        """No point of the whole space has less than `value` (or more, of a maximum).

        value: at one point. bound: of a dual problem, and the same number. Why the conditions make
        it a bound for all points is said on the page: matrices are positive semidefinite (by their
        pivots), numbers are zero (feasibility, complementary slackness), multipliers are at least
        0. All are integers or Fractions, decided exactly; at least one condition is given.
        """
        a, b, reason = self._pair(value, bound)
        reason = reason or _no_fraction(a, b)
        matrices, zero = list(semidefinite), _all("zero", zero)
        nonnegative = _all("nonnegative", nonnegative)
        if not (matrices or zero.size or nonnegative.size):
            raise ValueError(f"{self.text!r}: a bound without a condition is no certificate.")
        wrong = "" if reason or (a == b).all() else f"{a[0]} is not {b[0]}"
        wrong += "; not semidefinite" * (not all(map(is_positive_semidefinite, matrices)))
        wrong += "; not zero" * bool(zero.any())
        wrong += "; a multiplier is negative" * bool((nonnegative < 0).any())
        self.level = "global"
        conditions = [f"{len(matrices)} semidefinite"] * bool(matrices)
        conditions += [f"{zero.size} zero"] * bool(zero.size)
        conditions += [f"{nonnegative.size} at least 0"] * bool(nonnegative.size)
        demanded = f"equal to the dual bound; {', '.join(conditions)}"
        self._judge(reason, not (reason or wrong), wrong.removeprefix("; ") or demanded, demanded)

    def enclosed(self, function: Callable, *, least=None, most=None, beyond: str = "",
                 **box: tuple):  # fmt: skip
        """least <= function <= most at each point of a box, by interval arithmetic.

        function: takes intervals (`mpmath.iv`) by their names and returns one, computed with
        `mpmath.iv.exp` and the like, integers, and no decimals, which floats only approach.
        box: z=(-12, 12); its ends, least and most are integers or Fractions. beyond: why the
        statement also holds outside the box, where it claims that; the card prints it. A function
        that touches its bound inside the box is not decided, and fails.
        """
        if least is None and most is None:
            raise ValueError(f"{self.text!r}: least= or most= says what is to hold.")
        ends = [x for x in (least, most, *(end for side in box.values() for end in side))
                if x is not None]  # fmt: skip
        rational("the ends and bounds", ends)
        if not box or any(low >= high for low, high in box.values()):
            raise ValueError(f"{self.text!r}: a box is z=(low, high) with low < high.")
        holds, wrong = enclosed(function, least, most, box, PIECES)
        self.level = "certified"
        ranges = ", ".join(f"{low} ≤ {_named(name)} ≤ {high}" for name, (low, high) in box.items())
        self.scope = f"certified for {ranges}" + f"; beyond: {beyond}" * bool(beyond)
        demanded = f"≥ {least}" * (least is not None) + " and " * (None not in (least, most))
        demanded += f"≤ {most}" * (most is not None)
        self._judge("", holds, wrong or demanded, demanded)


def _all(name: str, numbers: Iterable) -> np.ndarray:
    """The entries of numbers and arrays, exact, in one array."""
    parts = [np.ravel(np.asarray(part, dtype=object)) for part in numbers]
    return rational(name, np.concatenate(parts) if parts else [])


def _no_fraction(a: np.ndarray, b: np.ndarray) -> str:
    return next((f"{x} is no fraction" for x in (*a, *b) if not isinstance(x, Rational)), "")


def _named(symbol) -> str:
    """A symbol, or its name, in TeX."""
    import sympy

    return f"${sympy.latex(sympy.Symbol(str(symbol)))}$"


def for_all(symbols: Iterable) -> str:
    """In words, with what the symbols are assumed to be.

    >>> import sympy
    >>> print(for_all([sympy.Symbol("eta"), sympy.Symbol("a", positive=True)]))
    for all $a$ > 0, $\\eta$
    """
    signs = ("positive", " > 0"), ("nonnegative", " ≥ 0"), ("negative", " < 0")
    names = []
    for symbol in sorted(symbols, key=str):
        sign = next((sign for name, sign in signs if getattr(symbol, f"is_{name}")), "")
        names.append(("whole " if symbol.is_integer else "") + _named(symbol) + sign)
    return "for all " + (", ".join(names) if len(names) <= LISTED else f"{len(names)} symbols")
