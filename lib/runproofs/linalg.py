"""Linear algebra of the book: norms, shrinkage, prescribed spectra, PSD roots."""

import numpy as np

from runproofs import _arguments as arguments


def nuclear_norm(X):
    """Sum of the singular values of X.

    X: (..., m, n), any leading batch axes. Returns the batch shape, a scalar for one matrix.
    Raises ValueError if X is no finite real matrix. Cost: one SVD, O(mn min(m, n)), a matrix.

    >>> float(nuclear_norm([[3, 0, 0], [0, -4, 0]]))
    7.0
    """
    X = arguments.matrix("X", X, batched=True)
    return np.linalg.svd(X, compute_uv=False).sum(-1)


def column_norms(X, xp=np):
    """The norms (..., r) of the columns of X (..., d, r), whose squares may over- or underflow.

    X: a NumPy array or, with xp=torch, a tensor, of floating-point numbers; nothing is checked.
    Columns are scaled by a power of two, which is exact, to entries of order 1. Cost O(dr).
    """
    largest = xp.amax(xp.abs(X.detach() if xp is not np else X), -2)
    largest = xp.where(xp.isfinite(largest) & (largest > 0), largest, 1)
    power = largest / (2 * xp.frexp(largest)[0])
    return power * ((X / power[..., None, :]) ** 2).sum(-2) ** 0.5


def weighted(lam, R):
    """The penalty lam R, with lam and R at least 0: 0 for lam = 0, also where R overflows.

    They broadcast; nothing is checked.
    """
    if np.ndim(lam) == 0 and lam:  # the usual case
        return lam * R
    with np.errstate(invalid="ignore"):
        return np.where(np.equal(lam, 0), 0.0, lam * R)[()]


def shrink(X, alpha, rank=None):
    """Singular-value soft threshold S_alpha(X_rank) of the best rank-`rank` approximation of X.

    X: (m, n). alpha: at least 0, in the units of X. rank: None (no truncation) or at least 1.
    Returns (m, n): every singular value s becomes max(s - alpha, 0), those beyond `rank` become 0.
    Raises ValueError for anything else. Cost: one SVD, O(mn min(m, n)).
    Source: the paper of Chapter 2 (ICML 2018), Section 1.1; `rank` is what Theorems 3 and 6 of the
    thesis need besides.

    >>> shrink([[3, 0, 0], [0, -4, 0]], 1, rank=1).tolist()
    [[0.0, 0.0, 0.0], [0.0, -3.0, 0.0]]
    """
    X = arguments.matrix("X", X)
    alpha = arguments.number("alpha", alpha, least=0)
    W, s, Yt = np.linalg.svd(X, full_matrices=False)
    if rank is not None:
        s[arguments.positive_integer("rank", rank) :] = 0
    return (W * np.maximum(s - alpha, 0)) @ Yt


def _symmetric_part(M):
    """(M + M^T) / 2 of a square (d, d) matrix; ValueError for any other. Cost: O(d^2)."""
    M = arguments.matrix("M", M, square=True)
    return M / 2 + M.T / 2  # halved first, so that the sum cannot overflow


def psd_sqrt(C):
    """Symmetric positive semidefinite square root of C.

    C: (d, d), symmetric positive semidefinite. Returns R (d, d), R = R^T >= 0, R R = C.
    Raises ValueError if C is not symmetric or has a negative eigenvalue (both beyond rounding).
    Cost: one eigendecomposition, O(d^3).
    """
    values, W = arguments.eigh_semidefinite("C", C)
    return (W * np.sqrt(values)) @ W.T


def root_and_inverse(C):
    """The symmetric positive definite root R of C, and R^{-1}.

    C: (d, d), symmetric positive definite, of condition number below 1e12. Returns R and R^{-1},
    both (d, d) and symmetric, with R R = C. Raises ValueError for any other C.
    Cost: one eigendecomposition, O(d^3).

    >>> root_and_inverse([[4, 0], [0, 16]])[1].tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    values, W = arguments.eigh_definite("C", C)
    roots = np.sqrt(values)
    return (W * roots) @ W.T, (W / roots) @ W.T


def random_orthogonal(n, rng):
    """Orthogonal n x n matrix from the uniform (Haar) distribution.

    n: at least 1. rng: NumPy Generator, or a seed. Returns (n, n). Raises ValueError for bad
    arguments. Cost: O(n^3).
    """
    n = arguments.positive_integer("n", n)
    return _orthonormal_columns(n, n, arguments.generator(rng))


def with_spectrum(d2, d0, sigma, rng):
    """Matrix with prescribed singular values and uniformly random singular subspaces.

    d2, d0: at least 1. sigma: at most min(d2, d0) singular values, at least 0, any order; the
    others are 0. rng: NumPy Generator, or a seed. Returns (d2, d0). Raises ValueError otherwise.
    Cost: O((d2 + d0) k^2 + d2 d0 k) for k values. Source: thesis, Section 2.6.
    """
    d2 = arguments.positive_integer("d2", d2)
    d0 = arguments.positive_integer("d0", d0)
    sigma = arguments.vector("sigma", sigma, least=0)
    if sigma.size > min(d2, d0):
        raise ValueError(
            f"sigma must have at most min(d2, d0) = {min(d2, d0)} entries, but it has {sigma.size}."
        )
    rng = arguments.generator(rng)
    W = _orthonormal_columns(d2, sigma.size, rng)
    Y = _orthonormal_columns(d0, sigma.size, rng)
    return (W * sigma) @ Y.T


def symmetric_with_spectrum(mu, rng):
    """Symmetric matrix with prescribed eigenvalues and uniformly random eigenvectors.

    mu: (d,) eigenvalues, of any sign and order. rng: NumPy Generator, or a seed. Returns (d, d),
    symmetric to the last bit. Raises ValueError otherwise. Cost: O(d^3).
    """
    mu = arguments.vector("mu", mu)
    W = random_orthogonal(mu.size, rng)
    return _symmetric_part((W * mu) @ W.T)


def isotropic_law(d, rng=None):
    """Finite law with second moment I, whose atoms +-sqrt(d) q_i are equally likely.

    d: at least 1. rng: None for the standard basis q_i, or a NumPy Generator, or a seed, for a
    random one. Returns the atoms (2d, d). Raises ValueError for bad arguments.
    Cost: O(d^2), with rng O(d^3).
    """
    d = arguments.positive_integer("d", d)
    Q = np.sqrt(d) * (np.eye(d) if rng is None else random_orthogonal(d, rng))
    return np.concatenate([Q, -Q])


def _orthonormal_columns(n, k, rng):
    Q, R = np.linalg.qr(rng.standard_normal((n, k)))
    # the signs in a QR factorization are a convention: Q is uniform if diag(R) is positive
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)
