"""Equalizers: orthogonal Q that give U Q columns of equal norm, and what it means to be equalized.

Three routes to an equalizer: plane rotations (any U, or any symmetric G in place of ``U^T U``), the
Fourier transform (U with orthogonal columns, any r) and Hadamard matrices (the same, r a power of
two). The printed Algorithm 2 and the printed recursion of Remark 5 stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import ddot, drot

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms, nuclear_norm

if TYPE_CHECKING:
    import torch


class Rotation(NamedTuple):
    """The rotation of columns i and j to ``c x_i + s x_j`` and ``c x_j - s x_i``.

    Attributes
    ----------
    i, j : int
        Two different columns.
    c, s : float
        Cosine and sine, ``c^2 + s^2 = 1``.
    """

    i: int
    j: int
    c: float
    s: float


def plane_rotations(U: ArrayLike) -> list[Rotation]:
    """At most r - 1 plane rotations that, one after another, equalize the columns of U.

    Parameters
    ----------
    U : (d, r) array_like
        Matrix to equalize, of any rank and scale.

    Returns
    -------
    list of Rotation
        Empty if U is equalized already; ``rotate(U, rotations)`` has columns of squared norm
        ``||U||_F^2 / r``.

    References
    ----------
    :claim:`thesis/theorem-1`, :claim:`beyond/linear-time-equalizers`

    Examples
    --------
    >>> U = [[2.0, 0.0, 1.0]]
    >>> (rotate(U, plane_rotations(U)) ** 2).round(12).tolist()
    [[1.666666666667, 1.666666666667, 1.666666666667]]
    """
    U = arguments.matrix("U", U)
    return _equalize_rows(_scaled(U).T.copy(), len(U))


def rotate(X: ArrayLike, rotations: Iterable[Rotation]) -> np.ndarray:
    """``X Q`` for the product Q of plane rotations.

    Parameters
    ----------
    X : (n, r) array_like
        Matrix whose columns are rotated.
    rotations : iterable of Rotation
        Or of tuples (i, j, c, s), with columns i != j, and ``c^2 + s^2 = 1`` up to 1e-10.

    Returns
    -------
    (n, r) ndarray
        The rotated matrix.

    Notes
    -----
    Cost: ``O(n)`` a rotation.
    """
    W = arguments.matrix("X", X).T.copy()
    r = len(W)
    if not len(rotations):
        return W.T
    table = arguments.points("rotations", rotations, 4, axes=2)
    i, j, c, s = table.T
    inside = (table[:, :2] == np.clip(np.rint(table[:, :2]), 0, r - 1)).all(axis=1)
    wrong = ~(inside & (i != j) & (np.abs(c * c + s * s - 1) <= 1e-10))
    if wrong.any():
        raise ValueError(
            f"rotations must be (i, j, c, s) with two columns i != j from 0 to {r - 1} and "
            f"c^2 + s^2 = 1, but one is {tuple(table[wrong][0].tolist())}."
        )
    columns, turns = table[:, :2].astype(int).tolist(), table[:, 2:].tolist()
    for (i, j), (c, s) in zip(columns, turns, strict=True):
        drot(W[i], W[j], c, s, overwrite_x=True, overwrite_y=True)
    return W.T


def equalizer(U: ArrayLike) -> np.ndarray:
    """An orthogonal Q such that all columns of U Q have the squared norm ``||U||_F^2 / r``.

    Parameters
    ----------
    U : (d, r) array_like
        Matrix to equalize, of any rank and scale.

    Returns
    -------
    (r, r) ndarray
        The matrix Q, the identity if U is equalized already.

    Notes
    -----
    Cost: ``O(d r + r^2)``, by plane rotations.

    References
    ----------
    :claim:`thesis/theorem-1`, :claim:`beyond/linear-time-equalizers`
    """
    U = arguments.matrix("U", U)
    d, r = U.shape
    W = np.zeros((r, d + r))
    W[:, :d] = _scaled(U).T
    np.fill_diagonal(W[:, d:], 1)  # the identity goes along and becomes Q^T
    _equalize_rows(W, d)
    return W[:, d:].T


def _scaled(U):
    """U over its largest entry, so that squares don't overflow; the equalizers are the same."""
    largest = np.abs(U).max()
    return U / largest if largest > 0 else U


