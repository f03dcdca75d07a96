"""Optima of dropout in deep linear networks: of the convexified problem, global and local ones.

With the divisions x and G_i(x) of `induced`, the best map has sigma_i = m_i G_i(x), for m_i the
singular values of Cyx C^{-1/2} and an x that maximizes Phi(x) = sum_i m_i^2 G_i(x).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from runproofs import _arguments as arguments
from runproofs.linear.deep.induced import log_cost, newton_step, optimal_allocation, roots
from runproofs.linear.shallow import optimal_spectrum


class EnvelopeOptimum(NamedTuple):
    """Optimum of the convexified problem; see `envelope_optimum`."""

    map: np.ndarray
    rank: int
    threshold: float
    spectrum: np.ndarray
    value: float


def envelope_optimum(Cyx, nu, r=None, C=None):
    """Global optimum of E ||y - W x||^2 + nu ||W C^{1/2}||_*^2 over the maps of rank at most r.

    Cyx: (d_{k+1}, d_0). nu: at least 0. r: the least width, None for no bound. C: None for the
    identity, or positive definite (d_0, d_0). Returns an EnvelopeOptimum of
      map        S_alpha(Mbar_r) C^{-1/2}, Mbar_r the best rank-r approximation of Cyx C^{-1/2},
      rank       rho, of the map,
      threshold  alpha = nu / (1 + rho nu) sum_{i <= rho} sigma_i(Mbar),
      spectrum   (rho,) singular values of W C^{1/2},
      value      the minimum less E ||y||^2.
    Raises ValueError for bad arguments. Cost: one SVD.
    Source: thesis, Lemma 9, with the truncation to rank r that its proof needs.
    """
    Cyx = arguments.matrix("Cyx", Cyx)
    _, inverse_root = roots(C, Cyx.shape[1])
    nu = arguments.nonnegative("nu", nu)
    r = min(Cyx.shape) if r is None else arguments.positive_integer("r", r)
    U, m, Vt = np.linalg.svd(Cyx @ inverse_root, full_matrices=False)
    optimum = optimal_spectrum(m, r, nu * r)  # one hidden layer of width r has nu = lam / r
    rank = optimum.rank
    s = optimum.spectrum[:rank]
    W = (U[:, :rank] * s) @ Vt[:rank] @ inverse_root
    return EnvelopeOptimum(W, rank, optimum.threshold, s, -float(m[:rank] @ s))


class Optimum(NamedTuple):
    """An optimum of the dropout problem; see `local_optimum`."""

    value: float
    rank: int
    spectrum: np.ndarray
    allocation: np.ndarray


def global_optimum(m, widths, lam):
    """Global optimum of dropout in a deep linear network, at any depth.

    m: singular values of Cyx C^{-1/2}, at least 0, in any order. widths: d_1, ..., d_k. lam: larger
    than 0. Returns an Optimum: `value` is the minimum less E ||y||^2, `rank` that of the map W,
    `spectrum` (rank,) the singular values of W C^{1/2}, which has the singular vectors of
    Cyx C^{-1/2}, and `allocation` (k, rank) the division of the widths. It is the best of
    `local_optimum` over all ranks; of equally good ones, that of least rank.
    Raises ValueError for bad arguments. Source: beyond the thesis, Theorem D.
    """
    m, widths, lam = _problem(m, widths, lam)
    best = Optimum(0.0, 0, np.zeros(0), np.zeros((widths.size, 0)))
    for rank in range(1, min(m.size, widths.min()) + 1):
        found = local_optimum(m, widths, lam, rank)
        if found is not None and found.value < best.value:
            best = found
    return best


def local_optimum(m, widths, lam, rank):
    """Best known optimum of dropout among the maps of one rank, or None if there is none.

    Arguments as in `global_optimum`; rank: at least 1, at most min(widths) and the number of
    positive m. Returns an Optimum, at which Phi has a local maximum with a positive allocation: for
    k >= 2 a local minimum of the objective (Theorem E). The search starts at the maximum for equal
    widths of the same nu, a problem of one unknown solved on a grid, and at equal shares.
    Raises ValueError for bad arguments.
    Cost: O(k rank) for equal widths, up to a hundred Newton steps for others.
    Source: beyond the thesis, Theorems D and E.
    """
    m, widths, lam = _problem(m, widths, lam)
    rank = arguments.positive_integer("rank", rank)
    if rank > min(m.size, widths.min()):
        raise ValueError(
            f"rank must be at most {min(m.size, widths.min())}, the least of the widths and of "
            f"the number of positive m, but it was {rank}."
        )
    m = m[:rank]
    budgets = widths[:, None].astype(float)
    starts = _equal_width_shares(m, widths.size, lam, _effective_width(widths, lam))
    if np.ptp(widths) > 0:
        starts.append(np.full(rank, 1 / rank))
    found = [x for shares in starts if (x := _climb(m, budgets * shares, lam)) is not None]
    if not found:
        return None
    x = max(found, key=lambda x: _gain(m, x, lam))
    spectrum = m * np.exp(-log_cost(x, lam))
    return Optimum(-_gain(m, x, lam), rank, spectrum, x)


def _problem(m, widths, lam):
    """m sorted and positive, widths and lam, checked."""
    m = np.sort(arguments.spectrum("m", m))[::-1]
    return m[m > 0], arguments.hidden_widths(widths), arguments.positive("lam", lam)


def _gain(m, x, lam):
    return float(m**2 @ np.exp(-log_cost(x, lam)))  # Phi


def _effective_width(widths, lam):
    """The width d with (1 + lam / d)^k = prod_j (1 + lam / d_j)."""
    if np.ptp(widths) == 0:
        return float(widths[0])
    return float(lam / np.expm1(np.log1p(lam / widths).mean()))


def _equal_width_shares(m, k, lam, d):
    """Shares (rank,) of the local maxima of sum_i m_i^2 (x_i / (x_i + lam))^k, sum_i x_i = d.

    In u = lam / (x + lam) stationarity says that m_i^2 u_i^2 (1 - u_i)^(k-1) is the same for all i.
    That function of u has its peak at u = 2 / (k + 1). At a maximum all u_i, but perhaps that of
    the least m_i, lie left of the peak (elsewhere the Hessian is positive), so that the last one,
    w, determines the others; their sum is d for the right w, and it grows with x_rank at a maximum.
    """
    rank = m.size
    if rank == 1:
        return [np.ones(1)]

    def excess(w):
        x = _left_of_peak((m[-1] / m[:-1]) ** 2, w, k, lam).sum(axis=0) + lam * (1 - w) / w
        return x - d

    last = d / rank * np.geomspace(1.01, 1e-6, 600)  # the least x is at most the mean
    w = lam / (last + lam)
    values = excess(w)
    shares = []
    for i in np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0)):
        root = brentq(lambda w: float(excess(np.array([w]))[0]), w[i], w[i + 1], xtol=1e-16)
        first = _left_of_peak((m[-1] / m[:-1]) ** 2, np.array([root]), k, lam)[:, 0]
        x = np.append(first, lam * (1 - root) / root)
        shares.append(x / x.sum())
    return shares


def _left_of_peak(ratios, w, k, lam):
    """x (n, len(w)) with u^2 (1 - u)^(k-1) = ratio w^2 (1 - w)^(k-1) on the left of the peak.

    Newton steps on the logarithm, concave in u, from left of the root: they never overshoot.
    """
    target = np.log(ratios)[:, None] + 2 * np.log(w) + (k - 1) * np.log1p(-w)
    u = np.exp(target / 2)
    for _ in range(60):
        slope = 2 / u - (k - 1) / (1 - u)
        step = (target - 2 * np.log(u) - (k - 1) * np.log1p(-u)) / np.maximum(slope, 1e-300)
        u = np.minimum(u + np.maximum(step, 0), 2 / (k + 1) if k > 1 else u)
        if np.max(step / u) < 1e-15:
            break
    return lam * (1 - u) / u


def _climb(m, x, lam):
    """A local maximum of Phi near x with all x > 0, or None if a direction is lost.

    The better, each time, of a Newton step and of the optimal division for the map that is optimal
    for x, which never lowers Phi.
    """
    widths = x.sum(axis=1)
    value = _gain(m, x, lam)
    for _ in range(500):
        t = m**2 * np.exp(-log_cost(x, lam))
        step, definite = newton_step(x, t, lam, -1)
        change = np.max(np.abs(step) / x)
        if definite and change < 1e-7:  # a last step: the error is now its square
            x = x + step
            return x * (widths / x.sum(axis=1))[:, None]
        if definite and change < 0.5 and (new := _gain(m, x + step, lam)) >= value:
            x, value = x + step, new
            continue
        if change < 1e-12:  # a stationary point that is no maximum
            return None
        x = optimal_allocation(np.sqrt(t) * np.exp(-log_cost(x, lam) / 2), widths, lam, x)
        value = _gain(m, x, lam)
        if np.min(x / widths[:, None]) < 1e-8:
            return None
    return None
