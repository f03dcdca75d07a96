"""Norms of networks, and the right-hand sides of the bounds (1.1) to (1.4) on generalization.

A network x -> W_{k+1} relu(W_k ... relu(W_1 x)) is the list of its weights W_1, ..., W_{k+1}
(..., d_i, d_{i-1}), k >= 1, with common batch axes; d is the width of its widest hidden layer.
The bounds are the expressions in the brackets of O(...) in the thesis: constants, logarithms, the
size of the inputs and the margin are left out there, and so they are here. They broadcast over
the batch and over n.
"""

from numbers import Rational

import numpy as np

from runproofs import _arguments as arguments


def dual_exponent(p):
    """p* with 1 / p + 1 / p* = 1.

    p: at least 1, a number or np.inf. Raises ValueError for another p.

    >>> dual_exponent(3), dual_exponent(1), dual_exponent(np.inf)
    (1.5, inf, 1.0)
    """
    p = _exponent("p", p, least=1)
    return np.inf if p == 1 else 1.0 if p == np.inf else p / (p - 1)


def mixed_norm(X, p, q):
    """||X||_{p,q}: the l_q norm of the l_p norms of the columns of X.

    X: (..., m, n). p, q: larger than 0, numbers or np.inf; a norm for p, q >= 1. Returns the batch
    shape. Raises ValueError for bad arguments. Source: thesis, Section 1.1.

    >>> float(mixed_norm([[3, 0], [4, 5]], 2, 1))
    10.0
    """
    X = arguments.matrix("X", X, batched=True)
    columns = _length(X, _exponent("p", p, above=0), axis=-2)
    return _length(columns, _exponent("q", q, above=0), axis=-1)


def path_norm(weights, p):
    """psi_p: the l_p norm of the products of the weights along all paths from inputs to outputs.

    weights: W_1, ..., W_{k+1} (..., d_i, d_{i-1}). p: at least 1, a number or np.inf. Returns the
    batch shape. Raises ValueError for bad arguments. Cost: one pass through the weights, though
    there are d_0 d_1 ... d_{k+1} paths. Source: thesis, Section 1.1.1.

    >>> path_norm([[[1, -2], [3, 1]], [[2, -1]]], 1).item()
    10.0
    """
    weights, p = arguments.layers(weights), _exponent("p", p, least=1)
    into = np.ones(weights[0].shape[-1])  # l_p norm of the products along all paths into a node
    for W in weights:
        into = _length(W * into[..., None, :], p, axis=-1)
    return _length(into, p, axis=-1)


def path_norm_bound(weights, n, p=2):
    """(1.1): sqrt((2 d^{1/p*})^{2k} psi_p^2 log(2 d_0) / n), for one output and ||x||_{p*} <= 1.

    The print has log(d_0), which is 0 for d_0 = 1.
    weights, p: as in `path_norm`, p = 2 unless given. n: larger than 0, a number or an array that
    broadcasts. Returns the batch shape. Raises ValueError for bad arguments.

    >>> weights = [np.eye(2), np.ones((1, 2))]
    >>> (path_norm_bound(weights, 100) / np.sqrt(np.log(4))).round(12).item()  # 2 d psi / 10
    0.4
    """
    psi, n = path_norm(weights, p), arguments.numbers("n", n, above=0)
    k, d = len(weights) - 1, _width(weights)
    factor = (2 * d ** (1 / dual_exponent(p))) ** k
    return factor * psi * np.sqrt(np.log(2 * np.shape(weights[0])[-1]) / n)


def spectral_bound(weights, n):
    """(1.2): prod ||W_i||_2 (sum (||W_i^T||_{2,1} / ||W_i||_2)^{2/3})^{3/2} / sqrt(n).

    ||W^T||_{2,1} is the sum of the lengths of the rows of W. Arguments, result and errors as in
    `path_norm_bound`; 0 if a layer is 0. Cost: one SVD a layer.

    >>> spectral_bound([np.eye(6)] * 4, 1).round(12).item()  # (k + 1)^{3/2} d
    48.0
    """
    weights, n = arguments.layers(weights), arguments.numbers("n", n, above=0)
    rows = [mixed_norm(W.mT, 2, 1) for W in weights]
    product, ratios = _relative(weights, rows)
    return product * (ratios ** (2 / 3)).sum(0) ** 1.5 / np.sqrt(n)


def pac_bayes_bound(weights, n):
    """(1.3): prod ||W_i||_2 (d k^2 sum ||W_i||_F^2 / ||W_i||_2^2)^{1/2} / sqrt(n).

    Arguments, result and errors as in `path_norm_bound`; 0 if a layer is 0. Cost: one SVD a layer.

    >>> pac_bayes_bound([np.eye(6)] * 4, 1).round(12).item()  # k d (k + 1)^{1/2}
    36.0
    """
    weights, n = arguments.layers(weights), arguments.numbers("n", n, above=0)
    product, ratios = _relative(weights, [_frobenius(W) for W in weights])
    k, d = len(weights) - 1, _width(weights)
    return product * k * np.sqrt(d * (ratios**2).sum(0) / n)


def frobenius_bound(weights, n):
    """(1.4): sqrt(k) prod ||W_i||_F / sqrt(n).

    Arguments, result and errors as in `path_norm_bound`. Cost: one pass through the weights.

    >>> frobenius_bound([np.eye(6)] * 4, 27).round(12).item()  # (k / n)^{1/2} d^{(k + 1) / 2}
    12.0
    """
    weights, n = arguments.layers(weights), arguments.numbers("n", n, above=0)
    product = np.prod([_frobenius(W) for W in weights], axis=0)
    return np.sqrt((len(weights) - 1) / n) * product


# ----------------------------------------------------------------------------------------- helpers


def _exponent(name, p, **bounds):
    """p as a float within the bounds; np.inf is allowed."""
    p = float(p) if isinstance(p, Rational) and not isinstance(p, bool) else p
    return arguments.number(name, p, most=np.inf, **bounds)


def _length(x, p, axis):
    """l_p norm of the absolute values along an axis, safe from overflow and underflow."""
    x = np.abs(x)
    largest = x.max(axis)
    if p == np.inf:
        return largest
    unit = x / np.expand_dims(np.where(largest > 0, largest, 1), axis)
    return largest * (unit**p).sum(axis) ** (1 / p)


def _frobenius(W):
    return mixed_norm(W, 2, 2)


def _width(weights):
    """d, the width of the widest hidden layer."""
    return max(np.shape(W)[-2] for W in weights[:-1])


def _relative(weights, norms):
    """The product of the spectral norms, and (k + 1, ...) the norms of the layers over them."""
    spectral = np.array([np.linalg.norm(W, 2, axis=(-2, -1)) for W in weights])
    return spectral.prod(0), np.array(norms) / np.where(spectral > 0, spectral, 1)
