"""Optima of dropout in deep linear networks: of the convexified problem, global and local ones.

With the divisions x and G_i(x) of the induced regularizer, the best map has
``sigma_i = m_i G_i(x)``, for m_i the singular values of ``Cyx C^{-1/2}`` and an x that maximizes
``Phi(x) = sum_i m_i^2 G_i(x)``. Inside, x are shares and rates are lam / d_j, as there, and m is
given by ``log_m = log(m / max m)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from runproofs import _arguments as arguments
from runproofs.linear.deep.induced import (
    _log_ratios,
    _newton_step,
    _normalized,
    _optimal_shares,
    _penalties,
    _roots,
)
from runproofs.linear.shallow import optimal_spectrum


class EnvelopeOptimum(NamedTuple):
    """Optimum of the convexified problem; see `envelope_optimum`.

    Attributes
    ----------
    map : (d_{k+1}, d_0) ndarray
        Optimal map ``S_alpha(Mbar_r) C^{-1/2}``, Mbar_r the best approximation of
        ``Cyx C^{-1/2}`` of rank r.
    rank : int
        Its rank rho.
    threshold : float
        ``alpha = nu / (1 + rho nu) sum_{i <= rho} m_i``, m_i the singular values of Mbar_r.
    spectrum : (rho,) ndarray
        Singular values of ``map C^{1/2}``, nonincreasing.
    value : float
        The minimum, less ``E ||y||^2``.
    """

    map: np.ndarray
    rank: int
    threshold: float
    spectrum: np.ndarray
    value: float


def envelope_optimum(
    Cyx: ArrayLike, nu: float, r: int | None = None, C: ArrayLike | None = None
) -> EnvelopeOptimum:
    """Global optimum of the convexified problem over the maps of rank at most r.

    ``E ||y - W x||^2 + nu ||W C^{1/2}||_*^2``.

    Parameters
    ----------
    Cyx : (d_{k+1}, d_0) array_like
        Second moment ``E y x^T``.
    nu : float
        Effective regularization, at least 0, at most 1e300.
    r : int, optional
        Largest rank, at least 1: the least width. No bound by default.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive definite; the identity by default.

    Returns
    -------
    EnvelopeOptimum
        Map, rank, threshold, singular values and minimum.

    Notes
    -----
    Cost: ``O(d^3)``, one SVD.

    References
    ----------
    :claim:`thesis/lemma-9`, with the truncation to rank r that its proof needs

    Examples
    --------
    >>> float(round(envelope_optimum([[3, 0], [0, 1]], 0.5).value, 12))  # rank 1: - 3^2 / 1.5
    -6.0
    """
    Cyx = arguments.matrix("Cyx", Cyx)
    _, inverse_root = _roots(C, Cyx.shape[1])
    nu = arguments.number("nu", nu, least=0, most=1e300)
    r = min(Cyx.shape) if r is None else arguments.positive_integer("r", r)
    r = min(r, *Cyx.shape)
    U, m, Vt = np.linalg.svd(Cyx @ inverse_root, full_matrices=False)
    optimum = optimal_spectrum(m, r, nu * r)  # one hidden layer of width r has nu = lam / r
    rank = optimum.rank
    s = optimum.spectrum[:rank]
    W = (U[:, :rank] * s) @ Vt[:rank] @ inverse_root
    return EnvelopeOptimum(W, rank, optimum.threshold, s, -float(m[:rank] @ s))


class Optimum(NamedTuple):
    """An optimum of the dropout problem; see `local_optimum`.

    Attributes
    ----------
    value : float
        The objective, less ``E ||y||^2``.
    rank : int
        Rank of the map W.
    spectrum : (rank,) ndarray
        Singular values of ``W C^{1/2}``, whose singular vectors are those of ``Cyx C^{-1/2}``.
    allocation : (k, rank) ndarray
        Division of the widths.
    """

    value: float
    rank: int
    spectrum: np.ndarray
    allocation: np.ndarray


def global_optimum(m: ArrayLike, widths: ArrayLike, lam: float) -> Optimum:
    """Global optimum of dropout in a deep linear network, at any depth.

    The best `local_optimum` over all ranks; of equally good ones, that of least rank.

    Parameters
    ----------
    m : (p,) array_like
        Singular values of ``Cyx C^{-1/2}``, at least 0, in any order; ratios below 1e-280 count as
        1e-280.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.
    lam : float
        Strength of the penalty, larger than 0.

    Returns
    -------
    Optimum
        Minimum, rank, singular values and division; what is too small for a float becomes 0.

    Raises
    ------
    ValueError
        If the value is too large for a float.

    See Also
    --------
    search_optimum : Descent on the weights, which knows no formula.

    Notes
    -----
    Cost: `local_optimum` for each rank.

    References
    ----------
    :claim:`beyond/global-optimum-any-depth`

    Examples
    --------
    >>> best = global_optimum([1, 1], [2, 2], 1)
    >>> best.rank, round(best.value, 12), best.spectrum.round(12).tolist()
    (2, -0.5, [0.25, 0.25])
    """
    m, widths, lam = _problem(m, widths, lam)
    rates, gain, best = lam / widths[:, None], 0.0, np.zeros((widths.size, 0))
    for rank in range(1, min(m.size, widths.min()) + 1):
        log_m = _log_ratios(m[:rank])
        x = _best_shares(log_m, rates)
        if x is None:
            continue
        new = _gain(log_m, x, rates)
        if new > gain or widths.size == 1:  # for k = 1 a larger rank is better, if by less than eps
            gain, best = new, x
    return _optimum(m, widths, rates, best)


def local_optimum(m: ArrayLike, widths: ArrayLike, lam: float, rank: int) -> Optimum | None:
    """Best known optimum of dropout among the maps of one rank.

    There Phi has a local maximum with a positive division; for k >= 2 it is a local minimum of the
    objective.

    Parameters
    ----------
    m : (p,) array_like
        Singular values of ``Cyx C^{-1/2}``, at least 0, in any order; ratios below 1e-280 count as
        1e-280.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.
    lam : float
        Strength of the penalty, larger than 0.
    rank : int
        From 1 to the least of the widths and of the number of positive m.

    Returns
    -------
    Optimum or None
        Objective, rank, singular values and division; None if no optimum is found.

    Raises
    ------
    ValueError
        If the value is too large for a float.

    Notes
    -----
    The search starts at the maximum for equal widths of the same nu, a problem of one unknown
    solved on a grid, and at equal shares. Cost: ``O(rank)`` for k = 1; else 600 points of the grid,
    up to 60 steps of ``O(rank)`` each, and from every start some ten Newton steps of
    ``O(rank k^2 + k^3)`` and convex programs as in `induced_regularizer`, at most 500.

    References
    ----------
    :claim:`beyond/global-optimum-any-depth`, :claim:`beyond/spurious-local-minima`
    """
    m, widths, lam = _problem(m, widths, lam)
    rank = arguments.positive_integer("rank", rank)
    if rank > min(m.size, widths.min()):
        raise ValueError(
            f"rank must be at most {min(m.size, widths.min())}, the least of the widths and of "
            f"the number of positive m, but it was {rank}."
        )
    rates = lam / widths[:, None]
    x = _best_shares(_log_ratios(m[:rank]), rates)
    return None if x is None else _optimum(m, widths, rates, x)


def _problem(m, widths, lam):
    """m sorted and positive, widths and lam, checked."""
    m = np.sort(arguments.vector("m", m, least=0))[::-1]
    return m[m > 0], arguments.hidden_widths(widths), arguments.number("lam", lam, above=0)


def _optimum(m, widths, rates, x):
    """The Optimum at the shares x."""
    rank = x.shape[1]
    if not rank:
        return Optimum(0.0, 0, np.zeros(0), x)
    m = m[:rank]
    with np.errstate(over="ignore"):
        whole = np.prod(1 + rates)
        value = -m[0] * (_gain(_log_ratios(m), x, rates) / whole) * m[0]
    if value == -np.inf:
        raise ValueError("m must be smaller: the value is too large for a float.")
    spectrum = m * (np.exp(-_penalties(x, rates)) / whole)
    return Optimum(float(value), rank, spectrum, widths[:, None] * x)


def _gain(log_m, x, rates):
    """Phi, over max m^2 and times (1 + nu)."""
    return float(np.exp(2 * log_m - _penalties(x, rates)).sum())


def _best_shares(log_m, rates):
    """The best local maximum of Phi that is found, with all shares positive, or None."""
    if len(rates) == 1:
        return _single_layer_shares(log_m, rates)
    starts = _equal_width_shares(log_m, len(rates), float(np.expm1(np.log1p(rates).mean())))
    if np.ptp(rates) > 0:
        starts.append(np.full(log_m.size, 1 / log_m.size))
    starts = [np.tile(shares, (len(rates), 1)) for shares in starts]
    found = [x for start in starts if (x := _climb(log_m, start, rates)) is not None]
    return max(found, key=lambda x: _gain(log_m, x, rates), default=None)


def _single_layer_shares(log_m, rate):
    """The maximum for k = 1, where Phi is concave and m_i / (x_i + rate) is the same for all i."""
    m = np.exp(log_m)
    x = (m + rate * (m[:, None] - m).sum(axis=1)) / m.sum()  # differences: a large rate is exact
    return x if x.min() > 0 else None


def _equal_width_shares(log_m, k, rate):
    """Shares (rank,) of the local maxima of sum_i m_i^2 (x_i / (x_i + rate))^k, k >= 2.

    In u = rate / (x + rate) stationarity says that m_i^2 u_i^2 (1 - u_i)^(k-1) is the same for all
    i. That function of u has its peak at u = 2 / (k + 1). At a maximum all u_i, but perhaps that of
    the least m_i, lie left of the peak (elsewhere the Hessian is positive), so that the last one
    determines the others; their shares add up to 1 for the right last one, and the sum grows with
    it at a maximum. As x_i / x_last >= m_i / m_last, the last share is at most m_last / sum m.
    """
    if log_m.size == 1:
        return [np.ones(1)]
    if rate >= 2 / (k - 1):  # left of the peak no share is below 1
        return []

    def first(last):  # (rank - 1, len(last))
        target = 2 * (log_m[-1] - log_m[:-1])[:, None]
        target = target - 2 * np.log1p(last / rate) - (k - 1) * np.log1p(rate / last)
        return _left_of_peak(np.maximum(target, -1400), k, rate)  # u must not underflow

    def excess(last):
        return first(last).sum(axis=0) + last - 1

    grid = np.exp(log_m[-1]) / np.exp(log_m).sum() * np.geomspace(1.01, 1e-6, 600)
    values = excess(grid)
    shares = []
    for i in np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0)):
        root = brentq(lambda z: float(excess(np.array([z]))[0]), grid[i], grid[i + 1], xtol=1e-300)
        x = np.append(first(np.array([root]))[:, 0], root)
        shares.append(x / x.sum())
    return shares


def _left_of_peak(target, k, rate):
    """x like target with 2 log u + (k - 1) log(1 - u) = target, on the left of the peak.

    Newton steps in u, where the left side is concave, from left of the root: they never overshoot.
    """
    u = np.exp(target / 2)
    for _ in range(60):
        slope = 2 / u - (k - 1) / (1 - u)
        step = (target - 2 * np.log(u) - (k - 1) * np.log1p(-u)) / np.maximum(slope, 1e-300)
        u = np.minimum(u + np.maximum(step, 0), 2 / (k + 1))
        if np.max(step / u) < 1e-15:
            break
    return rate * (1 - u) / u


def _climb(log_m, x, rates):
    """A local maximum of Phi near x with all x > 0, or None if a direction is lost.

    The better, each time, of a Newton step and of the optimal division for the map that is optimal
    for x, which never lowers Phi.
    """
    even = np.exp(log_m) / np.exp(log_m).sum()  # the shares as lam falls
    value = _gain(log_m, x, rates)
    for _ in range(500):
        log_G = -_penalties(x, rates)
        log_t = np.maximum(2 * log_m + log_G, -300)  # a pull that is below rounding
        step, definite = _newton_step(x, log_t, rates, -1)
        change = np.max(np.abs(step) / x)
        if definite and change < 1e-7:  # a last step: the error is now its square
            return _normalized(x + step)
        if definite and change < 0.5 and (new := _gain(log_m, x + step, rates)) >= value:
            x, value = x + step, new
            continue
        if change < 1e-12:  # a stationary point that is no maximum
            return None
        log_sigma = log_m + log_G
        x = _optimal_shares(np.maximum(log_sigma - log_sigma.max(), -645), rates)
        value = _gain(log_m, x, rates)
        if np.min(x / even) < 1e-8:
            return None
    return None
