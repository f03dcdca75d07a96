"""The bounds of Chapter 4 on dropout as numbers: capacity of the class, and risk of a solution.

A network with one output has sum_j |u_j| a(v_j) <= alpha, where a(v)^2 = E max(v^T x, 0)^2; in the
class H_r of Theorem 13, alpha is sqrt(d_1 r). The law of the inputs has second moment C, and
`beta` is its retentiveness; `norm` is ||X||_{C^dagger} from `mahalanobis_norm`. `constant` is the
number in front, as printed unless another is given. All functions but the first broadcast.
"""

from math import e, sqrt

import numpy as np

from runproofs import _arguments as arguments

SHARPER = (1 + sqrt(2)) / 2  # for the 2 of Theorem 12; beyond the thesis, Theorem 4.F
WEIGHTED_TRACE = sqrt(4 * (e + 1))  # K of Theorem 11; beyond the thesis, Proposition 4.A


def mahalanobis_norm(X, C):
    """||X||_{C^dagger}, the root of sum_i x_i^T C^dagger x_i.

    X: (..., n, d), the inputs of a sample, any batch axes. C: (d, d), symmetric positive
    semidefinite. Returns the batch shape, a scalar for one sample. Raises ValueError for bad
    arguments, and for a point outside the range of C, where no bound holds; directions in which C
    is below 1e-12 of its largest eigenvalue are outside. Cost: O(d^3), and O(nd^2) a sample.
    Source: thesis, Section 4.3.

    >>> float(mahalanobis_norm([[3, 0], [4, 0]], [[4, 0], [0, 0]]))
    2.5
    """
    X = arguments.matrix("X", X, batched=True)
    values, W = arguments.eigh_semidefinite("C", C, size=X.shape[-1])
    inside = values > 1e-12 * values[-1]
    along, length = X @ W, np.linalg.norm(X, axis=-1)
    if (np.linalg.norm(along[..., ~inside], axis=-1) > 1e-8 * length).any():
        raise ValueError("X must have its points in the range of C, but one lies outside.")
    return np.linalg.norm(along[..., inside] / np.sqrt(values[inside]), axis=(-2, -1))


def theorem_12(alpha, beta, n, norm, constant=2):
    """constant alpha norm / (n sqrt(beta)), at least the complexity of the class on the sample.

    alpha, norm: at least 0. n, constant: larger than 0. beta: in (0, 1/2]. constant: 2 as printed,
    or SHARPER. Raises ValueError for bad arguments.

    >>> float(theorem_12(3, 0.25, 10, 5))
    6.0
    """
    return _per_point(alpha, n, norm, constant) / np.sqrt(_beta(beta))


def theorem_12_expected(alpha, beta, n, rank, constant=2):
    """constant alpha sqrt(rank / (beta n)), at least the mean complexity on samples of size n.

    rank: of C, at least 0. The others, and errors, as in `theorem_12`.
    """
    n, rank = arguments.above_zero("n", n), arguments.at_least_zero("rank", rank)
    return theorem_12(alpha, beta, n, np.sqrt(n * rank), constant)


def theorem_13(alpha, n, norm, constant=0.5):
    """constant alpha norm / n, at most the complexity of the class on the sample.

    constant: 1/2, beyond the thesis (Proposition 4.G; the thesis leaves it open).
    Arguments and errors as in `theorem_12`.
    """
    return _per_point(alpha, n, norm, constant)


def corollary_2(alpha, beta, n, norm, delta, constant=16):
    """constant alpha norm / (n sqrt(beta)) + 12 sqrt(log(2 / delta) / 2n), at least the true risk
    less the empirical one, for all clipped networks of the class at once, with probability
    1 - delta.

    delta: in (0, 1). constant: 16 as printed, or 8 SHARPER = 9.66. The others, and errors, as in
    `theorem_12`.
    """
    return theorem_12(alpha, beta, n, norm, constant) + 12 * _chance(delta, n)


def corollary_3(alpha, n, norm, delta, constant=46):
    """constant alpha norm / n + 24 sqrt(log(2 / delta) / 2n), at least the true risk less twice
    the empirical one on the symmetrized sample, with probability 1 - delta; for every law.

    constant: 46 as printed, or 16 sqrt(2) SHARPER = 27.31. The others, and errors, as in
    `corollary_2`.
    """
    return _per_point(alpha, n, norm, constant) + 24 * _chance(delta, n)


def theorem_11(alpha, d2, n, delta, K=WEIGHTED_TRACE):
    """8 sqrt((2 K^2 alpha d2 log(d2) + log(2 / delta) / 4) / n), the excess in matrix completion.

    alpha: at least d_1 R(U, V). d2: the larger number of rows or columns, at least 2. K: 1 as
    printed; sqrt(4 (e + 1)) is proved. The others, and errors, as in `corollary_2`.

    >>> round(float(theorem_11(0, 2, 100, 0.05)), 5)
    0.76826
    """
    alpha, K = arguments.at_least_zero("alpha", alpha), arguments.above_zero("K", K)
    d2 = arguments.above_zero("d2", d2)
    if d2.size and d2.min() < 2:
        raise ValueError(f"d2 must be at least 2, but it was {d2.min()}.")
    complexity = 2 * K**2 * alpha * d2 * np.log(d2) / arguments.above_zero("n", n)
    return 8 * np.sqrt(complexity + _chance(delta, n) ** 2 / 2)


def _per_point(alpha, n, norm, constant):
    alpha, norm = arguments.at_least_zero("alpha", alpha), arguments.at_least_zero("norm", norm)
    constant = arguments.above_zero("constant", constant)
    return constant * alpha * norm / arguments.above_zero("n", n)


def _beta(beta):
    beta = arguments.above_zero("beta", beta)
    if beta.size and beta.max() > 0.5:
        raise ValueError(f"beta must be at most 1/2, but it was {beta.max()}.")
    return beta


def _chance(delta, n):
    """sqrt(log(2 / delta) / 2n)."""
    delta, n = arguments.above_zero("delta", delta), arguments.above_zero("n", n)
    if delta.size and delta.max() >= 1:
        raise ValueError(f"delta must be smaller than 1, but it was {delta.max()}.")
    return np.sqrt(np.log(2 / delta) / (2 * n))
