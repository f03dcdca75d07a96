"""Dropout whose rate grows with the size r of a factorization ``U V^T``, and exact optimal values.

Keeping a column with probability ``theta_r = theta_1 / (r - (r - 1) theta_1)`` multiplies dropout's
penalty ``lam sum_i ||u_i||^2 ||v_i||^2`` by r: ``lam_r = r lam_1``, where
``lam = (1 - theta) / theta``. Optima at any rate are those of the module `shallow`; here are the
same values in fractions, found without a formula.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from runproofs import _arguments as arguments


def optimum_over_supports(
    sigma: Sequence[int | Fraction], r: int, lam: int | Fraction
) -> tuple[Fraction, list[Fraction]]:
    """The minimum of the untied dropout objective in fractions, by trying all supports.

    Of each set of at most r indices it solves ``x_i + (lam / r) sum_j x_j = sigma_i`` and keeps the
    best x >= 0; so it knows no threshold.

    Parameters
    ----------
    sigma : (m,) sequence of int or Fraction
        Singular values of the matrix to approximate, at most 12, at least 0, in any order.
    r : int
        Number of columns of the factors, at least 1.
    lam : int or Fraction
        Strength of the penalty, at least 0.

    Returns
    -------
    value : Fraction
        The minimum.
    x : list of Fraction
        Singular values of the optimal products, nonincreasing.

    See Also
    --------
    runproofs.linear.shallow.optimal_spectrum : The closed form.

    Notes
    -----
    Cost: ``O(2^m m)``.

    References
    ----------
    :claim:`thesis/equation-2.16`

    Examples
    --------
    >>> value, x = optimum_over_supports([3, 2, 1], r=2, lam=1)
    >>> str(value), [str(value) for value in x]
    ('29/4', ['7/4', '3/4', '0'])
    """
    if not np.iterable(sigma):
        raise ValueError(f"sigma must be a sequence of numbers, but it was {sigma!r}.")
    sigma = sorted((arguments.rational("every entry of sigma", s) for s in sigma), reverse=True)
    r = arguments.positive_integer("r", r)
    mu = arguments.rational("lam", lam) / r
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
