"""The landscape of shallow dropout: exact Hessians, all kinds of critical points, descents.

F and f are the untied and the tied objective of `linear.shallow`. A Hessian is a symmetric
matrix in the row-major entries of U, then (untied) those of V: U[a, i] is coordinate a r + i.
"""

from itertools import accumulate, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import least_squares

from runproofs import _arguments as arguments
from runproofs.linalg import symmetric_part
from runproofs.linear import shallow
from runproofs.linear.shallow import equalized_factors, positive_part
from runproofs.optimize import flatten, lbfgs, unflatten

# ---------------------------------------------------------------------------------------- Hessians


def hessian(U, V, M, lam):
    """Exact Hessian of the untied objective F.

    U: (..., d2, r), V: (..., d0, r), any leading batch axes. M: (d2, d0). lam: at least 0.
    Returns (..., n, n) with n = (d2 + d0) r. Raises ValueError for bad arguments.
    Cost: O(n^2) a pair. Source: second differential of Problem (2.6) of the thesis.
    """
    U, V = arguments.factors(U, V)
    M = arguments.matrix("M", M, rows=U.shape[-2], columns=V.shape[-2])
    return _hessian(U, V, M, arguments.nonnegative("lam", lam))


def _hessian(U, V, M, lam):
    cross = 2 * np.einsum("...ci,...aj->...aicj", V, U)
    same_column = np.einsum("...aici->...iac", cross)  # a view: what it adds, cross receives
    same_column += 4 * lam * np.einsum("...ai,...ci->...iac", U, V)
    same_column -= 2 * (M - U @ V.mT)[..., None, :, :]
    UU = _same_row(2 * (V.mT @ V + lam * _diagonal_gram(V)), U.shape[-2])
    VV = _same_row(2 * (U.mT @ U + lam * _diagonal_gram(U)), V.shape[-2])
    UV = cross.reshape(*U.shape[:-2], UU.shape[-1], VV.shape[-1])
    return np.block([[UU, UV], [UV.mT, VV]])


def tied_hessian(U, M, lam):
    """Exact Hessian of the tied objective f; M enters through its symmetric part.

    U: (..., d, r), any leading batch axes. M: (d, d). lam: at least 0. Returns (..., d r, d r).
    Raises ValueError for bad arguments. Cost: O(d^2 r^2) a matrix.
    Source: second differential of Problem (2.4) of the thesis.
    """
    U = arguments.matrix("U", U, batched=True)
    M = symmetric_part(arguments.matrix("M", M, square=True, rows=U.shape[-2]))
    return _tied_hessian(U, M, arguments.nonnegative("lam", lam))


def _tied_hessian(U, M, lam):
    H = 4 * np.einsum("...bi,...aj->...aibj", U, U)
    same_column = np.einsum("...aibi->...iab", H)
    same_column += 8 * lam * np.einsum("...ai,...bi->...iab", U, U)
    same_column -= 4 * (M - U @ U.mT)[..., None, :, :]
    diagonal_blocks = _same_row(4 * (U.mT @ U + lam * _diagonal_gram(U)), U.shape[-2])
    return H.reshape(diagonal_blocks.shape) + diagonal_blocks


def least_eigenvalue(H):
    """Least eigenvalue of H.

    H: (..., n, n), symmetric. Returns the batch shape. Raises ValueError for any other.
    Cost: O(n^3) a matrix.

    >>> float(least_eigenvalue(tied_hessian([[0.0]], [[2.0]], 1)))  # f = (2 - u^2)^2 + u^4
    -8.0
    """
    return np.linalg.eigvalsh(arguments.symmetric("H", H, batched=True))[..., 0]


def is_strict_saddle(H, tol=1e-10):
    """Whether H (..., n, n), the Hessian at a critical point, has a truly negative eigenvalue.

    tol: at least 0, relative to the largest absolute eigenvalue (the scale of the rounding errors).
    Returns booleans of the batch shape; maxima count. Raises ValueError for bad arguments, such as
    an H that is not symmetric. Cost: O(n^3) a matrix.
    """
    values = np.linalg.eigvalsh(arguments.symmetric("H", H, batched=True))
    return values[..., 0] < -arguments.nonnegative("tol", tol) * np.abs(values).max(-1)


def _diagonal_gram(U):
    return np.eye(U.shape[-1]) * (U * U).sum(-2)[..., None, :]


