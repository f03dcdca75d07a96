"""The margin of Assumption 2, which decides how hard data are for a wide, lazy network.

With z ~ N(0, I) and b ~ Bern(q), a map psi of norm at most 1 has on a labeled point (x, y) the
margin ``E[y <psi(z), b x 1{z^T x > 0}>]``; gamma(q) is the largest least margin that any psi
reaches. By convexity gamma(1) is the minimum of ``E |G_alpha(z)|`` over weights alpha on the
points, where ``G_alpha(z)`` is the sum of alpha_i y_i x_i over the points with ``z^T x_i > 0``. In
the plane that is a finite problem, for G_alpha is constant on the arcs between the lines
``z^T x_i = 0``; elsewhere the margin of the kernel machine is an upper bound, and every psi gives a
lower one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from runproofs import _arguments as arguments
from runproofs.networks import _arrangement

PRECISION = 1e-10  # how near the two bounds come, for points with entries at most 1
REDUCTION = 0.1  # of the barrier's weight, from one center to the next
CENTERED = 0.1  # decrement at a center, in units of that weight
STEPS = 30  # of Newton's method, at most, for one center


class Arcs(NamedTuple):
    """Arcs of directions z on which the same points have ``z^T x > 0``; empty ones are left out.

    Attributes
    ----------
    start : (k,) ndarray
        Angles from -pi to pi where the arcs begin, increasing.
    mass : (k,) ndarray
        Probabilities of the arcs, of sum 1.
    active : (k, n) ndarray of bool
        Whether ``z^T x_i > 0`` on the arc.
    """

    start: np.ndarray
    mass: np.ndarray
    active: np.ndarray


class PlanarMap(NamedTuple):
    """A map psi of the plane that depends on the direction only and is constant on arcs.

    Attributes
    ----------
    start : (k,) ndarray
        Angles where the arcs begin, increasing, the first one -pi.
    value : (k, 2) ndarray
        Values on the arcs, of norm at most 1.
    """

    start: np.ndarray
    value: np.ndarray

    def __call__(self, z):
        """Values psi(z), (..., 2), at points z (..., 2)."""
        z = arguments.points("z", z, 2)
        angle = np.arctan2(z[..., 1], z[..., 0])
        return self.value[np.searchsorted(self.start, angle, side="right") - 1]


class PlanarMargin(NamedTuple):
    """Two bounds of gamma(q), and what proves them.

    Attributes
    ----------
    lower : float
        Margin of psi, ``q min_i E[y_i <psi(z), x_i 1{z^T x_i > 0}>]``.
    upper : float
        Bound by alpha, ``q E |G_alpha(z)|``.
    psi : PlanarMap
        Map that proves the lower bound.
    alpha : (n,) ndarray
        Weights of the points, at least 0 with sum 1.
    """

    lower: float
    upper: float
    psi: PlanarMap
    alpha: np.ndarray


class KernelMargin(NamedTuple):
    """Two bounds of the margin of a kernel machine.

    Attributes
    ----------
    lower : float
        Least margin of one plane, a functional of norm at most 1.
    upper : float
        Bound by alpha, ``q (alpha^T K alpha)^{1/2}``.
    alpha : (n,) ndarray
        Weights of the points, at least 0 with sum 1.
    """

    lower: float
    upper: float
    alpha: np.ndarray


def arcs(X: ArrayLike) -> Arcs:
    """Arcs between the lines ``z^T x_i = 0`` of points in the plane, at most 2n + 1.

    Parameters
    ----------
    X : (n, 2) array_like
        Points x_i.

    Returns
    -------
    Arcs
        Beginnings, probabilities and active points of the arcs.

    Notes
    -----
    Cost: ``O(n^2)``.

    Examples
    --------
    >>> found = arcs([[1, 0], [0, 1]])
    >>> found.mass.tolist(), found.active.astype(int).tolist()
    ([0.25, 0.25, 0.25, 0.25], [[0, 0], [1, 0], [1, 1], [0, 1]])
    """
    X = arguments.matrix("X", X, columns=2)
    found = _arrangement.rays(X / _largest(X, axis=1))
    start = np.append(-np.pi, found.angle)  # the arc that holds the negative first axis, cut there
    length = np.diff(start, append=np.pi)
    active = _arrangement.sector_sums(found, np.eye(len(X))).T > 0.5
    active = np.vstack([active[-1:], active])
    kept = length > 0
    return Arcs(start[kept], length[kept] / (2 * np.pi), active[kept])


def planar_margin(X: ArrayLike, y: ArrayLike, *, keep: float = 1.0) -> PlanarMargin:
    """The margin gamma(q) of labeled points in the plane, enclosed by a map psi and weights alpha.

    Parameters
    ----------
    X : (n, 2) array_like
        Points x_i.
    y : (n,) array_like
        Labels, -1 and 1.
    keep : float, optional
        Probability q of keeping a unit, in (0, 1]; 1 by default.

    Returns
    -------
    PlanarMargin
        Both bounds, psi, which is 0 where the margin is, and alpha.

    Notes
    -----
    Both bounds hold to some roundings, and they are ``1e-8 |x|`` or less apart, x the longest point
    (tried to n = 100). Barriers for ``|psi_k| <= 1`` on each arc and alpha_i >= 0, of weight mu,
    make the dual problem smooth: ``psi = u / (mu + (mu^2 + |u|^2)^{1/2})`` with
    ``u = mass G_alpha``. The bounds are then at most (n + 2n + 1) mu apart, and mu is lowered from
    center to center. Cost: some 60 steps of Newton's method, ``O(n^3)`` each; 20 ms for 20 points.

    References
    ----------
    :claim:`beyond/minimax-margin`

    Examples
    --------
    >>> found = planar_margin([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, -1, -1])
    >>> round(found.lower, 9), round(found.upper, 9)  # the square root of 2, over 4
    (0.353553391, 0.353553391)
    >>> found.psi([2.0, 1.0]).round(6).tolist()
    [0.707107, -0.707107]
    """
    X = arguments.matrix("X", X, columns=2)
    y = _labels(y, len(X))
    keep = arguments.keep_probability(keep)
    found = arcs(X)
    scale = _largest(X)
    # pushes[k, :, i] = E[y_i x_i 1{z in arc k, z^T x_i > 0}] / scale
    pushes = found.mass[:, None, None] * (found.active[:, None] * (y[:, None] * X / scale).T)
    alpha, psi = _centre_path(pushes)
    upper = np.linalg.norm(pushes @ alpha, axis=1).sum()
    lower = np.einsum("kji,kj->i", pushes, psi).min()
    return PlanarMargin(
        float(keep * scale * lower), float(keep * scale * upper), PlanarMap(found.start, psi), alpha
    )


def feature_kernel(X: ArrayLike) -> np.ndarray:
    """Kernel of the features, ``<x, x'> (pi - angle) / (2 pi)``, or 0 if x or x' is 0.

    It is ``E[<x 1{z^T x > 0}, x' 1{z^T x' > 0}>]`` for z ~ N(0, I).

    Parameters
    ----------
    X : (n, d) array_like
        Points, one a row.

    Returns
    -------
    (n, n) ndarray
        The kernel of each pair.

    Notes
    -----
    Angles are those of a difference and a sum of unit vectors, exact to rounding. Cost:
    ``O(n^2 d)``.

    References
    ----------
    :claim:`beyond/minimax-margin`

    Examples
    --------
    >>> feature_kernel([[1, 0], [1, 1]]).round(3).tolist()
    [[0.5, 0.375], [0.375, 1.0]]
    """
    X = arguments.matrix("X", X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    units = X / np.where(lengths > 0, lengths, 1)
    supplements = np.empty((len(X), len(X)))
    for supplement, unit in zip(supplements, units, strict=True):
        apart, along = (np.linalg.norm(units - sign * unit, axis=1) for sign in (1, -1))
        supplement[:] = 2 * np.arctan2(along, apart)
    return X @ X.T * supplements / (2 * np.pi)


def kernel_margin(X: ArrayLike, y: ArrayLike, *, keep: float = 1.0) -> KernelMargin:
    """Hard margin without bias for `feature_kernel`, times q: a bound of gamma(q).

    Parameters
    ----------
    X : (n, d) array_like
        Points, one a row.
    y : (n,) array_like
        Labels, -1 and 1.
    keep : float, optional
        Probability q of keeping a unit, in (0, 1]; 1 by default.

    Returns
    -------
    KernelMargin
        Both bounds and alpha; lower is 0 if no plane is found that separates.

    Notes
    -----
    Above ``0.001 |x|``, x the longest point, the bounds agree to ``1e-8 |x|``; a margin of 0 is
    enclosed to some ``1e-7 |x|``, the root of a rounding. Cost: ``O(n^2 d)`` for the kernel,
    ``O(n^3)`` or somewhat more for the weights.

    References
    ----------
    :claim:`beyond/minimax-margin`

    Examples
    --------
    >>> round(kernel_margin([[0.6, 0.8]], [1]).upper, 6)
    0.707107
    """
    X = arguments.matrix("X", X)
    y = _labels(y, len(X))
    keep = arguments.keep_probability(keep)
    scale = _largest(X)
    K = y[:, None] * feature_kernel(X / scale) * y
    values, W = np.linalg.eigh(K)
    root = np.sqrt(np.maximum(values, 0))[:, None] * W.T
    alpha, plane = _centre_path(root[None])
    upper, lower = np.linalg.norm(root @ alpha), (plane[0] @ root).min()
    return KernelMargin(float(keep * scale * lower), float(keep * scale * upper), alpha)


def potential(alpha: ArrayLike, X: ArrayLike, y: ArrayLike, z: ArrayLike) -> np.ndarray:
    """``G_alpha(z) = sum_i alpha_i y_i x_i 1{z^T x_i > 0}``, the gradient that the points push for.

    Parameters
    ----------
    alpha : (n,) array_like
        Weights of the points.
    X : (n, d) array_like
        Points x_i.
    y : (n,) array_like
        Labels, -1 and 1.
    z : (..., d) array_like
        Where it is evaluated.

    Returns
    -------
    (..., d) ndarray
        The gradient at each z.

    Notes
    -----
    Cost: ``O(n d)`` per point z.

    References
    ----------
    :claim:`beyond/minimax-margin`

    Examples
    --------
    >>> potential([0.5, 0.5], [[1, 0], [0, 1]], [1, -1], [[1, 1], [1, -1]]).tolist()
    [[0.5, -0.5], [0.5, 0.0]]
    """
    X = arguments.matrix("X", X)
    weights = arguments.points("alpha", alpha, len(X), axes=1) * _labels(y, len(X))
    z = arguments.points("z", z, X.shape[1])
    return (z @ X.T > 0) @ (weights[:, None] * X)


def sampled_margins(
    psi: Callable, X: ArrayLike, y: ArrayLike, z: ArrayLike, mask: ArrayLike = 1
) -> np.ndarray:
    """The terms ``y_i <psi(z_r), b_r x_i 1{z_r^T x_i > 0}>``, whose mean over r a wide network has.

    Parameters
    ----------
    psi : callable
        Takes points (m, d); returns as many values.
    X : (n, d) array_like
        Points x_i.
    y : (n,) array_like
        Labels, -1 and 1.
    z : (m, d) array_like
        Samples z_r, for instance the initial rows of a network.
    mask : (m,) array_like, optional
        Mask b of zeros and ones; by default all units are kept.

    Returns
    -------
    (m, n) ndarray
        The terms; their mean over r is the margin of the competitor with rows
        ``m^{-1/2} a_r psi(z_r)``.

    Notes
    -----
    Cost: ``O(m n d)``.

    References
    ----------
    :claim:`thesis/assumption-2`

    Examples
    --------
    >>> z = np.random.default_rng(1).standard_normal((4000, 1))
    >>> sampled_margins(np.sign, [[1], [-1]], [1, 1], z).mean(0).round(1).tolist()
    [0.5, 0.5]
    """
    X = arguments.matrix("X", X)
    y = _labels(y, len(X))
    z = arguments.points("z", z, X.shape[1], axes=2)
    values = arguments.points("psi(z)", psi(z), X.shape[1], axes=2)
    if values.shape != z.shape:
        raise ValueError(f"psi(z) must have shape {z.shape}, but it has {values.shape}.")
    mask = arguments.zeros_and_ones("mask", mask, len(z), one=True)
    mask = arguments.vector("mask", 1 * mask, size=len(z))
    return mask[:, None] * (values @ X.T) * (z @ X.T > 0) * y


# -------------------------------------------------------------------------------------- helpers


def _labels(y, n):
    y = arguments.points("y", y, n, axes=1)
    return arguments.signs("y", y)


def _largest(X, axis=None):
    """The largest modulus of an entry, or 1 in place of 0: its square does not overflow."""
    largest = np.abs(X).max(axis, keepdims=axis is not None)
    return np.where(largest > 0, largest, 1.0)


def _centre_path(pushes):
    """Weights alpha (n,) and psi (k, d): the best on the path to min_alpha sum_k |pushes_k alpha|.

    pushes: (k, d, n). psi has |psi_k| <= 1; its bound is min_i sum_k (pushes_k^T psi_k)_i.
    Centers minimize Phi = sum_k phi(u_k) - mu sum_i ln alpha_i with u_k = pushes_k alpha, where
    phi(u) = R - mu + mu ln(2 mu / (mu + R)), R = (mu^2 + |u|^2)^{1/2}, on the simplex. There
    psi_k = u_k / (mu + R_k), and the bounds are at most (n + k) mu apart.
    """
    k, d, n = pushes.shape
    flat = pushes.reshape(k * d, n)
    alpha, mu = np.full(n, 1 / n), 0.1
    best_alpha, upper = alpha, np.inf
    best_psi, lower = np.zeros((k, d)), 0.0
    while upper - lower > PRECISION and mu > 1e-3 * PRECISION / (n + k):
        for _ in range(STEPS):
            step, decrement, psi = _newton(flat, alpha, mu, d)
            psi = psi / max(1, np.linalg.norm(psi, axis=1).max())
            if decrement <= CENTERED * mu:
                break
            alpha = alpha * (1 + _length(flat, alpha, mu, d, step, decrement) * step)
            alpha = alpha / alpha.sum()
        above = np.linalg.norm((flat @ alpha).reshape(k, d), axis=1).sum()
        below = (psi.ravel() @ flat).min()
        if above < upper:
            best_alpha, upper = alpha, above
        if below > lower:
            best_psi, lower = psi, below
        mu *= REDUCTION
    return best_alpha, best_psi


def _newton(flat, alpha, mu, d):
    """Newton's step for Phi, relative to alpha, twice the fall that it promises, and the next psi.

    That psi, to first order in the step, has the margins mu (1 - step_i) / alpha_i + const exactly.
    The matrix of second derivatives is J^T J, its condition number up to mu^{-2}: J is factored.
    """
    u = (flat @ alpha).reshape(-1, d)
    length = np.linalg.norm(u, axis=1, keepdims=True)
    R = np.sqrt(mu**2 + length**2)
    along = u / np.where(length > 0, length, 1)
    relative = (flat * alpha).reshape(len(u), d, -1)
    less = 1 - np.sqrt(mu / R)
    roots = relative - (less * along)[:, :, None] * (along[:, None] @ relative)
    roots = roots / np.sqrt(mu + R)[:, :, None]
    J = np.concatenate([roots.reshape(flat.shape), np.sqrt(mu) * np.eye(len(alpha))])
    target = u * np.sqrt(R / mu / (mu + R))
    Q, T = np.linalg.qr(J)
    target = np.append(target.ravel(), np.full(len(alpha), -np.sqrt(mu))) @ Q
    sums = solve_triangular(T, alpha, trans="T")
    target -= sums * (sums @ target) / (sums @ sums)  # so that the weights keep their sum
    step = -solve_triangular(T, target)
    change = (flat @ (alpha * step)).reshape(-1, d)
    psi = u / (mu + R)
    psi = psi + change / (mu + R) - psi * ((psi * change).sum(1, keepdims=True) / R)
    return step, target @ target, psi


def _length(flat, alpha, mu, d, step, decrement):
    """A length of the step at which Phi, which is convex, still falls or has hardly turned."""
    length = min(1.0, -0.99 / min(step.min(), -0.1))
    for _ in range(50):
        there = alpha * (1 + length * step)
        u = (flat @ there).reshape(-1, d)
        psi = u / (mu + np.sqrt(mu**2 + (u**2).sum(1, keepdims=True)))
        gradient = psi.ravel() @ flat - mu / there
        if (gradient - gradient.mean()) @ (alpha * step) <= 0.1 * decrement:
            break
        length /= 2
    return length
