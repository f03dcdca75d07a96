"""Cells between hyperplanes x^T v = 0 through the origin, in any dimension; nothing is checked."""

from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import nnls

from runproofs import _arguments as arguments

ZERO = 1e-10  # |v^T x| up to this share of ||v|| ||x|| is rounding: v lies in the hyperplane of x
MOST_SUBSETS = 3000  # of r - 1 hyperplanes, each of which may meet in two rays


def rays(X):
    """Rays v (R, r) in which hyperplanes of X (N, r), of rank r, meet, and signs (R, N) of v^T x.

    ValueError for more than 3000 subsets of r - 1 rows.
    """
    N, r = X.shape
    arguments.at_most("atoms", comb(N, r - 1), MOST_SUBSETS, "subsets that meet in a ray")
    normals = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.finfo(float).tiny)
    v = np.ones((1, 1))
    if r > 1:
        _, sigma, Vt = np.linalg.svd(normals[list(combinations(range(N), r - 1))])
        v = Vt[sigma[:, -1] > ZERO, -1]
    products = v @ normals.T
    signs = np.where(np.abs(products) > ZERO, np.sign(products), 0).astype(int)
    signs, first = np.unique(np.concatenate([signs, -signs]), axis=0, return_index=True)
    return np.concatenate([v, -v])[first], signs


def cells(X):
    """Signs (cells, N) of v^T x on each cell between the hyperplanes of X (N, r), of rank r.

    Every cell touches a ray, and about a ray the cells are those of the hyperplanes through it.
    """
    if X.shape[1] == 1:
        return rays(X)[1]
    found = set()
    for v, signs in zip(*rays(X), strict=True):
        through = (signs == 0) & X.any(1)
        across = np.linalg.svd(v[None])[2][1:]  # a basis of the orthogonal complement
        for pattern in cells(X[through] @ across.T):
            signs[through] = pattern
            found.add(tuple(signs))
    return np.array(sorted(found))


def largest_ratio(directions, moments, sums, weights, members):
    """The largest b^T t / ||B t|| over cells with rays r_j, v = sum_j t_j r_j, t >= 0.

    directions (R, r), the rays. moments (R, k), the columns of B, at least 0. sums (R, n) and
    weights (n,): b = sums @ weights. members: the rays of each cell. Returns the value, v of length
    1 and an upper bound by duality.
    """
    lengths = np.linalg.norm(moments, axis=1)
    at_rays = ratios(weights, sums, lengths)
    best = at_rays.argmax()
    value = bound = at_rays[best]
    v = directions[best]
    for cell in () if np.isinf(value) else members:
        cell = cell[lengths[cell] > 0]  # a ray without moment has no positive sum: it never helps
        scale = at_rays[cell].max(initial=0)
        if scale == 0:  # then no point of the cell does better than its best ray
            continue
        B, b = (moments[cell] / lengths[cell, None]).T, at_rays[cell] / scale
        t = nnls(np.vstack([B, b]), np.append(np.zeros(len(B)), 1.0))[0]
        u = B @ t
        above = b > 0
        bound = max(bound, scale * np.linalg.norm(u) * (b[above] / (B.T @ u)[above]).max())
        reached = scale * (b @ t) / np.linalg.norm(u)
        if reached > value:
            value, v = reached, t / lengths[cell] @ directions[cell]
    return value, v / np.linalg.norm(v), bound


def ratios(weights, sums, lengths):
    """sums @ w / lengths (..., R), for weights w (..., n), sums (R, n) and lengths (R,), both >= 0.

    Where the length is 0: infinity for a positive sum, beyond rounding, else minus infinity.
    """
    total = weights @ sums.T
    limit = np.where(total > ZERO * (np.abs(weights) @ sums.T), np.inf, -np.inf)
    return np.divide(total, lengths, out=limit, where=lengths > 0)