def _same_row(block, rows):
    """Block-diagonal matrix with `block` (..., r, r) repeated for every row of a factor."""
    r = block.shape[-1]
    H = np.zeros((*block.shape[:-2], rows, r, rows, r))
    np.einsum("...aiaj->...aij", H)[...] = block[..., None, :, :]
    return H.reshape(*block.shape[:-2], rows * r, rows * r)


# --------------------------------------------------------------------- critical points, enumerated


class TiedCriticalPoint(NamedTuple):
    """An equalized critical point U of f; `indices` are the eigenvalues present, 0 the largest."""

    U: np.ndarray
    indices: tuple


class CriticalPoint(NamedTuple):
    """A critical point of F: the singular pairs present, and its live, dead and half-dead units."""

    U: np.ndarray
    V: np.ndarray
    indices: tuple
    live: int
    half_dead: int


def tied_critical_points(M, r, lam):
    """All equalized critical points of the tied objective, up to rotations that f does not see.

    M: (d, d), or (d,) the eigenvalues of a diagonal one. r: at least 1. lam: at least 0.
    Returns a list of TiedCriticalPoint, one for each set of at most min(r, d) eigenvalues whose
    sigma^2 of (2.19) are positive, more than 1e-12 of the largest eigenvalue; the first is U = 0.
    Raises ValueError for bad arguments, and if the positive eigenvalues have more than 2^16 such
    sets. Cost: up to 2^d points of O(d r^2). Source: thesis, Lemma 5 and (2.19).

    >>> [point.indices for point in tied_critical_points([2, 1], r=2, lam=0.5)]
    [(), (0,), (1,), (0, 1)]
    """
    M = np.diag(arguments.vector("M", M)) if np.ndim(M) == 1 else symmetric_part(M)
    r = arguments.positive_integer("r", r)
    lam = arguments.nonnegative("lam", lam)
    mu, W = np.linalg.eigh(M)
    mu, W = mu[::-1], W[:, ::-1]
    arguments.at_most("M and r", _subsets(_count_positive(mu), r), MOST_POINTS, "critical points")
    points = [TiedCriticalPoint(np.zeros((len(M), r)), ())]
    for E, x in _present_spectra(mu, r, lam):
        points.append(TiedCriticalPoint(equalized_factors(W[:, E], x, W[:, E], r)[0], E))
    return points


class TiedBlocks(NamedTuple):
    """A critical point U of f; `blocks` has the width and the eigenvalues of each live block."""

    U: np.ndarray
    blocks: tuple


def all_tied_critical_points(M, r, lam):
    """All critical points of the tied objective, equalized or not, up to the rotations as above.

    Arguments and errors as `tied_critical_points`. At lam > 0 columns of different norm are
    orthogonal (thesis, Lemma 4), so U consists of blocks of columns, each an equalized critical
    point of its own width and with its own eigenvalues, and of dead columns, here the last ones.
    Returns a list of TiedBlocks, one for each way to choose blocks; the first is U = 0.
    Cost: O(r 2^d) for each point; their number grows exponentially with r and d.
    """
    M = np.diag(arguments.vector("M", M)) if np.ndim(M) == 1 else symmetric_part(M)
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


def critical_points(M, r, lam, rng):
    """Critical points of the untied objective, with every number of live units of equal score.

    M: (d2, d0). r: at least 1. lam: at least 0. rng: NumPy Generator, or a seed.
    Returns a list of CriticalPoint: for each number of live units and each set of singular pairs
    that they can carry, one with all other units dead (u_i = v_i = 0) and, where M or M^T has a
    null space, one with some of these half dead (one half 0, the other a random null vector).
    Columns are rescaled by a random (U D, V D^{-1}) and permuted. Raises ValueError for bad
    arguments, and if there may be more than 2^16 sets.
    Cost: up to r 2^min(d2, d0) points of O((d2 + d0) r^2).
    Source: thesis, Lemma 5 and (2.19), carried over to Problem (2.6).
    """
    M = arguments.matrix("M", M)
    r = arguments.positive_integer("r", r)
    lam = arguments.nonnegative("lam", lam)
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
            x, _ = positive_part(sigma[list(E)], lam / r)
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


# ------------------------------------------------------------------ critical points, minima, found


