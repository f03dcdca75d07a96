"""The critical points of the objectives, listed: sets of singular pairs that units can carry."""

from __future__ import annotations

from itertools import accumulate, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from runproofs import _arguments as arguments
from runproofs.linalg import _symmetric_part
from runproofs.linear.shallow import _positive_part, equalized_factors


class TiedCriticalPoint(NamedTuple):
    """An equalized critical point of f.

    Attributes
    ----------
    U : (d, r) ndarray
        Weights.
    indices : tuple of int
        Eigenvalues of M that are present, 0 the largest.
    """

    U: np.ndarray
    indices: tuple


class CriticalPoint(NamedTuple):
    """A critical point of F; its units that are neither live nor half dead are dead.

    Attributes
    ----------
    U : (d2, r) ndarray
        Output weights.
    V : (d0, r) ndarray
        Input weights.
    indices : tuple of int
        Singular pairs of M that are present, 0 the largest.
    live : int
        Number of live units, all of one score.
    half_dead : int
        Number of units with one half zero.
    """

    U: np.ndarray
    V: np.ndarray
    indices: tuple
    live: int
    half_dead: int


def tied_critical_points(M: ArrayLike, r: int, lam: float) -> list[TiedCriticalPoint]:
    """All equalized critical points of the tied objective, up to rotations that f does not see.

    Parameters
    ----------
    M : (d, d) or (d,) array_like
        Matrix to approximate, which enters through its symmetric part, or a diagonal one's entries.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    list of TiedCriticalPoint
        One for each set of at most min(r, d) eigenvalues whose ``sigma^2`` of (2.19) are positive,
        more than 1e-12 of the largest eigenvalue; the first is U = 0.

    Raises
    ------
    ValueError
        If the positive eigenvalues have more than ``2^16`` such sets.

    Notes
    -----
    Cost: up to ``2^d`` points of ``O(d r^2)``.

    References
    ----------
    :claim:`thesis/lemma-5`, :claim:`thesis/equation-2.19`

    Examples
    --------
    >>> [point.indices for point in tied_critical_points([2, 1], r=2, lam=0.5)]
    [(), (0,), (1,), (0, 1)]
    """
    M = np.diag(arguments.vector("M", M)) if np.ndim(M) == 1 else _symmetric_part(M)
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    mu, W = np.linalg.eigh(M)
    mu, W = mu[::-1], W[:, ::-1]
    arguments.at_most("M and r", _subsets(_count_positive(mu), r), MOST_POINTS, "critical points")
    points = [TiedCriticalPoint(np.zeros((len(M), r)), ())]
    for E, x in _present_spectra(mu, r, lam):
        points.append(TiedCriticalPoint(equalized_factors(W[:, E], x, W[:, E], r)[0], E))
    return points


class TiedBlocks(NamedTuple):
    """A critical point of f, made of blocks of columns and of dead columns.

    Attributes
    ----------
    U : (d, r) ndarray
        Weights.
    blocks : tuple of (int, tuple of int)
        Width and eigenvalues of each live block.
    """

    U: np.ndarray
    blocks: tuple


def all_tied_critical_points(M: ArrayLike, r: int, lam: float) -> list[TiedBlocks]:
    """All critical points of the tied objective, equalized or not, up to rotations.

    At lam > 0 columns of different norm are orthogonal, so U consists of blocks of columns, each an
    equalized critical point of its own width and eigenvalues, and of dead columns, here the last.

    Parameters
    ----------
    M : (d, d) or (d,) array_like
        Matrix to approximate, which enters through its symmetric part, or a diagonal one's entries.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    list of TiedBlocks
        One for each way to choose blocks; the first is U = 0.

    Raises
    ------
    ValueError
        If there may be more than ``2^16`` ways.

    Notes
    -----
    Cost: ``O(r 2^d)`` for each point; their number grows exponentially with r and d.

    References
    ----------
    :claim:`thesis/lemma-4`, :claim:`beyond/critical-points-block-by-block`
    """
    M = np.diag(arguments.vector("M", M)) if np.ndim(M) == 1 else _symmetric_part(M)
    r = arguments.positive_integer("r", r)
    positive = _count_positive(np.linalg.eigvalsh(M))
    single = max(_subsets(positive, r), r if positive else 0)  # a bound that is quick to compute
    for ways in (single, _ways_to_choose_blocks(positive, r) if single <= MOST_POINTS else 0):
        arguments.at_most("M and r", ways, MOST_POINTS, "critical points")
    blocks = [(k, p) for k in range(1, r + 1) for p in tied_critical_points(M, k, lam) if p.indices]
    points = [TiedBlocks(np.zeros((len(M), r)), ())]
    for point in points:  # which grows: to each point further blocks, by their first eigenvalue
        start = sum(width for width, _ in point.blocks)
        present = [i for _, E in point.blocks for i in E]
        for width, block in blocks:
            later = not point.blocks or block.indices[0] > point.blocks[-1][1][0]
            if start + width <= r and later and not set(present) & set(block.indices):
                U = point.U.copy()
                U[:, start : start + width] = block.U
                points.append(TiedBlocks(U, (*point.blocks, (width, block.indices))))
    return points


