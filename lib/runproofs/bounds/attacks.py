"""The bounds of Chapter 6 on attacks as numbers: what PGD on a margin finds, and how soon.

`eps` is the radius of the attack (the thesis' nu), `error` the thesis' epsilon, and A stands for
kappa sqrt(m), or ||a||_2 where a top layer is arbitrary. In formulas eta is `step_size`, and T is
the number of `visits`. All functions but the two that return integers broadcast, and none rounds
unless it says so.
"""

from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.networks.two_layer import loss as logistic_loss
from runproofs.networks.two_layer import reflected_loss


class Sides(NamedTuple):
    """Both sides of an inequality left <= right."""

    left: np.ndarray
    right: np.ndarray


def beta_threshold(eps, alpha, A):
    """The least beta for which Lemma 18 and Theorem 16 are stated, 2 eps (1 - alpha) A.

    Arguments and errors as in `half_threshold`.
    """
    return 2 * half_threshold(eps, alpha, A)


def half_threshold(eps, alpha, A):
    """eps (1 - alpha) A: above it PGD on the margin finds a flip. Beyond the thesis, Theorem 6.E.

    eps, A: at least 0. alpha: in [0, 1]. Raises ValueError for bad arguments.
    """
    eps, A = arguments.at_least_zero("eps", eps), arguments.at_least_zero("A", A)
    return eps * (1 - arguments.slope(alpha)) * A


def attack_step(A, norm):
    """Largest step of Lemma 18, 1 / (A ||W||_F)^2 (or with the spectral norm of W).

    A, norm: larger than 0. Raises ValueError for bad arguments.
    """
    return 1 / (arguments.above_zero("A", A) * arguments.above_zero("norm", norm)) ** 2


def attack_visits(eps, step_size, error):
    """T_atk of Theorem 16, 8 eps^2 / (eta error).

    eps: at least 0. step_size, error: larger than 0. Raises ValueError for bad arguments.
    """
    return 8 * _start_term(eps, step_size, 1) / arguments.above_zero("error", error)


def lemma_18(z_star, z_attack, eps, step_size, visits):
    """(6.6): -loss'(z_star) <= -2 loss'(z_attack) + 4 eps^2 / (eta T).

    z_star: margin at a beta-effective point; z_attack: margin that Algorithm 5 returns. eps: at
    least 0. step_size, visits: larger than 0. Raises ValueError for bad arguments.
    """
    z_star, z_attack = arguments.reals("z_star", z_star), arguments.reals("z_attack", z_attack)
    return Sides(expit(-z_star), 2 * expit(-z_attack) + 4 * _start_term(eps, step_size, visits))


def equation_6_5(z_star, z_attack, eps, step_size, visits):
    """(6.5): 2 reflected_loss(z_star / 2) <= reflected_loss(z_attack) + eps^2 / (eta T).

    Arguments and errors as in `lemma_18`.
    """
    z_star, z_attack = arguments.reals("z_star", z_star), arguments.reals("z_attack", z_attack)
    right = reflected_loss(z_attack) + _start_term(eps, step_size, visits)
    return Sides(2 * reflected_loss(z_star / 2), right)


@cache
def self_bounding_constant():
    """k = max_z sigmoid(z)^2 / ln(1 + e^z) = 0.40726...; the thesis has 1 for it."""
    return -minimize_scalar(
        lambda z: -(expit(z) ** 2) / logistic_loss(-z),
        bounds=(0, 3),
        method="bounded",
        options={"xatol": 1e-10},
    ).fun


def reflected_pgd(z_star, z_attack, distance, alpha, L, step_size, visits):
    """(2 - k) h(z_attack) <= 2 h(z_star + (1 - alpha) distance L) + distance^2 / (eta T), with
    h(z) = ln(1 + e^z) and k from `self_bounding_constant`, for Algorithm 5 with eta <= 1 / L^2.

    z_star: margin at any point of the ball, at that distance from x. alpha: in [0, 1]. L: from
    `two_layer.lipschitz`, at least 0. The others, and errors, as in `lemma_18`.
    It contains Lemma 18 and (6.5). Source: beyond the thesis, Theorem 6.D.
    """
    z_star, z_attack = arguments.reals("z_star", z_star), arguments.reals("z_attack", z_attack)
    distance, L = arguments.at_least_zero("distance", distance), arguments.at_least_zero("L", L)
    bent = z_star + (1 - arguments.slope(alpha)) * distance * L
    left = (2 - self_bounding_constant()) * logistic_loss(-z_attack)
    return Sides(left, 2 * logistic_loss(-bent) + _start_term(distance, step_size, visits))