def diagonal_rotations(G: ArrayLike) -> list[Rotation]:
    """At most r - 1 plane rotations that give the diagonal of ``R^T G R`` one value, ``tr(G) / r``.

    Parameters
    ----------
    G : (r, r) array_like
        Symmetric matrix, definite or not.

    Returns
    -------
    list of Rotation
        Empty if the diagonal is constant already; R is ``rotate(I, rotations)``.

    See Also
    --------
    plane_rotations : The same for ``G = U^T U``, which it does not form.

    References
    ----------
    :claim:`beyond/equalizer-plane-rotations`

    Examples
    --------
    >>> G = np.diag([3.0, 1.0, -1.0])
    >>> R = rotate(np.eye(3), diagonal_rotations(G))
    >>> np.abs(np.diag(R.T @ G @ R) - 1).max() < 1e-15
    np.True_
    """
    G = _scaled(arguments.symmetric("G", G)).copy()
    mean = float(np.trace(G) / len(G))

    def turn(i, j, c, s):
        G[[i, j]] = np.array([[c, s], [-s, c]]) @ G[[i, j]]
        G[:, [i, j]] = G[:, [i, j]] @ np.array([[c, -s], [s, c]])

    return _even_out(
        (np.diag(G) - mean).tolist(), np.finfo(float).eps,
        lambda i, j: float(G[i, j]), turn, lambda j: float(G[j, j]) - mean,
    )  # fmt: skip


def _equalize_rows(W, d):
    """Rotate the rows of W in place until their first d entries have equal norms; the rotations."""
    rows, heads = list(W), list(W[:, :d])
    squares = np.einsum("ij,ij->i", W[:, :d], W[:, :d])
    mean = float(squares.mean())

    def turn(i, j, c, s):
        drot(rows[i], rows[j], c, s, overwrite_x=True, overwrite_y=True)

    return _even_out(
        (squares - mean).tolist(), np.finfo(float).eps * mean,
        lambda i, j: ddot(heads[i], heads[j]), turn, lambda j: ddot(heads[j], heads[j]) - mean,
    )  # fmt: skip


def _even_out(excess, rounding, inner, turn, current):
    """Plane rotations that bring every excess (a list) within rounding of 0; their list."""
    # inner(i, j) is the entry of the Gram matrix, turn(i, j, c, s) carries a rotation out, and
    # current(j) is the excess of j after it.
    above = [i for i, e in enumerate(excess) if e > rounding]
    below = [i for i, e in enumerate(excess) if e < -rounding]
    rotations = []
    while above and below:  # one index of each rotated pair is finished, the other goes on
        i, j = above.pop(), below.pop()
        if abs(excess[i]) > abs(excess[j]):
            i, j = j, i
        # The new index i, c x + s y, has the mean square if excess_j t^2 + 2 <x, y> t + excess_i
        # = 0 for t = s / c. In this form the small root has no cancellation, and |t| <= 1.
        b = inner(i, j)
        root = sqrt(b * b - excess[i] * excess[j])
        t = -excess[i] / (b + root if b >= 0 else b - root)
        c = 1 / sqrt(1 + t * t)
        s = c * t
        turn(i, j, c, s)
        rotations.append(Rotation(i, j, c, s))
        excess[j] = current(j)  # afresh: errors don't pile up
        if excess[j] > rounding:
            above.append(j)
        elif excess[j] < -rounding:
            below.append(j)
    return rotations


