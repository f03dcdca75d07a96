"""Attacks on linear models, in closed form, and projections onto the balls of l_1, l_2, l_inf."""

import math

import numpy as np

from runproofs import _arguments as arguments
from runproofs.adversarial import margin_attacks


def dual_vector(w, p):
    """A vector u with ||u||_p <= 1 and <w, u> = ||w||_{p*}, 1/p + 1/p* = 1: where w rises most.

    w: (..., d). p: 1, 2 or inf. Returns (..., d). For p = 1 it has one entry, the first of the
    largest of w; for p = inf it is sgn w, with sgn 0 = 0. Raises ValueError for bad arguments.
    Source: thesis, Section 1.2.2.

    >>> dual_vector([3, -4], 1)
    array([ 0., -1.])
    """
    w = arguments.numbers("w", w)
    if _order(p) == math.inf:
        return np.sign(w)
    if p == 2:
        largest = np.abs(w).max(-1, keepdims=True)  # squares of entries must not overflow
        w = np.divide(w, largest, out=np.zeros_like(w), where=largest > 0)
        return w / np.linalg.norm(w, axis=-1, keepdims=True).clip(min=1)
    largest = np.abs(w).argmax(-1)[..., None]
    chosen = np.take_along_axis(np.sign(w), largest, -1)
    u = np.zeros_like(w)
    np.put_along_axis(u, largest, chosen, -1)
    return u


def linear_attack(w, x, y, eps, p):
    """The point of the l_p ball of radius eps about x where y <w, .> is least.

    w, x: (..., d), which broadcast. y: (...,), -1 or 1. eps: at least 0. p: 1, 2 or inf.
    Returns (..., d). Raises ValueError for bad arguments. Source: thesis, Section 1.2.2.

    >>> linear_attack([3, 4], [1, 1], 1, 0.5, math.inf)
    array([0.5, 0.5])
    """
    x, y = arguments.numbers("x", x), np.asarray(y)
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"y must be -1 or 1, but it was {y}.")
    return x - arguments.number("eps", eps, least=0) * y[..., None] * dual_vector(w, p)


def project_ball(v, eps, p):
    """The point nearest to v, in the Euclidean distance, of the l_p ball of radius eps about 0.

    v: (..., d). eps: at least 0. p: 1, 2 or inf. Returns (..., d). Raises ValueError for bad
    arguments. Cost: O(d) a point; O(d log d) for p = 1. Source: thesis, Section 1.1.3.

    >>> project_ball([2, 1], 2, 1)
    array([1.5, 0.5])
    """
    v, eps = arguments.numbers("v", v), arguments.number("eps", eps, least=0)
    if _order(p) == math.inf:
        return np.clip(v, -eps, eps)
    if p == 2:
        return margin_attacks.project(v, np.zeros(v.shape[-1]), eps)
    sizes = -np.sort(-np.abs(v), axis=-1)
    # shrink by the threshold that leaves the norm eps: of the candidates, with k entries kept
    excess = (sizes.cumsum(-1) - eps) / np.arange(1, v.shape[-1] + 1)
    kept = (sizes > excess).sum(-1, keepdims=True)  # a prefix
    threshold = np.take_along_axis(excess, np.maximum(kept, 1) - 1, -1).clip(min=0)
    return np.sign(v) * (np.abs(v) - threshold).clip(min=0)


def _order(p):
    if p not in (1, 2, math.inf):
        raise ValueError(f"p must be 1, 2 or inf, but it was {p!r}.")
    return p
