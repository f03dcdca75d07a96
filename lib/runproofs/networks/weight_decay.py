"""Weight decay on one point against the origin, at every depth: Helmbold and Long, Theorem 7.

On ``P_(x,1)``, x != 0, the criterion is ``J_2 = R + lam / 2 |W|^2``, and its minimum is that of::

    phi(A) = (1 - A)^2 / 4 + lam d / 2 (A / |x|)^(2/d),   A >= 0,

where A = W(x) - W(0) is the signal, d the depth, and the biases have no penalty. All functions
broadcast over norm = ``|x|`` and lam.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.networks.multilayer import MultilayerNetwork
from runproofs.optimize import flatten, lbfgs, unflatten


def least_norm(A: ArrayLike, norm: ArrayLike, depth: int) -> np.ndarray | float:
    """The least sum of squared weights of a network with the signal A, ``d (A / norm)^(2/d)``.

    Parameters
    ----------
    A : (...) array_like
        Signal, at least 0.
    norm : (...) array_like
        Length of x, larger than 0.
    depth : int
        Number d of layers of weights, at least 2.

    Returns
    -------
    (...) ndarray
        The sum for each signal and norm.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`, :claim:`helmbold-long/lemma-33` for depth 2

    Examples
    --------
    >>> float(least_norm(0.6, 5, 2)), float(least_norm(8, 1, 3))
    (0.24, 12.0)
    """
    A, norm = arguments.numbers("A", A, least=0), arguments.numbers("norm", norm, above=0)
    depth = arguments.positive_integer("depth", depth, least=2)
    return depth * (A / norm) ** (2 / depth)


def profile(A: ArrayLike, norm: ArrayLike, lam: ArrayLike, depth: int) -> np.ndarray | float:
    """``phi(A)``, the least ``J_2`` of a network with the signal A.

    Parameters
    ----------
    A : (...) array_like
        Signal, at least 0.
    norm : (...) array_like
        Length of x, larger than 0.
    lam : (...) array_like
        Strength of the penalty, at least 0.
    depth : int
        Number d of layers of weights, at least 2.

    Returns
    -------
    (...) ndarray
        The criterion for each signal, norm and lam.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`, :claim:`helmbold-long/equation-12` for depth 2
    """
    A, lam = arguments.numbers("A", A, least=0), arguments.numbers("lam", lam, least=0)
    return (1 - A) ** 2 / 4 + lam / 2 * least_norm(A, norm, depth)


def critical_penalty(norm: ArrayLike, depth: int) -> np.ndarray | float:
    """The strength lam_c, from which on the zero weights are optimal: norm / 2 at depth 2.

    At depth 3 or more the signal (d - 2) / (d - 1) is optimal there, too.

    Parameters
    ----------
    norm : (...) array_like
        Length of x, larger than 0.
    depth : int
        Number d of layers of weights, at least 2.

    Returns
    -------
    (...) ndarray
        The strength for each norm.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`

    Examples
    --------
    >>> float(critical_penalty(5, 2)), round(float(critical_penalty(1, 3)), 6)
    (2.5, 0.198425)
    """
    norm, d = (
        arguments.numbers("norm", norm, above=0),
        arguments.positive_integer("depth", depth, least=2),
    )
    return _smallest(d) ** ((d - 2) / d) * norm ** (2 / d) / (2 * (d - 1))


def signal(norm: ArrayLike, lam: ArrayLike, depth: int) -> np.ndarray | float:
    """The optimal signal A: 0 for lam above lam_c, else in [(d - 2) / (d - 1), 1].

    Parameters
    ----------
    norm : (...) array_like
        Length of x, larger than 0.
    lam : (...) array_like
        Strength of the penalty, at least 0; at lam_c itself 0 is optimal, too.
    depth : int
        Number d of layers of weights, at least 2.

    Returns
    -------
    (...) ndarray
        The signal for each norm and lam.

    Notes
    -----
    It is max(0, 1 - 2 lam / norm) at depth 2, else it takes some ten steps of Newton's method,
    which falls monotonically to the larger solution of
    ``lam norm^(-2/d) = A^(1 - 2/d) (1 - A) / 2``.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`

    Examples
    --------
    >>> signal(1, [0.1952, 0.2], 3).round(12).tolist()
    [0.512, 0.0]
    """
    norm, lam = arguments.numbers("norm", norm, above=0), arguments.numbers("lam", lam, least=0)
    alive = lam <= critical_penalty(norm, depth)
    if depth == 2:
        return np.maximum(0, 1 - 2 * lam / norm)
    power = 1 - 2 / depth
    wanted = np.where(alive, 2 * lam / norm ** (2 / depth), 0)
    A = np.ones(wanted.shape)
    while True:
        excess = A**power * (1 - A) - wanted  # concave, at most 0 from the solution on
        new = A - excess / (power * A ** (power - 1) - (power + 1) * A**power)
        new = np.maximum(new, _smallest(depth))
        if not (new < A).any():
            return np.where(alive, A, 0.0)
        A = np.minimum(A, new)


def aversion(norm: ArrayLike, lam: ArrayLike, depth: int) -> np.ndarray:
    """The weight-decay aversion of ``P_(x,1)``: the largest risk of a minimizer of ``J_2``.

    Parameters
    ----------
    norm : (...) array_like
        Length of x, larger than 0.
    lam : (...) array_like
        Strength of the penalty, at least 0.
    depth : int
        Number d of layers of weights, at least 2.

    Returns
    -------
    (...) ndarray
        The risk: ``min(1/4, (lam / norm)^2)`` at depth 2, and 1/4 from lam_c on at every depth.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`

    Examples
    --------
    >>> float(aversion(5, 1, 2)), float(aversion(5, 3, 2)), float(aversion(1, 0.1952, 3).round(6))
    (0.04, 0.25, 0.059536)
    """
    A = signal(norm, lam, depth)
    return np.where(lam < critical_penalty(norm, depth), (1 - A) ** 2 / 4, 0.25)


def cheapest_network(x: ArrayLike, A: float, sizes: Sequence[int]) -> MultilayerNetwork:
    """A network with the signal A at x, of least norm, with the output bias (1 - A) / 2.

    Parameters
    ----------
    x : (K,) array_like
        Input, not 0.
    A : float
        Signal, at least 0.
    sizes : sequence of int
        Numbers of nodes of the hidden layers; the first node of each is used.

    Returns
    -------
    MultilayerNetwork
        The network, in float64, of depth len(sizes) + 1.

    References
    ----------
    :claim:`beyond/weight-decay-any-depth`

    Examples
    --------
    >>> network = cheapest_network([3, 4], 0.6, [2])
    >>> [round(float(network(x)), 12) for x in ([0, 0], [3, 4])]
    [0.2, 0.8]
    """
    x = arguments.vector("x", x)
    norm = arguments.number("the norm of x", np.linalg.norm(x), above=0)
    A, widths = arguments.number("A", A, least=0), arguments.hidden_widths(sizes).tolist()
    weights = [np.zeros(s) for s in zip([*widths, 1], [len(x), *widths], strict=True)]
    weights[0][0] = x / norm
    for W in weights[1:]:
        W[0, 0] = 1
    size = (A / norm) ** (1 / len(weights))
    biases = [np.zeros(len(W)) for W in weights]
    biases[-1][:] = (1 - A) / 2
    return MultilayerNetwork([size * W for W in weights], biases)


def descents(
    x: ArrayLike,
    lam: float,
    sizes: Sequence[int],
    starts: int,
    rng: np.random.Generator | int,
    *,
    bias_lam: float = 0.0,
) -> tuple[np.ndarray, MultilayerNetwork]:
    """Where L-BFGS ends on ``J_2`` of ``P_(x,1)`` from standard normal starts: it knows no theorem.

    Parameters
    ----------
    x : (K,) array_like
        Input.
    lam : float
        Strength of the penalty on the weights, at least 0.
    sizes : sequence of int
        Numbers of nodes of the hidden layers.
    starts : int
        Number of starts, at least 1.
    rng : numpy.random.Generator or int
        Source of the starts, or a seed.
    bias_lam : float, optional
        Strength of a penalty on the biases, at least 0; 0 by default.

    Returns
    -------
    values : (starts,) ndarray
        Criteria at the ends, in increasing order.
    networks : MultilayerNetwork
        Networks at the ends, a batch in this order.

    Notes
    -----
    Cost: hundreds of passes and gradients a start.
    """
    x, widths = arguments.vector("x", x), arguments.hidden_widths(sizes).tolist()
    lam = arguments.number("lam", lam, least=0)
    bias_lam = arguments.number("bias_lam", bias_lam, least=0)
    starts, rng = arguments.positive_integer("starts", starts), arguments.generator(rng)
    layers = [len(x), *widths, 1]
    shapes = [(n, m) for m, n in pairwise(layers)] + [(n,) for n in layers[1:]]
    depth = len(layers) - 1
    strength = np.repeat([lam] * depth + [bias_lam] * depth, [np.prod(shape) for shape in shapes])

    def criterion(z):
        parts = unflatten(z, shapes)
        h, gradient = [np.array([x, 0 * x])], [0] * (2 * depth)  # what enters each layer
        for j in range(depth):
            out = h[j] @ parts[j].T + parts[depth + j]
            h.append(np.maximum(out, 0))
        back = out - [[1], [0]]  # the derivative of the risk in the outputs
        value = (back**2).mean() + (strength @ z**2) / 2
        for j in reversed(range(depth)):
            gradient[j], gradient[depth + j] = back.T @ h[j], back.sum(0)
            back = back @ parts[j] * (h[j] > 0)
        return value, flatten(gradient) + strength * z

    ends = [lbfgs(criterion, z) for z in rng.normal(size=(starts, len(strength)))]
    ends.sort(key=lambda end: end[1])
    networks = zip(*(unflatten(z, shapes) for z, _ in ends), strict=True)
    parts = [np.array(part) for part in networks]
    return np.array([value for _, value in ends]), MultilayerNetwork(parts[:depth], parts[depth:])


def _smallest(depth):
    """The least optimal signal that is not 0."""
    return (depth - 2) / (depth - 1)