def equalizer_fft(gram_diagonal: ArrayLike) -> np.ndarray:
    """An orthogonal Q that gives ``Q^T D Q`` a constant diagonal, for a diagonal D of any size.

    The real discrete Fourier transform, with the cosine and the sine of each frequency rotated by
    one angle.

    Parameters
    ----------
    gram_diagonal : (r,) array_like
        Diagonal of D: squared norms of orthogonal columns, or any other numbers.

    Returns
    -------
    (r, r) ndarray
        The matrix Q.

    See Also
    --------
    equalize_fft : Applies Q without forming it.

    Notes
    -----
    Cost: ``O(r^2 log r)``.

    References
    ----------
    :claim:`thesis/remark-5`, extended to every r; :claim:`beyond/linear-time-equalizers`
    """
    D = arguments.vector("gram_diagonal", gram_diagonal)
    return equalize_fft(np.eye(D.size), D)


def equalize_fft(X: ArrayLike, gram_diagonal: ArrayLike) -> np.ndarray:
    """``X Q`` for the orthogonal Q of `equalizer_fft`, which is not formed.

    Parameters
    ----------
    X : (n, r) array_like
        Matrix to multiply.
    gram_diagonal : (r,) array_like
        Squared norms of orthogonal columns, or any other numbers.

    Returns
    -------
    (n, r) ndarray
        The product.

    Notes
    -----
    Cost: ``O(n r log r)``.

    References
    ----------
    :claim:`beyond/linear-time-equalizers`
    """
    D = arguments.vector("gram_diagonal", gram_diagonal)
    r = D.size
    X = arguments.matrix("X", X, columns=r)
    pairs = (r - 1) // 2  # frequencies 1..pairs have a cosine and a sine
    # q = sqrt(2/r) cos(2 pi k n/r - phi) has q^T D q = mean(D) + Re(e^{2i phi} D^(2k)) / r, and the
    # sine has the opposite sign there: both are the mean when e^{2i phi} D^(2k) is imaginary.
    spectrum = np.fft.fft(D / (np.abs(D).max() or 1))
    phi = np.pi / 4 - np.angle(spectrum[2 : 2 * pairs + 1 : 2]) / 2
    transform = np.fft.rfft(X)
    rotated = transform[:, 1 : pairs + 1]
    rotated *= sqrt(2 / r) * np.exp(1j * phi)
    Y = np.empty_like(X)
    Y[:, 0] = transform[:, 0].real / sqrt(r)
    Y[:, 1 : pairs + 1] = rotated.real
    Y[:, pairs + 1 : 2 * pairs + 1] = -rotated.imag
    if r % 2 == 0:
        Y[:, -1] = transform[:, -1].real / sqrt(r)  # the alternating column
    return Y


def hadamard(k: int) -> np.ndarray:
    """An orthogonal Z_k that gives ``Z_k^T D Z_k`` a constant diagonal for every diagonal D.

    Parameters
    ----------
    k : int
        Level, from 1 to 13.

    Returns
    -------
    (n, n) ndarray
        Entries ``n^{-1/2}`` and ``-n^{-1/2}``, where ``n = 2^{k-1}``.

    References
    ----------
    :claim:`thesis/remark-5`, with one factor for all levels

    Examples
    --------
    >>> (2 * hadamard(3)).astype(int).tolist()
    [[1, 1, 1, 1], [-1, 1, -1, 1], [-1, -1, 1, 1], [1, -1, -1, 1]]
    """
    Z = np.ones((1, 1))
    for _ in range(_levels(k) - 1):
        Z = np.block([[Z, Z], [-Z, Z]])
    return Z / sqrt(len(Z))


def _levels(k):
    return arguments.positive_integer("k", k, most=13, why=", for 4096 rows")


