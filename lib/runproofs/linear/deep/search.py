"""The cheapest implementation of a map, and the best network, by descent and by no theory."""

from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from runproofs import _arguments as arguments
from runproofs.linalg import psd_sqrt
from runproofs.linear.deep.network import closed_form_gradient, gradient, regularizer


class Search(NamedTuple):
    """What the searches return."""

    weights: list[np.ndarray]  # the best found
    values: np.ndarray  # (starts,), where each descent ended


def search_implementation(M, widths, lam, starts, rng, C=None):
    """Minimize R over the weights with network map M, by L-BFGS from random starts.

    M: (d_{k+1}, d_0), not zero, of rank at most min(widths). widths: d_1, ..., d_k. lam: larger
    than 0. starts: at least 1. rng: NumPy Generator, or a seed. C: None or positive definite.
    The last layer is eliminated: for given first layers the best one solves a linear system. The
    first layer reads x through the row space of M only; other inputs add noise, and nothing else.
    Returns a Search, values of R. Raises ValueError for bad arguments.
    Cost: O(k d^3) an iteration, some fifty iterations a start. Source: thesis, (3.2).
    """
    M = arguments.matrix("M", M)
    rank = np.linalg.matrix_rank(M)
    if rank == 0:
        raise ValueError("M must not be zero.")
    widths = arguments.hidden_widths(widths, rank=rank)
    lam = arguments.positive("lam", lam)
    starts = arguments.positive_integer("starts", starts)
    rng = np.random.default_rng(rng)
    size = M.shape[1]
    root = np.eye(size) if C is None else psd_sqrt(arguments.positive_definite("C", C, size=size))

    U, s, Vt = np.linalg.svd(M @ root, full_matrices=False)
    target = U[:, :rank] * (s[:rank] / s[0])  # the solver's tolerances suit numbers of order 1
    shapes = [(after, before) for before, after in pairwise([rank, *widths])]

    def completed(z):
        """All weights, and the multiplier of the constraint that their product is the target."""
        layers = _unflatten(z, shapes)
        masked, K = np.eye(rank), np.eye(rank)
        for W in layers:
            moment, K = W @ masked @ W.T, W @ K
            masked = moment + lam * np.diag(np.diag(moment))
        last = np.linalg.solve(masked, K)  # minimize tr(W masked W^T) subject to W K = target
        multiplier = np.linalg.solve(K.T @ last, target.T).T
        return [*layers, multiplier @ last.T], multiplier

    def value_and_gradient(z):
        weights, multiplier = completed(z)
        slopes = gradient(weights, multiplier, lam)[:-1]  # the last layer's is zero
        return float(regularizer(weights, lam)), _flatten(slopes)

    size = sum(a * b for a, b in shapes)
    ends = [_lbfgs(value_and_gradient, rng.standard_normal(size)) for _ in range(starts)]
    values = np.array([end.fun for end in ends])
    weights, _ = completed(ends[values.argmin()].x)
    weights[0] = weights[0] @ Vt[:rank] @ np.linalg.inv(root)
    weights[-1] = weights[-1] * s[0]
    return Search(weights, values * s[0] ** 2)


def search_optimum(Cyx, widths, lam, starts, rng, C=None):
    """Minimize the dropout objective over the weights, by L-BFGS from random starts.

    Cyx: (d_{k+1}, d_0), not zero. widths: d_1, ..., d_k. lam: at least 0. starts: at least 1.
    rng: NumPy Generator, or a seed. C: None for the identity, or positive definite (d_0, d_0).
    For k >= 2 a descent may end in a local minimum: take several.
    Returns a Search, values of the objective less E ||y||^2. Raises ValueError for bad arguments.
    Cost: O(k d^3) an iteration, some hundred iterations a start. Source: thesis, (3.1).
    """
    Cyx = arguments.matrix("Cyx", Cyx)
    scale = np.linalg.norm(Cyx, 2)  # the solver's tolerances suit numbers of order 1
    if scale == 0:
        raise ValueError("Cyx must not be zero.")
    d2, d0 = Cyx.shape
    shapes = [(b, a) for a, b in pairwise([d0, *arguments.hidden_widths(widths), d2])]
    lam = arguments.nonnegative("lam", lam)
    starts = arguments.positive_integer("starts", starts)
    C = np.eye(d0) if C is None else arguments.positive_definite("C", C, size=d0)
    rng = np.random.default_rng(rng)

    gains = [1 + lam * np.eye(d) for _, d in shapes[1:]]
    target = Cyx / scale

    def value_and_gradient(z):
        weights = _unflatten(z, shapes)
        slopes = closed_form_gradient(weights, gains, C, target)
        M = reduce(lambda product, W: W @ product, weights)
        # the objective is quadratic in the last layer, its linear part -2 <target, M>
        return np.sum(weights[-1] * slopes[-1]) / 2 - np.sum(target * M), _flatten(slopes)

    def start():
        return _flatten([rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes])

    ends = [_lbfgs(value_and_gradient, start()) for _ in range(starts)]
    values = np.array([end.fun for end in ends])
    weights = _unflatten(ends[values.argmin()].x, shapes)
    weights[-1] = weights[-1] * scale
    return Search(weights, values * scale**2)


def _flatten(layers):
    return np.concatenate([W.ravel() for W in layers])


def _unflatten(z, shapes):
    cuts = np.cumsum([a * b for a, b in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(z, cuts), shapes, strict=True)]


def _lbfgs(value_and_gradient, z):
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(value_and_gradient, z, jac=True, method="L-BFGS-B", options=options)
