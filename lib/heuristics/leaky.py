"""Two-layer leaky-ReLU networks, Section 6.2 of the thesis, and gradient attacks on them.

    f_W(x) = a^T sigma(W x),   sigma(p) = max(alpha p, p),   z(u) = y f_W(u), the margin at u,

with W (m, d), a (m,) and labels y = -1, 1. Attacks choose u with ||u - x||_2 <= eps (the thesis
writes nu). At a kink the slope is alpha, as in PyTorch. All functions broadcast: a batch of
networks, of points, or of both.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from heuristics import _arguments as arguments


@dataclass(frozen=True, eq=False)
class LeakyNetwork:
    """The network x -> a^T sigma(W x), or a batch of them.

    W: (..., m, d). a: (..., m) or (m,). alpha: in [0, 1], a number or a batch; the theorems of
    Chapter 6 need alpha > 0, and alpha = 0 is the ReLU. Raises ValueError for bad arguments.
    """

    W: np.ndarray
    a: np.ndarray
    alpha: np.ndarray

    def __post_init__(self):
        W = arguments.matrix("W", self.W, batched=True)
        for name, value in (
            ("W", W),
            ("a", arguments.points("a", self.a, W.shape[-2])),
            ("alpha", arguments.slope(self.alpha)),
        ):
            object.__setattr__(self, name, value)
        batches = [self.W.shape[:-2], self.a.shape[:-1], self.alpha.shape]
        try:
            np.broadcast_shapes(*batches)
        except ValueError:
            raise ValueError(
                f"W, a and alpha must agree in their batch axes, but these are {batches}."
            ) from None

    def __call__(self, x):
        """f_W(x) at x (..., d). Cost: O(m d) a point."""
        hidden = preactivations(self, arguments.points("x", x, self.W.shape[-1]))
        return _output(self, hidden)

    def at_each_point(self):
        """The same networks with a new last batch axis, to broadcast against n points (n, d)."""
        return LeakyNetwork(
            self.W[..., None, :, :], self.a[..., None, :], np.expand_dims(self.alpha, -1)
        )


def preactivations(network, x):
    """W x (..., m) at points x (..., d); nothing is checked."""
    W = network.W
    return x @ W.T if W.ndim == 2 else (x[..., None, :] @ W.mT)[..., 0, :]


def slopes(network, hidden):
    """sigma' at preactivations (..., m), which is alpha at 0; nothing is checked."""
    return np.where(hidden > 0, 1, network.alpha[..., None])


def _output(network, hidden):
    return (network.a * np.maximum(network.alpha[..., None] * hidden, hidden)).sum(-1)


def margin(network, x, y):
    """Margin z = y f_W(x): negative where the network errs.

    x: (..., d). y: (...), labels -1 and 1. Returns the batch shape.
    Raises ValueError for bad arguments. Cost: O(m d) a point.
    """
    x, y = _labelled(network, x, y)
    return y * _output(network, preactivations(network, x))


def input_gradient(network, x, y):
    """Gradient of the margin with respect to the input, g = y W^T (a * sigma'(W x)).

    Arguments, errors and cost as in `margin`. Returns (..., d). <g, x> is the margin.
    Source: thesis, Section 6.2.
    """
    return _margin_and_gradient(network, *_labelled(network, x, y))[1]


def weight_gradient(network, x, y):
    """Gradient of the margin with respect to W, y (a * sigma'(W x)) x^T.

    Arguments, errors and cost as in `margin`. Returns (..., m, d). Source: thesis, Section 6.2.
    """
    x, y = _labelled(network, x, y)
    back = y[..., None] * network.a * slopes(network, preactivations(network, x))
    return back[..., :, None] * x[..., None, :]


def lipschitz(network):
    """L = ||a||_2 ||W||_2 (spectral norm): f_W is L-Lipschitz. Returns the batch shape.

    Cost: one SVD. Source: sharper than the thesis, which has max|a_r| sqrt(m) ||W||_F.
    """
    return np.linalg.norm(network.a, axis=-1) * np.linalg.norm(network.W, 2, axis=(-2, -1))


