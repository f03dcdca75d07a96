"""Matrix factorization with a product of norms, and what certifies its optimum.

The objective of factors with columns u_i and v_i is::

    f(U, V) = 1/2 ||Y - U V^T||_F^2 + lam sum_i ||u_i|| ||v_i||.

Over all numbers of columns its least value is that of ``1/2 ||Y - X||_F^2 + lam ||X||_*``, and one
top singular pair of the residual says how far away it is, and where to go. Source: Haeffele and
Vidal, "Global Optimality in Tensor Factorization, Deep Learning, and Beyond", 2015, and the slides
"Mathematics of Deep Learning".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms, weighted


class Polar(NamedTuple):
    """A pair of vectors of length at most 1 and its ``u^T R v``; see `polar`.

    Attributes
    ----------
    value : float
        The number ``u^T R v``.
    u : (m,) ndarray
        Left vector.
    v : (n,) ndarray
        Right vector.
    """

    value: float
    u: np.ndarray
    v: np.ndarray


class Growth(NamedTuple):
    """The factors at the end of `grow`, and what was measured at the start and after each step.

    Attributes
    ----------
    U : (m, r) ndarray
        Left factor.
    V : (n, r) ndarray
        Right factor.
    values : (k,) ndarray
        Values of f.
    bounds : (k,) ndarray
        Values minus duality gaps, each a lower bound of f over all sizes.
    sizes : (k,) ndarray
        Numbers of columns.
    """

    U: np.ndarray
    V: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    sizes: np.ndarray


def objective(U: ArrayLike, V: ArrayLike, Y: ArrayLike, lam: float) -> float:
    """The objective f, ``1/2 ||Y - U V^T||_F^2 + lam sum_i ||u_i|| ||v_i||``.

    Parameters
    ----------
    U : (m, r) array_like
        Left factor, with columns u_i.
    V : (n, r) array_like
        Right factor, with columns v_i.
    Y : (m, n) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    float
        The objective.

    Notes
    -----
    Cost: ``O(m n r)``.

    References
    ----------
    :claim:`vidal/mf-theorem-1`

    Examples
    --------
    >>> float(objective([[1.0]], [[1.0]], [[2.0]], 0.5))
    1.0
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    return _value(Y - U @ V.T, U, V, lam)


def polar(R: ArrayLike) -> Polar:
    """Polar problem of a residual: the maximum of ``u^T R v`` over ``||u|| ||v|| <= 1``.

    Parameters
    ----------
    R : (m, n) array_like
        Residual.

    Returns
    -------
    Polar
        The largest singular value of R, and unit vectors u and v that belong to it.

    Notes
    -----
    Cost: one SVD. Minus the value is the least ``u^T G v`` for the gradient ``G = -R``.

    References
    ----------
    :claim:`vidal/polar-problem`

    Examples
    --------
    >>> polar([[0.0, 3.0], [1.0, 0.0]]).value
    3.0
    """
    return _polar(arguments.matrix("R", R))


def duality_gap(Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float) -> float:
    """A bound on f(U, V) minus the least value of f over all sizes, zero only at an optimum.

    ``1/2 ||R||_F^2 + lam sum_i ||u_i|| ||v_i|| - s <R, Y> + 1/2 s^2 ||R||_F^2`` with
    ``R = Y - U V^T``, for the best ``s >= 0`` with ``s sigma_1(R) <= lam``.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor, with columns u_i.
    V : (n, r) array_like
        Right factor, with columns v_i.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    Cost: ``O(m n r)``, and the singular values of R.

    References
    ----------
    :claim:`beyond/gap-from-polar`

    Examples
    --------
    >>> float(duality_gap([[2.0]], [[0.0]], [[0.0]], 0.5))
    1.125
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    return _gap(Y, Y - U @ V.T, U, V, lam)


def append_polar(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Factors with one more column each: the top singular pair of the residual, by the best step.

    The step ``max(sigma_1 - lam, 0)`` lowers f by half its square.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor; r = 0 is allowed.
    V : (n, r) array_like
        Right factor.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (m, r + 1) ndarray
        New left factor.
    V : (n, r + 1) ndarray
        New right factor.

    Notes
    -----
    Cost: one SVD, and the residual.

    References
    ----------
    :claim:`vidal/polar-problem`, :claim:`vidal/mf-theorem-2`

    Examples
    --------
    >>> U, V = append_polar([[3, 0], [0, 1]], np.zeros((2, 0)), np.zeros((2, 0)), 1)
    >>> (U @ V.T).round(12).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    U, V = arguments.array("U", U), arguments.array("V", V)
    if U.ndim == V.ndim == 2 and U.shape[1] == V.shape[1] == 0:
        Y = arguments.matrix("Y", Y, rows=len(U), columns=len(V))
        lam = arguments.number("lam", lam, least=0)
    else:
        Y, U, V, lam = _problem(Y, U, V, lam)
    return _append(Y - U @ V.T, U, V, lam)


def greedy(Y: ArrayLike, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Factors of ``S_lam(Y)``, polar pair by polar pair and without descent.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (m, k) ndarray
        Left factor; k singular values of Y exceed lam, by more than 1e-12 of the largest.
    V : (n, k) ndarray
        Right factor.

    Notes
    -----
    Cost: two SVDs a column. The first j columns are optimal among factors of size j.

    References
    ----------
    :claim:`beyond/greedy-polar`

    Examples
    --------
    >>> U, V = greedy(np.diag([3.0, 2.0, 1.0]), 1)
    >>> U.shape, (U @ V.T).round(12).tolist()
    ((3, 2), [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    """
    Y, lam = arguments.matrix("Y", Y), arguments.number("lam", lam, least=0)
    U, V = np.zeros((len(Y), 0)), np.zeros((Y.shape[1], 0))
    largest = np.linalg.norm(Y, 2)
    while U.shape[1] < min(Y.shape) and _polar(Y - U @ V.T).value > lam + 1e-12 * largest:
        U, V = _append(Y - U @ V.T, U, V, lam)
    return U, V


