"""Factorizations with structure: nonnegative, sparse, robust; product-of-norms regularizers.

All minimize over one column of a factor after another, exactly, so that no step raises the
objective. Source: the slides "Mathematics of Deep Learning", part on structured factorization.
"""

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms, weighted
from runproofs.linear.nuclear import Polar, _problem, _products, _sweep


def soft_threshold(X: ArrayLike, t: float) -> np.ndarray:
    """Proximal map of ``t ||.||_1``: every entry x becomes ``sign(x) max(|x| - t, 0)``.

    Parameters
    ----------
    X : (...) array_like
        Numbers, of any shape.
    t : float
        Threshold, at least 0.

    Returns
    -------
    (...) ndarray
        The shrunken numbers.

    Examples
    --------
    >>> soft_threshold([3.0, -1.0, 0.5], 1).tolist()
    [2.0, 0.0, 0.0]
    """
    X, t = arguments.numbers("X", X), arguments.number("t", t, least=0)
    return X - np.clip(X, -t, t)


def objective(U: ArrayLike, V: ArrayLike, Y: ArrayLike, lam: float, lam_1: float = 0) -> float:
    """``||Y - U V^T||_F^2 + sum_i ||u_i||_2 (lam ||v_i||_2 + lam_1 ||v_i||_1)``.

    Parameters
    ----------
    U : (m, r) array_like
        Atoms, one a column.
    V : (n, r) array_like
        Codes, one sample a row.
    Y : (m, n) array_like
        Samples, one a column.
    lam : float
        Strength of the penalty on lengths, at least 0.
    lam_1 : float, optional
        Strength of the penalty that makes the codes sparse, at least 0.

    Returns
    -------
    float
        The objective.

    Notes
    -----
    Cost: ``O(m n r)``.

    References
    ----------
    :claim:`vidal/nmf`; :claim:`vidal/sparse-dictionary`, where ``lam_1 = lam gamma``

    Examples
    --------
    >>> float(objective([[1.0]], [[1.0], [0.0]], [[2.0, 0.0]], 1, 0.5))
    2.5
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    lam_1 = arguments.number("lam_1", lam_1, least=0)
    penalty = weighted(lam, _products(U, V))
    penalty += weighted(lam_1, column_norms(U) @ np.abs(V).sum(axis=0))
    return ((Y - U @ V.T) ** 2).sum() + penalty


def nmf(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float, *, sweeps: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """Nonnegative factors after sweeps of exact minimization, column by column.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor at the start, at least 0.
    V : (n, r) array_like
        Right factor at the start, at least 0.
    lam : float
        Strength of the penalty, at least 0.
    sweeps : int, optional
        Number of sweeps, at least 1.

    Returns
    -------
    U : (m, r) ndarray
        Left factor at the end.
    V : (n, r) ndarray
        Right factor at the end.

    Notes
    -----
    Cost: ``O(m n r + (m + n) r^2)`` per sweep. `objective`, with lam_1 = 0, never increases;
    columns that have become 0 stay 0.

    References
    ----------
    :claim:`vidal/nmf`, in the loop of hierarchical alternating least squares
    """
    Y, U, V, lam = _non_negative(Y, U, V, lam)

    def prox(x, length):
        x = np.maximum(x, 0)
        norm = np.sqrt(x @ x)
        return x * max(0.0, 1 - lam / (2 * length * norm)) if norm > 0 else x

    for _ in range(arguments.positive_integer("sweeps", sweeps)):
        U = _sweep(Y @ V, V, U, prox)
        V = _sweep(Y.T @ U, U, V, prox)
    return U, V


def non_negative_polar(R: ArrayLike) -> tuple[Polar, float]:
    """A good nonnegative pair for R, and an upper bound of all.

    Maximizes ``u^T R v`` over u, v >= 0 of length at most 1 by turns, 100 times, from every
    coordinate vector v: a local search.

    Parameters
    ----------
    R : (m, n) array_like
        Residual.

    Returns
    -------
    pair : Polar
        The best pair found; u = v = 0 if R has no positive entry.
    bound : float
        Largest singular value of the positive part of R, which no pair exceeds.

    Notes
    -----
    Cost: ``O(m n^2)``.

    Examples
    --------
    >>> pair, bound = non_negative_polar([[3.0, -1.0], [0.0, 2.0]])
    >>> pair.value, bound
    (3.0, 3.0)
    """
    R = arguments.matrix("R", R)
    V = np.eye(R.shape[1])
    for _ in range(100):
        U = _unit(np.maximum(R @ V, 0))
        V = _unit(np.maximum(R.T @ U, 0))
    values = ((R @ V) * U).sum(axis=0)
    best = int(np.argmax(values))
    bound = float(np.linalg.norm(np.maximum(R, 0), 2))
    return Polar(float(values[best]), U[:, best], V[:, best]), bound


def append_non_negative(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Factors without their zero columns, and with the pair of `non_negative_polar` appended.

    The step ``max(value - lam / 2, 0)`` lowers `objective` by its square.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor, at least 0.
    V : (n, r) array_like
        Right factor, at least 0.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (m, k + 1) ndarray
        New left factor; k columns are zero in neither factor.
    V : (n, k + 1) ndarray
        New right factor.

    Notes
    -----
    Cost: ``O(m n (r + n))``.

    References
    ----------
    :claim:`vidal/nmf`
    """
    Y, U, V, lam = _non_negative(Y, U, V, lam)
    pair, _ = non_negative_polar(Y - U @ V.T)
    root = np.sqrt(max(pair.value - lam / 2, 0.0))
    alive = U.any(axis=0) & V.any(axis=0)
    return (
        np.column_stack([U[:, alive], root * pair.u]),
        np.column_stack([V[:, alive], root * pair.v]),
    )


