"""Linear algebra of the book: norms, shrinkage, prescribed spectra, PSD roots."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments

if TYPE_CHECKING:
    import torch


def nuclear_norm(X: ArrayLike) -> np.ndarray:
    """Sum of the singular values of X.

    Parameters
    ----------
    X : (..., m, n) array_like
        A matrix, or any batch of them.

    Returns
    -------
    (...) ndarray
        The norm of each matrix.

    Notes
    -----
    Cost: one SVD a matrix.

    Examples
    --------
    >>> float(nuclear_norm([[3, 0, 0], [0, -4, 0]]))
    7.0
    """
    X = arguments.matrix("X", X, batched=True)
    return np.linalg.svd(X, compute_uv=False).sum(-1)


def column_norms(X: np.ndarray | torch.Tensor, xp: ModuleType = np) -> np.ndarray | torch.Tensor:
    """Euclidean norms of the columns of X, whose squares may over- or underflow.

    Parameters
    ----------
    X : (..., d, r) ndarray or Tensor
        Floating-point numbers.
    xp : module, optional
        Where X comes from: numpy, the default, or torch.

    Returns
    -------
    (..., r) ndarray or Tensor
        The norms.

    Notes
    -----
    Columns are scaled to entries of order 1 by a power of two, which is exact. Nothing is checked.
    """
    largest = xp.amax(xp.abs(X.detach() if xp is not np else X), -2)
    largest = xp.where(xp.isfinite(largest) & (largest > 0), largest, 1)
    power = largest / (2 * xp.frexp(largest)[0])
    return power * ((X / power[..., None, :]) ** 2).sum(-2) ** 0.5


def weighted(lam: ArrayLike, R: ArrayLike) -> float | np.ndarray:
    """The penalty ``lam R``, 0 for lam = 0 also where R overflows.

    Parameters
    ----------
    lam, R : float or array_like
        Strength and penalty, both at least 0; they broadcast.

    Returns
    -------
    float or ndarray
        The product.

    Notes
    -----
    Nothing is checked.
    """
    if isinstance(lam, Fraction) or (np.ndim(lam) == 0 and lam):  # what is exact, and the usual
        return lam * R
    with np.errstate(invalid="ignore"):
        return np.where(np.equal(lam, 0), 0.0, lam * R)[()]


def shrink(X: ArrayLike, alpha: float, rank: int | None = None) -> np.ndarray:
    """Soft threshold of the singular values of X, or of its best approximation of a rank.

    ``S_alpha(X_rank)``: each singular value s becomes ``max(s - alpha, 0)``, those beyond rank 0.

    Parameters
    ----------
    X : (m, n) array_like
        Matrix to shrink.
    alpha : float
        Threshold in the units of X, at least 0.
    rank : int, optional
        Singular values to keep, at least 1; by default all.

    Returns
    -------
    (m, n) ndarray
        The shrunk matrix.

    Notes
    -----
    Cost: one SVD.

    References
    ----------
    :claim:`vidal/svt-closed-form`; rank is what :claim:`thesis/theorem-3` and
    :claim:`thesis/theorem-6` need besides

    Examples
    --------
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
    M = arguments.matrix("M", M, square=True, exact=True)
    half = Fraction(1, 2) if M.dtype == object else 0.5
    return half * M + half * M.T  # halved first, so that the sum cannot overflow


def psd_sqrt(C: ArrayLike) -> np.ndarray:
    """Symmetric positive semidefinite square root of C.

    Parameters
    ----------
    C : (d, d) array_like
        Symmetric positive semidefinite; relative defects of 1e-10 are rounding.

    Returns
    -------
    (d, d) ndarray
        The root R, ``R R = C``.

    Notes
    -----
    Cost: one eigendecomposition.
    """
    values, W = arguments.eigh_semidefinite("C", C)
    return (W * np.sqrt(values)) @ W.T


def root_and_inverse(C: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric positive definite root of C, and the inverse of the root.

    Parameters
    ----------
    C : (d, d) array_like
        Symmetric positive definite, of condition number below 1e12.

    Returns
    -------
    R : (d, d) ndarray
        The root, ``R R = C``.
    inverse : (d, d) ndarray
        Its inverse, symmetric too.

    Notes
    -----
    Cost: one eigendecomposition.

    Examples
    --------
    >>> root_and_inverse([[4, 0], [0, 16]])[1].tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    values, W = arguments.eigh_definite("C", C)
    roots = np.sqrt(values)
    return (W * roots) @ W.T, (W / roots) @ W.T


def random_orthogonal(n: int, rng: np.random.Generator | int) -> np.ndarray:
    """Orthogonal matrix from the uniform (Haar) distribution.

    Parameters
    ----------
    n : int
        Size, at least 1.
    rng : Generator or int
        NumPy's generator, or its seed.

    Returns
    -------
    (n, n) ndarray
        The matrix.

    Notes
    -----
    Cost: ``O(n^3)``.
    """
    n = arguments.positive_integer("n", n)
    return _orthonormal_columns(n, n, arguments.generator(rng))


def with_spectrum(d2: int, d0: int, sigma: ArrayLike, rng: np.random.Generator | int) -> np.ndarray:
    """Matrix with prescribed singular values and uniformly random singular subspaces.

    Parameters
    ----------
    d2, d0 : int
        Numbers of rows and of columns, at least 1.
    sigma : (k,) array_like
        Singular values, at least 0, in any order, ``1 <= k <= min(d2, d0)``; the others are 0.
    rng : Generator or int
        NumPy's generator, or its seed.

    Returns
    -------
    (d2, d0) ndarray
        The matrix.

    Notes
    -----
    Cost: ``O((d2 + d0) k^2 + d2 d0 k)``.

    References
    ----------
    Section 2.6 of the thesis
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


def symmetric_with_spectrum(mu: ArrayLike, rng: np.random.Generator | int) -> np.ndarray:
    """Symmetric matrix with prescribed eigenvalues and uniformly random eigenvectors.

    Parameters
    ----------
    mu : (d,) array_like
        Eigenvalues, of any sign, in any order.
    rng : Generator or int
        NumPy's generator, or its seed.

    Returns
    -------
    (d, d) ndarray
        The matrix, symmetric to the last bit.

    Notes
    -----
    Cost: ``O(d^3)``.
    """
    mu = arguments.vector("mu", mu)
    W = random_orthogonal(mu.size, rng)
    return _symmetric_part((W * mu) @ W.T)


def isotropic_law(d: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
    """Finite law with second moment I.

    Its atoms ``sqrt(d) q_i`` and ``-sqrt(d) q_i``, of an orthonormal basis q_i, are equally likely.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    rng : Generator or int, optional
        NumPy's generator, or its seed, for a random basis; by default the standard one.

    Returns
    -------
    (2d, d) ndarray
        The atoms, one a row.

    Notes
    -----
    Cost: ``O(d^2)``, with rng ``O(d^3)``.
    """
    d = arguments.positive_integer("d", d)
    Q = np.sqrt(d) * (np.eye(d) if rng is None else random_orthogonal(d, rng))
    return np.concatenate([Q, -Q])


def _orthonormal_columns(n, k, rng):
    Q, R = np.linalg.qr(rng.standard_normal((n, k)))
    # the signs in a QR factorization are a convention: Q is uniform if diag(R) is positive
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)