def find_critical_point(U, V, M, lam):
    """A critical point of F near a start, of any kind: least squares on the gradient.

    U: (d2, r), V: (d0, r) the start. M: (d2, d0). lam: at least 0. Returns (U, V), where the search
    stopped; only a small gradient there certifies it. Raises ValueError for bad arguments.
    Cost: O(n^3) an iteration, n = (d2 + d0) r.
    """
    U, V = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
    M = arguments.matrix("M", M, rows=len(U), columns=len(V))
    lam = arguments.nonnegative("lam", lam)

    def pair(z):
        return unflatten(z, (U.shape, V.shape))

    def gradient(z):
        return flatten(shallow.value_and_gradient(*pair(z), M, lam)[1:])

    return tuple(pair(_root(gradient, lambda z: _hessian(*pair(z), M, lam), flatten((U, V)))))


def find_tied_critical_point(U, M, lam):
    """A critical point of f near a start: least squares on the gradient.

    U: (d, r) the start. M: (d, d); only its symmetric part matters. lam: at least 0. Returns U
    (d, r), where the search stopped. Otherwise as `find_critical_point`, with n = d r.
    """
    U = arguments.matrix("U", U)
    M = symmetric_part(arguments.matrix("M", M, square=True, rows=len(U)))
    lam = arguments.nonnegative("lam", lam)

    def gradient(z):
        X = z.reshape(U.shape)
        return 2 * shallow.value_and_gradient(X, X, M, lam)[1].ravel()

    z = _root(gradient, lambda z: _tied_hessian(z.reshape(U.shape), M, lam), U.ravel())
    return z.reshape(U.shape)


def _root(function, jacobian, z):
    tightest = dict.fromkeys(("ftol", "xtol", "gtol"), np.finfo(float).eps)
    return least_squares(function, z, jacobian, method="lm", **tightest).x


class Descent(NamedTuple):
    """The best end point of several descents and the final value of each; see `descend`."""

    U: np.ndarray
    V: np.ndarray
    values: np.ndarray


def descend(M, r, lam, starts, rng, tied=False):
    """Minimize the untied (or the tied) objective by L-BFGS from random starts, knowing no theory.

    M: (d2, d0), square if tied. r: at least 1. lam: at least 0. starts: at least 1.
    rng: NumPy Generator, or a seed. Returns a Descent: the best U (d2, r) and V (d0, r) (V = U if
    tied) and the final values (starts,), in the order of the starts. Untied, a run that stops
    is balanced, ||u_i|| = ||v_i||, and goes on while that helps: between very unequal columns
    gradients are tiny far from any critical point. Raises ValueError for bad arguments.
    Cost: O(d2 d0 r) an iteration, some hundred iterations a start.

    >>> descend([[3, 0], [0, 2]], r=1, lam=1, starts=2, rng=0).values.round(6).tolist()
    [8.5, 8.5]
    """
    M = arguments.matrix("M", M, square=tied)
    r = arguments.positive_integer("r", r)
    lam = arguments.nonnegative("lam", lam)
    starts = arguments.positive_integer("starts", starts)
    rng = arguments.generator(rng)
    scale = np.linalg.norm(M, 2) or 1.0  # the solver's tolerances are meant for numbers of order 1
    run = _tied_descent if tied else _untied_descent
    ends = [run(M / scale, r, lam, rng) for _ in range(starts)]
    values = np.array([value for value, _, _ in ends])
    _, U, V = ends[values.argmin()]
    return Descent(U * np.sqrt(scale), V * np.sqrt(scale), values * scale**2)


def _tied_descent(M, r, lam, rng):
    shape = (len(M), r)

    def value_and_gradient(z):
        U = z.reshape(shape)
        value, gU, gV = shallow.value_and_gradient(U, U, M, lam)
        return value, (gU + gV).ravel()

    z, value = lbfgs(value_and_gradient, rng.standard_normal(shape).ravel() / np.sqrt(r))
    return value, z.reshape(shape), z.reshape(shape)


def _untied_descent(M, r, lam, rng):
    d2, d0 = M.shape

    def pair(z):
        return z[: d2 * r].reshape(d2, r), z[d2 * r :].reshape(d0, r)

    def value_and_gradient(z):
        value, *gradients = shallow.value_and_gradient(*pair(z), M, lam)
        return value, flatten(gradients)

    z, value = lbfgs(value_and_gradient, rng.standard_normal((d2 + d0) * r) / np.sqrt(r))
    while True:
        before = value
        z, value = lbfgs(value_and_gradient, flatten(shallow.balance(*pair(z))))
        if not value < before * (1 - 1e-13):
            return value, *pair(z)
