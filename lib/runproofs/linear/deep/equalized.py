"""Equalized deep linear networks: the lower bounds of the regularizers, and how far they are met.

All of it is for inputs with second moment I: those with C are W_1 C^{1/2} for W_1.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

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


def effective_regularization(widths, lam):
    """nu = prod_j (1 + lam / d_j) - 1, without cancellation for small lam.

    widths: d_1, ..., d_k, at least 1. lam: at least 0, a number or an array. Returns its shape.
    Raises ValueError for bad arguments. Cost: O(k) a rate. Source: thesis, Definition 4.

    >>> float(round(effective_regularization([2, 4], 1), 12))  # 1.5 * 1.25 - 1
    0.875
    """
    widths, lam = arguments.hidden_widths(widths), arguments.numbers("lam", lam, least=0)
    if not lam.size:
        raise ValueError(f"lam must not be empty, but its shape is {lam.shape}.")
    return np.expm1(np.log1p(lam[..., None] / widths).sum(-1))


def effective_regularization_parts(widths):
    """e_1, ..., e_k with nu = sum_l lam^l e_l: elementary symmetric polynomials of the 1 / d_j.

    widths: as in `effective_regularization`. Returns (k,). Raises ValueError for bad arguments.
    Cost: O(k^2). Source: thesis, Definition 4 and (3.14).

    >>> effective_regularization_parts([2, 4]).tolist()
    [0.75, 0.125]
    """
    widths = arguments.hidden_widths(widths)
    e = np.eye(1, len(widths) + 1)[0]
    for d in widths:
        e[1:] += e[:-1] / d
    return e[1:]


class Gaps(NamedTuple):
    """Normalized equalization gaps; see `equalization_gaps`."""

    parts: np.ndarray
    total: np.ndarray


def equalization_gaps(weights, lam, C=None):
    """Gaps r_l = R_l / LB_l - 1 and r = R / (nu ||M C^{1/2}||_*^2) - 1, at least 0.

    weights, lam, C: as in `objective`, lam larger than 0. Returns Gaps: `parts` (..., k) and
    `total` of the batch shape; all are 0 iff the network is equalized. Raises ValueError for bad
    arguments, and for a zero map, where the gaps are 0 / 0. Cost: O(k^2 d^2 (d + k)) a network, one
    SVD and, with C, one eigendecomposition. Source: thesis, (3.14) and Section 3.4.2.

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


def equalization_defect(weights, C=None):
    """Largest relative deviation of the products in the definition of an equalized network.

    weights: one network with a non-zero map. C: None or (d_0, d_0). Returns the maximum, over all
    pivot sets and nodes, of | |alpha beta ... gamma| prod d_{j_p} / ||M C^{1/2}||_* - 1 |.
    Raises ValueError for bad arguments. The extreme products are extreme paths through the layers,
    found in O(k^2 d^3), with one SVD and, with C, one eigendecomposition.
    Source: thesis, Definition 5.
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


def is_equalized(weights, C=None, tol=1e-9):
    """Whether a network is equalized, up to the relative tolerance tol >= 0.

    Other arguments, errors and cost as `equalization_defect`. Source: thesis, Definition 5.

    >>> is_equalized([[[1], [1]], [[2, 2]]]), is_equalized([[[1], [2]], [[2, 2]]])
    (True, False)
    """
    tol = arguments.number("tol", tol, least=0)
    return equalization_defect(weights, C) <= tol


def rank_one_implementation(u, v, widths):
    """Equalized weights whose network map is u v^T.

    u: (d_{k+1},), v: (d_0,). widths: d_1, ..., d_k. Returns the list of k + 1 weights, equalized
    for every C. Raises ValueError for bad arguments. Cost: O(k d^2).
    Source: thesis, Proposition 1 of Section 3.3.
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
        raise ValueError("weights must have a non-zero map, but theirs is zero.")
    return scaled, norm


def _over_largest(W):
    largest = np.abs(W).max((-2, -1), keepdims=True)
    return W / np.where(largest > 0, largest, 1)
