"""The cheapest implementation of a map, and the best network, by descent and by no theory."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linear.deep.equalized import effective_regularization
from runproofs.linear.deep.induced import _compact_svd, _roots
from runproofs.linear.deep.network import _gradient
from runproofs.optimize import flatten, lbfgs, unflatten


class Search(NamedTuple):
    """What the searches return.

    Attributes
    ----------
    weights : list of (d_i, d_{i-1}) ndarray
        The best weights W_1, ..., W_{k+1} found.
    values : (starts,) ndarray
        Where each descent ended.
    """

    weights: list[np.ndarray]
    values: np.ndarray


def search_implementation(
    M: ArrayLike,
    widths: ArrayLike,
    lam: float,
    starts: int,
    rng: np.random.Generator | int,
    C: ArrayLike | None = None,
) -> Search:
    """Minimize the regularizer R over the weights with network map M, by L-BFGS from random starts.

    Parameters
    ----------
    M : (d_{k+1}, d_0) array_like
        Map, not zero; singular values below rounding of the largest count as 0.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least the rank of M.
    lam : float
        Strength of the penalty, larger than 0.
    starts : int
        Number of descents, at least 1.
    rng : numpy.random.Generator or int
        Source of the starts, or its seed.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive definite; the identity by default.

    Returns
    -------
    Search
        Best weights, and the R of each descent.

    Raises
    ------
    ValueError
        If R is too large for a float.

    See Also
    --------
    optimal_implementation : The formula.

    Notes
    -----
    The last layer is eliminated: for given first layers the best one solves a linear system. The
    first layer reads x through the row space of M only; other inputs add noise, and nothing else.
    Cost: ``O(k d^3)`` per iteration, about fifty iterations per start.

    References
    ----------
    :claim:`thesis/equation-3.2`
    """
    U, s, Vt, inverse_root, widths = _compact_svd(M, widths, C)
    if not s.size:
        raise ValueError("M must not be zero.")
    lam = arguments.number("lam", lam, above=0)
    starts = arguments.positive_integer("starts", starts)
    rng = np.random.default_rng(rng)
    with np.errstate(over="ignore"):
        unit = effective_regularization(widths, lam)  # the solver likes values of order 1
        if s[0] * unit * s[0] == np.inf:
            raise ValueError("M or lam must be smaller: R is too large for a float.")

    target = U * (s / s[0])
    shapes = [(after, before) for before, after in pairwise([s.size, *widths])]

    def value_and_gradient(z):
        _, value, gradients = _completed(unflatten(z, shapes), target, lam)
        return value * (lam / unit), flatten(gradients) * (lam / unit)

    size = sum(a * b for a, b in shapes)
    ends = [lbfgs(value_and_gradient, rng.standard_normal(size)) for _ in range(starts)]
    values = np.array([value for _, value in ends])
    best = unflatten(ends[values.argmin()][0], shapes)
    weights, _, _ = _completed(best, target, lam)
    weights[0] = weights[0] @ Vt @ inverse_root
    weights[-1] = weights[-1] * s[0]
    return Search(weights, s[0] * (values * unit) * s[0])


def _completed(layers, target, lam):
    """All weights, their R / lam, and its gradient in the first ones.

    The moment of the mean, maps[j] maps[j]^T, costs the last layer the same whatever it is, and
    the rest is lam noise[j]: divided by lam, nothing cancels or vanishes as lam does.
    """
    maps, noise, excess = [np.eye(target.shape[1])], [], 0.0
    for W in layers:
        maps.append(W @ maps[-1])
        excess = W @ noise[-1] @ W.T if noise else np.zeros((len(W), len(W)))
        noise.append(excess + np.diag((maps[-1] ** 2).sum(axis=1) + lam * np.diag(excess)))
    last = np.linalg.solve(noise[-1], maps[-1])  # minimize tr(W noise W^T), W map = target
    multiplier = np.linalg.solve(maps[-1].T @ last, target.T).T
    last = multiplier @ last.T
    value = np.sum(last @ noise[-1] * last)

    pull, gradients = -last.T @ multiplier, []
    back = last.T @ last  # of the noise, in front of this layer's mask
    for j in reversed(range(len(layers))):
        pull = pull + np.diag(back)[:, None] * maps[j + 1]
        back = back + lam * np.diag(np.diag(back))
        W = layers[j]
        through_noise = back @ W @ noise[j - 1] if j else 0.0
        gradients.append(2 * (through_noise + pull @ maps[j].T))
        back, pull = W.T @ back @ W, W.T @ pull
    return [*layers, last], value, gradients[::-1]


def search_optimum(
    Cyx: ArrayLike,
    widths: ArrayLike,
    lam: float,
    starts: int,
    rng: np.random.Generator | int,
    C: ArrayLike | None = None,
) -> Search:
    """Minimize the dropout objective over the weights, by L-BFGS from random starts.

    For k >= 2 a descent may end in a local minimum: take several.

    Parameters
    ----------
    Cyx : (d_{k+1}, d_0) array_like
        Second moment ``E y x^T``, not zero.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.
    lam : float
        Strength of the penalty, at least 0.
    starts : int
        Number of descents, at least 1.
    rng : numpy.random.Generator or int
        Source of the starts, or its seed.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive definite; the identity by default.

    Returns
    -------
    Search
        Best weights, and the objective less ``E ||y||^2`` of each descent.

    See Also
    --------
    global_optimum : The formula.

    Notes
    -----
    The descents see whitened inputs and a target of norm 1, so that any scale will do. Cost:
    ``O(k d^3)`` per iteration, about a hundred iterations per start.

    References
    ----------
    :claim:`thesis/equation-3.1`
    """
    Cyx = arguments.matrix("Cyx", Cyx)
    d2, d0 = Cyx.shape
    shapes = [(b, a) for a, b in pairwise([d0, *arguments.hidden_widths(widths), d2])]
    lam = arguments.number("lam", lam, least=0)
    starts = arguments.positive_integer("starts", starts)
    _, inverse_root = _roots(C, d0)
    rng = np.random.default_rng(rng)

    whitened = Cyx @ inverse_root
    scale = np.linalg.norm(whitened, 2)  # the solver's tolerances suit numbers of order 1
    if scale == 0:
        raise ValueError("Cyx must not be zero.")
    target, identity = whitened / scale, np.eye(d0)
    gains = [1 + lam * np.eye(d) for _, d in shapes[1:]]

    def value_and_gradient(z):
        weights = unflatten(z, shapes)
        slopes = _gradient(weights, gains, identity, target)
        M = reduce(lambda product, W: W @ product, weights)
        # the objective is quadratic in the last layer, its linear part -2 <target, M>
        return np.sum(weights[-1] * slopes[-1]) / 2 - np.sum(target * M), flatten(slopes)

    def start():
        return flatten([rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes])

    ends = [lbfgs(value_and_gradient, start()) for _ in range(starts)]
    values = np.array([value for _, value in ends])
    weights = unflatten(ends[values.argmin()][0], shapes)
    weights[0] = weights[0] @ inverse_root
    weights[-1] = weights[-1] * scale
    return Search(weights, scale * values * scale)