def equalizer_as_printed(U: ArrayLike) -> np.ndarray:
    """An orthogonal Q such that U Q is equalized, by r eigendecompositions as the thesis prints it.

    Parameters
    ----------
    U : (d, r) array_like
        Matrix to equalize, of any rank and scale.

    Returns
    -------
    (r, r) ndarray
        The matrix Q.

    See Also
    --------
    equalizer : A faster one.

    Notes
    -----
    Cost: ``O(d r^2 + r^4)``.

    References
    ----------
    :claim:`thesis/algorithm-2`
    """
    U = _scaled(arguments.matrix("U", U))
    r = U.shape[1]
    G, Q = U.T @ U, np.eye(r)
    for i in range(r):
        _, E = np.linalg.eigh(G)
        w = E.sum(axis=1) / sqrt(r - i)
        Q_i, _ = np.linalg.qr(w[:, None], mode="complete")  # [w, w_perp], up to the sign of w
        G = (Q_i.T @ G @ Q_i)[1:, 1:]
        Q[:, i:] = Q[:, i:] @ Q_i
    return Q


def importance_scores(
    U: ArrayLike | torch.Tensor, V: ArrayLike | torch.Tensor
) -> np.ndarray | torch.Tensor:
    """Importance score ``||u_i|| ||v_i||`` of each hidden unit, for factors of any scale.

    Parameters
    ----------
    U : (..., d2, r) array_like or Tensor
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like or Tensor
        Input weights, a Tensor if U is one.

    Returns
    -------
    (..., r) ndarray or Tensor
        The scores, on the device of the tensors.

    References
    ----------
    Section 2.6 of the thesis

    Examples
    --------
    >>> importance_scores([[3, 0], [4, 1e200]], [[1, 2e-200]]).tolist()
    [5.0, 2.0]
    """
    if not hasattr(U, "is_cuda") and not hasattr(V, "is_cuda"):
        U, V = arguments.factors(U, V)
        return column_norms(U) * column_norms(V)
    import torch  # it is there if U or V is one of its tensors; importing it takes a second

    if not all(isinstance(X, torch.Tensor) and X.ndim >= 2 and X.numel() for X in (U, V)):
        raise ValueError("U and V must both be arrays or both tensors, none empty, of two axes.")
    if U.shape[:-2] != V.shape[:-2] or U.shape[-1] != V.shape[-1]:
        raise ValueError(
            "U and V must agree in their batch axes and in their number of columns, "
            f"but their shapes are {tuple(U.shape)} and {tuple(V.shape)}."
        )
    return column_norms(U, torch) * column_norms(V, torch)


def is_equalized(U: ArrayLike, V: ArrayLike | None = None, tol: float = 1e-9) -> bool:
    """Whether U, or the pair (U, V), is equalized.

    U: ``||u_i||^2 = ||U||_F^2 / r`` for every i. The pair: ``||u_i|| ||v_i|| = ||U V^T||_* / r``;
    that these products are equal is not enough.

    Parameters
    ----------
    U : (d2, r) array_like
        Weights with columns u_i, of any scale.
    V : (d0, r) array_like, optional
        Input weights with columns v_i; None for U alone.
    tol : float, optional
        Tolerance, at least 0, relative to the largest term on the left.

    Returns
    -------
    bool
        Whether all r equations hold.

    Notes
    -----
    Cost: ``O(d2 d0 (r + min(d2, d0)))`` for a pair.

    References
    ----------
    :claim:`thesis/definition-1`, :claim:`thesis/definition-2`

    Examples
    --------
    >>> is_equalized([[1, 1], [1, -1]]), is_equalized([[1, 2]]), is_equalized([[1, 1]], [[1, -1]])
    (True, False, False)
    """
    tol = arguments.number("tol", tol, least=0)
    if V is None:
        U = _scaled(arguments.matrix("U", U))
        terms = (U * U).sum(axis=0)
        target = terms.mean()
    else:
        pair = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
        norms = [column_norms(X) for X in pair]
        U, V = (X / np.where(norm > 0, norm, 1) for X, norm in zip(pair, norms, strict=True))
        terms = _scaled(np.sqrt(norms[0]) * np.sqrt(norms[1])) ** 2
        target = nuclear_norm((U * terms) @ V.T) / terms.size
    return bool(np.abs(terms - target).max() <= tol * terms.max())
