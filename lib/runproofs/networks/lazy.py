"""Dropout training of a wide ReLU network whose top layer is frozen, Chapter 5 of the thesis.

The network and its subnetwork are::

    f(x; W) = m^{-1/2} a^T sigma(W x),   g(x; W, B) = m^{-1/2} a^T B sigma(W x),

with the ReLU sigma, signs a (m,) and masks B = diag(b) that keep a unit with probability q. It is a
`TwoLayerNetwork` with top layer a / sqrt(m) and alpha = 0, its subnetwork is ``network[b]``. As
everywhere in the library all functions broadcast: networks (..., m, d), points (..., d), labels
(...) and masks (..., m). At a kink the slope is 0, where the thesis has 1 in one place and 0 in
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

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


def loss(z: ArrayLike) -> np.ndarray | float:
    """Logistic loss ``log_2(1 + e^{-z})`` of the margin: base 2, so that it is 1 at 0.

    Parameters
    ----------
    z : (...) array_like
        Margins.

    Returns
    -------
    (...) ndarray
        The loss of each margin.

    References
    ----------
    :claim:`thesis/definition-logistic-loss`, where the base is not named

    Examples
    --------
    >>> float(loss(0)), float(loss(-800).round(6))
    (1.0, 1154.156033)
    """
    return np.logaddexp(0, -arguments.margins(z)) / LN_2


def negative_derivative(z: ArrayLike) -> np.ndarray | float:
    """``Q = -loss'(z) = 1 / (ln 2 (1 + e^z))``, in (0, 1 / ln 2).

    Parameters
    ----------
    z : (...) array_like
        Margins.

    Returns
    -------
    (...) ndarray
        Q at each margin.

    References
    ----------
    :claim:`thesis/definition-5.2.1-notation`

    Examples
    --------
    >>> float(2 * LN_2 * negative_derivative(0))
    1.0
    """
    return np.exp(-np.logaddexp(0, arguments.margins(z))) / LN_2


def start(
    m: int, d: int, rng: np.random.Generator | int, runs: tuple[int, ...] = ()
) -> TwoLayerNetwork:
    """The network before training: rows w_r ~ N(0, I_d), top layer of random signs / sqrt(m).

    Parameters
    ----------
    m : int
        Number of hidden units, at least 1.
    d : int
        Number of inputs, at least 1.
    rng : numpy.random.Generator or int
        Source of weights and signs, or a seed.
    runs : tuple of int, optional
        Batch shape; a single network by default.

    Returns
    -------
    TwoLayerNetwork
        The network, or a batch of independent ones.

    References
    ----------
    :claim:`thesis/definition-two-layer-network`
    """
    m, d = arguments.positive_integer("m", m), arguments.positive_integer("d", d)
    rng = arguments.generator(rng)
    W = rng.normal(size=(*runs, m, d))
    return TwoLayerNetwork(W, rng.choice([-1.0, 1.0], (*runs, m)) / m**0.5, 0)


def project_rows(W: np.ndarray, radius: float) -> np.ndarray:
    """The weights with each row of a norm above the radius shortened to it.

    Parameters
    ----------
    W : (..., m, d) ndarray
        Weights, a row for each hidden unit.
    radius : float
        Largest norm of a row, larger than 0, possibly infinite.

    Returns
    -------
    (..., m, d) ndarray
        The shortened weights.

    References
    ----------
    Pi_c in :claim:`thesis/algorithm-4`

    Examples
    --------
    >>> project_rows(np.array([[3.0, 4.0], [0.0, 1.0]]), 2).tolist()
    [[1.2, 1.6], [0.0, 1.0]]
    """
    return _project_rows(arguments.matrix("W", W, batched=True), _radius(radius))


def _project_rows(W, radius):
    if radius == inf:
        return W.copy()
    return W * (radius / np.maximum(np.linalg.norm(W, axis=-1, keepdims=True), radius))


def update(
    network: TwoLayerNetwork,
    x: ArrayLike,
    y: ArrayLike,
    mask: ArrayLike,
    *,
    step_size: float,
    radius: float = inf,
) -> TwoLayerNetwork:
    """One step of Algorithm 4: a gradient step on loss(y g(x; W, B)), then the projection.

    Parameters
    ----------
    network : TwoLayerNetwork
        Network of weights W_t, or a batch.
    x : (..., d) array_like
        Example of each run.
    y : (...) array_like
        Labels, -1 and 1.
    mask : (..., m) array_like
        Masks of zeros and ones.
    step_size : float
        Length of the step, larger than 0.
    radius : float, optional
        Largest norm of a row, larger than 0; infinite by default, for no projection.

    Returns
    -------
    TwoLayerNetwork
        The next network.

    Notes
    -----
    Cost: ``O(m d)`` per run.

    References
    ----------
    :claim:`thesis/algorithm-4`

    Examples
    --------
    >>> net = TwoLayerNetwork([[1.0], [1.0]], [1.0, 1.0], 0)
    >>> update(net, [1], 1, [1, 0], step_size=LN_2 * (1 + np.e)).W.tolist()
    [[2.0], [1.0]]
    """
    x, y = _labelled(network[mask], x, y)
    step_size, radius = arguments.number("step_size", step_size, above=0), _radius(radius)
    mask = arguments.zeros_and_ones("mask", mask, network.a.shape[-1])
    return _step(network, x, y, mask, step_size, radius)[1]


class Step(NamedTuple):
    """A step of Algorithm 4, before its update.

    Attributes
    ----------
    network : TwoLayerNetwork
        Network of weights W_t (..., m, d).
    x : (..., d) ndarray
        Example x_t of each run.
    y : (...) ndarray
        Labels y_t.
    mask : (..., m) ndarray of bool
        Which units are kept.
    margin : (...) ndarray
        Margins y_t g_t(W_t).
    """

    network: TwoLayerNetwork
    x: np.ndarray
    y: np.ndarray
    mask: np.ndarray
    margin: np.ndarray


def algorithm_4(
    network: TwoLayerNetwork,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    keep: float,
    step_size: float,
    rng: np.random.Generator | int,
    radius: float = inf,
    masses: ArrayLike | None = None,
) -> Iterator[Step]:
    """Algorithm 4, one-pass SGD with dropout: the steps t = 1, 2, ..., without end.

    Each step draws an example and a mask for each run, independently.

    Parameters
    ----------
    network : TwoLayerNetwork
        Network to start from, or a batch.
    X : (n, d) array_like
        Inputs of the examples.
    Y : (n,) array_like
        Labels, -1 and 1.
    keep : float
        Probability q of keeping a unit, in (0, 1].
    step_size : float
        Length of the steps, larger than 0.
    rng : numpy.random.Generator or int
        Source of examples and masks, or a seed.
    radius : float, optional
        Largest norm of a row, larger than 0; infinite by default, for no projection.
    masses : (n,) array_like, optional
        Probabilities of the examples, at least 0 with sum 1; equal by default.

    Returns
    -------
    iterator of Step
        The steps, each with W_t before its update; their arrays are not written to afterwards.

    Notes
    -----
    The output of the algorithm, q W_t, has the signs of W_t. Cost: ``O(m d)`` per step and run.

    References
    ----------
    :claim:`thesis/algorithm-4`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> steps = algorithm_4(start(50, 2, rng), *xor(), keep=0.5, step_size=LN_2, rng=rng)
    >>> mistakes = [bool(next(steps).margin <= 0) for _ in range(400)]
    >>> sum(mistakes[:200]) > sum(mistakes[200:])
    True
    """
    X = arguments.matrix("X", X, columns=network.W.shape[-1])
    Y = arguments.signs("Y", arguments.points("Y", Y, len(X), axes=1))
    keep, rng = arguments.keep_probability(keep), arguments.generator(rng)
    step_size, radius = arguments.number("step_size", step_size, above=0), _radius(radius)
    if masses is not None:
        masses = arguments.probabilities("masses", masses, len(X))
    return _steps(network, X, Y, keep, step_size, rng, radius, masses)


def linearization(
    network: TwoLayerNetwork, U: ArrayLike, x: ArrayLike, mask: ArrayLike = 1
) -> np.ndarray | Fraction | float:
    """``<grad g(x; W, B), U>``: the network with the activations of W and the weights of U.

    It is linear in U, and g(x; W, B) itself at U = W.

    Parameters
    ----------
    network : TwoLayerNetwork
        Network of weights W, or a batch.
    U : (..., m, d) array_like
        Weights that take the place of W.
    x : (..., d) array_like
        Points.
    mask : (..., m) array_like, optional
        Masks of zeros and ones; by default all units are kept.

    Returns
    -------
    (...) ndarray
        The output at each point.

    Notes
    -----
    Cost: ``O(m d)`` per point.

    References
    ----------
    ``g_t^{(k)}`` in :claim:`thesis/definition-5.2.1-notation`

    Examples
    --------
    >>> net = TwoLayerNetwork([[1, 0], [0, -1]], [1, 1], 0)
    >>> float(linearization(net, np.array([[5, 0], [0, 5]]), [1, 1]))
    5.0
    """
    m, d = network.W.shape[-2:]
    exact = network.W.dtype == object
    U = arguments.matrix("U", U, rows=m, columns=d, batched=True, exact=exact)
    x = arguments.points("x", x, d, exact=exact)
    mask = arguments.zeros_and_ones("mask", mask, m, one=True)
    _agree(
        network=_agree(**_batches(network)), U=U.shape[:-2], x=x.shape[:-1], mask=mask.shape[:-1]
    )
    active = preactivations(network, x) > 0
    values = (U @ x[..., None])[..., 0]
    return (network.a * mask * active * values).sum(-1)


def error(
    network: TwoLayerNetwork, X: ArrayLike, Y: ArrayLike, masses: ArrayLike | None = None
) -> np.ndarray:
    """``P{y f(x) <= 0}``, exactly: a silent subnetwork, whose output is 0, errs everywhere.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch (...), subnetworks included.
    X : (n, d) array_like
        Points.
    Y : (n,) array_like
        Labels, -1 and 1.
    masses : (n,) array_like, optional
        Probabilities of the points, at least 0 with sum 1; equal by default.

    Returns
    -------
    (...) ndarray
        The error of each network.

    Notes
    -----
    Cost: ``O(n m d)`` per network.

    References
    ----------
    :claim:`thesis/definition-subnetwork-error`, with the event that the thesis' proofs allow

    Examples
    --------
    >>> net = TwoLayerNetwork([[1.0], [-1.0]], [1.0, 1.0], 0)
    >>> float(error(net, [[1], [-1]], [1, -1])), error(net[[[0, 1], [0, 0]]], [[1]], [1]).tolist()
    (0.5, [1.0, 1.0])
    """
    X = arguments.matrix("X", X, columns=network.W.shape[-1])
    wrong = margin(network.at_each_point(), X, arguments.points("Y", Y, len(X), axes=1)) <= 0
    if masses is None:
        return wrong.mean(-1)
    return wrong @ arguments.probabilities("masses", masses, len(X))


def xor() -> tuple[np.ndarray, np.ndarray]:
    """XOR in the plane: four points e_1, -e_1, labeled 1, and e_2, -e_2, labeled -1.

    Returns
    -------
    X : (4, 2) ndarray
        The points.
    Y : (4,) ndarray
        Their labels.
    """
    return noisy_xor(2)


def noisy_xor(d: int) -> tuple[np.ndarray, np.ndarray]:
    """XOR in the first two coordinates, and d - 2 further signs that say nothing.

    The points are ``(u, s) / sqrt(d - 1)``: u is one of e_1, -e_1 (label 1), e_2, -e_2 (label -1),
    and s are signs.

    Parameters
    ----------
    d : int
        Dimension, 2 to 20.

    Returns
    -------
    X : (n, d) ndarray
        All ``n = 2^d`` points, of length 1.
    Y : (n,) ndarray
        Their labels, -1 and 1.

    References
    ----------
    :claim:`beyond/noisy-xor-margin`

    Examples
    --------
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
