"""The bounds of Chapter 4 on the capacity of the class that dropout chooses, as numbers.

A network with one output has ``sum_j |u_j| a(v_j) <= alpha``, where
``a(v)^2 = E max(v^T x, 0)^2``; in the class H_r of Theorem 13, alpha is ``sqrt(d_1 r)``. The law of
the inputs has second moment C, and beta is its retentiveness; norm is ``||X||_{C^dagger}`` from
`mahalanobis_norm`. All functions but that broadcast.
"""

from math import e, sqrt

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments

SHARPER = (1 + sqrt(2)) / 2  # for the 2 of Theorem 12; beyond the thesis, Theorem 4.F
WEIGHTED_TRACE = sqrt(4 * (e + 1))  # K of Theorem 11; beyond the thesis, Proposition 4.A


def mahalanobis_norm(X: ArrayLike, C: ArrayLike) -> np.ndarray | float:
    """Norm of a sample, ``||X||_{C^dagger} = (sum_i x_i^T C^dagger x_i)^{1/2}``.

    Parameters
    ----------
    X : (..., n, d) array_like
        Inputs x_i of a sample, one a row, with any leading batch axes.
    C : (d, d) array_like
        Second moment of the inputs, symmetric positive semidefinite.

    Returns
    -------
    (...) ndarray
        The norm of each sample.

    Raises
    ------
    ValueError
        If a point is outside the range of C, where no bound holds; directions in which C is below
        1e-12 of its largest eigenvalue are outside.

    Notes
    -----
    Cost: ``O(d^3)``, and ``O(n d^2)`` per sample.

    References
    ----------
    :claim:`thesis/remark-mahalanobis-scaling`

    Examples
    --------
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


def theorem_12(
    alpha: ArrayLike, beta: ArrayLike, n: ArrayLike, norm: ArrayLike, constant: ArrayLike = 2
) -> float | np.ndarray:
    """Upper bound on the complexity on a sample, ``constant alpha norm / (n sqrt(beta))``.

    Parameters
    ----------
    alpha : float or array_like
        Size of the class, at least 0.
    beta : float or array_like
        Retentiveness, in (0, 1/2].
    n : float or array_like
        Size of the sample, larger than 0.
    norm : float or array_like
        Norm of the sample, at least 0.
    constant : float or array_like, optional
        Larger than 0; 2, as printed, by default. SHARPER is proved, too.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/theorem-12`, :claim:`beyond/theorem-12-constant`

    Examples
    --------
    >>> float(theorem_12(3, 0.25, 10, 5))
    6.0
    """
    beta = arguments.numbers("beta", beta, above=0, most=0.5)
    return _per_point(alpha, n, norm, constant) / np.sqrt(beta)


def theorem_12_expected(
    alpha: ArrayLike, beta: ArrayLike, n: ArrayLike, rank: ArrayLike, constant: ArrayLike = 2
) -> float | np.ndarray:
    """Upper bound on the mean complexity on samples of one size.

    ``constant alpha sqrt(rank / (beta n))``.

    Parameters
    ----------
    alpha : float or array_like
        Size of the class, at least 0.
    beta : float or array_like
        Retentiveness, in (0, 1/2].
    n : float or array_like
        Size of the sample, larger than 0.
    rank : float or array_like
        Rank of C, at least 0.
    constant : float or array_like, optional
        Larger than 0; 2, as printed, by default. SHARPER is proved, too.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/theorem-12`, :claim:`beyond/theorem-12-constant`
    """
    n, rank = arguments.numbers("n", n, above=0), arguments.numbers("rank", rank, least=0)
    return theorem_12(alpha, beta, n, np.sqrt(n * rank), constant)


def theorem_13(
    alpha: ArrayLike, n: ArrayLike, norm: ArrayLike, constant: ArrayLike = 0.5
) -> float | np.ndarray:
    """Lower bound on the complexity on a sample, ``constant alpha norm / n``.

    Parameters
    ----------
    alpha : float or array_like
        Size of the class, at least 0.
    n : float or array_like
        Size of the sample, larger than 0.
    norm : float or array_like
        Norm of the sample, at least 0.
    constant : float or array_like, optional
        Larger than 0; by default 1/2, which the thesis leaves open.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/theorem-13`, :claim:`beyond/theorem-13-constant`
    """
    return _per_point(alpha, n, norm, constant)


def _per_point(alpha, n, norm, constant):
    alpha = arguments.numbers("alpha", alpha, least=0)
    norm = arguments.numbers("norm", norm, least=0)
    constant = arguments.numbers("constant", constant, above=0)
    return constant * alpha * norm / arguments.numbers("n", n, above=0)
