"""Exact worst cases: the least margin of a leaky-ReLU network over an l_2 ball, in closed form.

On each cell of its arrangement of hyperplanes ``w_j^T u = 0`` the margin is linear, so that its
least value over the ball is attained at one of finitely many points that have formulas.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.adversarial.margin_attacks import Attack
from runproofs.networks import _arrangement
from runproofs.networks._arrangement import as_complex, as_points
from runproofs.networks.two_layer import _batch_shape, _labelled, lipschitz

if TYPE_CHECKING:
    from runproofs.networks.two_layer import TwoLayerNetwork

CHUNK = 2**14  # candidates in the plane that are taken together: 256 KB, which stay in the cache
MOST_UNSTABLE = 12  # units: 531441 candidates, a second or two


def worst_case(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike, eps: float) -> Attack:
    """A point of the ball of radius eps about x at which the margin is least.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch.
    x : (..., d) array_like
        Centers; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius, at least 0.

    Returns
    -------
    Attack
        Point and margin, exact to rounding.

    Raises
    ------
    ValueError
        If more than 12 units can change sign in a ball (``|w_j^T x| <= eps ||w_j||``), unless d =
        2.

    Notes
    -----
    Cost: ``O(m log m)`` a ball in the plane, else that of `worst_case_by_faces`.

    References
    ----------
    :claim:`beyond/exact-worst-case-plane`, :claim:`beyond/exact-worst-case-faces`
    """
    x, y, eps = _checked(network, x, y, eps)
    if network.W.shape[-1] == 2:
        size = max(1, CHUNK // (4 * network.W.shape[-2] + 2))
        return _in_pieces(_plane, size, network, x, y, eps)
    return _faces(network, x, y, eps)


def worst_case_by_faces(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike, eps: float) -> Attack:
    """The worst case in any dimension, from ``3^q`` patterns of signs and zeros of q units.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch.
    x : (..., d) array_like
        Centers; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius, at least 0.

    Returns
    -------
    Attack
        Point and margin, exact to rounding.

    Raises
    ------
    ValueError
        If q > 12 units can change sign in a ball (``|w_j^T x| <= eps ||w_j||``).

    See Also
    --------
    worst_case : Faster in the plane.

    Notes
    -----
    Cost: at most ``O(3^q (m + d) m)`` a ball.

    References
    ----------
    :claim:`beyond/exact-worst-case-faces`
    """
    return _faces(network, *_checked(network, x, y, eps))


class PlaneCandidates(NamedTuple):
    """Points of the discs among which a worst one is, by kind; where one is missing, x stands.

    Attributes
    ----------
    centre : (..., 1, 2) ndarray
        The centers x.
    origin : (..., 1, 2) ndarray
        The origin, if it lies in the disc.
    crossings : (..., 2m, 2) ndarray
        Of the circle with the lines ``w_j^T u = 0``.
    sectors : (..., 2m, 2) ndarray
        The linear optimum of each sector between the lines.
    """

    centre: np.ndarray
    origin: np.ndarray
    crossings: np.ndarray
    sectors: np.ndarray


def plane_candidates(
    network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike, eps: float
) -> PlaneCandidates:
    """The at most 4m + 2 candidates for the worst case in the plane.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch, with d = 2.
    x : (..., 2) array_like
        Centers; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius, at least 0.

    Returns
    -------
    PlaneCandidates
        The candidates of each disc.

    Notes
    -----
    Cost: ``O(m log m)`` a disc.

    References
    ----------
    :claim:`beyond/exact-worst-case-plane`
    """
    x, y, eps = _checked(network, x, y, eps)
    if network.W.shape[-1] != 2:
        raise ValueError(f"network must have inputs in the plane, but d = {network.W.shape[-1]}.")
    found, _ = _plane_candidates(*_flat(network, x, y), eps)
    batch = _batch_shape(network, x, y)
    return PlaneCandidates(*(as_points(c).reshape(*batch, -1, 2) for c in found))


def robust_error(
    network: TwoLayerNetwork, X: ArrayLike, Y: ArrayLike, eps: float, beta: float = 0
) -> np.ndarray | float:
    """Robust error: the share of points whose margin can be below ``-beta ||W||_F`` in the ball.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch; W = 0 has no error.
    X : (n, d) array_like
        Points, at least one, equally likely.
    Y : (n,) array_like
        Labels, -1 and 1.
    eps : float
        Radius, at least 0.
    beta : float, optional
        At least 0; 0, the default, gives (6.1) and else (6.3).

    Returns
    -------
    (...) ndarray
        The error of each network.

    Raises
    ------
    ValueError
        If more than 12 units can change sign in a ball, unless d = 2.

    Notes
    -----
    Cost: n times that of `worst_case`.

    References
    ----------
    :claim:`thesis/equation-6.1` and :claim:`thesis/equation-6.3`, where the maximum is over attacks
    """
    beta = arguments.number("beta", beta, least=0)
    X = arguments.points("X", X, network.W.shape[-1], axes=2)
    Y = arguments.points("Y", Y, len(X), axes=1)
    if not len(X):
        raise ValueError("X must have at least one point, but it has none.")
    least = worst_case(network.at_each_point(), X, Y, eps).margin
    norms = np.linalg.norm(network.W, axis=(-2, -1))
    return (least < -beta * norms[..., None]).mean(-1)


def level(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike, eps: float) -> np.ndarray | float:
    """Level ``b = -(least margin) / (eps L)`` of an input: an attack exists iff b > 0.

    The sharp theorems of PGD need b > 1 - alpha.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch, with neither W = 0 nor a = 0.
    x : (..., d) array_like
        Centers; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius, larger than 0.

    Returns
    -------
    (...) ndarray
        The level of each network and input.

    Raises
    ------
    ValueError
        If more than 12 units can change sign in a ball, unless d = 2.

    Notes
    -----
    Cost: that of `worst_case`, and one SVD a network.

    References
    ----------
    :claim:`beyond/pgd-half-threshold`
    """
    eps, L = arguments.number("eps", eps, above=0), lipschitz(network)
    if not np.all(L):
        raise ValueError("network must not be zero, neither in W nor in a: it has no level.")
    return -worst_case(network, x, y, eps).margin / (eps * L)


# ------------------------------------------------------------------------------------------- plane


def _plane_candidates(W, a, alpha, x, y, eps):
    """Theorem 6.B on a flat batch: W (N, m, 2), a (N, m), alpha (N,), x (N, 2), y (N,).

    Returns the candidates and the margins there. Every candidate lies in the disc, so that needless
    ones (of rows that are zero, or equal) do no harm.
    """
    W, x = as_complex(W), as_complex(x)[:, None]
    rays, pull = _arrangement.rays_of(W), y[:, None] * a * W
    gradients = _arrangement.sector_sums(rays, pull, alpha[:, None] * pull)
    # ray and circle: the foot of x on the line, and from there the rest of the radius along it
    turned = x * rays.direction.conj()
    rest = eps**2 - turned.imag**2
    along = turned.real + np.sqrt(np.maximum(rest, 0))
    lengths = abs(gradients)
    candidates = PlaneCandidates(
        centre=x,
        origin=np.where(abs(x) <= eps, 0, x),
        crossings=np.where(rest >= 0, along * rays.direction, x),
        sectors=x - eps * (gradients / np.where(lengths > 0, lengths, 1)),
    )
    u = np.concatenate(candidates, 1)
    g = np.take_along_axis(gradients, _arrangement.sector_of(rays, u), 1)
    return candidates, g.real * u.real + g.imag * u.imag


def _plane(W, a, alpha, x, y, eps):
    """The best candidate of each disc of a flat batch."""
    candidates, margins = _plane_candidates(W, a, alpha, x, y, eps)
    best = margins.argmin(-1)
    u = as_points(np.concatenate(candidates, 1)[np.arange(len(x)), best])
    hidden = (W @ u[..., None])[..., 0]
    return u, y * (a * np.maximum(alpha[:, None] * hidden, hidden)).sum(-1)


def _flat(network, x, y):
    """W, a, alpha, x and y with one batch axis."""
    batch = _batch_shape(network, x, y)
    return [
        np.broadcast_to(array, batch + array.shape[array.ndim - core :]).reshape(-1, *tail)
        for array, core, tail in (
            (network.W, 2, network.W.shape[-2:]),
            (network.a, 1, network.a.shape[-1:]),
            (network.alpha, 0, ()),
            (x, 1, x.shape[-1:]),
            (y, 0, ()),
        )
    ]


def _in_pieces(solve, size, network, x, y, eps):
    """Flatten the batch and call solve on pieces of it, of `size` balls."""
    batch, flat = _batch_shape(network, x, y), _flat(network, x, y)
    points, margins = np.empty_like(flat[3]), np.empty_like(flat[4])
    for i in range(0, len(points), size):
        piece = slice(i, i + size)
        points[piece], margins[piece] = solve(*(array[piece] for array in flat), eps)
    return Attack(points.reshape(*batch, x.shape[-1]), margins.reshape(batch))


# ------------------------------------------------------------------------------------------- faces


def _faces(network, x, y, eps):
    def solve(W, a, alpha, x, y, eps):
        return _face_optimum(W[0], a[0], alpha[0], x[0], y[0], eps)

    return _in_pieces(solve, 1, network, x, y, eps)


def _face_optimum(W, a, alpha, x, y, eps):
    """Theorem 6.C for one ball; beyond m + 1 dimensions, in those that W and x span."""
    if x.size > len(W) + 1:
        Q = np.linalg.qr(np.vstack([W, x]).T)[0]
        best, least = _face_optimum(W @ Q, a, alpha, Q.T @ x, y, eps)
        return Q @ best, least
    lengths, hidden = np.linalg.norm(W, axis=1), W @ x
    unstable = np.flatnonzero((lengths > 0) & (np.abs(hidden) <= eps * lengths))
    if len(unstable) > MOST_UNSTABLE:
        raise ValueError(
            f"network must have at most {MOST_UNSTABLE} units that can change sign in a ball, "
            f"but it has {len(unstable)}."
        )
    slope = np.where(hidden > 0, 1, alpha)
    normals = W[unstable] / lengths[unstable, None]
    best, least = x, np.inf
    for size in range(len(unstable) + 1):
        for zeros in combinations(range(len(unstable)), size):
            zeros = list(zeros)
            _, sigma, Vt = np.linalg.svd(normals[zeros])
            basis = Vt[np.count_nonzero(sigma > 1e-12) :]  # of the subspace where `zeros` vanish
            centre = x @ basis.T @ basis
            square = eps**2 - ((x - centre) ** 2).sum()
            if square < 0:
                continue
            signed = np.delete(unstable, zeros)
            s = np.tile(slope, (2 ** len(signed), 1))
            s[:, signed] = list(product((1, alpha), repeat=len(signed)))
            g = (y * a * s) @ W @ basis.T
            candidates = centre - np.sqrt(square) * _unit(g) @ basis
            h = candidates @ W.T
            margins = y * (np.maximum(alpha * h, h) @ a)
            i = margins.argmin()
            if margins[i] < least:
                best, least = candidates[i], margins[i]
    return best, least


# ----------------------------------------------------------------------------------------- helpers


def _unit(g):
    """g / ||g|| along the last axis, 0 for 0."""
    lengths = np.linalg.norm(g, axis=-1, keepdims=True)
    return np.divide(g, lengths, out=np.zeros_like(g), where=lengths > 0)


def _checked(network, x, y, eps):
    return *_labelled(network, x, y), arguments.number("eps", eps, least=0)
