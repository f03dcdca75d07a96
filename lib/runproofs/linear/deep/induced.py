"""The induced regularizer of deep linear networks, exactly.

Every layer divides its width among the singular directions: x (k, r) > 0 with row sums d_j. With
G_i(x) = prod_j x_ji / (x_ji + lam), the division x costs sum_i sigma_i^2 (1 / G_i(x) - 1); the
least cost is that of the map with singular values sigma_i.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments
from runproofs.linalg import psd_sqrt
from runproofs.linear.equalize import equalizer


class Induced(NamedTuple):
    """Value of the induced regularizer and the division (k, r) of the widths that attains it."""

    value: float
    allocation: np.ndarray


def induced_regularizer(sigma, widths, lam):
    """Least R among the networks that implement a map, from the singular values of M C^{1/2}.

    sigma: (r,) at least 0, in any order, at most min(widths) of them positive. widths: d_1, ...,
    d_k. lam: larger than 0. Returns Induced: the value, accurate to about 1e-14 relatively, and the
    unique optimal allocation (k, r), whose columns are 0 where sigma is 0.
    Raises ValueError for bad arguments. Cost: some ten Newton steps of O(r k^2 + k^3).
    Source: beyond the thesis, Theorem A.
    """
    sigma, lam = arguments.spectrum("sigma", sigma), arguments.positive("lam", lam)
    present = sigma > 0
    widths = arguments.hidden_widths(widths, rank=np.count_nonzero(present))
    allocation = np.zeros((widths.size, sigma.size))
    if not present.any():
        return Induced(0.0, allocation)
    x = optimal_allocation(sigma[present], widths, lam)
    allocation[:, present] = x
    return Induced(_cost(sigma[present], x, lam), allocation)


def log_cost(x, lam):
    """-log G_i(x) (r,)."""
    return np.log1p(lam / x).sum(axis=0)


def _cost(sigma, x, lam):
    return float(sigma**2 @ np.expm1(log_cost(x, lam)))


def newton_step(x, t, lam, sign):
    """Newton step on the budgets, and whether the Hessian on them is positive definite.

    For a function of x with gradient -t_i a_ji, a = lam / (x (x + lam)), and a block diagonal
    Hessian t_i (diag(b) + sign a a^T), b = a (1/x + 1/(x + lam)), one block for each direction.
    In the relative variables dx / x, and by the Sherman-Morrison formula.
    """
    a = lam / (x + lam)
    b = a * (1 + x / (x + lam))
    pivot = 1 + sign * (a * a / b).sum(axis=0)
    pivot[np.abs(pivot) < 1e-8] = 1e-8  # a singular block may yet be definite on the budgets
    pivot = np.where(pivot == 0, np.finfo(float).eps, pivot)  # x at a point of inflection

    def solve(v):  # the Hessian's inverse times v (..., k, r)
        return (v / b - sign * (a / b) * ((a * v / b).sum(axis=-2) / pivot)[..., None, :]) / t

    inverses = solve(np.eye(len(x))[:, :, None] * x)  # (k, k, r): images of the constraints
    schur = np.einsum("ji,lji->jl", x, inverses)
    free = solve(t * a)
    multipliers = np.linalg.solve(schur, (x * free).sum(axis=1))
    step = x * (free - np.einsum("l,lji->ji", multipliers, inverses))
    # inertia: the blocks' negative eigenvalues are as many as those the constraints remove
    definite = np.count_nonzero(pivot < 0) == np.count_nonzero(np.linalg.eigvalsh(schur) < 0)
    return step, definite


def optimal_allocation(sigma, widths, lam, x=None):
    """The minimizer of `_cost` on the budgets for sigma > 0, by damped Newton steps."""
    sigma = sigma / sigma.max()
    budgets = np.array(widths, dtype=float)[:, None]
    if x is None:
        shares = sigma ** (2 / (len(budgets) + 1))  # the optimum as lam grows
        x = budgets * (shares / shares.sum())
    value = _cost(sigma, x, lam)
    for _ in range(500):
        t = sigma**2 * np.exp(log_cost(x, lam))
        step, _ = newton_step(x, t, lam, 1)
        if np.max(np.abs(step) / x) < 1e-7:  # a last step: the error is now its square
            x = x + step
            return x * (budgets / x.sum(axis=1, keepdims=True))
        slope = float((t * lam / (x * (x + lam)) * step).sum())  # twice the expected decrease
        length = min(1.0, 0.9 / max(np.max(-step / x), 0.9))
        rounding = 1e-14 * value
        while (new := _cost(sigma, x + length * step, lam)) > value - length * slope / 4 + rounding:
            length /= 2
        x, value = x + length * step, new
    raise RuntimeError("The allocation of the widths did not converge in 500 Newton steps.")


def implementation(M, widths, allocation, lam, C=None):
    """Weights with network map M whose cost is that of any division of the widths.

    M: (d_{k+1}, d_0) of rank r. widths: d_1, ..., d_k, at least r. allocation: (k, r), larger than
    0, with row sums d_j, in the order of decreasing singular values of M C^{1/2}. lam: larger than
    0. C: None or positive definite (d_0, d_0). Returns the list of k + 1 weights, whose regularizer
    is sum_i sigma_i^2 (prod_j (1 + lam / x_ji) - 1). Raises ValueError for bad arguments.
    Cost: one SVD and O(k d^3). Source: beyond the thesis, Theorem A, upper bound.
    """
    U, sigma, Vt, inverse_root, widths = _compact_svd(M, widths, C)
    lam = arguments.positive("lam", lam)
    if not sigma.size:
        ends = [Vt.shape[1], *widths, len(U)]
        return [np.zeros((b, a)) for a, b in pairwise(ends)]
    x = arguments.matrix("allocation", allocation, rows=widths.size, columns=sigma.size)
    if x.min() <= 0 or np.abs(x.sum(axis=1) - widths).max() > 1e-9 * widths.max():
        raise ValueError("allocation must be positive and its rows must sum to the widths.")
    bases = []
    for d, shares in zip(widths, x, strict=True):
        padded = np.zeros((sigma.size, d))
        np.fill_diagonal(padded, np.sqrt(shares))
        bases.append(equalizer(padded)[: sigma.size].T)  # Q diag(x_j) Q^T has diagonal 1
    weights = [bases[0] * np.sqrt(x[0]) @ Vt @ inverse_root]
    for j in range(1, widths.size):
        weights.append(bases[j] * np.sqrt(x[j] / (x[j - 1] + lam)) @ bases[j - 1].T)
    last = sigma * np.sqrt(np.prod(1 + lam / x[:-1], axis=0) / x[-1])
    return [*weights, U * last @ bases[-1].T]


def optimal_implementation(M, widths, lam, C=None):
    """Weights with network map M and the least regularizer among all of them.

    Arguments, errors and cost as `implementation`, and the convex program. Returns the list of
    k + 1 weights. Source: beyond the thesis, Theorem A.
    """
    _, sigma, _, _, widths = _compact_svd(M, widths, C)
    lam = arguments.positive("lam", lam)
    x = optimal_allocation(sigma, widths, lam) if sigma.size else None
    return implementation(M, widths, x, lam, C)


def _compact_svd(M, widths, C):
    """U, sigma > 0, V^T of M C^{1/2}, and C^{-1/2} and the widths, checked to admit the rank."""
    M = arguments.matrix("M", M)
    root, inverse_root = roots(C, M.shape[1])
    U, sigma, Vt = np.linalg.svd(M @ root, full_matrices=False)
    r = np.count_nonzero(sigma > max(M.shape) * np.finfo(float).eps * sigma[0])
    return U[:, :r], sigma[:r], Vt[:r], inverse_root, arguments.hidden_widths(widths, rank=r)


def roots(C, size):
    """C^{1/2} and its inverse."""
    if C is None:
        return np.eye(size), np.eye(size)
    root = psd_sqrt(arguments.positive_definite("C", C, size=size))
    return root, np.linalg.inv(root)
