"""Dropout in shallow linear networks: objectives, gradients and closed-form global minima.

The untied problem, (2.6) of the thesis, and the tied one, (2.4), which is its restriction to V = U:

    F(U, V) = ||M - U V^T||_F^2 + lam sum_i ||u_i||^2 ||v_i||^2,    f(U) = F(U, U),

with M (d2, d0), U (d2, r), V (d0, r), columns u_i and v_i, and lam = (1 - theta) / theta.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from runproofs import _arguments as arguments
from runproofs.linalg import _symmetric_part, column_norms, shrink, weighted
from runproofs.linear.equalize import equalizer, importance_scores
from runproofs.masks import all_masks

# ---------------------------------------------------------------- objective, gradient, path norm


def objective(U, V, M, lam, C=None):
    """Dropout objective F(U, V), or that for inputs with second moment C.

    U: (..., d2, r), V: (..., d0, r), any leading batch axes. M: (d2, d0). lam: at least 0.
    C: None for the identity, or symmetric positive semidefinite (d0, d0). Returns the batch shape:
    ||(M - U V^T) C^{1/2}||_F^2 + lam sum_i ||u_i||^2 v_i^T C v_i.
    Raises ValueError for bad arguments; of a C that is not positive semidefinite if any of the
    squares that it should give is negative, since to look further would cost O(d0^3).
    Cost: O(d2 d0 r) a pair, O((d2 + r) d0^2) more with C.
    Source: thesis, (2.2), Problem (2.6), Lemma 2.

    >>> float(objective([[1.0]], [[2.0]], [[3.0]], 0.5))  # (3 - 2)^2 + 0.5 * 1 * 4
    3.0
    """
    U, V, M, lam = _problem(U, V, M, lam)
    C = None if C is None else arguments.symmetric("C", C, size=M.shape[1])
    return closed_form_objective(U, V, M, lam, C)


def closed_form_objective(U, V, M, lam, C=None):
    """`objective` without the checks, for loops: float64 arrays of the right shapes only."""
    return _squared_lengths(M - U @ V.mT, C).sum(-1) + _regularizer(U, V, lam, C)


def objective_by_enumeration(U, V, X, Y, theta):
    """Expected dropout loss E ||y - (1/theta) U diag(b) V^T x||^2, over all masks and samples.

    U: (d2, r), V: (d0, r), r at most 20. X: (n, d0), Y: (n, d2), equally likely pairs (x, y).
    theta: in (0, 1]. Returns a number. Raises ValueError for bad arguments.
    Cost: O(2^r n r d2), and the memory of all masks. Source: thesis, (2.1).
    """
    U, V = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
    X = arguments.matrix("X", X, columns=len(V))
    Y = arguments.matrix("Y", Y, rows=len(X), columns=len(U))
    theta = arguments.keep_probability(theta)
    b, probabilities = all_masks(U.shape[1], theta)
    hidden = X @ V / theta
    chunk = max(1, 2**16 // hidden.size)  # masks at once, so that a product stays in the cache
    total = 0.0
    for start in range(0, len(b), chunk):
        masked = b[start : start + chunk, None] * hidden
        error = Y - (masked.reshape(-1, U.shape[1]) @ U.T).reshape(-1, *Y.shape)
        total += probabilities[start : start + chunk] @ (error * error).sum((1, 2))
    return float(total / len(X))


def regularizer(U, V, lam, C=None):
    """Explicit regularizer of dropout, lam sum_i ||u_i||^2 v_i^T C v_i.

    Arguments and errors as in `objective`. Returns the batch shape.
    Cost: O((d2 + d0) r) a pair, O(d0^2 r) more with C. Source: thesis, (2.2) and Lemma 2.

    >>> float(regularizer([[1, 2]], [[3, 4]], 0.5))  # 0.5 * (1 * 9 + 4 * 16)
    36.5
    """
    U, V = arguments.factors(U, V)
    C = None if C is None else arguments.symmetric("C", C, size=V.shape[-2])
    return _regularizer(U, V, arguments.number("lam", lam, least=0), C)


def path_norm(U, V):
    """l2 path norm psi_2 = (sum_i ||u_i||^2 ||v_i||^2)^{1/2}: root of the sum over paths of w^2.

    U: (..., d2, r), V: (..., d0, r), of any scale. Returns the batch shape. Raises ValueError for
    bad arguments. Cost: O((d2 + d0) r) a pair. Source: thesis, (2.3).

    >>> float(path_norm([[3e200, 4e-200]], [[1e-200, 1e200]]))
    5.0
    """
    return column_norms(importance_scores(U, V)[..., None])[..., 0]


def gradient(U, V, M, lam):
    """Gradient of the untied objective F.

    Arguments as in `objective`. Returns (gU, gV), shaped like U and V.
    Raises ValueError for bad arguments. Cost: O(d2 d0 r) a pair.
    """
    return value_and_gradient(*_problem(U, V, M, lam))[1:]


def value_and_gradient(U, V, M, lam):
    """F, gU and gV at once and without the checks, for loops: float64 arrays (..., d, r) only.

    Cost: O(d2 d0 r) a pair, three products.
    """
    residual = M - U @ V.mT
    u, v = ((X * X).sum(-2, keepdims=True) for X in (U, V))
    value = (residual * residual).sum((-2, -1)) + lam * (u * v).sum((-2, -1))
    return value, 2 * (lam * U * v - residual @ V), 2 * (lam * V * u - residual.mT @ U)


def tied_objective(U, M, lam):
    """Tied dropout objective f(U) = ||M - U U^T||_F^2 + lam sum_i ||u_i||^4.

    U: (..., d, r). M: (d, d), not necessarily symmetric. lam: at least 0. Returns the batch shape.
    Raises ValueError for bad arguments. Cost: O(d^2 r) a matrix. Source: thesis, Problem (2.4).
    """
    return objective(U, U, arguments.matrix("M", M, square=True), lam)


def tied_gradient(U, M, lam):
    """Gradient of the tied objective, shaped like U; M enters through its symmetric part.

    Arguments as in `tied_objective`. Raises ValueError for bad arguments. Cost: O(d^2 r) a matrix.
    Source: thesis, Section 2.5.3 (printed there for symmetric M).
    """
    return 2 * gradient(U, U, _symmetric_part(M), lam)[0]


def balance(U, V):
    """Rescale the columns, (U D, V D^{-1}) with D > 0 diagonal, so that all ||u_i|| = ||v_i||.

    U: (..., d2, r), V: (..., d0, r), of any scale. Returns the new pair: product, regularizer and
    objective stay. Of a column that is zero in one factor only, the other half is scaled to
    length 1. Raises ValueError for bad arguments. Cost: O((d2 + d0) r). Source: thesis, Remark 2.
    """
    U, V = arguments.factors(U, V)
    u, v = (column_norms(X)[..., None, :] for X in (U, V))
    # every column gets the length that the square root of its score ||u_i|| ||v_i|| gives
    length = np.where((u > 0) & (v > 0), np.sqrt(u) * np.sqrt(v), 1)
    return tuple(X / np.where(x > 0, x, 1) * length for X, x in ((U, u), (V, v)))


# ---------------------------------------------------------------------- closed-form global minima


class OptimalSpectrum(NamedTuple):
    """Optimal singular values of U V^T; see `optimal_spectrum`."""

    rank: int
    kappa: np.ndarray
    threshold: float
    spectrum: np.ndarray
    value: float


def optimal_spectrum(sigma, r, lam):
    """Singular values of the global minimizers' product, and the minimum of Problem (2.6).

    sigma: (m,) singular values of M, at least 0, in any order. r: hidden units, at least 1.
    lam: at least 0. Returns an OptimalSpectrum of
      rank       rho, the number of units of rank that the minimizers keep,
      kappa      (m,) running means of the sorted sigma,
      threshold  alpha = lam rho kappa_rho / (r + lam rho), in the units of sigma,
      spectrum   (m,) singular values of the optimal product, non-increasing,
      value      the minimum, lam (rho kappa_rho)^2 / (r + lam rho) + sum_{i > rho} sigma_i^2.
    Raises ValueError for bad arguments. Cost: O(m log m), the sorting. Source: thesis, Theorems 3
    and 6, in a form without cancellation: every lam gives its rank, and a spectrum right to the
    last digits.

    >>> optimum = optimal_spectrum([3, 2], r=1, lam=1)
    >>> optimum.rank, optimum.threshold, optimum.spectrum.tolist(), optimum.value
    (1, 1.5, [1.5, 0.0], 8.5)
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    sigma = np.sort(arguments.vector("sigma", sigma, least=0))[::-1]
    kappa = np.cumsum(sigma) / np.arange(1, sigma.size + 1)
    kept, threshold = _positive_part(sigma[:r], lam / r)
    rank = kept.size
    spectrum = np.append(kept, np.zeros(sigma.size - rank))
    value = threshold * sigma[:rank].sum() + (sigma[rank:] ** 2).sum()
    return OptimalSpectrum(rank, kappa, threshold, spectrum, float(value))


