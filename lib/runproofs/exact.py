"""What is decided without rounding: definiteness, identities, bounds on whole intervals.

Numbers are Python's integers and Fractions; SymPy and mpmath are loaded where they are needed.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from numbers import Rational

import numpy as np

BITS = 40  # of the entries of a random point
LARGEST_ERROR = 1e-10  # that an identity at random points may have


# Matrices ----------------------------------------------------------------------------------------


def rational(name: str, X) -> np.ndarray:
    """X as an array of Fractions. Raises TypeError if an entry is no integer and no fraction."""
    X = np.asarray(X, dtype=object)
    for entry in X.flat:
        if not isinstance(entry, Rational):
            raise TypeError(f"{name} must have integers or Fractions, but it has {entry}.")
    exact = [Fraction(int(x.numerator), int(x.denominator)) for x in X.flat]  # and not NumPy's
    return np.array(exact, dtype=object).reshape(X.shape)


def ldl(A) -> tuple[np.ndarray, np.ndarray] | None:
    """L, unit lower triangular, and d with A = L diag(d) L^T; None where there are none.

    A: symmetric, (n, n), of integers and Fractions. Where A is positive semidefinite there are
    some, and no entry of d is negative; there are none if a pivot is zero and its column is not.
    Raises TypeError for floats, ValueError if A is not symmetric. Cost: O(n^3) of Fractions.

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


def is_positive_semidefinite(A) -> bool:
    """Whether a symmetric matrix of integers and Fractions is, decided by its pivots.

    Errors and cost: as of `ldl`.

    >>> is_positive_semidefinite([[2, -2], [-2, 2]]), is_positive_semidefinite([[0, 1], [1, 0]])
    (True, False)
    """
    factors = ldl(A)
    return factors is not None and bool((factors[1] >= 0).all())


# Identities --------------------------------------------------------------------------------------


def vanishes(expression) -> bool:
    """Whether SymPy reduces an expression to 0, and so for all values of its symbols.

    False where it is not zero, and where SymPy cannot tell.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> vanishes((x + 1) ** 2 - x**2 - 2 * x - 1), vanishes(sympy.sin(x) ** 2 - 1)
    (True, False)
    """
    import sympy

    ways = (sympy.expand, lambda e: sympy.cancel(sympy.together(e)), sympy.simplify)
    return any(way(expression) == 0 for way in ways)


def is_positive(expression, least=None, most=None) -> bool:
    """Whether an expression of SymPy in one symbol is positive from least to most, ends included.

    expression: a quotient of polynomials with rational coefficients. least, most: rational, or
    None for no end. Decided by Sturm's count of the roots. Raises TypeError for another expression.

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


def random_point(shapes: dict[str, tuple], rng) -> dict:
    """Fractions for each name: of an array in [-1, 1), of a number, whose shape is (), in (0, 1].

    Each is uniform on 2^40 multiples of 2^-39, or 2^-40.
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
    """How many random points make the error of an identity at most 1e-10, and that error.

    A polynomial of this degree that is not zero vanishes at one of them with probability at most
    degree / 2^40 (Schwartz, Zippel).

    >>> points_needed(16)
    (1, 1.4551915228366852e-11)
    """
    if not (isinstance(degree, int) and 1 <= degree < 2**20):
        raise ValueError(f"degree must be an integer from 1 to 2^20, but it was {degree!r}.")
    points = math.ceil(math.log(LARGEST_ERROR) / math.log(degree / 2**BITS))
    return points, (degree / 2**BITS) ** points


# Intervals ---------------------------------------------------------------------------------------


def ball(least, most):
    """An interval of mpmath that contains [least, most], of integers and Fractions."""
    from mpmath import iv

    ends = [iv.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (least, most)]
    return iv.mpf([ends[0].a, ends[1].b])


def enclosed(f: Callable, least, most, box: dict[str, tuple], pieces: int) -> tuple[bool, str]:
    """Whether least <= f <= most on a whole box, by interval arithmetic on ever smaller pieces.

    f: takes intervals of mpmath by name and returns one. least, most: rational, or None where
    there is no bound. box: the two ends for each name, rational. Returns also in words where it
    fails, or is not decided after so many pieces. Raises TypeError if f returns something else.
    Cost: one call of f a piece.

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
