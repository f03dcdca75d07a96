"""Dropout training of a wide ReLU network whose top layer is frozen, Chapter 5 of the thesis.

    f(x; W) = m^{-1/2} a^T sigma(W x),   g(x; W, B) = m^{-1/2} a^T B sigma(W x)

with the ReLU sigma, signs a (m,) and masks B = diag(b) that keep a unit with probability q. It is a
`TwoLayerNetwork` with top layer a / sqrt(m) and alpha = 0, its sub-network is `network[b]`. As
everywhere in the library all functions broadcast: networks (..., m, d), points (..., d), labels
(...) and masks (..., m). At a kink the slope is 0, where the thesis has 1 in one place and 0 in
another.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments
from runproofs.networks.two_layer import (
    TwoLayerNetwork,
    _agree,
    _batches,
    _labelled,
    margin,
    preactivations,
)

LN_2 = np.log(2)


def loss(z):
    """Logistic loss log_2(1 + e^{-z}) of the margin: base 2, so that it is 1 at 0.

    Source: thesis, Section 5.2, where the base is not named.

    >>> float(loss(0)), float(loss(-800).round(6))
    (1.0, 1154.156033)
    """
    return np.logaddexp(0, -arguments.margins(z)) / LN_2


def negative_derivative(z):
    """Q = -loss'(z) = 1 / (ln 2 (1 + e^z)), in (0, 1 / ln 2). Source: thesis, Section 5.2.1.

    >>> float(2 * LN_2 * negative_derivative(0))
    1.0
    """
    return np.exp(-np.logaddexp(0, arguments.margins(z))) / LN_2


def start(m, d, rng, runs=()):
    """The network before training: rows w_r ~ N(0, I_d), top layer of random signs / sqrt(m).

    m, d: at least 1. rng: NumPy Generator, or a seed. runs: a batch shape. Raises ValueError for
    bad arguments. Cost: O(m d) a run. Source: thesis, Section 5.2.
    """
    m, d = arguments.positive_integer("m", m), arguments.positive_integer("d", d)
    rng = arguments.generator(rng)
    W = rng.normal(size=(*runs, m, d))
    return TwoLayerNetwork(W, rng.choice([-1.0, 1.0], (*runs, m)) / m**0.5, 0)


def project_rows(W, radius):
    """The weights W (..., m, d) with each row of norm above `radius` shortened to it.

    radius: larger than 0, or infinite. Raises ValueError for bad arguments. Cost: O(m d).
    Source: thesis, Pi_c of Algorithm 4.

    >>> project_rows(np.array([[3.0, 4.0], [0.0, 1.0]]), 2).tolist()
    [[1.2, 1.6], [0.0, 1.0]]
    """
    return _project_rows(arguments.matrix("W", W, batched=True), _radius(radius))


def _project_rows(W, radius):
    if radius == inf:
        return W.copy()
    return W * (radius / np.maximum(np.linalg.norm(W, axis=-1, keepdims=True), radius))


def update(network, x, y, mask, *, step_size, radius=inf):
    """One step of Algorithm 4: a gradient step on loss(y g(x; W, B)), then the projection.

    x: (..., d). y: (...), labels -1 and 1. mask: (..., m), zeros and ones. step_size: larger than
    0. radius: larger than 0, or infinite for no projection. Returns the next network. Raises
    ValueError for bad arguments. Cost: O(m d) a run. Source: thesis, Algorithm 4.

    >>> net = TwoLayerNetwork([[1.0], [1.0]], [1.0, 1.0], 0)
    >>> update(net, [1], 1, [1, 0], step_size=LN_2 * (1 + np.e)).W.tolist()
    [[2.0], [1.0]]
    """
    x, y = _labelled(network[mask], x, y)
    step_size, radius = arguments.number("step_size", step_size, above=0), _radius(radius)
    mask = arguments.zeros_and_ones("mask", mask, network.a.shape[-1])
    return _step(network, x, y, mask, step_size, radius)[1]


class Step(NamedTuple):
    """A step of Algorithm 4, before its update."""

    network: TwoLayerNetwork  # of weights W_t (..., m, d)
    x: np.ndarray  # (..., d)
    y: np.ndarray  # (...)
    mask: np.ndarray  # (..., m), which units are kept
    margin: np.ndarray  # (...), y_t g_t(W_t)


def algorithm_4(network, X, Y, q, *, step_size, rng, radius=inf, masses=None):
    """Algorithm 4, one-pass SGD with dropout: yields the steps t = 1, 2, ..., without end.

    Each step draws an example and a mask for each run, independently.
    network: the start, one or a batch. X: (n, d). Y: (n,), labels -1 and 1. masses: None for the
    uniform law on the examples, or their probabilities. q: probability to keep a unit, in (0, 1].
    step_size: larger than 0. rng: NumPy Generator, or a seed. radius: of the rows, infinite for no
    projection.
    Yields a `Step`, which holds W_t before its update; its arrays are not written to afterwards.
    The output of the algorithm, q W_t, has the same signs. Raises ValueError for bad arguments.
    Cost: O(m d) a step and run. Source: thesis, Algorithm 4.

    >>> rng = np.random.default_rng(0)
    >>> steps = algorithm_4(start(50, 2, rng), *xor(), 0.5, step_size=LN_2, rng=rng)
    >>> mistakes = [bool(next(steps).margin <= 0) for _ in range(400)]
    >>> sum(mistakes[:200]) > sum(mistakes[200:])
    True
    """
    X = arguments.matrix("X", X, columns=network.W.shape[-1])
    Y = arguments.signs("Y", arguments.points("Y", Y, len(X), axes=1))
    q, rng = arguments.keep_probability(q, name="q"), arguments.generator(rng)
    step_size, radius = arguments.number("step_size", step_size, above=0), _radius(radius)
    if masses is not None:
        masses = arguments.probabilities("masses", masses, len(X))
    return _steps(network, X, Y, q, step_size, rng, radius, masses)


def linearization(network, U, x, mask=1):
    """<grad g(x; W, B), U>: the network with the activations of W and the weights of U.

    network: holds W. U: (..., m, d). x: (..., d). mask: (..., m), or 1 for all units. Linear in U,
    and g(x; W, B) itself at U = W. Returns the batch shape. Raises ValueError for bad arguments.
    Cost: O(m d) a point. Source: thesis, g_t^{(k)} of Section 5.2.1.

    >>> net = TwoLayerNetwork([[1, 0], [0, -1]], [1, 1], 0)
    >>> float(linearization(net, np.array([[5, 0], [0, 5]]), [1, 1]))
    5.0
    """
    m, d = network.W.shape[-2:]
    U, x = arguments.matrix("U", U, rows=m, columns=d, batched=True), arguments.points("x", x, d)
    mask = arguments.zeros_and_ones("mask", mask, m, one=True)
    _agree(
        network=_agree(**_batches(network)), U=U.shape[:-2], x=x.shape[:-1], mask=mask.shape[:-1]
    )
    active = preactivations(network, x) > 0
    values = (U @ x[..., None])[..., 0]
    return (network.a * mask * active * values).sum(-1)


def error(network, X, Y, masses=None):
    """P{y f(x) <= 0}, exactly: a silent sub-network, whose output is 0, errs everywhere.

    network: one or a batch (...), sub-networks included. X: (n, d). Y: (n,), labels -1 and 1.
    masses: None for the uniform law on the points, or probabilities (n,). Returns the batch shape.
    Raises ValueError for bad arguments. Cost: O(n m d) a network. Source: thesis, R of Section 5.2,
    with the event that its proofs allow.

    >>> net = TwoLayerNetwork([[1.0], [-1.0]], [1.0, 1.0], 0)
    >>> float(error(net, [[1], [-1]], [1, -1])), error(net[[[0, 1], [0, 0]]], [[1]], [1]).tolist()
    (0.5, [1.0, 1.0])
    """
    X = arguments.matrix("X", X, columns=network.W.shape[-1])
    wrong = margin(network.at_each_point(), X, arguments.points("Y", Y, len(X), axes=1)) <= 0
    if masses is None:
        return wrong.mean(-1)
    return wrong @ arguments.probabilities("masses", masses, len(X))


def xor():
    """The four points e_1, -e_1, labeled 1, and e_2, -e_2, labeled -1: X (4, 2), Y (4,)."""
    return noisy_xor(2)


def noisy_xor(d):
    """XOR in the first two coordinates, and d - 2 further signs that say nothing.

    The points (u, s) / sqrt(d - 1): u is one of e_1, -e_1 (label 1), e_2, -e_2 (label -1), s signs.
    d: 2 to 20. Returns X (n, d) and Y (n,), n = 2^d, unit points. Raises ValueError for bad
    arguments. Cost: O(d 2^d). Source: beyond the thesis, Proposition 5.C.

    >>> X, Y = noisy_xor(2)
    >>> X.tolist(), Y.tolist()
    ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [1, 1, -1, -1])
    """
    d = arguments.positive_integer("d", d, least=2, most=20, why=", since there are 2^d points")
    u = np.repeat([[1, 0], [-1, 0], [0, 1], [0, -1]], 2 ** (d - 2), axis=0)
    s = 2 * (np.arange(2 ** (d - 2))[:, None] >> np.arange(d - 2) & 1) - 1
    return np.hstack([u, np.tile(s, (4, 1))]) / (d - 1) ** 0.5, np.repeat([1, -1], 2 ** (d - 1))


def _steps(network, X, Y, q, step_size, rng, radius, masses):
    *batch, m, _ = network.W.shape
    while True:
        if masses is None:
            i = rng.integers(len(X), size=batch)
        else:
            i = rng.choice(len(X), size=batch, p=masses)
        mask = rng.random((*batch, m)) < q
        z, following = _step(network, X[i], Y[i], mask, step_size, radius)
        yield Step(network, X[i], Y[i], mask, z)
        network = following


def _step(network, x, y, mask, step_size, radius):
    """The margin y g(x; W, B) and the next network; nothing is checked."""
    hidden, kept = preactivations(network, x), network.a * mask
    z = y * (kept * np.maximum(hidden, 0)).sum(-1)
    weight = step_size * negative_derivative(z) * y
    change = (weight[..., None] * kept * (hidden > 0))[..., None] * x[..., None, :]
    return z, TwoLayerNetwork(_project_rows(network.W + change, radius), network.a, network.alpha)


def _radius(radius):
    return arguments.number("radius", radius, above=0, most=inf)
