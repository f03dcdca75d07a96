"""Matrix sensing with dropout: objective, price of a matrix, and its cheapest factors.

A pair U (d2, d1), V (d0, d1) with columns u_k, v_k answers ``<U V^T, A> = sum_k u_k^T A v_k`` to a
measurement A (d2, d0). Dropout, of columns at the rate 1 - theta, adds
``lam = (1 - theta) / theta`` times the regularizer, which never contains lam::

    R(U, V) = E_A sum_k (u_k^T A v_k)^2.

Product weights p (d2,) and q (d0,): cell (i, j) is sampled with probability p_i q_j. Weights 1 are
the case ``E vec A vec A^T = I``, of Gaussian measurements. Of arrays of Fractions, objective and
regularizer are exact.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import nuclear_norm, weighted
from runproofs.linear import shallow
from runproofs.optimize import flatten, lbfgs, unflatten


def objective(
    U: ArrayLike,
    V: ArrayLike,
    A: ArrayLike,
    y: ArrayLike,
    lam: float | Fraction,
    weights: ArrayLike | None = None,
) -> np.ndarray | Fraction | float:
    """Mean of ``(y - <U V^T, A>)^2`` over the measurements, plus ``lam R(U, V)``.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Left factor, with any leading batch axes.
    V : (..., d0, d1) array_like
        Right factor.
    A : (n, d2, d0) array_like
        Measurements.
    y : (n,) array_like
        Answers.
    lam : float
        Strength of the penalty, at least 0; 0 gives the empirical risk.
    weights : (n,) array_like, optional
        Probabilities of the measurements, of sum 1; equal by default.

    Returns
    -------
    (...) ndarray
        The objective of each pair.

    Notes
    -----
    Cost: ``O(n d2 d0 d1)`` per pair.

    References
    ----------
    :claim:`thesis/equation-4.1`, :claim:`thesis/equation-4.2`, :claim:`thesis/proposition-3`

    Examples
    --------
    >>> float(objective([[1.0]], [[2.0]], [[[3.0]]], [4.0], 0.5))  # (4 - 6)^2 + 0.5 * 6^2
    22.0
    """
    terms, weights = _terms(U, V, A, weights)
    exact = terms.dtype == object
    y = arguments.vector("y", y, size=len(weights), exact=exact)
    lam = arguments.number("lam", lam, exact=exact, least=0)
    return ((y - terms.sum(-1)) ** 2 + weighted(lam, (terms * terms).sum(-1))) @ weights


def regularizer(
    U: ArrayLike, V: ArrayLike, A: ArrayLike, weights: ArrayLike | None = None
) -> np.ndarray | Fraction | float:
    """Regularizer of dropout, the mean over the measurements of ``sum_k (u_k^T A v_k)^2``.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Left factor, with any leading batch axes.
    V : (..., d0, d1) array_like
        Right factor.
    A : (n, d2, d0) array_like
        Measurements.
    weights : (n,) array_like, optional
        Probabilities of the measurements, of sum 1; equal by default.

    Returns
    -------
    (...) ndarray
        The regularizer of each pair.

    Notes
    -----
    Cost: ``O(n d2 d0 d1)`` per pair.

    References
    ----------
    :claim:`thesis/proposition-3`, for a sample; Section 4.2 of the thesis, for a law

    Examples
    --------
    >>> float(regularizer([[1.0, 1.0]], [[2.0, 3.0]], [[[1.0]], [[0.0]]]))  # (4 + 9) / 2
    6.5
    """
    terms, weights = _terms(U, V, A, weights)
    return (terms * terms).sum(-1) @ weights


def gradient(
    U: ArrayLike, V: ArrayLike, A: ArrayLike, y: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of `objective` for equally likely measurements.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor.
    V : (d0, d1) array_like
        Right factor.
    A : (n, d2, d0) array_like
        Measurements.
    y : (n,) array_like
        Answers.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    gU : (d2, d1) ndarray
        Gradient in U.
    gV : (d0, d1) ndarray
        Gradient in V.

    Notes
    -----
    Cost: ``O(n d2 d0 d1)``.

    References
    ----------
    :claim:`thesis/equation-4.2`
    """
    return _value_and_gradient(*_sensing_problem(U, V, A, y, lam))[1:]