def loss(z):
    """Logistic loss ln(1 + e^{-z}) of the margin, natural logarithm."""
    return np.logaddexp(0, -np.asarray(z, dtype=float))


def reflected_loss(z):
    """Reflected loss ln 1/(1 + e^z) = -loss(-z): concave, below the 0-1 loss.

    Source: thesis, Section 6.2.
    """
    return -np.logaddexp(0, np.asarray(z, dtype=float))


# ---------------------------------------------------------------- attacks by projected gradients

# minus the derivative of the ascended loss with respect to the margin
DESCENT = {"ce": lambda z: expit(-z), "reflected": expit, "margin": np.ones_like}


class Attack(NamedTuple):
    """A perturbed point and the margin there."""

    point: np.ndarray  # (..., d)
    margin: np.ndarray  # (...)


def project(u, x, eps):
    """The point nearest to u (..., d) in the ball of radius eps about x (..., d).

    eps: at least 0. Raises ValueError for bad arguments. Source: thesis, Section 6.2.
    """
    x = np.asarray(x, dtype=float)
    x = arguments.points("x", x, x.shape[-1] if x.ndim else 0)
    u = arguments.points("u", u, x.shape[-1])
    return _project(u, x, arguments.nonnegative("eps", eps))


def clean(network, x, y, eps):
    """The attack that leaves x as it is: adversarial training with it is plain training."""
    return Attack(np.asarray(x, dtype=float), margin(network, x, y))


def pgd(network, x, y, eps, *, step, steps, loss="reflected"):
    """Algorithm 5: projected gradient ascent on a loss of the margin, from x; best visited point.

    x: (..., d). y: (...), labels -1 and 1. eps: at least 0. step: at least 0, a number, an array of
    the batch shape, or a function of t = 1, 2, ... giving one of these. steps: at least 1, the
    number T_atk of visited points, x included, so that there are steps - 1 updates. loss:
    "reflected" as in the thesis, "ce" for the logistic loss, "margin" for minus the margin.
    Returns an `Attack`: the visited point with the least margin, the first such one.
    Raises ValueError for bad arguments. Cost: O(m d) a step and point.
    Source: thesis, Algorithm 5, line 3 (its text has another update, `pgd_as_printed`).
    """
    best = None
    for visited in _visits(network, x, y, eps, step, steps, loss):
        best = visited if best is None else _better(best, visited)
    return best


def pgd_path(network, x, y, eps, *, step, steps, loss="reflected"):
    """All points that `pgd` visits: an `Attack` of points (steps, ..., d), margins (steps, ...).

    Arguments, errors and cost as in `pgd`.
    """
    points, margins = zip(*_visits(network, x, y, eps, step, steps, loss), strict=True)
    return Attack(np.stack(points), np.stack(margins))


def pgd_as_printed(network, x, y, eps, *, step, steps):
    """The attack with the update in the text of Section 6.2, which adds a number to a vector.

    u + step * reflected_loss(z(u)), added to every coordinate, without the gradient. Arguments,
    result, errors and cost as in `pgd`.
    """
    best = None
    for visited in _visits(network, x, y, eps, step, steps, "reflected", printed=True):
        best = visited if best is None else _better(best, visited)
    return best