def shrink_columns(X: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Proximal map of ``t ||.||`` on each column: x becomes ``x max(0, 1 - t / ||x||)``.

    Parameters
    ----------
    X : (m, r) array_like
        Matrix with columns x.
    t : float or (r,) array_like
        Threshold of all columns, or one for each, at least 0.

    Returns
    -------
    (m, r) ndarray
        The shrunken columns.

    Examples
    --------
    >>> shrink_columns([[3.0, 1.0], [4.0, 0.0]], 2).round(12).tolist()
    [[1.8, 0.0], [2.4, 0.0]]
    """
    X, t = arguments.matrix("X", X), arguments.numbers("t", t, least=0)
    if t.ndim and t.shape != X.shape[1:]:
        raise ValueError(f"t must be a number or {X.shape[1]} of them, but its shape is {t.shape}.")
    return _shrink(X, t)


def proximal_sweep(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float, *, fraction: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """One sweep of proximal gradient steps: all columns of U at once, then those of V.

    ``U <- shrink_columns(U + eta (Y - U V^T) V, eta lam ||v_i||)`` with the spectral norm in
    ``eta = fraction / ||V||^2``, and the same for V with the new U. The objective never increases.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor.
    V : (n, r) array_like
        Right factor.
    lam : float
        Strength of the penalty, at least 0.
    fraction : float, optional
        Length of the step as a part of the longest safe one, in (0, 1].

    Returns
    -------
    U : (m, r) ndarray
        New left factor.
    V : (n, r) ndarray
        New right factor.

    Notes
    -----
    Cost: ``O(m n r)``, and the singular values of the factors.

    References
    ----------
    :claim:`vidal/alternating-proximal`, corrected

    Examples
    --------
    >>> U, V = proximal_sweep([[1.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.tolist()
    ([[0.5]], [[1.0]])
    """
    return _both_factors(_proximal, Y, U, V, lam, fraction)


def proximal_sweep_as_printed(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float, *, fraction: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The sweep as the slides print it: ``U <- U - eta shrink_columns(gradient, lam ||v_i||)``.

    Every exact factorization is a fixed point.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor.
    V : (n, r) array_like
        Right factor.
    lam : float
        Strength of the penalty, at least 0.
    fraction : float, optional
        The product ``eta ||V||^2`` with the spectral norm, in (0, 1].

    Returns
    -------
    U : (m, r) ndarray
        New left factor.
    V : (n, r) ndarray
        New right factor.

    See Also
    --------
    proximal_sweep : The sweep as it is meant.

    Notes
    -----
    Cost: ``O(m n r)``, and the singular values of the factors.

    References
    ----------
    :claim:`vidal/alternating-proximal`

    Examples
    --------
    >>> U, V = proximal_sweep_as_printed([[1.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.tolist()
    ([[1.0]], [[1.0]])
    """
    return _both_factors(_printed, Y, U, V, lam, fraction)


def column_sweep(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """One sweep that minimizes f over each column of U, one after another, then over those of V.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor.
    V : (n, r) array_like
        Right factor.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (m, r) ndarray
        New left factor.
    V : (n, r) ndarray
        New right factor.

    Notes
    -----
    Cost: ``O(m n r + (m + n) r^2)``. It is the proximal step with ``eta = 1 / ||v_i||^2`` for
    column i alone, and faster than `proximal_sweep` where the columns differ in length.

    References
    ----------
    :claim:`vidal/alternating-proximal`, corrected, one column after another

    Examples
    --------
    >>> U, V = column_sweep([[2.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.round(12).tolist()
    ([[1.5]], [[1.0]])
    """
    return _columns(*_problem(Y, U, V, lam))


def grow(
    Y: ArrayLike,
    lam: float,
    U: ArrayLike,
    V: ArrayLike,
    *,
    still: float = 0.01,
    tol: float = 1e-12,
    steps: int = 2000,
) -> Growth:
    """The meta-algorithm: descend, ask the polar problem, append its pair, until the gap closes.

    A step is a `column_sweep`; or one more column, by `append_polar`, as soon as a sweep has moved
    ``U V^T`` by less than ``still (sigma_1 - lam)``.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.
    U : (m, r) array_like
        Left factor at the start, r >= 1.
    V : (n, r) array_like
        Right factor at the start.
    still : float, optional
        What counts as no movement, above 0: a small part of the step that the polar pair offers.
    tol : float, optional
        Duality gap at which to end, above 0, in units of ``||Y||_F^2 / 2``.
    steps : int, optional
        Largest number of steps, at least 1.

    Returns
    -------
    Growth
        Factors and course; the last of the bounds tells whether the gap has closed.

    Notes
    -----
    Cost: ``O(m n (r + min(m, n)))`` per step, for r columns.

    References
    ----------
    :claim:`vidal/mf-theorem-2`
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    still, tol = arguments.number("still", still, above=0), arguments.number("tol", tol, above=0)
    steps = arguments.positive_integer("steps", steps)
    scale = (Y**2).sum() / 2
    values, bounds, sizes = [], [], []
    moved = np.inf
    while True:
        R = Y - U @ V.T
        gap = _gap(Y, R, U, V, lam)
        values.append(_value(R, U, V, lam))
        bounds.append(values[-1] - gap)
        sizes.append(U.shape[1])
        if gap <= tol * scale or len(values) > steps:
            return Growth(U.copy(), V.copy(), np.array(values), np.array(bounds), np.array(sizes))
        if moved < still * (_polar(R).value - lam):
            U, V = _append(R, U, V, lam)
            moved = np.inf
        else:
            U, V = _columns(Y, U, V, lam)
            moved = np.linalg.norm(Y - U @ V.T - R)


# Kernels, whose arguments are checked -------------------------------------------------------------


def _problem(Y, U, V, lam):
    U, V = arguments.matrix("U", U), arguments.matrix("V", V)
    U, V = arguments.factors(U, V)
    Y = arguments.matrix("Y", Y, rows=len(U), columns=len(V))
    return Y, U, V, arguments.number("lam", lam, least=0)


def _both_factors(step, Y, U, V, lam, fraction):
    """The step for U, then that for V with the new U; checks the arguments."""
    Y, U, V, lam = _problem(Y, U, V, lam)
    fraction = arguments.number("fraction", fraction, above=0, most=1)
    U = step(Y, U, V, lam, fraction)
    return U, step(Y.T, V, U, lam, fraction)


def _products(U, V):
    return column_norms(U) @ column_norms(V)


def _value(R, U, V, lam):
    return (R**2).sum() / 2 + weighted(lam, _products(U, V))


def _polar(R):
    W, sigma, Zt = np.linalg.svd(R, full_matrices=False)
    return Polar(float(sigma[0]), W[:, 0], Zt[0])


def _gap(Y, R, U, V, lam):
    size, along, largest = (R**2).sum(), (R * Y).sum(), np.linalg.norm(R, 2)
    if size == 0:
        return lam * _products(U, V)
    s = max(along / size, 0.0)
    if s * largest > lam:
        s = lam / largest
    return size / 2 + lam * _products(U, V) - s * along + s**2 * size / 2


def _append(R, U, V, lam):
    value, u, v = _polar(R)
    root = np.sqrt(max(value - lam, 0.0))
    return np.column_stack([U, root * u]), np.column_stack([V, root * v])


def _shrink(X, t):
    lengths = column_norms(X)
    return X * (1 - np.divide(t, lengths, out=np.ones_like(lengths), where=lengths > t))


def _proximal(Y, U, V, lam, fraction):
    """The proximal gradient step for U at fixed V; U as it is where V = 0."""
    curvature = np.linalg.norm(V, 2) ** 2
    if curvature == 0:
        return U
    eta = fraction / curvature
    return _shrink(U + eta * (Y - U @ V.T) @ V, eta * lam * column_norms(V))


def _printed(Y, U, V, lam, fraction):
    """The same step as printed."""
    curvature = np.linalg.norm(V, 2) ** 2
    if curvature == 0:
        return U
    return U - fraction / curvature * _shrink((U @ V.T - Y) @ V, lam * column_norms(V))


def _columns(Y, U, V, lam):
    def prox(x, length):
        return x * max(0.0, 1 - lam / (length * norm)) if (norm := np.sqrt(x @ x)) > 0 else x

    U = _sweep(Y @ V, V, U, prox)
    return U, _sweep(Y.T @ U, U, V, prox)


def _sweep(A, V, U, prox):
    """Minimize over each column u_i of U in turn, at fixed V, given A = Y V; returns a new U."""
    # prox(x, ||v_i||) is the minimizer for the least-squares solution x. Columns with v_i = 0
    # become 0. Cost: O((m + n) r^2).
    B, U = V.T @ V, U.copy()
    for i in range(U.shape[1]):
        if B[i, i] > 0:
            U[:, i] = prox(U[:, i] + (A[:, i] - U @ B[:, i]) / B[i, i], np.sqrt(B[i, i]))
        else:
            U[:, i] = 0
    return U
