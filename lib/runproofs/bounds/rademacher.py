"""Rademacher complexities of finite classes, exactly: all samples, and all signs.

A class of M functions on a domain of N points is the table of its values, (M, N). A table of
Python's integers and Fractions (dtype object) is computed with exactly, as laws of Fractions are.
"""

from fractions import Fraction
from numbers import Rational

import numpy as np
from scipy.stats import binom

from runproofs import _arguments as arguments
from runproofs.masks import all_signs

MOST_SAMPLES, MOST_CORRELATIONS = 2**20, 2**26


def all_samples(law, n):
    """All samples of size n from a law on N points, and their probabilities.

    law: N probabilities, which sum to one. n: at least 1, with N^n at most 2^20. Returns indices
    of points (N^n, n), the last one running fastest, and probabilities (N^n,), in Fractions if the
    law is. Raises ValueError for bad arguments. Cost: O(n N^n).

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


def empirical_complexity(values):
    """E_s max_f (1/n) sum_i s_i f(x_i) over all 2^n signs s; no absolute value.

    values: f(x_i), one function a row, (..., M, n), n at most 20; leading axes are a batch. Returns
    their shape, (...): floats, or Fractions for a table of dtype object. Raises ValueError for bad
    arguments, and above 2^26 correlations in all, M 2^n a table. Cost: O(M n 2^n) a table. Source:
    thesis, Section 1.1.1.

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


def expected_complexity(table, law, n):
    """E_S of the empirical complexity over all samples S of size n.

    table: values of M functions at N points, (M, N). law, n: as in `all_samples`. Returns a float,
    or a Fraction if table and law are exact. Raises ValueError for bad arguments. Cost:
    O(M n (2N)^n). Source: thesis, Section 1.1.1.

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


def all_functions(N, n):
    """R_n of all functions from N equally likely points to [0, 1], or to {0, 1}.

    N, n: at least 1. Returns N/(2n) E|Z|, where Z sums the signs of one point; numbers of draws of
    that point that are 1e-20 times as likely as the likeliest one are left out. Raises ValueError
    for bad arguments. Cost: O(n).

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
