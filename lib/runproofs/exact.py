"""What is decided without rounding: definiteness, identities, bounds on whole intervals.

Numbers are Python's integers and Fractions; SymPy and mpmath are loaded where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from numbers import Rational
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import mpmath
    import sympy

BITS = 40  # of the entries of a random point
LARGEST_ERROR = 1e-10  # that an identity at random points may have


# Matrices ----------------------------------------------------------------------------------------


def rational(name: str, X: ArrayLike) -> np.ndarray:
    """Exact array of rational numbers.

    Parameters
    ----------
    name : str
        What the error calls X.
    X : (...) array_like
        Integers, Python's or NumPy's, and Fractions.

    Returns
    -------
    (...) ndarray
        The same numbers, all of them Fractions.

    Raises
    ------
    TypeError
        If an entry is no integer and no Fraction.
    """
    X = np.asarray(X, dtype=object)
    for entry in X.flat:
        if not isinstance(entry, Rational):
            raise TypeError(f"{name} must have integers or Fractions, but it has {entry}.")
    exact = [Fraction(int(x.numerator), int(x.denominator)) for x in X.flat]  # and not NumPy's
    return np.array(exact, dtype=object).reshape(X.shape)


def ldl(A: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
    """Factors of a symmetric matrix, ``A = L diag(d) L^T``, without a change of rows.

    Parameters
    ----------
    A : (n, n) array_like
        Symmetric matrix of integers and Fractions.

    Returns
    -------
    tuple of ndarray, or None
        L, unit lower triangular, and the pivots d; None if a pivot is zero and the column below it
        is not. Of a positive semidefinite matrix there are factors, and no pivot is negative.

    Raises
    ------
    TypeError
        If A has floats.

    Notes
    -----
    Cost: ``O(n^3)`` operations on Fractions.

    Examples
    --------
    >>> L, d = ldl([[4, 2], [2, 1]])
    >>> [str(x) for x in L[1]], [str(x) for x in d]
    (['1/2', '1'], ['4', '0'])
    """
    A = rational("A", A)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or (A != A.T).any():
        raise ValueError("A must be a symmetric matrix.")
    L, d = rational("L", np.eye(len(A), dtype=int)), np.diag(A).copy()
    for k in range(len(A)):
        d[k] = A[k, k]
        below = A[k + 1 :, k].copy()
        if d[k] == 0 and below.any():
            return None
        if d[k] != 0:
            L[k + 1 :, k] = below / d[k]
            A[k + 1 :, k + 1 :] -= np.outer(L[k + 1 :, k], below)
    return L, d


def is_positive_semidefinite(A: ArrayLike) -> bool:
    """Whether a symmetric matrix is positive semidefinite, decided by its pivots.

    Parameters
    ----------
    A : (n, n) array_like
        Symmetric matrix of integers and Fractions.

    Returns
    -------
    bool
        Whether it is.

    See Also
    --------
    ldl : The factors with these pivots.

    Examples
    --------
    >>> is_positive_semidefinite([[2, -2], [-2, 2]]), is_positive_semidefinite([[0, 1], [1, 0]])
    (True, False)
    """
    factors = ldl(A)
    return factors is not None and bool((factors[1] >= 0).all())


def reflections(rows: ArrayLike) -> np.ndarray:
    """The product of the reflections along the rows of a matrix, which is orthogonal.

    A quotient of polynomials of degree 2k of the entries. Every orthogonal matrix is such a product
    of n rows, but for the sign of one column.

    Parameters
    ----------
    rows : (k, n) array_like
        Integers or Fractions, no row 0.

    Returns
    -------
    (n, n) ndarray
        Fractions.

    Examples
    --------
    >>> reflections([[1, 0], [3, 4]]).astype(float)
    array([[-0.28,  0.96],
           [-0.96, -0.28]])
    """
    rows = rational("rows", rows)
    Q = rational("Q", np.eye(rows.shape[1], dtype=int))
    for v in rows:
        Q = Q - 2 / (v @ v) * np.outer(Q @ v, v)
    return Q


# Identities --------------------------------------------------------------------------------------


def vanishes(expression: sympy.Expr) -> bool:
    """Whether SymPy reduces an expression to 0, and so for all values of its symbols.

    Parameters
    ----------
    expression : sympy.Expr
        Without floats.

    Returns
    -------
    bool
        False where it is not zero, and where SymPy cannot tell.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> vanishes((x + 1) ** 2 - x**2 - 2 * x - 1), vanishes(sympy.sin(x) ** 2 - 1)
    (True, False)
    """
    import sympy

    ways = (sympy.expand, lambda e: sympy.cancel(sympy.together(e)), sympy.simplify)
    return any(way(expression) == 0 for way in ways)


def is_positive(
    expression: sympy.Expr, least: Rational | None = None, most: Rational | None = None
) -> bool:
    """Whether an expression in one symbol is positive from least to most, ends included.

    Parameters
    ----------
    expression : sympy.Expr
        Quotient of polynomials with rational coefficients.
    least, most : Rational, optional
        Ends; without them all reals.

    Returns
    -------
    bool
        Whether it is, decided by Sturm's count of the roots.

    Raises
    ------
    TypeError
        If the expression is no such quotient.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> is_positive(x**2 - 2 * x + 2), is_positive(x * (3 - x), 1, 3), is_positive(1 / x, 1)
    (True, False, True)
    """
    import sympy
    from sympy.polys.polyerrors import BasePolynomialError

    (x,) = expression.free_symbols
    least, most = (end if end is None else sympy.Rational(end) for end in (least, most))
    try:
        parts = [
            sympy.Poly(part, x, domain="QQ") for part in sympy.fraction(sympy.together(expression))
        ]
    except BasePolynomialError:
        raise TypeError(f"{expression} is no quotient of polynomials in {x}, rational.") from None
    inside = 0 if least is most is None else most if least is None else least
    if any(part.count_roots(least, most) for part in parts):
        return False
    return bool(parts[0].eval(inside) * parts[1].eval(inside) > 0)


def random_point(shapes: dict[str, tuple], rng: np.random.Generator) -> dict:
    """Random arrays of Fractions.

    Parameters
    ----------
    shapes : dict
        Shape of each array, by its name.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    dict
        Of a shape an array, its entries uniform on the multiples of ``2^-39`` in [-1, 1); of the
        shape () a number, uniform on those of ``2^-40`` in (0, 1].
    """
    point = {}
    for name, shape in shapes.items():
        drawn = rng.integers(2**BITS, size=shape).astype(object)
        point[name] = (
            np.vectorize(lambda k: Fraction(k, 2 ** (BITS - 1)) - 1, otypes=[object])(drawn)
            if shape
            else Fraction(int(drawn) + 1, 2**BITS)
        )
    return point


def points_needed(degree: int) -> tuple[int, float]:
    """How many random points make the error of an identity at most 1e-10.

    Parameters
    ----------
    degree : int
        Largest total degree of the polynomials, 1 to ``2^20``.

    Returns
    -------
    tuple of int and float
        The number, and the error: ``degree / 2^40`` at one point bounds the probability that a
        polynomial other than zero vanishes there (Schwartz 1980, Zippel 1979).

    Examples
    --------
    >>> points_needed(16)
    (1, 1.4551915228366852e-11)
    """
    if not (isinstance(degree, int) and 1 <= degree < 2**20):
        raise ValueError(f"degree must be an integer from 1 to 2^20, but it was {degree!r}.")
    points = math.ceil(math.log(LARGEST_ERROR) / math.log(degree / 2**BITS))
    return points, (degree / 2**BITS) ** points


# Intervals ---------------------------------------------------------------------------------------


def ball(least: Rational, most: Rational) -> mpmath.iv.mpf:
    """Interval of mpmath that contains all from least to most.

    Parameters
    ----------
    least, most : Rational
        Its ends, which are rounded outwards.

    Returns
    -------
    mpmath.iv.mpf
        The interval.
    """
    from mpmath import iv

    ends = [iv.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (least, most)]
    return iv.mpf([ends[0].a, ends[1].b])


def enclosed(
    f: Callable, least: Rational | None, most: Rational | None, box: dict[str, tuple], pieces: int
) -> tuple[bool, str]:
    """Whether a function stays between two bounds on a whole box, by interval arithmetic.

    Parameters
    ----------
    f : callable
        Takes intervals of mpmath.iv by name and returns one.
    least, most : Rational or None
        Bounds, both allowed; None where there is none.
    box : dict
        The two ends of each argument, rational, by its name.
    pieces : int
        Most calls of f, on ever smaller pieces of the box.

    Returns
    -------
    holds : bool
        Whether it is proved.
    where : str
        Piece where it fails, or is not decided.

    Raises
    ------
    TypeError
        If f returns no interval.

    Examples
    --------
    >>> enclosed(lambda x: x * (1 - x), None, Fraction(251, 1000), {"x": (0, 1)}, 1000)
    (True, '')
    >>> enclosed(lambda x: x * (1 - x), None, Fraction(249, 1000), {"x": (0, 1)}, 1000)[0]
    False
    """
    from mpmath.ctx_iv import ivmpf

    bounds = [None if x is None else ball(x, x) for x in (least, most)]
    order, waiting = count(), []
    heappush(waiting, (-1.0, next(order), {name: tuple(map(Fraction, box[name])) for name in box}))
    for _ in range(pieces):
        if not waiting:
            return True, ""
        volume, _, piece = heappop(waiting)  # the largest first
        value = f(**{name: ball(*ends) for name, ends in piece.items()})
        if not isinstance(value, ivmpf):
            raise TypeError(f"the function must return an interval, but it gave {value!r}.")
        low, high = value.a, value.b
        where = ", ".join(
            f"{name} in [{float(a):g}, {float(b):g}]" for name, (a, b) in piece.items()
        )
        if (least is not None and high < bounds[0].a) or (most is not None and low > bounds[1].b):
            return False, f"it fails for {where}"
        if (least is None or low >= bounds[0].b) and (most is None or high <= bounds[1].a):
            continue
        widest = max(piece, key=lambda name: (piece[name][1] - piece[name][0])
                     / (Fraction(box[name][1]) - Fraction(box[name][0])))  # fmt: skip
        a, b = piece[widest]
        for half in ((a, (a + b) / 2), ((a + b) / 2, b)):
            heappush(waiting, (volume / 2, next(order), piece | {widest: half}))
    return not waiting, "" if not waiting else f"undecided for {where}"