def pgd_hidden(
    network, x, y, eps, *, step, steps, loss="reflected", normalize=False, bias=0.0, offset=0.0
):
    """`pgd` run on the m hidden units: the same iterates u = x + W^T c, at O(m^2) a step.

    One network, W (m, d), attacked at x (n, d) with labels y (n,). eps, step, steps, loss: as in
    `pgd`. normalize: gradients of length 1. bias (m,) or a number, offset a number: the network is
    a^T sigma(W u + bias) + offset.
    Returns an `Attack`. Raises ValueError for bad arguments.
    Cost: O(m^2 d + n m d) once, O(n m^2) a step, whatever d is. No box of pixels: clipping would
    leave the row space of W. Beyond the thesis.
    """
    if network.W.ndim > 2 or network.a.ndim > 1 or network.alpha.ndim:
        raise ValueError("network must be a single network, but it is a batch of them.")
    W, a = network.W, network.a
    m, d = W.shape
    x, y = _labelled(network, arguments.points("x", x, d, axes=2), y)
    y = np.broadcast_to(y, len(x))[:, None]
    bias = np.broadcast_to(arguments.points("bias", np.broadcast_to(bias, m), m), m)
    offset = float(arguments.points("offset", [offset], 1)[0])
    eps, eta, steps, descent = _schedule(eps, step, steps, loss)
    K, start = W @ W.T, x @ W.T + bias
    c = Kc = np.zeros_like(start)  # u - x = W^T c; rows of Kc are W (u - x)
    best, best_z = c, np.full((len(x), 1), np.inf)
    for t in range(1, steps + 1):
        hidden = start + Kc
        positive = hidden > 0
        z = y * (np.where(positive, hidden, network.alpha * hidden) @ a + offset)[:, None]
        better = z < best_z
        best, best_z = np.where(better, c, best), np.where(better, z, best_z)
        if t == steps:
            break
        q = y * a * np.where(positive, 1, network.alpha)
        if normalize:
            lengths = np.sqrt(np.maximum(((q @ K) * q).sum(-1, keepdims=True), 0))
            q = np.divide(q, lengths, out=np.zeros_like(q), where=lengths > 0)
        else:
            q = descent(z) * q
        c = c - eta(t)[..., None] * q
        Kc = c @ K
        lengths = np.sqrt(np.maximum((Kc * c).sum(-1, keepdims=True), 0))
        shrink = _shrinkage(lengths, eps)
        c, Kc = shrink * c, shrink * Kc
    return Attack(x + best @ W, best_z[:, 0])


# ----------------------------------------------------------------------------------------- helpers


def _labelled(network, x, y):
    x = arguments.points("x", x, network.W.shape[-1])
    y = arguments.signs("y", y)
    _batch(network, x, y)
    return x, y


def _batch(network, x, y):
    """The common batch shape."""
    shapes = [network.W.shape[:-2], network.a.shape[:-1], network.alpha.shape]
    try:
        return np.broadcast_shapes(*shapes, x.shape[:-1], y.shape)
    except ValueError:
        raise ValueError(
            "network, x and y must agree in their batch axes, but these are "
            f"{np.broadcast_shapes(*shapes)}, {x.shape[:-1]} and {y.shape}."
        ) from None


def _schedule(eps, step, steps, loss):
    """Radius, step size as a function of t, number of visits and factor of the gradient."""
    if loss not in DESCENT:
        raise ValueError(f"loss must be one of {', '.join(DESCENT)}, but it was {loss!r}.")

    def eta(t):
        return arguments.at_least_zero("step", step(t) if callable(step) else step)

    steps = arguments.positive_integer("steps", steps)
    return arguments.nonnegative("eps", eps), eta, steps, DESCENT[loss]


def _visits(network, x, y, eps, step, steps, loss, printed=False):
    """Yield the visited points with their margins."""
    x, y = _labelled(network, x, y)
    x = np.broadcast_to(x, (*_batch(network, x, y), x.shape[-1]))
    eps, eta, steps, descent = _schedule(eps, step, steps, loss)
    u = x
    for t in range(1, steps + 1):
        z, g = _margin_and_gradient(network, u, y)
        yield Attack(u, z)
        if t < steps:
            change = reflected_loss(z)[..., None] if printed else -descent(z)[..., None] * g
            u = _project(u + eta(t)[..., None] * change, x, eps)


def _margin_and_gradient(network, u, y):
    hidden = preactivations(network, u)
    s = slopes(network, hidden)
    back = y[..., None] * network.a * s
    W = network.W
    gradient = back @ W if W.ndim == 2 else (back[..., None, :] @ W)[..., 0, :]
    return (back * hidden).sum(-1), gradient


def _shrinkage(lengths, eps):
    return eps / np.maximum(lengths, max(eps, np.finfo(float).tiny))


def _project(u, x, eps):
    displacement = u - x
    return x + displacement * _shrinkage(np.linalg.norm(displacement, axis=-1, keepdims=True), eps)


def _better(best, visited):
    better = visited.margin < best.margin
    return Attack(
        np.where(better[..., None], visited.point, best.point),
        np.where(better, visited.margin, best.margin),
    )