def dictionary(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float, lam_1: float, *, sweeps: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """Atoms and sparse codes after sweeps of exact minimization, column by column.

    Parameters
    ----------
    Y : (m, n) array_like
        Samples, one a column.
    U : (m, r) array_like
        Atoms at the start, one a column.
    V : (n, r) array_like
        Codes at the start, one sample a row.
    lam : float
        Strength of the penalty on lengths, at least 0.
    lam_1 : float
        Strength of the penalty that makes the codes sparse, at least 0.
    sweeps : int, optional
        Number of sweeps, at least 1.

    Returns
    -------
    U : (m, r) ndarray
        Atoms at the end, of length 1 where they are not 0.
    V : (n, r) ndarray
        Codes at the end.

    Notes
    -----
    Cost: ``O(m n r + (m + n) r^2)`` per sweep. `objective` never increases; columns that have
    become 0 stay 0.

    References
    ----------
    :claim:`vidal/sparse-dictionary`, where ``lam_1 = lam gamma``
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    lam_1 = arguments.number("lam_1", lam_1, least=0)
    for _ in range(arguments.positive_integer("sweeps", sweeps)):
        weights = (lam * column_norms(V) + lam_1 * np.abs(V).sum(axis=0)) / 2
        U = _atoms(Y @ V, V, U, weights)
        U, V = _unit(U), V * column_norms(U)
        V = _sweep(Y.T @ U, U, V, lambda x, _: _sparse(x, lam / 2, lam_1 / 2))
    return U, V


def huber(Z: ArrayLike, gamma: float) -> float:
    """Huber's function, the sum over all entries z of ``min_e |e| + gamma/2 (z - e)^2``.

    ``gamma z^2 / 2`` where ``|z| <= 1 / gamma``, and ``|z| - 1 / (2 gamma)`` elsewhere.

    Parameters
    ----------
    Z : (...) array_like
        Numbers, of any shape.
    gamma : float
        Curvature at 0, above 0.

    Returns
    -------
    float
        The sum.

    References
    ----------
    :claim:`vidal/robust-pca`

    Examples
    --------
    >>> float(huber([0.5, -3.0], 1))
    2.625
    """
    Z, gamma = np.abs(arguments.numbers("Z", Z)), arguments.number("gamma", gamma, above=0)
    return np.where(gamma * Z <= 1, gamma * Z**2 / 2, Z - 1 / (2 * gamma)).sum()


def robust_pca(
    Y: ArrayLike, U: ArrayLike, V: ArrayLike, lam: float, gamma: float, *, sweeps: int = 200
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors and sparse errors for ``huber(Y - U V^T, gamma) + lam sum_i ||u_i|| ||v_i||``.

    A sweep puts ``E = soft_threshold(Y - U V^T, 1 / gamma)``, then minimizes over each column of U
    and of V, for ``gamma/2 ||Y - E - U V^T||_F^2``.

    Parameters
    ----------
    Y : (m, n) array_like
        Matrix to approximate.
    U : (m, r) array_like
        Left factor at the start.
    V : (n, r) array_like
        Right factor at the start.
    lam : float
        Strength of the penalty, at least 0.
    gamma : float
        Curvature of the loss at 0, above 0.
    sweeps : int, optional
        Number of sweeps, at least 1.

    Returns
    -------
    U : (m, r) ndarray
        Left factor at the end.
    V : (n, r) ndarray
        Right factor at the end.
    E : (m, n) ndarray
        Sparse errors.

    Notes
    -----
    Cost: ``O(m n r + (m + n) r^2)`` per sweep.

    References
    ----------
    :claim:`vidal/robust-pca`
    """
    Y, U, V, lam = _problem(Y, U, V, lam)
    gamma = arguments.number("gamma", gamma, above=0)

    def prox(x, length):
        norm = np.sqrt(x @ x)
        return x * max(0.0, 1 - lam / (gamma * length * norm)) if norm > 0 else x

    for _ in range(arguments.positive_integer("sweeps", sweeps)):
        E = soft_threshold(Y - U @ V.T, 1 / gamma)
        U = _sweep((Y - E) @ V, V, U, prox)
        V = _sweep((Y - E).T @ U, U, V, prox)
    return U, V, soft_threshold(Y - U @ V.T, 1 / gamma)


def _non_negative(Y, U, V, lam):
    Y, U, V, lam = _problem(Y, U, V, lam)
    U, V = (arguments.numbers(f"every entry of {n}", X, least=0) for n, X in (("U", U), ("V", V)))
    return Y, U, V, lam


def _unit(X):
    lengths = column_norms(X)
    return X / np.where(lengths > 0, lengths, 1)


def _sparse(x, t_2, t_1):
    x = x - np.clip(x, -t_1, t_1)
    norm = np.sqrt(x @ x)
    return x * max(0.0, 1 - t_2 / norm) if norm > 0 else x


def _atoms(A, V, U, weights):
    """Minimize over each atom in turn: `_sweep` with the penalty weights[i] ||u_i||."""
    B, U = V.T @ V, U.copy()
    for i in range(U.shape[1]):
        if B[i, i] > 0:
            x = U[:, i] + (A[:, i] - U @ B[:, i]) / B[i, i]
            norm = np.sqrt(x @ x)
            U[:, i] = x * max(0.0, 1 - weights[i] / (B[i, i] * norm)) if norm > 0 else x
        else:
            U[:, i] = 0
    return U
