"""Rademacher complexities of finite classes, exactly: all samples, and all signs.

A class of M functions on a domain of N points is the table of its values, (M, N). A table of
Python's integers and Fractions (dtype object) is computed with exactly, as laws of Fractions are.
"""

from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from runproofs import _arguments as arguments
from runproofs.masks import all_signs

MOST_SAMPLES, MOST_CORRELATIONS = 2**20, 2**26


def all_samples(law: ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray]:
    """All samples of size n from a law on N points, and their probabilities.

    Parameters
    ----------
    law : (N,) array_like
        Probabilities of the points, which sum to one.
    n : int
        Size, at least 1, with ``N^n <= 2^20``.

    Returns
    -------
    samples : (N^n, n) ndarray
        Indices of points, the last one running fastest.
    probabilities : (N^n,) ndarray
        Probabilities of the samples, in Fractions if the law is.

    Notes
    -----
    Cost: ``O(n N^n)``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> samples, p = all_samples([Fraction(1, 3), Fraction(2, 3)], 2)
    >>> samples.tolist(), [str(x) for x in p]
    ([[0, 0], [0, 1], [1, 0], [1, 1]], ['1/9', '2/9', '2/9', '4/9'])
    """
    law, n = _numbers("law", law), arguments.positive_integer("n", n)
    exact = law.dtype == object
    rounding = 0 if exact else 1e-12
    if law.ndim != 1 or not law.size or min(law) < 0 or abs(law.sum() - 1) > rounding:
        raise ValueError(f"law must be a list of probabilities that sum to one, but it was {law}.")
    N = len(law)
    if N > 1 and (n > 20 or N**n > MOST_SAMPLES):
        raise ValueError(
            f"n must allow at most {MOST_SAMPLES} samples, but {N} points have {N}^{n}."
        )
    powers = N ** np.arange(n)[::-1]
    samples = np.arange(N**n)[:, None] // powers % N
    return samples, law[samples].prod(axis=1)


def empirical_complexity(values: ArrayLike) -> np.ndarray | Fraction | float:
    """Empirical complexity ``E_s max_f (1/n) sum_i s_i f(x_i)`` over all signs; no absolute value.

    Parameters
    ----------
    values : (..., M, n) array_like
        Values f(x_i), one function a row, n <= 20, with any leading batch axes; at most ``2^26``
        correlations in all, ``M 2^n`` a table.

    Returns
    -------
    (...) ndarray
        The complexity of each table, in Fractions for integers and Fractions of dtype object.

    Notes
    -----
    Cost: ``O(M n 2^n)`` a table.

    References
    ----------
    :claim:`thesis/rademacher-complexity`

    Examples
    --------
    >>> empirical_complexity([[1, 0], [0, 1]])  # two functions, two points
    np.float64(0.25)
    """
    values = _numbers("values", values)
    if values.ndim < 2 or 0 in values.shape:
        raise ValueError(
            "values must have one function in each row and one point in each column, "
            f"but its shape is {values.shape}."
        )
    *_, n = values.shape
    signs = all_signs(n).astype(values.dtype)
    arguments.at_most("values", values.size // n * 2**n, MOST_CORRELATIONS, "correlations")
    best = (values @ signs.T).max(axis=-2).sum(axis=-1)
    return best * Fraction(1, n * 2**n) if values.dtype == object else best / (n * 2**n)


def expected_complexity(table: ArrayLike, law: ArrayLike, n: int) -> float | Fraction:
    """Mean of the empirical complexity over all samples of size n.

    Parameters
    ----------
    table : (M, N) array_like
        Values of M functions at N points; at most ``2^26`` correlations, ``M 2^n`` per sample.
    law : (N,) array_like
        Probabilities of the points, which sum to one.
    n : int
        Size, at least 1, at most 20, with ``N^n <= 2^20``.

    Returns
    -------
    float or Fraction
        The complexity, a Fraction if table and law are exact.

    Notes
    -----
    Cost: ``O(M n (2N)^n)``.

    References
    ----------
    :claim:`thesis/rademacher-complexity`

    Examples
    --------
    >>> from fractions import Fraction
    >>> both = np.array([[0, 1], [1, 0], [0, 0], [1, 1]], dtype=object)
    >>> expected_complexity(both, [Fraction(1, 2)] * 2, 2)
    Fraction(3, 8)
    """
    table, (samples, p) = _numbers("table", table), all_samples(law, n)
    if table.ndim != 2 or table.shape[1] != len(law):
        raise ValueError(
            f"table must have {len(law)} columns, one for each point of the law, "
            f"but its shape is {table.shape}."
        )
    return p @ empirical_complexity(np.moveaxis(table[:, samples], 0, 1))


def all_functions(N: int, n: int) -> float:
    """R_n of all functions from N equally likely points to [0, 1], or to {0, 1}.

    ``N/(2n) E|Z|``, where Z sums the signs of one point.

    Parameters
    ----------
    N : int
        Number of points, at least 1.
    n : int
        Size of the samples, at least 1.

    Returns
    -------
    float
        The complexity.

    Notes
    -----
    Numbers of draws of a point that are 1e-20 times as likely as the likeliest one are left out.
    Cost: ``O(n)``.

    References
    ----------
    :claim:`thesis/rademacher-complexity`

    Examples
    --------
    >>> all_functions(2, 2)
    np.float64(0.375)
    """
    N, n = arguments.positive_integer("N", N), arguments.positive_integer("n", n)
    m = np.arange(1, n + 1)
    draws = binom.pmf(m, n, 1 / N)
    m, draws = m[draws > 1e-20 * draws.max()], draws[draws > 1e-20 * draws.max()]
    walk = m * binom.pmf((m - 1) // 2, m - 1, 0.5)  # E|s_1 + ... + s_m|
    return N / (2 * n) * draws @ walk


def _numbers(name, x):
    """x as a float64 array; as it is, if it holds Python's integers and Fractions."""
    x = arguments.array(name, x)
    if x.dtype == object and all(isinstance(entry, Rational) for entry in x.flat):
        return x
    return arguments.numbers(name, x)
