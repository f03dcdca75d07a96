"""Dropout in shallow linear networks: objectives, gradients and closed-form global minima.

The untied problem, (2.6) of the thesis, and the tied one, (2.4), which is its restriction to V = U:

    F(U, V) = ||M - U V^T||_F^2 + lam sum_i ||u_i||^2 ||v_i||^2,    f(U) = F(U, U),

with M (d2, d0), U (d2, r), V (d0, r), columns u_i and v_i, and lam = (1 - theta) / theta.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from runproofs import _arguments as arguments
from runproofs.linalg import shrink, symmetric_part
from runproofs.linear.equalize import equalizer
from runproofs.masks import expectation

# ---------------------------------------------------------------- objective, gradient, path norm


def objective(U, V, M, lam, C=None):
    """Dropout objective F(U, V), or that for inputs with second moment C.

    U: (..., d2, r), V: (..., d0, r), any leading batch axes. M: (d2, d0). lam: at least 0.
    C: None for the identity, or symmetric positive semidefinite (d0, d0). Returns the batch shape:
    ||(M - U V^T) C^{1/2}||_F^2 + lam sum_i ||u_i||^2 v_i^T C v_i.
    Raises ValueError for bad arguments.
    Cost: O(d2 d0 r) a pair, O(d2 d0^2) more with C. Source: thesis, (2.2), Problem (2.6), Lemma 2.
    """
    U, V, M = _problem(U, V, M)
    residual = M - U @ V.mT
    weighted = residual if C is None else residual @ _second_moment(C, M)
    return (residual * weighted).sum((-2, -1)) + regularizer(U, V, lam, C)


def objective_by_enumeration(U, V, X, Y, theta):
    """Expected dropout loss E ||y - (1/theta) U diag(b) V^T x||^2, over all masks and samples.

    U: (d2, r), V: (d0, r), r at most 20. X: (n, d0), Y: (n, d2), equally likely pairs (x, y).
    theta: in (0, 1]. Returns a number. Raises ValueError for bad arguments.
    Cost: O(2^r n r d2). Source: thesis, (2.1).
    """
    U, V = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
    X = arguments.matrix("X", X, columns=len(V))
    Y = arguments.matrix("Y", Y, rows=len(X), columns=len(U))
    hidden = X @ V

    def loss(b):
        return ((Y - (b * hidden) @ U.T / theta) ** 2).sum(axis=1).mean()

    return expectation(loss, U.shape[1], theta)


def regularizer(U, V, lam, C=None):
    """Explicit regularizer of dropout, lam sum_i ||u_i||^2 v_i^T C v_i.

    Arguments as in `objective`. Returns the batch shape. Raises ValueError for bad arguments.
    Cost: O((d2 + d0) r) a pair, O(d0^2 r) more with C. Source: thesis, (2.2) and Lemma 2.
    """
    U, V = arguments.factors(U, V)
    lam = arguments.nonnegative("lam", lam)
    weighted = V if C is None else _second_moment(C, V.mT) @ V
    return lam * (_squared_norms(U) * (V * weighted).sum(-2)).sum(-1)


def path_norm(U, V):
    """l2 path norm psi_2 = (sum_i ||u_i||^2 ||v_i||^2)^{1/2}: root of the sum over paths of w^2.

    U: (..., d2, r), V: (..., d0, r). Returns the batch shape. Raises ValueError for bad arguments.
    Cost: O((d2 + d0) r) a pair. Source: thesis, (2.3).
    """
    return np.sqrt(regularizer(U, V, 1))


def gradient(U, V, M, lam):
    """Gradient of the untied objective F.

    Arguments as in `objective`. Returns (gU, gV), shaped like U and V.
    Raises ValueError for bad arguments. Cost: O(d2 d0 r) a pair.
    """
    U, V, M = _problem(U, V, M)
    lam = arguments.nonnegative("lam", lam)
    residual = M - U @ V.mT
    gU = 2 * (lam * U * _squared_norms(V)[..., None, :] - residual @ V)
    gV = 2 * (lam * V * _squared_norms(U)[..., None, :] - residual.mT @ U)
    return gU, gV


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
    return 2 * gradient(U, U, symmetric_part(M), lam)[0]


def balance(U, V):
    """Rescale the columns, (U D, V D^{-1}) with D > 0 diagonal, so that all ||u_i|| = ||v_i||.

    U: (..., d2, r), V: (..., d0, r). Returns the new pair: product, regularizer and objective stay.
    Of a column that is zero in one factor only, the other half is scaled to length 1.
    Raises ValueError for bad arguments. Cost: O((d2 + d0) r). Source: thesis, Remark 2.
    """
    U, V = arguments.factors(U, V)
    u, v = (np.linalg.norm(X, axis=-2, keepdims=True) for X in (U, V))
    # every column gets the length that the square root of its score ||u_i|| ||v_i|| gives
    length = np.where((u > 0) & (v > 0), np.sqrt(u) * np.sqrt(v), 1)
    return tuple(X * (length / np.where(x > 0, x, 1)) for X, x in ((U, u), (V, v)))


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
    Raises ValueError for bad arguments. Cost: O(m), besides sorting. Source: thesis, Theorems 3, 6.
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.nonnegative("lam", lam)
    sigma = np.sort(arguments.spectrum("sigma", sigma))[::-1]
    kappa = np.cumsum(sigma) / np.arange(1, sigma.size + 1)
    rank, threshold = _rank_and_threshold(sigma[:r], kappa[:r], r, lam)
    spectrum = np.append(sigma[:rank] - threshold, np.zeros(sigma.size - rank))
    kept = rank * kappa[rank - 1] if rank else 0.0
    return OptimalSpectrum(
        rank, kappa, threshold, spectrum, float(threshold * kept + (sigma[rank:] ** 2).sum())
    )


def spectrum_by_nnls(sigma, r, lam):
    """The same singular values and minimum by a standard solver, which knows no threshold.

    Minimizes sum_{i <= r} (sigma_i - x_i)^2 + (lam / r) (sum_i x_i)^2 over x >= 0: non-negative
    least squares with one row more. Arguments as in `optimal_spectrum`; the sigma are sorted first.
    Returns x (m,), zero beyond r, and the minimum, to which sum_{i > r} sigma_i^2 is added.
    Raises ValueError for bad arguments. Cost: about O(m^3). Source: thesis, (2.13) and (2.16).
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.nonnegative("lam", lam)
    sigma = np.sort(arguments.spectrum("sigma", sigma))[::-1]
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
    mu, W = np.linalg.eigh(symmetric_part(M))
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
    U[:, : len(x)], V[:, : len(x)] = W * np.sqrt(x), Y * np.sqrt(x)
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
    lam = arguments.nonnegative("lam", lam)
    W, sigma, Yt = np.linalg.svd(M, full_matrices=False)
    r = np.linalg.matrix_rank(M)
    if r == 0:
        raise ValueError(
            "M must not be zero, but it was: the printed rank is a maximum over nothing."
        )
    kappa = np.cumsum(sigma) / np.arange(1, sigma.size + 1)
    rank, threshold = _rank_and_threshold(sigma[:r], kappa[:r], 1, lam)
    return equalized_factors(W[:, :rank], sigma[:rank] - threshold, Yt[:rank].T, rank)


# ----------------------------------------------------------------------------------------- helpers


def _problem(U, V, M):
    U, V = arguments.factors(U, V)
    return U, V, arguments.matrix("M", M, rows=U.shape[-2], columns=V.shape[-2])


def _second_moment(C, M):
    return arguments.positive_semidefinite("C", C, size=M.shape[-1])


def _squared_norms(U):
    return (U * U).sum(-2)


def _rank_and_threshold(sigma, kappa, base, lam):
    """rho and alpha: sigma_j > lam j kappa_j / (base + lam j) holds on a prefix, of length rho."""
    j = np.arange(1, sigma.size + 1)
    alpha = lam / (base + lam * j) * (j * kappa)
    rank = int(np.count_nonzero(sigma > alpha))
    return rank, float(alpha[rank - 1]) if rank else 0.0


def _optimal_triple(M, r, lam):
    """Compact SVD W diag(x) Y^T of the optimal product."""
    W, sigma, Yt = np.linalg.svd(arguments.matrix("M", M), full_matrices=False)
    optimum = optimal_spectrum(sigma, r, lam)
    k = optimum.rank
    return W[:, :k], optimum.spectrum[:k], Yt[:k].T
