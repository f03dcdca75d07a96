"""Rows that prove more than an instance; `Row` has them beside its comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Context
from numbers import Rational
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from runproofs.exact import (
    enclosed,
    is_positive,
    is_positive_semidefinite,
    points_needed,
    random_point,
    rational,
    vanishes,
)

if TYPE_CHECKING:
    import sympy

PIECES = 10_000  # of a box, after which an enclosure is given up
LISTED = 6  # symbols that a card names one by one


class Proofs:
    """The methods of a `Row` whose evidence is above "exact". Arguments are exact, or intervals."""

    def identity(self, left: sympy.Expr | ArrayLike, right: sympy.Expr | ArrayLike) -> None:
        """Both sides are equal for all values of their symbols: SymPy reduces left - right to 0.

        Where both are defined, and for what the assumptions of the symbols allow. Two sides that
        are 0 as they stand fail: a subject that is gone.

        Parameters
        ----------
        left, right : sympy.Expr, or arrays of them
            Without floats, with a free symbol.
        """
        a, b, reason = self._pair(left, right)
        if not reason and self.level != "for-all":
            raise ValueError(f"{self.text!r}: there is no free symbol; without floats, use equal.")
        if not reason and not (a.any() or b.any()):
            reason = "both sides are 0"
        wrong = [] if reason else [d for d in a - b if not vanishes(d)]
        measured = f"{len(wrong)} of {a.size} differ" if wrong else "equal"
        self._judge(reason, not wrong and not reason, measured, "equal")

    def positive(
        self, expression: sympy.Expr, *, least: Rational | None = None, most: Rational | None = None
    ) -> None:
        """An expression is positive for all real values of its one symbol from least to most.

        Parameters
        ----------
        expression : sympy.Expr
            Quotient of polynomials with rational coefficients, whose roots are counted (Sturm).
        least, most : Rational, optional
            Ends, included; without them all reals.
        """
        (a,), _, reason = self._pair(expression, 0)
        if self.level != "for-all" or len(a.free_symbols) != 1:
            raise ValueError(f"{self.text!r}: the expression needs one symbol, and no floats.")
        self.scope = "for all " + f"{least} ≤ " * (least is not None) + _named(*a.free_symbols)
        self.scope += f" ≤ {most}" * (most is not None)
        holds = not reason and is_positive(a, least, most)
        self._judge(reason, holds, "positive" if holds else "not positive", "positive")

    def polynomial_identity(
        self, sides: Callable, *, degree: int, **shapes: tuple[int, ...]
    ) -> None:
        """Both sides are equal for all arrays of these shapes: in Fractions, at random points.

        A float anywhere fails the row, and so does a side that is 0 throughout.

        Parameters
        ----------
        sides : callable
            Takes the arrays by their names and returns left and right, numbers or arrays of one
            shape. Each is a polynomial of the entries, or a quotient of polynomials.
        degree : int
            Largest total degree of left - right in all entries together, multiplied by the
            denominators. As many points are drawn as make the error at most 1e-10.
        **shapes : tuple of int
            ``U=(3, 5)`` draws a matrix in [-1, 1), ``keep=()`` a number in (0, 1].
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

    def certificate(
        self,
        value: Rational,
        bound: Rational,
        *,
        semidefinite: Iterable = (),
        zero: Iterable[ArrayLike] = (),
        nonnegative: Iterable[ArrayLike] = (),
    ) -> None:
        """No point of the whole space is better: this one attains the bound of a dual problem.

        Why the conditions make it a bound for all points is said on the page. All numbers are
        integers or Fractions, and what is asked of them is decided without rounding.

        Parameters
        ----------
        value : Rational
            Value of the point.
        bound : Rational
            Bound of the dual problem, the same number.
        semidefinite : iterable of array_like
            Symmetric matrices that must be positive semidefinite.
        zero : iterable of array_like
            What must be zero: feasibility, complementary slackness.
        nonnegative : iterable of array_like
            Multipliers, which must be at least 0. At least one of the three is given.
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

    def enclosed(
        self,
        function: Callable,
        *,
        least: Rational | None = None,
        most: Rational | None = None,
        beyond: str = "",
        **box: tuple,
    ) -> None:
        """A function stays between its bounds at each point of a box, by interval arithmetic.

        One that touches its bound inside the box is not decided, and fails.

        Parameters
        ----------
        function : callable
            Takes intervals of mpmath.iv by their names and returns one. It computes with integers,
            and with mpmath.iv.exp and the like; decimals are only near what they say.
        least, most : Rational, optional
            Bounds; at least one.
        beyond : str, optional
            Why the statement holds outside the box, too; the card prints it.
        **box : tuple of Rational
            ``z=(-12, 12)``.
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
    """A symbol, or its name, in TeX; lam stands for lambda, which Python reserves.

    >>> print(_named("lam_"), _named("W_1"))
    $\\lambda$ $W_{1}$
    """
    import sympy

    name = str(symbol).rstrip("_")
    return f"${sympy.latex(sympy.Symbol('lambda' if name == 'lam' else name))}$"


def _for_all(symbols: Iterable) -> str:
    """In words, with what the symbols are assumed to be.

    >>> import sympy
    >>> print(_for_all([sympy.Symbol("eta"), sympy.Symbol("a", positive=True)]))
    for all $a$ > 0, $\\eta$
    """
    signs = ("positive", " > 0"), ("nonnegative", " ≥ 0"), ("negative", " < 0")
    names = []
    for symbol in sorted(symbols, key=str):
        sign = next((sign for name, sign in signs if getattr(symbol, f"is_{name}")), "")
        names.append(("whole " if symbol.is_integer else "") + _named(symbol) + sign)
    return "for all " + (", ".join(names) if len(names) <= LISTED else f"{len(names)} symbols")
