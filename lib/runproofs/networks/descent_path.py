"""Paths to a global minimum on which a regularized sum of homogeneous units never rises.

The objective, with a convex loss, is::

    f = loss(sum_k c_k phi_k) + lam sum_k c_k theta_k,   c >= 0.

phi_k in ``R^D`` is the output of an atom (a unit at a fixed point), theta_k its price, and
``c_k^(1/p)`` times the atom is a unit of output c_k phi_k and price c_k theta_k. A path is a list
of weights c; in between it is straight. All of it is in the arithmetic of the arguments: with
Fractions nothing is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments


class Path(NamedTuple):
    """Corners of a path, and where each part of it ends.

    Attributes
    ----------
    corners : (corners, N) ndarray
        Weights c of the N atoms, in float64 or Fractions.
    parts : dict of int
        Indices of the last corners of "reduce", "improve" and "travel".
    """

    corners: np.ndarray
    parts: dict

    def needed(self) -> int:
        """The largest number of atoms that have a positive weight at the same time.

        Returns
        -------
        int
            The number of atoms.
        """
        positive = self.corners > 0
        return int((positive | positive[[0, *range(len(positive) - 1)]]).sum(1).max())


def dependence(phi: ArrayLike, theta: ArrayLike) -> np.ndarray | None:
    """A dependence of the atoms: beta with phi beta = 0, theta beta <= 0 and min beta = -1.

    The weights 1 + t beta, 0 <= t <= 1, keep the output, do not raise the price, and end with an
    atom of weight 0.

    Parameters
    ----------
    phi : (D, r) array_like
        Outputs of the atoms, one a column.
    theta : (r,) array_like
        Prices of the atoms, at least 0.

    Returns
    -------
    (r,) ndarray or None
        A beta, None if phi has rank r.

    Notes
    -----
    Cost: ``O(D r min(D, r))``.

    References
    ----------
    :claim:`vidal/deep-theorem-2`. Haeffele and Vidal, Global Optimality in Tensor Factorization,
    Deep Learning, and Beyond, 2015, proof of Theorem 2.

    Examples
    --------
    >>> dependence([[1, 1]], [1, 2]).tolist()
    [1.0, -1.0]
    """
    phi, theta, _ = _atoms(phi, theta)
    T = phi.copy()
    pivots = _eliminate(T, range(T.shape[1]))
    others = [k for k in range(T.shape[1]) if k not in pivots]
    if not others:
        return None
    beta = 0 * T[0]
    beta[others[0]] = 1 + 0 * T[0, 0]
    beta[pivots] = -T[: len(pivots), others[0]]
    price = theta @ beta
    if price > 0 or (price == 0 and min(beta) >= 0):
        beta = -beta
    return beta / -min(beta)


def reduce_weights(phi: ArrayLike, theta: ArrayLike, weights: ArrayLike) -> np.ndarray:
    """Weights on the way to some whose atoms are linearly independent.

    On the way the output stays, the price does not rise and no weight leaves 0.

    Parameters
    ----------
    phi : (D, r) array_like
        Outputs of the atoms, one a column.
    theta : (r,) array_like
        Prices of the atoms, at least 0.
    weights : (r,) array_like
        Weights c to start from, at least 0.

    Returns
    -------
    (steps + 1, r) ndarray
        The weights, the first included.

    Notes
    -----
    Cost: at most r times that of `dependence`.

    Examples
    --------
    >>> reduce_weights([[1, 1, -1]], [1, 2, 1], [1, 1, 1]).tolist()
    [[1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    phi, theta, (c,) = _atoms(phi, theta, weights)
    corners = [c]
    while True:
        alive = np.flatnonzero(c > 0)
        beta = dependence(phi[:, alive] * c[alive], theta[alive] * c[alive]) if alive.size else None
        if beta is None:
            return np.array(corners)
        c = c.copy()
        c[alive] = c[alive] * np.where(beta == min(beta), 0, 1 + beta)
        corners.append(c)


def descent_path(phi: ArrayLike, theta: ArrayLike, start: ArrayLike, end: ArrayLike) -> Path:
    """A path between weights on which f never rises, if its end minimizes f over all weights.

    It leads from the output Z_0 of start to that of end, Z_1, and reaches a minimum, too. No more
    than max(D + 1, number of positive weights of start) weights are positive at any time.

    Parameters
    ----------
    phi : (D, N) array_like
        Outputs of all the atoms of both ends, one a column.
    theta : (N,) array_like
        Prices of the atoms, at least 0.
    start : (N,) array_like
        Weights to start from, at least 0.
    end : (N,) array_like
        Weights whose output is aimed at, at least 0.

    Returns
    -------
    Path
        Its corners, the last one of the output of end but not always end, and its three parts.

    Notes
    -----
    It reduces start to independent atoms, walks along the edges of the linear program
    ``min theta c, phi c = Z_0, c >= 0`` to an optimum, and follows the optima as the output moves
    straight from Z_0 to Z_1. Cost: a simplex step of ``O(D N)`` an edge.

    References
    ----------
    :claim:`beyond/descent-path-any-convex-loss`

    Examples
    --------
    >>> path = descent_path([[1, 1, -1]], [2, 1, 1], [1, 0, 0], [0, 0, 1])
    >>> path.corners.tolist(), path.needed()
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 2)
    """
    phi, theta, (start, end) = _atoms(phi, theta, start, end)
    corners = list(reduce_weights(phi, theta, start))
    parts = {"reduce": len(corners) - 1}
    count, c = phi.shape[1], corners[-1]
    alive = np.flatnonzero(c > 0)
    # the tableau: rows of the basis, and what Z_0 and Z_1 are in it
    T = np.hstack([phi, (phi @ c)[:, None], (phi @ end)[:, None]])
    basis = _eliminate(T, [*alive, *(k for k in range(count) if k not in alive)])
    T = T[: len(basis)]
    T[:, count] = np.where(np.isin(basis, alive), c[basis], 0)
    small = _small(T)
    while True:  # Bland's rule: the first atom that pays, the first that goes
        reduced = theta - theta[basis] @ T[:, :count]
        enters = np.flatnonzero(reduced < -_small(theta))
        if not enters.size:
            break
        column = T[:, enters[0]]
        rows = np.flatnonzero(column > small)
        ratios = T[rows, count] / column[rows]
        leaves = min(rows[ratios == min(ratios)], key=lambda row: basis[row])
        _pivot(T, leaves, enters[0])
        basis[leaves] = enters[0]
        T[leaves, count] = max(T[leaves, count], 0)
        _move(corners, basis, T[:, count])
    parts["improve"] = len(corners) - 1
    t = 0 * T[0, 0] if T.size else 0
    while t < 1 and len(basis):  # the dual simplex method: the optimum at t is (1 - t) Z_0 + t Z_1
        now, slope = T[:, count], T[:, count + 1] - T[:, count]
        at_t = now + t * slope
        zero = (abs(at_t) <= small) & (slope < -small)
        if zero.any():
            leaves = min(np.flatnonzero(zero), key=lambda row: basis[row])
            row = T[leaves, :count]
            reduced = np.maximum(theta - theta[basis] @ T[:, :count], 0 * theta)
            enters = [k for k in np.flatnonzero(row < -small) if k not in basis]
            new = min(enters, key=lambda k: (reduced[k] / -row[k], k))
            _pivot(T, leaves, new)
            basis[leaves] = new
            continue
        falling = np.flatnonzero(slope < -small)
        following = min([1 + 0 * t, *(now[k] / -slope[k] for k in falling)])
        t = max(t, following if 1 - following > _small(T) else 1 + 0 * t)
        _move(corners, basis, now + t * slope)
    parts["travel"] = len(corners) - 1
    return Path(np.array(corners), parts)


def _atoms(phi, theta, *weights):
    """The arguments as arrays of one kind: of Fractions, if there are only such and integers."""
    names = ("phi", "theta", *["a weight"] * len(weights))
    arrays = [
        arguments.array(name, x) for name, x in zip(names, (phi, theta, *weights), strict=True)
    ]
    if any(a.dtype == object for a in arrays):
        if not all(isinstance(x, int | Fraction) for a in arrays for x in a.ravel().tolist()):
            raise ValueError("phi, theta and the weights must hold numbers, or only Fractions.")
        arrays = [np.vectorize(Fraction, otypes=[object])(a) for a in arrays]
        phi, *vectors = arrays
        if phi.ndim != 2:
            raise ValueError(f"phi must be a matrix, but it has {phi.ndim} axes.")
    else:
        phi, *vectors = (
            arguments.matrix("phi", phi),
            *(arguments.vector("c", x) for x in arrays[1:]),
        )
    for name, x in zip(("theta", *["a weight"] * len(weights)), vectors, strict=True):
        if x.shape != phi.shape[1:]:
            raise ValueError(
                f"theta and the weights must have length {phi.shape[1]}, one number an atom, "
                f"but a shape is {x.shape}."
            )
        if (x < 0).any():
            raise ValueError(f"theta and the weights must be at least 0, but {name} is {min(x)}.")
    return phi, vectors[0], vectors[1:]


def _small(array):
    return 0 if array.dtype == object or not array.size else 1e-11 * abs(array).max()


def _eliminate(T, columns):
    """Gauss-Jordan on T in place; returns the columns of the pivots, one for each first row."""
    pivots, small = [], _small(T)
    for k in columns:
        rows = np.arange(len(pivots), len(T))
        if not rows.size:
            break
        best = max(rows, key=lambda row: abs(T[row, k]))
        if abs(T[best, k]) > small:
            T[[len(pivots), best]] = T[[best, len(pivots)]]
            _pivot(T, len(pivots), k)
            pivots.append(int(k))
    return pivots


def _pivot(T, row, column):
    T[row] = T[row] / T[row, column]
    for other in range(len(T)):
        if other != row:
            T[other] = T[other] - T[other, column] * T[row]


def _move(corners, basis, values):
    """Go to the basic solution with these values, unless the path is there already."""
    c = 0 * corners[-1]
    c[basis] = np.where(values > _small(values), values, 0 * values)
    if (c != corners[-1]).any():
        corners.append(c)