def _positive_part(sigma, mu):
    """The positive x = sigma - alpha with alpha = mu sum(x), and alpha.

    sigma: (m,), at least 0, non-increasing. mu: lam / r. Returns x, shorter than sigma where others
    are 0, and alpha. Nothing is checked. Cost: O(m). Source: thesis, (2.13) and (2.19), where
    sigma_j > lam j kappa_j / (r + lam j) means sigma_j > mu sum_{i < j} (sigma_i - sigma_j), which
    holds on a prefix and has no difference of large numbers that nearly agree.
    """
    gaps = np.append(0.0, np.cumsum(np.arange(1, sigma.size) * (sigma[:-1] - sigma[1:])))
    with np.errstate(over="ignore"):  # infinity is no less than any sigma
        rank = int(np.count_nonzero(sigma > mu * gaps))
    if rank == 0:
        return sigma[:0], 0.0
    last = sigma[rank - 1]
    x = (last - mu * gaps[rank - 1]) / (1 + mu * rank) + (sigma[:rank] - last)
    return x, float(mu / (1 + mu * rank) * sigma[:rank].sum())


def spectrum_by_nnls(sigma, r, lam):
    """The same singular values and minimum by a standard solver, which knows no threshold.

    Minimizes sum_{i <= r} (sigma_i - x_i)^2 + (lam / r) (sum_i x_i)^2 over x >= 0: non-negative
    least squares with one row more. Arguments as in `optimal_spectrum`; the sigma are sorted first.
    Returns x (m,), zero beyond r, and the minimum, to which sum_{i > r} sigma_i^2 is added.
    Raises ValueError for bad arguments. Cost: about O(m^3). Source: thesis, (2.13) and (2.16).
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    sigma = np.sort(arguments.vector("sigma", sigma, least=0))[::-1]
    k = min(r, sigma.size)
    rows = np.vstack([np.eye(k), np.full(k, np.sqrt(lam / r))])
    x, residual = nnls(rows, np.append(sigma[:k], 0))
    return np.append(x, np.zeros(sigma.size - k)), residual**2 + (sigma[k:] ** 2).sum()


def optimal_product(M, r, lam):
    """Product U V^T of the global minimizers of Problem (2.6): S_alpha(M_r).

    M: (d2, d0). r: at least 1. lam: at least 0. Returns (d2, d0), unique up to the choice of the
    best rank-r approximation M_r. Raises ValueError for bad arguments. Cost: one SVD.
    Source: thesis, Theorem 6, with the truncation to rank r that its proof needs.
    """
    W, x, Y = _optimal_triple(M, r, lam)
    return (W * x) @ Y.T


def optimal_factors(M, r, lam):
    """A global minimum (U, V) of Problem (2.6), equalized, by one SVD and one rotation.

    M: (d2, d0). r: at least 1, above or below any dimension. lam: at least 0.
    Returns U (d2, r), V (d0, r) with ||u_i||^2 = ||v_i||^2 = ||U V^T||_* / r for every i.
    Raises ValueError for bad arguments. Cost: one SVD and O((d2 + d0) r^2).
    Source: thesis, Algorithm 3, with r as an input, r + lam j in its rules, truncation to rank r
    and padding to r columns.
    """
    return equalized_factors(*_optimal_triple(M, r, lam), r)


def optimal_autoencoder(M, r, lam):
    """A global minimum U of the tied Problem (2.4), equalized, for any square M.

    M: (d, d); only the positive part of its symmetric part matters. r: at least 1. lam: at least 0.
    Returns U (d, r). Raises ValueError for bad arguments.
    Cost: one eigendecomposition and O(d r^2).
    Source: thesis, Theorem 3, with the truncation to rank r.
    """
    mu, W = np.linalg.eigh(_symmetric_part(M))
    mu, W = mu[::-1], W[:, ::-1]
    optimum = optimal_spectrum(np.maximum(mu, 0), r, lam)
    W = W[:, : optimum.rank]
    return equalized_factors(W, optimum.spectrum[: optimum.rank], W, r)[0]


def equalized_factors(W, x, Y, r):
    """Factors of W diag(x) Y^T with exactly r columns, all of the same norm in both.

    W: (d2, k) and Y: (d0, k) with orthonormal columns. x: (k,), at least 0, k <= r. r: at least 1.
    Returns U (d2, r), V (d0, r) with U V^T = W diag(x) Y^T and ||u_i||^2 = ||v_i||^2 = sum(x) / r.
    Nothing is checked. Cost: O((d2 + d0) r^2).
    Source: thesis, Theorem 4; zero columns up to r before the rotation are what its proof needs.
    """
    U, V = np.zeros((len(W), r)), np.zeros((len(Y), r))
    root = np.sqrt(x, dtype=float)  # of small integers NumPy has it in half precision
    U[:, : len(x)], V[:, : len(x)] = W * root, Y * root
    Q = equalizer(U)  # U^T U = V^T V, so that one rotation serves both
    return U @ Q, V @ Q


# -------------------------------------------------------------- as printed, to show the difference


def optimal_product_as_printed(M, r, lam):
    """S_alpha(M) as Theorems 3 and 6 of the thesis print it: without truncation to rank r.

    Arguments, errors and cost as `optimal_product`. Returns (d2, d0), which has rank above r, and
    so is no product of factors with r columns, when rho = r and sigma_{r+1} > alpha.
    """
    M = arguments.matrix("M", M)
    sigma = np.linalg.svd(M, compute_uv=False)
    return shrink(M, optimal_spectrum(sigma, r, lam).threshold)


def factorize_as_printed(M, lam):
    """Algorithm 3 as the thesis prints it: r := rank(M), and 1 + lam j for r + lam j.

    M: (d2, d0), not zero. lam: at least 0. Returns (U, V) with rho columns each, those of a compact
    SVD. Raises ValueError for bad arguments. Cost: as `optimal_factors`.
    """
    M = arguments.matrix("M", M)
    lam = arguments.number("lam", lam, least=0)
    W, sigma, Yt = np.linalg.svd(M, full_matrices=False)
    r = np.linalg.matrix_rank(M)
    if r == 0:
        raise ValueError(
            "M must not be zero, but it was: the printed rank is a maximum over nothing."
        )
    kept, _ = _positive_part(sigma[:r], lam)
    return equalized_factors(W[:, : kept.size], kept, Yt[: kept.size].T, kept.size)


# ----------------------------------------------------------------------------------------- helpers


def _problem(U, V, M, lam):
    U, V = arguments.factors(U, V)
    M = arguments.matrix("M", M, rows=U.shape[-2], columns=V.shape[-2])
    return U, V, M, arguments.number("lam", lam, least=0)


def _squared_lengths(X, C):
    """x^T C x for the rows x of X (..., n, d0); a negative one refutes C."""
    if C is None:
        return (X * X).sum(-1)
    squares = (X @ C * X).sum(-1)
    if (squares < -1e-10 * np.abs(C).max() * (X * X).sum(-1)).any():
        raise ValueError(
            "C must be positive semidefinite, but it gives a vector the squared length "
            f"{squares.min():.3g}."
        )
    return squares


def _regularizer(U, V, lam, C):
    return weighted(lam, ((U * U).sum(-2) * _squared_lengths(V.mT, C)).sum(-1))


def _optimal_triple(M, r, lam):
    """Compact SVD W diag(x) Y^T of the optimal product."""
    W, sigma, Yt = np.linalg.svd(arguments.matrix("M", M), full_matrices=False)
    optimum = optimal_spectrum(sigma, r, lam)
    k = optimum.rank
    return W[:, :k], optimum.spectrum[:k], Yt[:k].T
