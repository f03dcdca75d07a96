"""The margin of Assumption 2, which decides how hard data are for a wide, lazy network.

With z ~ N(0, I) and b ~ Bern(q), a map psi of norm at most 1 has on a labeled point (x, y) the
margin E[y <psi(z), b x 1{z^T x > 0}>]; gamma(q) is the largest least margin that any psi reaches.
By convexity gamma(1) = min over weights alpha on the points of E |G_alpha(z)|, where G_alpha(z) is
the sum of alpha_i y_i x_i over the points with z^T x_i > 0. In the plane that is a finite problem,
for G_alpha is constant on the arcs between the lines z^T x_i = 0; elsewhere the margin of the
kernel machine is an upper bound, and every psi gives a lower one.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from runproofs import _arguments as arguments
from runproofs.networks import _arrangement

PRECISION = 1e-10  # how near the two bounds come, for points with entries at most 1
REDUCTION = 0.1  # of the barrier's weight, from one center to the next
CENTERED = 0.1  # decrement at a center, in units of that weight
STEPS = 30  # of Newton's method, at most, for one center


class Arcs(NamedTuple):
    """The arcs of directions z on which the same points have z^T x > 0; empty ones are left out."""

    start: np.ndarray  # (k,), angles from -pi to pi, increasing
    mass: np.ndarray  # (k,), the probability of the arc, of sum 1
    active: np.ndarray  # (k, n), whether z^T x_i > 0 there


class PlanarMap(NamedTuple):
    """A map psi of the plane that depends on the direction only and is constant on arcs."""

    start: np.ndarray  # (k,), where the arcs begin, increasing
    value: np.ndarray  # (k, 2), of norm at most 1

    def __call__(self, z):
        """psi(z) at points z (..., 2). Raises ValueError for bad arguments."""
        z = arguments.points("z", z, 2)
        angle = np.arctan2(z[..., 1], z[..., 0])
        return self.value[np.searchsorted(self.start, angle, side="right") - 1]


class PlanarMargin(NamedTuple):
    """gamma(q) lies between lower, the margin of psi, and upper, which alpha proves."""

    lower: float  # q min_i E[y_i <psi(z), x_i 1{z^T x_i > 0}>]
    upper: float  # q E |G_alpha(z)|
    psi: PlanarMap
    alpha: np.ndarray  # (n,), at least 0 with sum 1


class KernelMargin(NamedTuple):
    """The margin of a kernel machine lies between lower, which a plane proves, and upper."""

    lower: float  # the least margin of one plane, a functional of norm at most 1
    upper: float  # (alpha^T K alpha)^{1/2}
    alpha: np.ndarray  # (n,), at least 0 with sum 1


def arcs(X):
    """The `Arcs` between the lines z^T x_i = 0 of points in the plane.

    X: (n, 2). Returns at most 2n arcs. Raises ValueError for bad arguments. Cost: O(n^2).

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


def planar_margin(X, y, q=1.0):
    """The margin gamma(q) of labeled points in the plane, enclosed by a map psi and weights alpha.

    X: (n, 2). y: (n,), labels -1 and 1. q: keep probability in (0, 1]. Returns a `PlanarMargin`;
    both its bounds hold for the psi and alpha in it, to some roundings, and they are 1e-8 |x| or
    less apart, x the longest point (tried to n = 100). Where the margin is 0 so is psi. Raises
    ValueError for bad arguments. Cost: some 60 steps of Newton's method, O(n^3) each; 20 ms for 20
    points.
    Source: beyond the thesis, Proposition 5.A.

    Barriers for |psi_k| <= 1 on each arc and alpha_i >= 0, of weight mu, make the dual problem
    smooth: psi = u / (mu + (mu^2 + |u|^2)^{1/2}) with u = mass G_alpha. The bounds are then at most
    (n + 2n + 1) mu apart, and mu is lowered from center to center.

    >>> found = planar_margin([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, -1, -1])
    >>> round(found.lower, 9), round(found.upper, 9)  # the square root of 2, over 4
    (0.353553391, 0.353553391)
    >>> found.psi([2.0, 1.0]).round(6).tolist()
    [0.707107, -0.707107]
    """
    X = arguments.matrix("X", X, columns=2)
    y = _labels(y, len(X))
    q = arguments.keep_probability(q, name="q")
    found = arcs(X)
    scale = _largest(X)
    # pushes[k, :, i] = E[y_i x_i 1{z in arc k, z^T x_i > 0}] / scale
    pushes = found.mass[:, None, None] * (found.active[:, None] * (y[:, None] * X / scale).T)
    alpha, psi = _centre_path(pushes)
    upper = np.linalg.norm(pushes @ alpha, axis=1).sum()
    lower = np.einsum("kji,kj->i", pushes, psi).min()
    return PlanarMargin(
        float(q * scale * lower), float(q * scale * upper), PlanarMap(found.start, psi), alpha
    )