def critical_points(
    M: ArrayLike, r: int, lam: float, rng: np.random.Generator | int
) -> list[CriticalPoint]:
    """Critical points of the untied objective, with every number of live units of equal score.

    For each number of live units and each set of singular pairs that they can carry, one with all
    other units dead (u_i = v_i = 0) and, where M or ``M^T`` has a null space, one with some of
    these half dead (one half 0, the other a random null vector).

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.
    rng : numpy.random.Generator or int
        Source of randomness, or its seed.

    Returns
    -------
    list of CriticalPoint
        The points, their columns rescaled by a random ``(U D, V D^{-1})`` and permuted.

    Raises
    ------
    ValueError
        If there may be more than ``2^16`` sets.

    Notes
    -----
    Cost: up to ``r 2^min(d2, d0)`` points of ``O((d2 + d0) r^2)``.

    References
    ----------
    :claim:`thesis/lemma-5` and :claim:`thesis/equation-2.19`, carried over to the untied problem
    """
    M = arguments.matrix("M", M)
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    rng = arguments.generator(rng)
    W, sigma, Yt = np.linalg.svd(M, full_matrices=False)
    pairs = _count_positive(sigma)
    ways = sum(_subsets(pairs, live) for live in range(1, r + 1))
    arguments.at_most("M and r", ways, MOST_POINTS, "critical points")
    nulls = [(k, N) for k, N in enumerate((null_space(M.T), null_space(M))) if N.size]
    carried = [(0, (), None)]
    for live in range(1, r + 1):
        carried += [(live, E, x) for E, x in _present_spectra(sigma, live, lam)]
    points = []
    for live, E, x in carried:
        pair = np.zeros((len(M), r)), np.zeros((M.shape[1], r))
        if live:
            for X, root in zip(pair, equalized_factors(W[:, E], x, Yt.T[:, E], live), strict=True):
                X[:, :live] = root
        points.append(CriticalPoint(*_disguised(*pair, rng), E, live, 0))
        if nulls and live < r:
            half_dead = int(rng.integers(1, r - live, endpoint=True))
            for i in range(live, live + half_dead):
                k, N = nulls[rng.integers(len(nulls))]
                pair[k][:, i] = N @ rng.standard_normal(N.shape[1])
            points.append(CriticalPoint(*_disguised(*pair, rng), E, live, half_dead))
    return points


MOST_POINTS = 2**16  # a few seconds' worth


def _present_spectra(sigma, r, lam):
    """Non-empty index sets E that r columns can carry, with their positive solution x of (2.19)."""
    positive = range(_count_positive(sigma))  # the first: x_i is less than sigma_i
    for k in range(1, min(r, len(positive)) + 1):
        for E in combinations(positive, k):
            x, _ = _positive_part(sigma[list(E)], lam / r)
            if x.size == k and x[-1] > _rounding(sigma):
                yield E, x


def _rounding(sigma):
    return 1e-12 * np.abs(sigma).max()


def _count_positive(sigma):
    return int(np.count_nonzero(sigma > _rounding(sigma)))


def _subsets(n, largest):
    """Number of subsets of n things with at most so many members."""
    return sum(comb(n, k) for k in range(min(n, largest) + 1))


def _ways_to_choose_blocks(n, r):
    """Number of sets of disjoint blocks of n things, each at least as wide as large, r in all."""
    ways, up_to = [[1] * (r + 1)], [range(1, r + 2)]
    for m in range(1, n + 1):
        row = [1]
        for width in range(1, r + 1):  # thing m is in no block, or in one of s things
            sizes = range(1, min(m, width) + 1)
            blocks = sum(comb(m - 1, s - 1) * up_to[m - s][width - s] for s in sizes)
            row.append(ways[-1][width] + blocks)
        ways.append(row)
        up_to.append(list(accumulate(row)))
    return ways[n][r]


def _disguised(U, V, rng):
    """The pair with columns rescaled at random, D and D^{-1}, and permuted."""
    D = np.exp(rng.uniform(-0.7, 0.7, U.shape[1])) * rng.choice([-1, 1], U.shape[1])
    order = rng.permutation(U.shape[1])
    return (U * D)[:, order], (V / D)[:, order]
