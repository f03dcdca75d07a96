"""Dropout whose rate grows with the size r of a factorization U V^T, and exact optimal values.

Keeping a column with probability theta_r = theta_1 / (r - (r - 1) theta_1) multiplies dropout's
penalty lam sum_i ||u_i||^2 ||v_i||^2 by lam_r = r lam_1, where lam = (1 - theta) / theta. Optima at
any rate are those of `shallow`; here are the same values in fractions, found without a formula.
"""

from fractions import Fraction
from itertools import combinations
from numbers import Rational

import numpy as np

from runproofs import _arguments as arguments


def keep_probability(theta_1, r):
    """theta_r = theta_1 / (r - (r - 1) theta_1), so that (1 - theta_r) / theta_r grows like r.

    theta_1: keep probability in (0, 1] of a single column. r: columns, at least 1. Returns a
    Fraction if theta_1 is one, else a float. Raises ValueError for bad arguments. Cost: O(1).
    Source: Cavazza et al. 2018; Vidal's slide "Dropout with Variable Rate Works".

    >>> from fractions import Fraction
    >>> [str(keep_probability(Fraction(2, 3), r)) for r in (1, 2, 4)]
    ['2/3', '1/2', '1/3']
    """
    theta_1 = arguments.keep_probability(theta_1, exact=True, name="theta_1")
    r = arguments.positive_integer("r", r)
    return theta_1 / (r - (r - 1) * theta_1)


def optimum_over_supports(sigma, r, lam):
    """The minimum of ||Y - U V^T||_F^2 + lam sum_i ||u_i||^2 ||v_i||^2 in fractions, by trying all.

    sigma: at most 12 integers or Fractions, at least 0, in any order, the singular values of Y.
    r: columns of U and V, at least 1. lam: an integer or a Fraction, at least 0. Returns the
    minimum and the singular values of the optimal products, non-increasing, as Fractions. Of each
    set of at most r indices it solves x_i + (lam / r) sum_j x_j = sigma_i and keeps the best x
    >= 0; so it knows no threshold, in contrast to `shallow.optimal_spectrum`. Raises ValueError for
    bad arguments. Cost: O(2^m m) for m singular values. Source: thesis, (2.16).

    >>> value, x = optimum_over_supports([3, 2, 1], r=2, lam=1)
    >>> str(value), [str(value) for value in x]
    ('29/4', ['7/4', '3/4', '0'])
    """
    if not np.iterable(sigma):
        raise ValueError(f"sigma must be a sequence of numbers, but it was {sigma!r}.")
    sigma = sorted((_exact("every entry of sigma", s) for s in sigma), reverse=True)
    r = arguments.positive_integer("r", r)
    mu = _exact("lam", lam) / r
    if not 1 <= len(sigma) <= 12:
        raise ValueError(f"sigma must have 1 to 12 entries, but it has {len(sigma)}.")
    total = sum(s * s for s in sigma)
    best = total, (Fraction(0),) * len(sigma)
    for size in range(1, min(r, len(sigma)) + 1):
        for kept in combinations(range(len(sigma)), size):
            level = mu * sum(sigma[i] for i in kept) / (1 + mu * size)  # mu times the sum of x
            x = [s - level if i in kept else Fraction(0) for i, s in enumerate(sigma)]
            if min(x) >= 0:
                value = sum((s - t) ** 2 for s, t in zip(sigma, x, strict=True))
                best = min(best, (value + mu * sum(x) ** 2, tuple(x)), key=lambda pair: pair[0])
    return best[0], list(best[1])


def _exact(name, x):
    """x as a Fraction that is at least 0; decimals are refused, since they only look exact."""
    if not isinstance(x, Rational) or isinstance(x, bool) or x < 0:
        raise ValueError(f"{name} must be an integer or a Fraction, at least 0, but it was {x!r}.")
    return Fraction(x)
