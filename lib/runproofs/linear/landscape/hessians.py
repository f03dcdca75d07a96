"""Exact Hessians of the objectives, and what their eigenvalues say about a critical point.

A Hessian is a symmetric matrix in the row-major entries of U, then (untied) those of V: U[a, i] is
coordinate a r + i.
"""

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import _symmetric_part


def hessian(U: ArrayLike, V: ArrayLike, M: ArrayLike, lam: float) -> np.ndarray:
    """Exact Hessian of the untied objective F.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights.
    M : (d2, d0) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (..., n, n) ndarray
        The Hessian of each pair, ``n = (d2 + d0) r``.

    Notes
    -----
    Cost: ``O(n^2)`` per pair.

    References
    ----------
    :claim:`thesis/equation-2.6`, its second differential
    """
    U, V = arguments.factors(U, V)
    M = arguments.matrix("M", M, rows=U.shape[-2], columns=V.shape[-2])
    return _hessian(U, V, M, arguments.number("lam", lam, least=0))


def _hessian(U, V, M, lam):
    """`hessian` without the checks, for loops."""
    cross = 2 * np.einsum("...ci,...aj->...aicj", V, U)
    same_column = np.einsum("...aici->...iac", cross)  # a view: what it adds, cross receives
    same_column += 4 * lam * np.einsum("...ai,...ci->...iac", U, V)
    same_column -= 2 * (M - U @ V.mT)[..., None, :, :]
    UU = _same_row(2 * (V.mT @ V + lam * _diagonal_gram(V)), U.shape[-2])
    VV = _same_row(2 * (U.mT @ U + lam * _diagonal_gram(U)), V.shape[-2])
    UV = cross.reshape(*U.shape[:-2], UU.shape[-1], VV.shape[-1])
    return np.block([[UU, UV], [UV.mT, VV]])


def tied_hessian(U: ArrayLike, M: ArrayLike, lam: float) -> np.ndarray:
    """Exact Hessian of the tied objective f.

    Parameters
    ----------
    U : (..., d, r) array_like
        Weights, with any leading batch axes.
    M : (d, d) array_like
        Matrix to approximate, which enters through its symmetric part.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (..., n, n) ndarray
        The Hessian of each matrix, ``n = d r``.

    Notes
    -----
    Cost: ``O(n^2)`` per matrix.

    References
    ----------
    :claim:`thesis/equation-2.4`, its second differential
    """
    U = arguments.matrix("U", U, batched=True)
    M = _symmetric_part(arguments.matrix("M", M, square=True, rows=U.shape[-2]))
    return _tied_hessian(U, M, arguments.number("lam", lam, least=0))


def _tied_hessian(U, M, lam):
    """`tied_hessian` without the checks, for loops: M is symmetric."""
    H = 4 * np.einsum("...bi,...aj->...aibj", U, U)
    same_column = np.einsum("...aibi->...iab", H)
    same_column += 8 * lam * np.einsum("...ai,...bi->...iab", U, U)
    same_column -= 4 * (M - U @ U.mT)[..., None, :, :]
    diagonal_blocks = _same_row(4 * (U.mT @ U + lam * _diagonal_gram(U)), U.shape[-2])
    return H.reshape(diagonal_blocks.shape) + diagonal_blocks


def least_eigenvalue(H: ArrayLike) -> np.ndarray:
    """Least eigenvalue of a Hessian.

    Parameters
    ----------
    H : (..., n, n) array_like
        Symmetric matrix, with any leading batch axes.

    Returns
    -------
    (...) ndarray
        The least eigenvalue of each matrix.

    Notes
    -----
    Cost: ``O(n^3)`` per matrix.

    Examples
    --------
    >>> float(least_eigenvalue(tied_hessian([[0.0]], [[2.0]], 1)))  # f = (2 - u^2)^2 + u^4
    -8.0
    """
    return np.linalg.eigvalsh(arguments.symmetric("H", H, batched=True))[..., 0]


def is_strict_saddle(H: ArrayLike, tol: float = 1e-10) -> np.ndarray | bool:
    """Whether a Hessian at a critical point has a truly negative eigenvalue; maxima count, too.

    Parameters
    ----------
    H : (..., n, n) array_like
        Hessian, symmetric, with any leading batch axes.
    tol : float, optional
        Rounding error of the eigenvalues, at least 0, relative to the largest absolute one.

    Returns
    -------
    (...) ndarray
        A boolean for each matrix.

    Notes
    -----
    Cost: ``O(n^3)`` per matrix.

    References
    ----------
    :claim:`thesis/definition-3`
    """
    values = np.linalg.eigvalsh(arguments.symmetric("H", H, batched=True))
    return values[..., 0] < -arguments.number("tol", tol, least=0) * np.abs(values).max(-1)


def _diagonal_gram(U):
    return np.eye(U.shape[-1]) * (U * U).sum(-2)[..., None, :]


def _same_row(block, rows):
    """Block-diagonal matrix with `block` (..., r, r) repeated for every row of a factor."""
    r = block.shape[-1]
    H = np.zeros((*block.shape[:-2], rows, r, rows, r))
    np.einsum("...aiaj->...aij", H)[...] = block[..., None, :, :]
    return H.reshape(*block.shape[:-2], rows * r, rows * r)
