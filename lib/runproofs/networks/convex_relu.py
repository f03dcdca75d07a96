"""Two-layer ReLU networks on planar inputs, trained to a certified global optimum.

The objective is::

    f(U, V) = 1/2 ||Y - sum_i [X u_i]_+ v_i^T||_F^2 + lam sum_i ||u_i|| ||v_i||.

The inputs are the rows of X (N, 2), for instance (x, 1): one input and a bias; the outputs are the
rows of Y (N, d). The number of units is free. One unit is a sinusoid on each sector between the
lines ``x_k^T u = 0``, so the best unit for a residual, the polar, is found exactly by a sweep. It
tells which unit to add, and it gives a lower bound for f over networks of all sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.networks import _arrangement


class PlanarPolar(NamedTuple):
    """The largest ``||R^T [X u]_+||`` over ``||u|| = 1``, and a u that attains it.

    Attributes
    ----------
    value : float
        The maximum.
    u : (2,) ndarray
        The best unit, of length 1.
    """

    value: float
    u: np.ndarray


class MetaStep(NamedTuple):
    """A network of the meta-algorithm after its local descent, and what the polar says of it.

    Attributes
    ----------
    U : (r, 2) ndarray
        Units u_i.
    V : (r, d) ndarray
        Their outputs v_i, with ``||v_i|| = ||u_i||``.
    value : float
        Objective f(U, V).
    bound : float
        Lower bound: no network of any size has a smaller f.
    polar : float
        Polar of the residual; at most lam, up to rounding, at a global optimum.
    """

    U: np.ndarray
    V: np.ndarray
    value: float
    bound: float
    polar: float

    @property
    def gap(self):
        """How much lower f may be at most, relative to the value; at least 0."""
        return max(self.value - self.bound, 0.0) / self.value if self.value else 0.0


def planar_polar(X: ArrayLike, R: ArrayLike) -> PlanarPolar:
    """Polar of ReLU units in the plane: the best unit for given residuals, exactly.

    Parameters
    ----------
    X : (N, 2) array_like
        Inputs, one a row.
    R : (N, d) array_like
        Residuals of the inputs.

    Returns
    -------
    PlanarPolar
        The largest ``||R^T [X u]_+||`` over ``||u|| = 1``, and a u that attains it.

    Notes
    -----
    Cost: ``O(N log N + N d)``, one sort and cumulative sums.

    References
    ----------
    :claim:`beyond/planar-relu-polar`

    Examples
    --------
    >>> float(planar_polar([[2e-16, 1], [0, 1], [1, 1]], [[10], [1], [1]]).value ** 2)
    145.0
    """
    X = arguments.matrix("X", X, columns=2)
    return _polar(_arrangement.as_complex(X), arguments.matrix("R", R, rows=len(X)))


def objective(U: ArrayLike, V: ArrayLike, X: ArrayLike, Y: ArrayLike, lam: float) -> float:
    """Regularized objective ``1/2 ||Y - sum_i [X u_i]_+ v_i^T||_F^2 + lam sum_i ||u_i|| ||v_i||``.

    Parameters
    ----------
    U : (r, 2) array_like
        Units u_i; r may be 0.
    V : (r, d) array_like
        Outputs v_i of the units.
    X : (N, 2) array_like
        Inputs, one a row.
    Y : (N, d) array_like
        Targets of the inputs.
    lam : float
        Strength of the regularizer, larger than 0.

    Returns
    -------
    float
        The objective.

    References
    ----------
    :claim:`vidal/two-layer-relu`

    Examples
    --------
    >>> objective([[0.9, 0]], [[1]], [[1, 0], [0, 1]], [[1], [-1]], 0.1)
    0.595
    """
    X, Y, lam = _problem(X, Y, lam)
    U, V = _units("U", U, 2), _units("V", V, Y.shape[1])
    if len(U) != len(V):
        raise ValueError(f"U and V must have as many rows, but they have {len(U)} and {len(V)}.")
    R = Y - np.maximum(X @ U.T, 0) @ V
    return float((R**2).sum() / 2 + lam * (_norms(U) * _norms(V)).sum())


def lower_bound(X: ArrayLike, Y: ArrayLike, lam: float, R: ArrayLike) -> tuple[float, PlanarPolar]:
    """A number that f is never below, from the residual of any network.

    It is ``s <R, Y> - s^2 ||R||^2 / 2`` for the best s >= 0 with s polar(R) <= lam.

    Parameters
    ----------
    X : (N, 2) array_like
        Inputs, one a row.
    Y : (N, d) array_like
        Targets of the inputs.
    lam : float
        Strength of the regularizer, larger than 0.
    R : (N, d) array_like
        Residual of a network; any other matrix gives a bound, too.

    Returns
    -------
    bound : float
        The lower bound, at least 0.
    polar : PlanarPolar
        The polar of R.

    Notes
    -----
    Cost: one polar.

    References
    ----------
    :claim:`beyond/gap-from-polar`

    Examples
    --------
    >>> bound, polar = lower_bound([[1, 0], [0, 1]], [[1], [-1]], 0.1, [[0.1], [-0.1]])
    >>> round(bound, 12), round(polar.value, 12)
    (0.19, 0.1)
    """
    X, Y, lam = _problem(X, Y, lam)
    R = arguments.matrix("R", R, rows=len(X), columns=Y.shape[1])
    polar = _polar(_arrangement.as_complex(X), R)
    return _bound(Y, R, lam, polar.value), polar


def meta_algorithm(
    X: ArrayLike, Y: ArrayLike, lam: float, *, tol: float = 1e-9, largest: int | None = None
) -> list[MetaStep]:
    """Local descent, exact polar, one more unit: until the gap is at most tol.

    Parameters
    ----------
    X : (N, 2) array_like
        Inputs, one a row.
    Y : (N, d) array_like
        Targets of the inputs.
    lam : float
        Strength of the regularizer, larger than 0.
    tol : float, optional
        Relative gap at which to stop, larger than 0; below 1e-12 it is likely to be out of reach.
    largest : int or None, optional
        Number of units at which to stop earlier, at least 1; None sets no limit.

    Returns
    -------
    list of MetaStep
        The networks, the first with no unit, then one for each unit that was added; the last one is
        a global optimum up to its gap.

    Notes
    -----
    It stops as well when f no longer decreases; the gap says where. Cost: ``O(N log N + N r d)`` a
    unit for the polar, and Newton steps of ``O(N r^2 + (r d)^3)``.

    References
    ----------
    :claim:`vidal/deep-theorem-2`. Haeffele and Vidal, Global Optimality in Tensor Factorization,
    Deep Learning, and Beyond, 2015, Algorithm 1, here with an exact polar for the plane.

    Examples
    --------
    >>> steps = meta_algorithm([[1, 0], [0, 1]], [[1], [-1]], 0.1)
    >>> [round(step.value, 9) for step in steps], steps[-1].gap < 1e-9
    ([1.0, 0.595, 0.19], True)
    """
    X, Y, lam = _problem(X, Y, lam)
    tol = arguments.number("tol", tol, above=0)
    largest = np.inf if largest is None else arguments.positive_integer("largest", largest)
    descent, x = _Descent(X, Y, lam), _arrangement.as_complex(X)
    steps, best = [], -np.inf
    while True:
        R = descent.residual()
        polar = _polar(x, R)
        best = max(best, _bound(Y, R, lam, polar.value))
        steps.append(MetaStep(*descent.factors(), descent.value(R), best, polar.value))
        stuck = len(steps) > 1 and steps[-1].value >= steps[-2].value * (1 - 1e-15)
        if steps[-1].gap <= tol or polar.value <= lam or stuck or len(steps[-1].U) >= largest:
            return steps
        descent.add(polar, R)
        descent.run()


def _problem(X, Y, lam):
    X = arguments.matrix("X", X, columns=2)
    return X, arguments.matrix("Y", Y, rows=len(X)), arguments.number("lam", lam, above=0)


def _units(name, x, columns):
    """x as a matrix with that many columns, or with no row if it is empty."""
    x = arguments.array(name, x)
    return arguments.matrix(name, x, columns=columns) if x.size else np.empty((0, columns))


def _norms(A):
    return np.sqrt((A**2).sum(-1))


def _bound(Y, R, lam, polar):
    square = (R**2).sum()
    s = min((R * Y).sum() / square if square else 0.0, lam / polar if polar else np.inf)
    return float(max(s, 0.0) * (R * Y).sum() - s**2 * square / 2) if s > 0 else 0.0


def _polar(x, R):
    """`PlanarPolar` for inputs x (N,), complex numbers."""
    alive = x != 0
    x, R = x[alive], R[alive]
    if not len(x):
        return PlanarPolar(0.0, np.array([1.0, 0.0]))
    found = _arrangement.rays_of(x)
    a = _arrangement.sector_sums(found, R.T * x)  # (d, 2N): R^T [Xu]_+ = Re(conj(a) u)
    level, turn = (abs(a) ** 2).sum(0), (a**2).sum(0)
    inside = np.exp(0.5j * np.angle(turn))  # its square is parallel to turn
    following = np.append(found.angle[1:], found.angle[0] + 2 * np.pi)
    candidates = [found.direction, np.exp(1j * following)]
    for free in (inside, -inside):  # where it leaves the sector, take its first ray
        ahead = (np.angle(free) - found.angle) % (2 * np.pi)
        candidates.append(np.where(ahead <= following - found.angle, free, found.direction))
    u = np.stack(candidates)
    squares = (level + (turn.conj() * u**2).real) / 2
    best = np.unravel_index(squares.argmax(), squares.shape)
    return PlanarPolar(float(np.sqrt(max(squares[best], 0))), _arrangement.as_points(u[best]))


class _Descent:
    """Local descent on f in the coordinates angle of u_i, and c_i = ||u_i|| v_i for unit u_i.

    Each unit keeps to the closed sector of its angle, where f is smooth as long as c_i != 0; at a
    ray it stays or goes on to the next sector. Newton's steps, with the Hessian made positive.
    """

    def __init__(self, X, Y, lam):
        self.X, self.Y, self.lam = X, Y, lam
        alive = X[(X != 0).any(1)]
        angle = _arrangement.rays(alive).angle if len(alive) else np.array([-np.pi])
        new = np.append(True, np.diff(angle) > 1e-13)
        self.low = angle[new]
        self.high = np.append(self.low[1:], self.low[0] + 2 * np.pi)
        middle = (self.low + self.high) / 2
        self.on = (X @ np.array([np.cos(middle), np.sin(middle)]) > 0).T  # (sectors, N)
        self.sector, self.angle = np.zeros(0, dtype=int), np.zeros(0)
        self.c = np.zeros((0, Y.shape[1]))

    def direction(self):
        return np.array([np.cos(self.angle), np.sin(self.angle)])

    def features(self):
        return self.on[self.sector].T * (self.X @ self.direction())

    def slopes(self, sector):
        """Derivatives of the features in the angle, as if the units were in these sectors."""
        return self.on[sector].T * (self.X @ np.array([-np.sin(self.angle), np.cos(self.angle)]))

    def residual(self):
        return self.Y - self.features() @ self.c

    def value(self, R):
        return float((R**2).sum() / 2 + self.lam * _norms(self.c).sum())

    def factors(self):
        root = np.sqrt(_norms(self.c))[:, None]
        return root * self.direction().T, self.c / np.where(root, root, 1)

    def add(self, polar, R):
        angle = np.arctan2(*polar.u[::-1])
        angle += 2 * np.pi * (angle < self.low[0])
        sector = np.searchsorted(self.low, angle, side="right") - 1
        feature = np.maximum(self.X @ polar.u, 0)
        c = R.T @ feature / polar.value * (polar.value - self.lam) / (feature @ feature)
        self.sector, self.angle = np.append(self.sector, sector), np.append(self.angle, angle)
        self.c = np.vstack([self.c, c])

    def run(self, steps=200):
        """Newton's steps; where f falls no more and rounding moves, the flattest point is kept."""
        lowest, flattest, idle = np.inf, None, 0
        for _ in range(steps):
            self.prune()
            if not len(self.c):
                return
            more = self.newton()
            if flattest is None or self.steepness < flattest[0]:
                flattest = self.steepness, self.stood
            value = self.value(self.residual())
            if value < lowest * (1 - 1e-14):
                lowest, flattest, idle = value, None, 0
            idle += 1
            if not more or idle == 12:
                break
        if flattest:
            self.sector, self.angle, self.c = flattest[1]
        self.prune()

    def newton(self):
        """One step; False where it no longer helps."""
        R, (r, d), lam = self.residual(), self.c.shape, self.lam
        before = self.value(R)
        free = self.leave_rays(R)  # moves some angles a little
        R = self.residual()
        G, S, size = self.features(), self.slopes(self.sector), _norms(self.c)
        unit = self.c / size[:, None]
        of_c, of_angle = lam * unit - G.T @ R, -((S.T @ R) * self.c).sum(1)
        same = np.eye(r)
        curved = (lam / size)[:, None, None] * (np.eye(d) - unit[:, :, None] * unit[:, None, :])
        cc = (G.T @ G)[:, None, :, None] * np.eye(d)[:, None] + same[:, None, :, None] * (
            curved[:, :, None, :]
        )
        ca = (G.T @ S)[:, None, :] * self.c.T[None] - same[:, None, :] * (S.T @ R)[:, :, None]
        aa = (S.T @ S) * (self.c @ self.c.T) + np.diag(((G.T @ R) * self.c).sum(1))
        ca = ca.reshape(r * d, r)[:, free]
        H = np.block([[cc.reshape(r * d, r * d), ca], [ca.T, aa[np.ix_(free, free)]]])
        gradient = np.concatenate([of_c.ravel(), of_angle[free]])
        unequal = np.concatenate([np.ones(r * d), size[free]])
        self.stood = self.sector, self.angle, self.c
        self.steepness = abs(gradient / unequal).max()
        if self.steepness <= 1e-13 * lam:
            return False
        # each number by its own curvature: a unit that is nearly zero counts like the others
        curve = abs(np.diag(H)) / unequal**2
        scale = 1 / (unequal * np.sqrt(np.maximum(curve, 1e-13 * curve.max())))
        values, W = np.linalg.eigh(H * scale * scale[:, None])
        values = np.maximum(abs(values), 1e-9 * abs(values).max())
        step = -scale * (W @ ((W.T @ (gradient * scale)) / values))
        angle, c = self.angle.copy(), self.c.copy()
        low, high = self.low[self.sector], self.high[self.sector]
        length = 1.0
        while length > 1e-12:
            move = np.zeros(r)
            move[free] = length * step[r * d :]
            self.angle = np.clip(angle + move, low, high)
            self.c = c + length * step[: r * d].reshape(r, d)
            self.c[(self.c * c).sum(1) < 0] = 0
            R = self.residual()
            if self.value(R) <= before * (1 + 1e-15) + 1e-4 * length * (gradient @ step):
                return True
            length /= 2
        self.angle, self.c = angle, c
        return False

    def leave_rays(self, R):
        """Which angles may move: units at a ray choose the side to which f decreases, if any."""
        free = np.ones(len(self.angle), dtype=bool)
        for end, other, turn in ((self.low, -1, 2 * np.pi), (self.high, 1, -2 * np.pi)):
            # a step would be cut off just before the ray, time and again: go there first
            outward = other * ((self.slopes(self.sector).T @ R) * self.c).sum(1)
            near = abs(self.angle - end[self.sector]) <= 1e-9
            self.angle = np.where(near & (outward > 0), end[self.sector], self.angle)
            at = self.angle == end[self.sector]
            if not at.any():
                continue
            beyond = (self.sector + other) % len(self.low)
            inward, outward = (
                -other * ((self.slopes(sector).T @ R) * self.c).sum(1)
                for sector in (self.sector, beyond)
            )
            small = 1e-13 * self.lam * _norms(self.c)
            crossing = at & (-outward > small) & (-outward > inward)
            free &= ~at | (inward > small) | crossing
            wrapped = crossing & ((beyond == 0) if other == 1 else (self.sector == 0))
            self.angle = self.angle + turn * wrapped
            self.sector = np.where(crossing, beyond, self.sector)
        return free

    def prune(self):
        """Drop units that are better off at 0, and merge those of one sector where f allows it."""
        i = 0
        while i < len(self.c):
            G = self.features()
            without = (self.Y - G @ self.c).T @ G[:, i] + (G[:, i] @ G[:, i]) * self.c[i]
            if not self.c[i].any() or _norms(without) <= self.lam:
                self.keep(np.arange(len(self.c)) != i)
            else:
                i += 1
        for j in range(len(self.c) - 1, 0, -1):
            for i in range(j):
                if self.merge(i, j):
                    break

    def keep(self, which):
        self.sector, self.angle, self.c = self.sector[which], self.angle[which], self.c[which]

    def merge(self, i, j):
        turns = np.round((self.angle[j] - self.angle[i]) / (2 * np.pi)) * 2 * np.pi
        if self.sector[i] != self.sector[j] and abs(self.angle[j] - self.angle[i] - turns) > 1e-13:
            return False
        old, before = (self.sector, self.angle, self.c), self.value(self.residual())
        w = self.direction()
        P, sigma, Q = np.linalg.svd(w[:, [i, j]] @ self.c[[i, j]])
        if sigma[0] == 0:
            return False
        top = P[:, 0] * np.sign(P[:, 0] @ (w[:, i] + w[:, j]) or 1)
        angle = np.arctan2(top[1], top[0])
        low, high = self.low[self.sector[i]], self.high[self.sector[i]]
        angle = low + (angle - low + 1e-13) % (2 * np.pi) - 1e-13
        if angle > high + 1e-13:
            return False
        self.angle, self.c = self.angle.copy(), self.c.copy()
        self.angle[i] = np.clip(angle, low, high)
        self.c[i] = sigma[0] * Q[0] * np.sign(P[:, 0] @ top)
        self.keep(np.arange(len(self.c)) != j)
        exact = sigma[1:].sum() <= 1e-13 * sigma[0]  # else a loss of 1e-14 moves the residual 1e-7
        if self.value(self.residual()) > before * (1 + 1e-14 if exact else 1 - 1e-11):
            self.sector, self.angle, self.c = old
            return False
        return True
