"""The induced regularizer of deep linear networks, exactly.

Every layer divides its width among the singular directions: x (k, r) > 0 with row sums d_j. With
``G_i(x) = prod_j x_ji / (x_ji + lam)``, the division x costs
``sum_i sigma_i^2 (1 / G_i(x) - 1)``; the least cost is that of the map with singular values
sigma_i.

Inside, x are shares of the widths, with row sums 1, and rates (k, 1) are lam / d_j: then
``1 / G_i = (1 + nu) exp(E_i)``, where E_i >= 0 is the penalty of sharing, and no lam is too large.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import root_and_inverse
from runproofs.linear.equalize import equalizer


class Induced(NamedTuple):
    """The induced regularizer of a map; see `induced_regularizer`.

    Attributes
    ----------
    value : float
        Its value.
    allocation : (k, r) ndarray
        Division of the widths that attains it.
    """

    value: float
    allocation: np.ndarray


def induced_regularizer(sigma: ArrayLike, widths: ArrayLike, lam: float) -> Induced:
    """Least regularizer among the networks that implement a map, from singular values.

    Parameters
    ----------
    sigma : (r,) array_like
        Singular values of ``M C^{1/2}``, at least 0, in any order, at most min(widths) of them
        positive; ratios below 1e-280 count as 1e-280.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least 1.
    lam : float
        Strength of the penalty, larger than 0.

    Returns
    -------
    Induced
        Value, relatively accurate to about 1e-14, and the only optimal division, 0 where sigma is
        0.

    Raises
    ------
    ValueError
        If the value is too large for a float.

    See Also
    --------
    search_implementation : Descent on the weights, which knows no formula.

    Notes
    -----
    Cost: about ten Newton steps of ``O(r k^2 + k^3)``.

    References
    ----------
    :claim:`thesis/equation-3.2`, :claim:`beyond/induced-regularizer-formula`

    Examples
    --------
    >>> value, allocation = induced_regularizer([3, 1], [4], 0.5)  # lam / d ||M||_*^2
    >>> round(value, 12), allocation.round(12).tolist()
    (2.0, [[3.0, 1.0]])
    """
    sigma, lam = arguments.vector("sigma", sigma, least=0), arguments.number("lam", lam, above=0)
    present = sigma > 0
    widths = arguments.hidden_widths(widths, rank=np.count_nonzero(present))
    allocation = np.zeros((widths.size, sigma.size))
    if not present.any():
        return Induced(0.0, allocation)
    log_sigma, rates = _log_ratios(sigma[present]), lam / widths[:, None]
    x = _optimal_shares(log_sigma, rates)
    allocation[:, present] = widths[:, None] * x
    with np.errstate(over="ignore"):
        value = sigma.max() * (_cost(log_sigma, x, rates) * np.prod(1 + rates)) * sigma.max()
    if value == np.inf:
        raise ValueError("sigma or lam must be smaller: the value is too large for a float.")
    return Induced(float(value), allocation)


def _log_ratios(sigma):
    """log(sigma / max sigma) for sigma > 0, at least -645: shares must not underflow."""
    return np.log(np.maximum(sigma / sigma.max(), 1e-280))


def _penalties(x, rates):
    """E_i (r,), all at least 0, with 1 / G_i = prod_j (1 + rates_j / x_ji) = (1 + nu) exp(E_i)."""
    return np.log1p(rates / (1 + rates) * ((1 - x) / x)).sum(axis=0)


def _cost(log_sigma, x, rates):
    """sum_i sigma_i^2 (1 / G_i - 1), over (1 + nu)."""
    E = _penalties(x, rates)
    return float(-np.exp(2 * log_sigma + E) @ np.expm1(-E - np.log1p(rates).sum()))


def _newton_step(x, log_t, rates, sign):
    """Newton step on the shares, and whether the Hessian on them is positive definite.

    For a function of x with gradient -t_i a_ji / x_ji, a = rates / (x + rates), and a block
    diagonal Hessian in the relative variables dx / x, t_i (diag(b) + sign a a^T) with
    b = a (1 + x / (x + rates)), one block for each direction; by the Sherman-Morrison formula.
    """
    a = rates / (x + rates)
    b = a * (1 + x / (x + rates))
    ratio = sign * (a / b)
    pivot = 1 + (a * ratio).sum(axis=0)
    pivot[np.abs(pivot) < 1e-8] = 1e-8  # a singular block may yet be definite on the shares

    def solve(v):  # the inverse of diag(b) + sign a a^T times v (..., k, r)
        v = v / b
        return v - ratio * ((a * v).sum(axis=-2) / pivot)[..., None, :]

    unit = min(np.log(rates.max()), 0)  # the multipliers' scale is free; t alone may underflow
    constraints = np.eye(len(x))[:, :, None] * np.exp(unit + np.log(x) - log_t)
    inverses = solve(constraints)  # (k, k, r): their images under the Hessian's inverse
    schur = np.einsum("ji,lji->jl", x, inverses)
    free = solve(a)
    multipliers = np.linalg.solve(schur, (x * free).sum(axis=1))
    step = x * (free - np.einsum("l,lji->ji", multipliers, inverses))
    # inertia: the blocks' negative eigenvalues are as many as those the constraints remove
    definite = sign > 0 or (
        np.count_nonzero(pivot < 0) == np.count_nonzero(np.linalg.eigvalsh(schur) < 0)
    )
    return step, definite


def _optimal_shares(log_sigma, rates):
    """The shares (k, r) that minimize `_cost`, by damped Newton steps."""
    k = len(rates)
    # shares are about sigma_i where that exceeds the rate, and the power where the rate exceeds it
    power = (2 * log_sigma + (k - 1) * np.minimum(np.log(rates).mean(), 0)) / (k + 1)
    x = _normalized(np.tile(np.exp(np.maximum(log_sigma, power)), (k, 1)))
    value = _cost(log_sigma, x, rates)
    for _ in range(500):
        log_t = 2 * log_sigma + _penalties(x, rates)
        step, _ = _newton_step(x, log_t, rates, 1)
        change = step / x
        if np.max(np.abs(change)) < 1e-7:  # a last step: the error is now its square
            return _normalized(x + step)
        slope = float((np.exp(log_t) * rates / (x + rates) * change).sum())  # twice the decrease
        length = min(1.0, 0.9 / max(np.max(-change), 0.9))
        rounding = 1e-14 * value
        while (new := _cost(log_sigma, x + length * step, rates)) > (
            value - length * slope / 4 + rounding
        ):
            length /= 2
        x, value = x + length * step, new
    raise RuntimeError("The allocation of the widths did not converge in 500 Newton steps.")


def _normalized(x):
    return x / x.sum(axis=1, keepdims=True)


def implementation(
    M: ArrayLike, widths: ArrayLike, allocation: ArrayLike, lam: float, C: ArrayLike | None = None
) -> list[np.ndarray]:
    """Weights with network map M whose cost is that of a given division of the widths.

    Their regularizer is ``sum_i sigma_i^2 (prod_j (1 + lam / x_ji) - 1)``, sigma_i the singular
    values of ``M C^{1/2}``.

    Parameters
    ----------
    M : (d_{k+1}, d_0) array_like
        Map of rank r; singular values below rounding of the largest count as 0.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least r.
    allocation : (k, r) array_like
        Division x, larger than 0, with row sums d_j, in the order of decreasing sigma_i.
    lam : float
        Strength of the penalty, larger than 0.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive definite; the identity by default.

    Returns
    -------
    list of (d_i, d_{i-1}) ndarray
        Weights W_1, ..., W_{k+1}.

    Notes
    -----
    Cost: ``O(k d^3)``, with one SVD.

    References
    ----------
    :claim:`beyond/induced-regularizer-formula`, upper bound
    """
    svd = _compact_svd(M, widths, C)
    lam = arguments.number("lam", lam, above=0)
    if not svd.sigma.size:
        return _implementation(svd, None, lam)
    rows, columns = svd.widths.size, svd.sigma.size
    x = arguments.matrix("allocation", allocation, rows=rows, columns=columns)
    if x.min() <= 0 or (np.abs(x.sum(axis=1) - svd.widths) > 1e-9 * svd.widths).any():
        raise ValueError("allocation must be positive and its rows must sum to the widths.")
    return _implementation(svd, x, lam)


def optimal_implementation(
    M: ArrayLike, widths: ArrayLike, lam: float, C: ArrayLike | None = None
) -> list[np.ndarray]:
    """Weights with network map M and the least regularizer among all of them.

    Parameters
    ----------
    M : (d_{k+1}, d_0) array_like
        Map; singular values below rounding of the largest count as 0.
    widths : (k,) array_like of int
        Widths d_1, ..., d_k of the hidden layers, at least the rank of M.
    lam : float
        Strength of the penalty, larger than 0.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive definite; the identity by default.

    Returns
    -------
    list of (d_i, d_{i-1}) ndarray
        Weights W_1, ..., W_{k+1}.

    Notes
    -----
    Cost: ``O(k d^3)``, with one SVD, and that of `induced_regularizer`.

    References
    ----------
    :claim:`beyond/induced-regularizer-formula`
    """
    svd = _compact_svd(M, widths, C)
    lam = arguments.number("lam", lam, above=0)
    if not svd.sigma.size:
        return _implementation(svd, None, lam)
    budgets = svd.widths[:, None]
    x = budgets * _optimal_shares(_log_ratios(svd.sigma), lam / budgets)
    return _implementation(svd, x, lam)


def _implementation(svd, x, lam):
    if not svd.sigma.size:
        ends = [svd.Vt.shape[1], *svd.widths, len(svd.U)]
        return [np.zeros((b, a)) for a, b in pairwise(ends)]
    bases = []
    for d, shares in zip(svd.widths, x, strict=True):
        padded = np.zeros((shares.size, d))
        np.fill_diagonal(padded, np.sqrt(shares))
        bases.append(equalizer(padded)[: shares.size].T)  # Q diag(x_j) Q^T has diagonal 1
    weights = [bases[0] * np.sqrt(x[0]) @ svd.Vt @ svd.inverse_root]
    for (before, after), (Q, P) in zip(pairwise(x), pairwise(bases), strict=True):
        weights.append(P * np.sqrt(after / (before + lam)) @ Q.T)
    last = svd.sigma * np.prod(np.sqrt(1 + lam / x[:-1]), axis=0) / np.sqrt(x[-1])
    return [*weights, svd.U * last @ bases[-1].T]


class _CompactSVD(NamedTuple):
    """U diag(sigma) V^T = M C^{1/2} with sigma > 0, C^{-1/2}, and widths that admit the rank."""

    U: np.ndarray
    sigma: np.ndarray
    Vt: np.ndarray
    inverse_root: np.ndarray
    widths: np.ndarray


def _compact_svd(M, widths, C):
    M = arguments.matrix("M", M)
    root, inverse_root = _roots(C, M.shape[1])
    U, sigma, Vt = np.linalg.svd(M @ root, full_matrices=False)
    r = np.count_nonzero(sigma > max(M.shape) * np.finfo(float).eps * sigma[0])
    widths = arguments.hidden_widths(widths, rank=r)
    return _CompactSVD(U[:, :r], sigma[:r], Vt[:r], inverse_root, widths)


def _roots(C, size):
    """C^{1/2} and C^{-1/2} for a positive definite C of this size, or the identity for None."""
    if C is None:
        return np.eye(size), np.eye(size)
    return root_and_inverse(arguments.matrix("C", C, rows=size))