def feature_kernel(X):
    """E[<x 1{z^T x > 0}, x' 1{z^T x' > 0}>] = <x, x'> (pi - angle) / (2 pi), 0 if x or x' is 0.

    X: (n, d). Returns (n, n). Raises ValueError for bad arguments. Cost: O(n^2 d).
    Angles are those of a difference and a sum of unit vectors, exact to rounding.
    Source: beyond the thesis, Proposition 5.A.

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


def kernel_margin(X, y, q=1.0):
    """gamma_svm, the hard margin without bias for `feature_kernel`, times q, in any dimension.

    X: (n, d). y: (n,), labels -1 and 1. q: keep probability in (0, 1]. Returns a `KernelMargin`;
    lower is 0 if no plane is found that separates. Above 0.001 |x|, x the longest point, the bounds
    agree to 1e-8 |x|; a margin of 0 is enclosed to some 1e-7 |x|, the root of a rounding. Raises
    ValueError for bad arguments. Cost: O(n^2 d) for the kernel, O(n^3) or somewhat more for the
    weights.
    Source: beyond the thesis, Proposition 5.A. It is an upper bound of gamma(q).

    >>> round(kernel_margin([[0.6, 0.8]], [1]).upper, 6)
    0.707107
    """
    X = arguments.matrix("X", X)
    y = _labels(y, len(X))
    q = arguments.keep_probability(q, name="q")
    scale = _largest(X)
    K = y[:, None] * feature_kernel(X / scale) * y
    values, W = np.linalg.eigh(K)
    root = np.sqrt(np.maximum(values, 0))[:, None] * W.T
    alpha, plane = _centre_path(root[None])
    upper, lower = np.linalg.norm(root @ alpha), (plane[0] @ root).min()
    return KernelMargin(float(q * scale * lower), float(q * scale * upper), alpha)


def potential(alpha, X, y, z):
    """G_alpha(z) = sum_i alpha_i y_i x_i 1{z^T x_i > 0}, the gradient that the points push for.

    alpha, y: (n,). X: (n, d). z: (..., d). Returns (..., d). Raises ValueError for bad arguments.
    Cost: O(n d) a point z.

    >>> potential([0.5, 0.5], [[1, 0], [0, 1]], [1, -1], [[1, 1], [1, -1]]).tolist()
    [[0.5, -0.5], [0.5, 0.0]]
    """
    X = arguments.matrix("X", X)
    weights = arguments.points("alpha", alpha, len(X), axes=1) * _labels(y, len(X))
    z = arguments.points("z", z, X.shape[1])
    return (z @ X.T > 0) @ (weights[:, None] * X)


def sampled_margins(psi, X, y, z, mask=1):
    """The terms y_i <psi(z_r), b_r x_i 1{z_r^T x_i > 0}>, whose mean over r a wide network has.

    psi: a function of points (m, d). X: (n, d). y: (n,). z: (m, d), for instance the initial rows
    of a network. mask: (m,) of 0 and 1, or 1. Returns (m, n): over r, their mean is the margin of
    the competitor with rows m^{-1/2} a_r psi(z_r). Raises ValueError for bad arguments.
    Cost: O(m n d). Source: thesis, Assumption 2.

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
