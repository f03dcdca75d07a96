"""Gradient attacks on the margin of two-layer networks, Algorithm 5 of the thesis.

An attack chooses u with ||u - x||_2 <= eps (the thesis writes nu). All functions broadcast: a batch
of networks, of points, or of both.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.networks.two_layer import (
    _batch_shape,
    _labelled,
    _margin_and_gradient,
    margin,
)

# minus the derivative of the ascended loss with respect to the margin
DESCENT = {"ce": lambda z: expit(-z), "reflected": expit, "margin": np.ones_like}


class Attack(NamedTuple):
    """A perturbed point and the margin there."""

    point: np.ndarray  # (..., d)
    margin: np.ndarray  # (...)


def project(u, x, eps):
    """The point nearest to u (..., d) in the ball of radius eps about x (..., d).

    u and x broadcast. eps: at least 0. Points of the ball come back to the bit.
    Raises ValueError for bad arguments. Source: thesis, Section 6.2.

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


def clean(network, x, y, eps):
    """The attack that leaves x as it is: adversarial training with it is plain training.

    Arguments, result and errors as in `worst_case`. Cost: O(m d) a point.
    """
    arguments.number("eps", eps, least=0)
    x, y = _points(network, x, y)
    return Attack(x, margin(network, x, y))


def pgd(network, x, y, eps, *, step_size, visits, loss="reflected"):
    """Algorithm 5: projected gradient ascent on a loss of the margin, from x; best visited point.

    x: (..., d). y: (...), labels -1 and 1. eps: at least 0. step_size: at least 0, a number, an
    array of the batch shape, or a function of t = 0, 1, ... giving one of these. visits: at least
    1, the number T_atk of visited points, x included, so that there are visits - 1 updates. loss:
    "reflected" as in the thesis, "ce" for the logistic loss, "margin" for minus the margin.
    Returns an `Attack`: the visited point with the least margin, the first such one.
    Raises ValueError for bad arguments. Cost: O(m d) a visit and point.
    Source: thesis, Algorithm 5, line 3 (its text has another update).
    """
    best = None
    for visited in _visits(network, x, y, eps, step_size, visits, loss):
        best = visited if best is None else _better(best, visited)
    return best


def pgd_path(network, x, y, eps, *, step_size, visits, loss="reflected"):
    """All points that `pgd` visits: an `Attack` of points (visits, ..., d), margins (visits, ...).

    Arguments, errors and cost as in `pgd`.
    """
    points, margins = zip(*_visits(network, x, y, eps, step_size, visits, loss), strict=True)
    return Attack(np.stack(points), np.stack(margins))


def pgd_hidden(
    network,
    x,
    y,
    eps,
    *,
    step_size,
    visits,
    loss="reflected",
    normalize=False,
    bias=0.0,
    offset=0.0,
):
    """`pgd` run on the m hidden units: the same iterates u = x + W^T c, at O(m^2) a step.

    One network, W (m, d), attacked at x (n, d) with labels y (n,). eps, step_size, visits,
    loss: as in `pgd`. normalize: gradients of length 1. bias (m,) or a number, offset a
    number: the network is a^T sigma(W u + bias) + offset.
    Returns an `Attack`. Raises ValueError for bad arguments.
    Cost: O(m^2 d + n m d) once, O(n m^2) a step, whatever d is. No box of pixels: clipping would
    leave the row space of W. Beyond the thesis.
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
