"""Equalized deep linear networks: the lower bounds of the regularizers, and how far they are met.

All of it is for inputs with second moment I: those with C are ``W_1 C^{1/2}`` for W_1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import nuclear_norm
from runproofs.linear.deep.network import (
    _product,
    _rates,
    _regularizer,
    _subregularizers,
    _whitened,
    _widths,
)


def effective_regularization(widths: ArrayLike, lam: ArrayLike) -> float | np.ndarray:
    """Effective regularization ``nu = prod_j (1 + lam / d_j) - 1``, exact for small lam, too.

    Parameters
    ----------
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.
    lam : float or array_like
        Strength of the penalty, at least 0.

    Returns
    -------
    float or ndarray
        The nu of each lam.

    References
    ----------
    :claim:`thesis/definition-4`

    Examples
    --------
    >>> float(round(effective_regularization([2, 4], 1), 12))  # 1.5 * 1.25 - 1
    0.875
    """
    widths, lam = arguments.hidden_widths(widths), arguments.numbers("lam", lam, least=0)
    if not lam.size:
        raise ValueError(f"lam must not be empty, but its shape is {lam.shape}.")
    return np.expm1(np.log1p(lam[..., None] / widths).sum(-1))


def effective_regularization_parts(widths: ArrayLike) -> np.ndarray:
    """Coefficients e_1, ..., e_k of the effective regularization ``nu = sum_l lam^l e_l``.

    They are the elementary symmetric polynomials of the 1 / d_j.

    Parameters
    ----------
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.

    Returns
    -------
    (k,) ndarray
        The coefficients.

    Notes
    -----
    Cost: ``O(k^2)``.

    References
    ----------
    :claim:`thesis/definition-4`, :claim:`thesis/equation-3.14`

    Examples
    --------
    >>> effective_regularization_parts([2, 4]).tolist()
    [0.75, 0.125]
    """
    widths = arguments.hidden_widths(widths)
    e = np.eye(1, len(widths) + 1)[0]
    for d in widths:
        e[1:] += e[:-1] / d
    return e[1:]


class Gaps(NamedTuple):
    """Normalized equalization gaps; see `equalization_gaps`.

    Attributes
    ----------
    parts : (..., k) ndarray
        Gaps r_l of the sub-regularizers.
    total : (...) ndarray
        Gap r of the regularizer, for each network and lam.
    """

    parts: np.ndarray
    total: np.ndarray


def equalization_gaps(
    weights: Sequence[ArrayLike], lam: ArrayLike, C: ArrayLike | None = None
) -> Gaps:
    """Gaps of the regularizers above their lower bounds, all 0 iff the network is equalized.

    ``r_l = R_l / LB_l - 1``, ``LB_l = e_l ||M C^{1/2}||_*^2``, and
    ``r = R / (nu ||M C^{1/2}||_*^2) - 1``.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, with any leading batch axes; no map M may be zero.
    lam : float or array_like
        Strength of the penalty, larger than 0; broadcasts with the batch axes.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    Gaps
        The gaps r_l and r, at least 0.

    Notes
    -----
    Cost: ``O(k^2 d^2 (d + k))`` and one SVD a network.

    References
    ----------
    :claim:`thesis/equation-3.14`, :claim:`thesis/ch3-normalized-gap`

    Examples
    --------
    >>> parts, total = equalization_gaps([[[3], [1]], [[1, 1]]], 0.5)
    >>> float(round(total, 12))  # 0.5 (3^2 + 1^2) / (0.25 * 4^2) - 1
    0.25
    """
    weights, norm = _scaled(_whitened(weights, C))
    lam = _rates(lam, weights, above=0)  # at 0 both R and nu are 0
    widths, squared = _widths(weights), norm**2
    parts = _subregularizers(weights) / (
        squared[..., None] * effective_regularization_parts(widths)
    )
    nu = effective_regularization(widths, lam[..., 0, 0])
    R = _regularizer(weights, lam, np.eye(weights[0].shape[-1]))
    return Gaps(parts - 1, R / (nu * squared) - 1)


def equalization_defect(weights: Sequence[ArrayLike], C: ArrayLike | None = None) -> float:
    """Largest relative deviation of the products in the definition of an equalized network.

    The maximum, over all pivot sets and their nodes, of
    ``| |alpha beta ... gamma| prod_p d_{j_p} / ||M C^{1/2}||_* - 1 |``.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network, whose map M is not zero.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    float
        The deviation, 0 iff the network is equalized.

    Notes
    -----
    The extreme products are extreme paths through the layers. Cost: ``O(k^2 d^3)`` and one SVD.

    References
    ----------
    :claim:`thesis/definition-5`
    """
    weights, norm = _scaled(_whitened(weights, C, batched=False))
    spans = weights[:1]  # the maps to this layer: from the inputs and from every earlier layer
    reached = {np.max: [], np.min: []}  # for each layer and node: the extreme path that ends there
    for W in weights[1:]:
        heads = np.linalg.norm(spans[0], axis=1)
        for best, before in reached.items():
            steps = [best(np.abs(B) * b, axis=1) for B, b in zip(spans[1:], before, strict=True)]
            before.append(len(heads) * best([heads, *steps], axis=0))
        spans = [*(W @ B for B in spans), W]
    tails = [np.linalg.norm(B, axis=0) for B in spans[1:]]
    ends = [
        best([best(b * tail) for b, tail in zip(before, tails, strict=True)])
        for best, before in reached.items()
    ]
    return float(max(abs(end / norm - 1) for end in ends))


def is_equalized(
    weights: Sequence[ArrayLike], C: ArrayLike | None = None, tol: float = 1e-9
) -> bool:
    """Whether a network is equalized, up to a tolerance.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network, whose map M is not zero.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.
    tol : float, optional
        Largest `equalization_defect`, at least 0.

    Returns
    -------
    bool
        True if it is.

    Notes
    -----
    Cost: ``O(k^2 d^3)`` and one SVD.

    References
    ----------
    :claim:`thesis/definition-5`

    Examples
    --------
    >>> is_equalized([[[1], [1]], [[2, 2]]]), is_equalized([[[1], [2]], [[2, 2]]])
    (True, False)
    """
    tol = arguments.number("tol", tol, least=0)
    return equalization_defect(weights, C) <= tol


def rank_one_implementation(u: ArrayLike, v: ArrayLike, widths: ArrayLike) -> list[np.ndarray]:
    """Weights with network map ``u v^T``, equalized for every C.

    Parameters
    ----------
    u : (d_{k+1},) array_like
        Left factor.
    v : (d_0,) array_like
        Right factor.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.

    Returns
    -------
    list of (d_i, d_{i-1}) ndarray
        Weights W_1, ..., W_{k+1}.

    References
    ----------
    :claim:`thesis/proposition-1`
    """
    u, v = arguments.vector("u", u), arguments.vector("v", v)
    flat = [np.full(d, d**-0.5) for d in arguments.hidden_widths(widths)]
    ends = [v, *flat, u]
    return [np.outer(after, before) for before, after in pairwise(ends)]


def _scaled(weights):
    """Weights whose rows have largest entries 1 in hidden layers, and their maps' nuclear norms.

    Rescaled are layers and nodes, whose scales cancel in everything that is relative to the norm.
    """
    scaled, sizes = [], 1.0
    for W in weights[:-1]:
        W = _over_largest(_over_largest(W) * sizes)
        largest = np.abs(W).max(-1, keepdims=True)
        largest[largest == 0] = 1
        scaled.append(W / largest)
        sizes = largest.mT
    scaled.append(_over_largest(_over_largest(weights[-1]) * sizes))
    norm = nuclear_norm(_product(scaled))
    if np.min(norm) == 0:
        raise ValueError("weights must have a nonzero map, but theirs is zero.")
    return scaled, norm


def _over_largest(W):
    largest = np.abs(W).max((-2, -1), keepdims=True)
    return W / np.where(largest > 0, largest, 1)