def surrogate_factor(eps, step_size, visits, k=1):
    """The factor c in P{level >= 1 - alpha} <= c E[-loss'(z_attack)], for Algorithm 5.

    k: 1 for c = 4 e^(eps^2 / (eta T)), or a number down to `self_bounding_constant` for a
    smaller c. The others, and errors, as in `lemma_18`; ValueError for another k, too.
    Source: beyond the thesis, consequence 2 of Theorem 6.D.
    """
    k = arguments.positive("k", k)
    if not self_bounding_constant() <= k <= 1:
        raise ValueError(f"k must lie between self_bounding_constant() and 1, but it was {k}.")
    return 4 ** (1 / (2 - k)) * np.exp(_start_term(eps, step_size, visits) / (2 - k))


def margin_pgd_visits(level, alpha):
    """Least number of points that PGD on the margin visits before it is sure to have found a flip:
    the least integer above (level - 1 + alpha)^-2.

    level: larger than 1 - alpha. alpha: in [0, 1]. Numbers are taken as they read in decimals, and
    the rest is exact: where the power is an integer, the result is the next one.
    Raises ValueError for bad arguments. Source: beyond the thesis, Theorem 6.E.

    >>> margin_pgd_visits(0.4, 0.8), visits_at_level(0.4, 0.8)
    (26, 25)
    """
    return floor(_excess("level", level, alpha) ** -2) + 1


def visits_at_level(b0, alpha):
    """ceil((b0 - 1 + alpha)^-2): as many points as `margin_pgd_visits` at every level above b0.

    b0: larger than 1 - alpha. alpha, rounding and errors as in `margin_pgd_visits`: where the power
    is an integer, it is the result. Source: beyond the thesis, Theorem 6.J.
    """
    return ceil(_excess("b0", b0, alpha) ** -2)


def flow_time(z, slope, loss="ce"):
    """Total step that gradient ascent needs to bring an affine margin from z down to 0.

    z: 0 is the result where it is negative. slope: norm of the margin's gradient, larger than 0.
    loss: "ce" gives (e^z + z - 1) / slope^2, below which no sequence of steps succeeds;
    "reflected" gives (z + 1 - e^-z) / slope^2, from which on every one does.
    Raises ValueError for bad arguments. Source: beyond the thesis, Proposition 6.N.

    >>> [round(float(flow_time(7, 1, loss)), 3) for loss in ("ce", "reflected")]
    [1102.633, 7.999]
    """
    if loss not in ("ce", "reflected"):
        raise ValueError(f"loss must be 'ce' or 'reflected', but it was {loss!r}.")
    z, slope = np.maximum(arguments.reals("z", z), 0), arguments.above_zero("slope", slope)
    return (z + (np.expm1(z) if loss == "ce" else -np.expm1(-z))) / slope**2


# ----------------------------------------------------------------------------------------- helpers


def _start_term(distance, step_size, visits):
    """distance^2 / (eta T), what the way from the start costs."""
    distance = arguments.at_least_zero("eps", distance)
    step_size = arguments.above_zero("step_size", step_size)
    return distance**2 / (step_size * arguments.above_zero("visits", visits))


def _excess(name, level, alpha):
    """level - 1 + alpha as a fraction: .4 and .8 are two fifths and four fifths."""
    level = arguments.positive(name, level)
    alpha = arguments.nonnegative("alpha", arguments.slope(alpha))
    excess = Fraction(str(level)) - 1 + Fraction(str(alpha))
    if excess <= 0:
        raise ValueError(f"{name} must be larger than 1 - alpha, but it was {level}.")
    return excess
