"""Dropout masks and vectors of signs, all of them, and exact expectations over masks."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from runproofs import _arguments as arguments


def all_masks(r: int, *, keep: float | Fraction) -> tuple[np.ndarray, np.ndarray]:
    """All masks of r units and their probabilities.

    Parameters
    ----------
    r : int
        Number of units, 1 to 20.
    keep : float or Fraction
        Probability of keeping a unit, in (0, 1].

    Returns
    -------
    masks : (2^r, r) ndarray
        Zeros and ones, in the order of the binary numbers with unit 0 as the last digit.
    probabilities : (2^r,) ndarray
        Their probabilities. Both are float64 or, for a Fraction keep, Python's integers and
        Fractions, which are exact.

    Notes
    -----
    Cost: ``O(r 2^r)``.

    Examples
    --------
    >>> b, p = all_masks(2, keep=Fraction(2, 3))
    >>> b.tolist(), [str(x) for x in p]
    ([[0, 0], [1, 0], [0, 1], [1, 1]], ['1/9', '2/9', '2/9', '4/9'])
    """
    r = arguments.positive_integer("r", r, most=20, why=", to list all 2^r masks")
    keep = arguments.keep_probability(keep, exact=True)
    number = object if isinstance(keep, Fraction) else float
    b = np.arange(2**r)[:, None] >> np.arange(r) & 1
    law = np.array([keep**k * (1 - keep) ** (r - k) for k in range(r + 1)], dtype=number)
    return b.astype(number), law[b.sum(axis=1)]


def all_signs(n: int) -> np.ndarray:
    """All ``2^n`` vectors of n signs.

    Parameters
    ----------
    n : int
        Number of signs, 1 to 20.

    Returns
    -------
    (2^n, n) ndarray of int
        In the order of `all_masks`, with -1 for its 0.

    Notes
    -----
    Cost: ``O(n 2^n)``.

    Examples
    --------
    >>> all_signs(2).tolist()
    [[-1, -1], [1, -1], [-1, 1], [1, 1]]
    """
    n = arguments.positive_integer("n", n, most=20, why=", to list all 2^n sign vectors")
    return 2 * all_masks(n, keep=0.5)[0].astype(int) - 1


def expectation(f: Callable, r: int, *, keep: float | Fraction) -> float | np.ndarray:
    """Exact expectation of f(b) over the masks b of r units.

    Parameters
    ----------
    f : callable
        Takes one mask (r,); returns a number or an array, of the same shape for all masks.
    r : int
        Number of units, 1 to 20.
    keep : float or Fraction
        Probability of keeping a unit, in (0, 1].

    Returns
    -------
    scalar or ndarray
        Of the shape of f(b). Fractions if keep is one and f computes with integers and Fractions.

    Notes
    -----
    Cost: ``2^r`` calls of f.

    Examples
    --------
    >>> expectation(lambda b: b.sum() ** 2, 3, keep=Fraction(1, 3))
    Fraction(5, 3)
    """
    b, probabilities = all_masks(r, keep=keep)
    return np.tensordot(probabilities, np.array([f(mask) for mask in b]), axes=1)[()]
