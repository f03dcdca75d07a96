"""Gradient attacks on the margin of two-layer networks, Algorithm 5 of the thesis.

An attack chooses u with ``||u - x||_2 <= eps`` (the thesis writes nu). All functions broadcast: a
batch of networks, of points, or of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.networks.two_layer import (
    _batch_shape,
    _labelled,
    _margin_and_gradient,
    margin,
)

if TYPE_CHECKING:
    from runproofs.networks.two_layer import TwoLayerNetwork

# minus the derivative of the ascended loss with respect to the margin
DESCENT = {"ce": lambda z: expit(-z), "reflected": expit, "margin": np.ones_like}


class Attack(NamedTuple):
    """A perturbed point and the margin there.

    Attributes
    ----------
    point : (..., d) ndarray
        The point u, in the ball about x.
    margin : (...) ndarray
        Its margin.
    """

    point: np.ndarray
    margin: np.ndarray


def project(u: ArrayLike, x: ArrayLike, eps: float) -> np.ndarray:
    """The point nearest to u in the ball of radius eps about x.

    Parameters
    ----------
    u : (..., d) array_like
        Points; those of the ball come back to the bit.
    x : (..., d) array_like
        Centers, d >= 1; they broadcast with u.
    eps : float
        Radius, at least 0.

    Returns
    -------
    (..., d) ndarray
        The nearest points.

    Raises
    ------
    ValueError
        If the distance of u and x is too large for a float.

    References
    ----------
    :claim:`thesis/algorithm-5`

    Examples
    --------
    >>> project([3e200, 4e200], [0, 0], 5)
    array([3., 4.])
    """
    x = arguments.numbers("x", x)
    if x.ndim < 1 or x.shape[-1] == 0:
        raise ValueError(f"x must have a last axis that is not empty, but its shape is {x.shape}.")
    u = arguments.points("u", u, x.shape[-1])
    try:
        np.broadcast_shapes(u.shape, x.shape)
    except ValueError:
        raise ValueError(
            f"u and x must agree in their batch axes, but their shapes are {u.shape} and {x.shape}."
        ) from None
    return _project(u, x, arguments.number("eps", eps, least=0))


def clean(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike, eps: float) -> Attack:
    """The attack that leaves x as it is: adversarial training with it is plain training.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch.
    x : (..., d) array_like
        Points; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        At least 0; it plays no part.

    Returns
    -------
    Attack
        The points x and their margins.

    Notes
    -----
    Cost: ``O(m d)`` per point.
    """
    arguments.number("eps", eps, least=0)
    x, y = _points(network, x, y)
    return Attack(x, margin(network, x, y))


def algorithm_5(
    network: TwoLayerNetwork,
    x: ArrayLike,
    y: ArrayLike,
    eps: float,
    *,
    step_size: ArrayLike | Callable,
    visits: int,
    loss: Literal["reflected", "ce", "margin"] = "reflected",
) -> Attack:
    """Projected gradient ascent on a loss of the margin, from x; the best visited point.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch.
    x : (..., d) array_like
        Points; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius of the ball, at least 0.
    step_size : float, array_like or callable
        Factor of the gradient, at least 0, a number or of the batch shape; or a function of
        t = 0, ..., visits - 2 that returns it.
    visits : int
        Number T_atk of visited points, x included, at least 1: one more than updates.
    loss : {"reflected", "ce", "margin"}, optional
        What is ascended: the reflected loss, as in the thesis, the logistic one, or minus the
        margin.

    Returns
    -------
    Attack
        The first of the visited points with the least margin.

    Raises
    ------
    ValueError
        If a margin or a step overflows.

    Notes
    -----
    Cost: ``O(m d)`` a visit and point.

    References
    ----------
    :claim:`thesis/algorithm-5`, line 3 (its text has another update)
    """
    best = None
    for visited in _visits(network, x, y, eps, step_size, visits, loss):
        best = visited if best is None else _better(best, visited)
    return best


def pgd_path(
    network: TwoLayerNetwork,
    x: ArrayLike,
    y: ArrayLike,
    eps: float,
    *,
    step_size: ArrayLike | Callable,
    visits: int,
    loss: Literal["reflected", "ce", "margin"] = "reflected",
) -> Attack:
    """All points that `algorithm_5` visits.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network, or a batch.
    x : (..., d) array_like
        Points; they broadcast with the network.
    y : (...) array_like
        Labels, -1 and 1.
    eps : float
        Radius of the ball, at least 0.
    step_size : float, array_like or callable
        Factor of the gradient, at least 0, a number or of the batch shape; or a function of
        t = 0, ..., visits - 2 that returns it.
    visits : int
        Number T_atk of visited points, x included, at least 1: one more than updates.
    loss : {"reflected", "ce", "margin"}, optional
        What is ascended: the reflected loss, as in the thesis, the logistic one, or minus the
        margin.

    Returns
    -------
    Attack
        Points (visits, ..., d) and margins (visits, ...), in the order of the visits.

    Raises
    ------
    ValueError
        If a margin or a step overflows.

    Notes
    -----
    Cost: ``O(m d)`` a visit and point.
    """
    points, margins = zip(*_visits(network, x, y, eps, step_size, visits, loss), strict=True)
    return Attack(np.stack(points), np.stack(margins))


def pgd_hidden(
    network: TwoLayerNetwork,
    x: ArrayLike,
    y: ArrayLike,
    eps: float,
    *,
    step_size: ArrayLike | Callable,
    visits: int,
    loss: Literal["reflected", "ce", "margin"] = "reflected",
    normalize: bool = False,
    bias: ArrayLike = 0.0,
    offset: float = 0.0,
) -> Attack:
    """The attack of `algorithm_5` run on the m hidden units, whatever the dimension d.

    The same iterates ``u = x + W^T c``; the network may have biases,
    ``a^T sigma(W u + bias) + offset``.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network.
    x : (n, d) array_like
        Points.
    y : (n,) array_like
        Labels, -1 and 1.
    eps : float
        Radius of the ball, at least 0.
    step_size : float, (n,) array_like or callable
        Factor of the gradient, at least 0; or a function of t = 0, ..., visits - 2 that returns it.
    visits : int
        Number of visited points, x included, at least 1: one more than updates.
    loss : {"reflected", "ce", "margin"}, optional
        What is ascended: the reflected loss, as in the thesis, the logistic one, or minus the
        margin.
    normalize : bool, optional
        Whether gradients get length 1.
    bias : float or (m,) array_like, optional
        Biases of the hidden units; 0 by default.
    offset : float, optional
        Bias of the output.

    Returns
    -------
    Attack
        The first of the visited points with the least margin.

    Raises
    ------
    ValueError
        If a margin overflows.

    See Also
    --------
    algorithm_5 : The same in the space of the inputs.

    Notes
    -----
    Cost: ``O(m^2 d + n m d)`` once, ``O(n m^2)`` per step. There is no box of pixels: clipping
    would leave the row space of W.

    References
    ----------
    :claim:`beyond/hidden-space-pgd`
    """
    if network.W.ndim > 2 or network.a.ndim > 1 or network.alpha.ndim:
        raise ValueError("network must be a single network, but it is a batch of them.")
    W, a = network.W, network.a
    m, d = W.shape
    x, y = _labelled(network, arguments.points("x", x, d, axes=2), y)
    if y.shape not in ((), (len(x),)):
        raise ValueError(f"y must have shape ({len(x)},), but its shape is {y.shape}.")
    y = np.broadcast_to(y, len(x))[:, None]
    bias, offset = arguments.numbers("bias", bias, batch=(m,)), arguments.number("offset", offset)
    eps, eta, visits, descent = _schedule(eps, step_size, visits, loss, (len(x),))
    K, start = W @ W.T, x @ W.T + bias
    c = Kc = np.zeros_like(start)  # u - x = W^T c; rows of Kc are W (u - x)
    best, best_z = c, np.full((len(x), 1), np.inf)
    for t in range(visits):
        hidden = start + Kc
        positive = hidden > 0
        z = y * (np.where(positive, hidden, network.alpha * hidden) @ a + offset)[:, None]
        _check_margins(z)
        better = z < best_z
        best, best_z = np.where(better, c, best), np.where(better, z, best_z)
        if t == visits - 1:
            break
        q = y * a * np.where(positive, 1, network.alpha)
        if normalize:
            lengths = np.sqrt(np.maximum(((q @ K) * q).sum(-1, keepdims=True), 0))
            q = np.divide(q, lengths, out=np.zeros_like(q), where=lengths > 0)
        else:
            q = descent(z) * q
        c = c - eta(t)[..., None] * q
        scale = _scale(c)  # so that no square overflows
        Kc = (c / scale) @ K
        lengths = scale * np.sqrt(np.maximum((Kc * c / scale).sum(-1, keepdims=True), 0))
        shrink = np.where(lengths > eps, eps / np.where(lengths > eps, lengths, 1), 1)
        c, Kc = shrink * c, shrink * scale * Kc
    return Attack(x + best @ W, best_z[:, 0])


# ----------------------------------------------------------------------------------------- helpers


def _points(network, x, y):
    """Checked points and labels; the points are a copy, of the whole batch shape."""
    x, y = _labelled(network, x, y)
    return np.broadcast_to(x, (*_batch_shape(network, x, y), x.shape[-1])).copy(), y


def _schedule(eps, step_size, visits, loss, batch):
    """Radius, step size as a function of t, number of visits and factor of the gradient."""
    arguments.choice("loss", loss, DESCENT)

    def checked(eta):
        eta = arguments.numbers("step_size", eta, least=0)
        try:
            return np.broadcast_to(eta, batch)
        except ValueError:
            raise ValueError(
                f"step_size must be a number or have the batch shape {batch}, "
                f"but its shape is {eta.shape}."
            ) from None

    constant = None if callable(step_size) else checked(step_size)
    rate = (lambda t: checked(step_size(t))) if constant is None else (lambda t: constant)
    visits = arguments.positive_integer("visits", visits)
    return arguments.number("eps", eps, least=0), rate, visits, DESCENT[loss]


def _visits(network, x, y, eps, step_size, visits, loss):
    """Yield the visited points with their margins."""
    u, y = x, y = _points(network, x, y)
    eps, eta, visits, descent = _schedule(eps, step_size, visits, loss, x.shape[:-1])
    for t in range(visits):
        z, g = _margin_and_gradient(network, u, y)
        _check_margins(z)
        yield Attack(u, z)
        if t < visits - 1:
            change = -descent(z)[..., None] * g
            u = _project(u + eta(t)[..., None] * change, x, eps)


def _check_margins(z):
    if not np.isfinite(z).all():
        raise ValueError("step_size or network must be smaller, because the margin overflows.")


def _scale(v):
    """Largest absolute entries (..., 1), or 1 for 0: squares of v / scale do not overflow."""
    largest = np.abs(v).max(-1, keepdims=True)
    return np.where(largest > 0, largest, 1)


def _lengths(v):
    """2-norms (..., 1), also where the squares under- or overflow."""
    lengths = np.linalg.norm(v, axis=-1, keepdims=True)
    if ((lengths > 1e-150) & (lengths < 1e150)).all():
        return lengths
    scale = _scale(v)
    lengths = scale * np.linalg.norm(v / scale, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise ValueError("The way from x to u must be shorter, because its length overflows.")
    return lengths


@np.errstate(over="ignore", invalid="ignore")  # `_lengths` sees to it
def _project(u, x, eps):
    v = u - x
    lengths = _lengths(v)
    outside = lengths > eps
    return np.where(outside, x + eps * (v / np.where(outside, lengths, np.inf)), u)


def _better(best, visited):
    better = visited.margin < best.margin
    return Attack(
        np.where(better[..., None], visited.point, best.point),
        np.where(better, visited.margin, best.margin),
    )
