"""Matrix factorization with a product of norms, and what certifies its optimum.

f(U, V) = 1/2 ||Y - U V^T||_F^2 + lam sum_i ||u_i|| ||v_i|| over factors with columns u_i, v_i. Over
all numbers of columns its least value is that of 1/2 ||Y - X||_F^2 + lam ||X||_*, and one top
singular pair of the residual says how far away it is, and where to go.
Source: Haeffele and Vidal (2015), and the slides "Mathematics of Deep Learning".
"""

from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms, weighted


class Polar(NamedTuple):
    """The largest value of u^T R v over unit vectors, with u (m,) and v (n,) that attain it."""

    value: float
    u: np.ndarray
    v: np.ndarray


class Growth(NamedTuple):
    """What `grow` did: the factors at the end, and values, bounds, sizes, one entry a step."""

    U: np.ndarray
    V: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    sizes: np.ndarray


def objective(Y, U, V, lam):
    """1/2 ||Y - U V^T||_F^2 + lam sum_i ||u_i|| ||v_i||.

    Y: (m, n). U: (m, r). V: (n, r). lam: at least 0. Raises ValueError otherwise. Cost: O(mnr).

    >>> float(objective([[2.0]], [[1.0]], [[1.0]], 0.5))
    1.0
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    return _value(Y - U @ V.T, U, V, lam)


def polar(R):
    """The polar problem max u^T R v, ||u|| ||v|| <= 1, of a residual R (m, n): a `Polar`.

    The value is the largest singular value of R, u and v are a pair that belongs to it; -value is
    the least u^T G v for the gradient G = -R. Raises ValueError unless R is a finite matrix.
    Cost: one SVD.

    >>> polar([[0.0, 3.0], [1.0, 0.0]]).value
    3.0
    """
    return _polar(arguments.matrix("R", R))


def duality_gap(Y, U, V, lam):
    """A bound on f(U, V) minus the least value of f over all sizes: 0 only at an optimum.

    It is 1/2 ||R||^2 + lam sum_i ||u_i|| ||v_i|| - s <R, Y> + 1/2 s^2 ||R||^2, R = Y - U V^T, for
    the best s >= 0 with s sigma_1(R) <= lam. Arguments and errors as for `objective`.
    Cost: O(mnr) and the singular values of R. Source: Theorem H.A of the book.

    >>> float(duality_gap([[2.0]], [[0.0]], [[0.0]], 0.5))
    1.125
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    return _gap(Y, Y - U @ V.T, U, V, lam)


def append_polar(Y, U, V, lam):
    """U, V with one more column each: the top singular pair of the residual, by the best step.

    The step is max(sigma_1 - lam, 0), and lowers f by its square over two. Arguments and errors as
    for `objective`, but no column is allowed too, shapes (m, 0) and (n, 0). Cost: one SVD.

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


def greedy(Y, lam):
    """Factors U (m, k), V (n, k) of S_lam(Y): polar pairs, one after another, and no descent.

    Y: (m, n). lam: at least 0. k is the number of singular values of Y above lam (to 1e-12 of the
    largest); the first j columns are optimal among factors of size j. Raises ValueError otherwise.
    Cost: one SVD of a residual a column. Source: Theorem H.B of the book.

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


def shrink_columns(X, t):
    """Every column x of X becomes x max(0, 1 - t / ||x||): the prox of t ||.||.

    X: (m, r). t: at least 0, one number or r of them. Raises ValueError otherwise. Cost: O(mr).

    >>> shrink_columns([[3.0, 1.0], [4.0, 0.0]], 2).round(12).tolist()
    [[1.8, 0.0], [2.4, 0.0]]
    """
    X, t = arguments.matrix("X", X), arguments.numbers("t", t, least=0)
    if t.ndim and t.shape != X.shape[1:]:
        raise ValueError(f"t must be a number or {X.shape[1]} of them, but its shape is {t.shape}.")
    return _shrink(X, t)


def proximal_sweep(Y, U, V, lam, *, fraction=1.0):
    """One sweep of alternating proximal gradient steps: all columns of U at once, then those of V.

    U <- shrink_columns(U + eta (Y - U V^T) V, eta lam ||v_i||), eta = fraction / ||V||^2 (spectral
    norm), and the same for V with the new U. Arguments and errors as for `objective`; fraction in
    (0, 1], where f never increases. Returns the new U, V. Cost: O(mnr). Source: the slides,
    corrected; `proximal_sweep_as_printed` is their update.

    >>> U, V = proximal_sweep([[1.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.tolist()
    ([[0.5]], [[1.0]])
    """
    return _both_factors(_proximal, Y, U, V, lam, fraction)


def proximal_sweep_as_printed(Y, U, V, lam, *, fraction=1.0):
    """The sweep as the slides print it: U <- U - eta shrink_columns(gradient, lam ||v_i||).

    Arguments, errors and eta as for `proximal_sweep`. Every exact factorization is a fixed point.

    >>> U, V = proximal_sweep_as_printed([[1.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.tolist()
    ([[1.0]], [[1.0]])
    """
    return _both_factors(_printed, Y, U, V, lam, fraction)


def column_sweep(Y, U, V, lam):
    """One sweep that minimizes f over each column of U, one after another, then over those of V.

    Never increases f; it is the proximal step with eta = 1 / ||v_i||^2 for column i alone, and
    faster than `proximal_sweep` where the columns differ in length. Arguments and errors as for
    `objective`. Returns the new U, V. Cost: O(mnr).

    >>> U, V = column_sweep([[2.0]], [[1.0]], [[1.0]], 0.5)
    >>> U.tolist(), V.round(12).tolist()
    ([[1.5]], [[1.0]])
    """
    return _columns(*_problem(Y, U, V, lam))


def grow(Y, lam, U, V, *, still=0.01, tol=1e-12, steps=2000):
    """The meta-algorithm: descend, ask the polar problem, append its pair, until the gap closes.

    Starts from U (m, r), V (n, r), r >= 1. A step is a `column_sweep`; or one more column, by
    `append_polar`, as soon as a sweep has moved U V^T by less than still (sigma_1 - lam), a small
    part of the step that the polar pair offers. It ends when the duality gap is at most
    tol ||Y||_F^2 / 2, or after so many steps; the last of the bounds tells which. Returns a
    `Growth`: bounds[k] is the value minus the duality gap after k steps, so the least value of f
    over all sizes is at least bounds.max(). Raises ValueError for bad arguments.
    Cost: O(mn(r + min(m, n))) a step. Source: the slides, "Meta-Algorithm".
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
    """Minimize over each column u_i of U in turn, at fixed V, given A = Y V.

    prox(x, ||v_i||) is the minimizer for the least-squares solution x. Columns with v_i = 0 become
    0. No checks: the loop of this module and of `structured`. Returns a new U. Cost: O((m + n)r^2).
    """
    B, U = V.T @ V, U.copy()
    for i in range(U.shape[1]):
        if B[i, i] > 0:
            U[:, i] = prox(U[:, i] + (A[:, i] - U @ B[:, i]) / B[i, i], np.sqrt(B[i, i]))
        else:
            U[:, i] = 0
    return U