def fit(
    U: ArrayLike, V: ArrayLike, A: ArrayLike, y: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """The pair where L-BFGS on `objective` ends, a critical point, for equally likely measurements.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor at the start.
    V : (d0, d1) array_like
        Right factor at the start.
    A : (n, d2, d0) array_like
        Measurements.
    y : (n,) array_like
        Answers.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (d2, d1) ndarray
        Left factor at the end.
    V : (d0, d1) ndarray
        Right factor at the end.

    Notes
    -----
    Cost: ``O(n d2 d0 d1)`` per iteration, from a hundred (lam = 0) to some thousands. The
    tolerances are absolute, for arguments of order 1.
    """
    U, V, A, y, lam = _sensing_problem(U, V, A, y, lam)

    def value_and_gradient(z):
        value, *slopes = _value_and_gradient(*unflatten(z, [U.shape, V.shape]), A, y, lam)
        return value, flatten(slopes)

    end, _ = lbfgs(value_and_gradient, flatten([U, V]))
    return tuple(unflatten(end, [U.shape, V.shape]))


def weighted_trace_norm(M: ArrayLike, p: ArrayLike, q: ArrayLike) -> np.ndarray | float:
    """Weighted trace norm, ``||diag(p)^{1/2} M diag(q)^{1/2}||_*``.

    Parameters
    ----------
    M : (..., d2, d0) array_like
        Matrix, with any leading batch axes.
    p : (d2,) array_like
        Weights of the rows, at least 0.
    q : (d0,) array_like
        Weights of the columns, at least 0.

    Returns
    -------
    (...) ndarray
        The norm of each matrix.

    Notes
    -----
    Cost: one SVD a matrix.

    References
    ----------
    :claim:`thesis/remark-matrix-completion`; Srebro and Salakhutdinov, "Collaborative Filtering in
    a Non-Uniform World: Learning with the Weighted Trace Norm", 2010

    Examples
    --------
    >>> float(round(weighted_trace_norm([[3, 0], [0, 5]], [1, 0.25], [1, 1]), 12))  # 3 + 5 / 2
    5.5
    """
    M = arguments.matrix("M", M, batched=True)
    roots = []
    for name, weights, size in (("p", p, M.shape[-2]), ("q", q, M.shape[-1])):
        roots.append(np.sqrt(arguments.vector(name, weights, size=size, least=0)))
    return nuclear_norm(roots[0][:, None] * M * roots[1])


def induced_regularizer(M: ArrayLike, p: ArrayLike, q: ArrayLike, d1: int) -> float:
    """The least R(U, V) among the pairs with ``U V^T = M`` and d1 columns, for product weights.

    Parameters
    ----------
    M : (d2, d0) array_like
        Product of the pairs, of rank at most d1.
    p : (d2,) array_like
        Weights of the rows, above 0.
    q : (d0,) array_like
        Weights of the columns, above 0.
    d1 : int
        Number of columns, at least 1.

    Returns
    -------
    float
        The squared weighted trace norm over d1.

    Notes
    -----
    Cost: two SVDs.

    References
    ----------
    :claim:`thesis/proposition-4`, with the condition on d1 that it needs

    Examples
    --------
    >>> float(round(induced_regularizer([[2, 0], [0, 1]], [1, 1], [1, 1], 3), 12))  # (2 + 1)^2 / 3
    3.0
    """
    M, p, q, d1 = _product_sampling(M, p, q, d1)
    return weighted_trace_norm(M, p, q) ** 2 / d1


def optimal_factors(
    M: ArrayLike, p: ArrayLike, q: ArrayLike, d1: int
) -> tuple[np.ndarray, np.ndarray]:
    """A pair with ``U V^T = M`` that attains `induced_regularizer`, by SVD of the weighted matrix.

    ``||diag(p)^{1/2} u_k|| ||diag(q)^{1/2} v_k||`` is the weighted trace norm over d1, for every k.

    Parameters
    ----------
    M : (d2, d0) array_like
        Product of the pair, of rank at most d1.
    p : (d2,) array_like
        Weights of the rows, above 0.
    q : (d0,) array_like
        Weights of the columns, above 0.
    d1 : int
        Number of columns, at least 1.

    Returns
    -------
    U : (d2, d1) ndarray
        Left factor.
    V : (d0, d1) ndarray
        Right factor.

    Notes
    -----
    Cost: two SVDs, and ``O((d2 + d0) d1^2)``.

    References
    ----------
    :claim:`thesis/proposition-4`

    Examples
    --------
    >>> U, V = optimal_factors([[2, 0], [0, 1]], [1, 1], [1, 1], 3)
    >>> ((U * U).sum(0) * (V * V).sum(0)).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    M, p, q, d1 = _product_sampling(M, p, q, d1)
    rows, columns = np.sqrt(p)[:, None], np.sqrt(q)[:, None]
    W, s, Yt = np.linalg.svd(rows * M * columns.T, full_matrices=False)
    U, V = shallow.equalized_factors(W[:, :d1], s[:d1], Yt[:d1].T, d1)
    return U / rows, V / columns


def _sensing_problem(U, V, A, y, lam):
    """The arguments of one pair, checked."""
    U, V = arguments.matrix("U", U), arguments.matrix("V", V)
    objective(U, V, A, y, lam)
    return U, V, *(np.asarray(x, dtype=np.float64) for x in (A, y)), float(lam)


def _value_and_gradient(U, V, A, y, lam):
    AV, n = A @ V, len(y)
    terms = (AV * U).sum(1)
    error = terms.sum(1) - y
    slopes = 2 / n * (error[:, None] + lam * terms)  # of the value, in each term
    value = (error @ error + lam * (terms * terms).sum()) / n
    gU = (AV * slopes[:, None]).sum(0)
    return value, gU, (A.mT @ U * slopes[:, None]).sum(0)


def _terms(U, V, A, weights):
    """u_k^T A v_k (..., n, d1), and the probabilities (n,)."""
    U, V = arguments.factors(U, V, exact=True)
    rows, columns = U.shape[-2], V.shape[-2]
    A = arguments.matrix("A", A, rows=rows, columns=columns, batched=True, exact=True)
    if A.ndim != 3:
        raise ValueError(f"A must be (n, d2, d0), but its shape is {A.shape}.")
    if weights is None:
        one = Fraction(1) if U.dtype == object else 1
        weights = np.full(len(A), one / len(A))
    weights = arguments.probabilities("weights", weights, len(A), exact=U.dtype == object)
    return (A @ V[..., None, :, :] * U[..., None, :, :]).sum(-2), weights


def _product_sampling(M, p, q, d1):
    M = arguments.matrix("M", M)
    rows, columns = M.shape
    p = arguments.vector("p", p, size=rows, above=0)  # with a zero there may be no cheapest pair
    q = arguments.vector("q", q, size=columns, above=0)
    d1 = arguments.positive_integer("d1", d1)
    rank = int(np.linalg.matrix_rank(M))
    if d1 < rank:
        raise ValueError(f"d1 must be at least the rank of M, {rank}, but it was {d1}.")
    return M, p, q, d1
