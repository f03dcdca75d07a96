"""The bounds of Chapter 6 as numbers: attacks, rounds of training, total cost; printed and sharper.

`error` is the thesis' epsilon, `eps` the radius of the attack (the thesis' nu), `start` the norm
||W_1||_F, and A stands for kappa sqrt(m), or ||a||_2 where a top layer is arbitrary. In formulas
eta is `step_size`, and T is the number of `visits` or of `rounds`. Functions of margins broadcast.
Bounds on rounds and visits are numbers, not rounded up, unless they say so.
"""

from dataclasses import astuple, dataclass
from functools import cache
from math import ceil, floor, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.networks.two_layer import loss, reflected_loss

# ---------------------------------------------------------------- attacks, Lemma 18


class Sides(NamedTuple):
    """Both sides of an inequality left <= right."""

    left: np.ndarray
    right: np.ndarray


def beta_threshold(eps, alpha, A):
    """The least beta for which Lemma 18 and Theorem 16 are stated, 2 eps (1 - alpha) A."""
    return 2 * half_threshold(eps, alpha, A)


def half_threshold(eps, alpha, A):
    """eps (1 - alpha) A: above it PGD on the margin finds a flip. Beyond the thesis, Theorem 2."""
    return eps * (1 - alpha) * A


def attack_step(A, norm):
    """Largest step of Lemma 18, 1 / (A ||W||_F)^2 (or with the spectral norm of W)."""
    return 1 / (A * norm) ** 2


def attack_visits(eps, step_size, error):
    """T_atk of Theorem 16, 8 eps^2 / (eta error)."""
    return 8 * eps**2 / (step_size * error)


def lemma_18(z_star, z_attack, eps, step_size, visits):
    """(6.6): -loss'(z_star) <= -2 loss'(z_attack) + 4 eps^2 / (eta T).

    z_star: margin at a beta-effective point; z_attack: margin that Algorithm 5 returns.
    """
    return Sides(expit(-z_star), 2 * expit(-z_attack) + 4 * eps**2 / (step_size * visits))


def equation_6_5(z_star, z_attack, eps, step_size, visits):
    """(6.5): 2 reflected_loss(z_star / 2) <= reflected_loss(z_attack) + eps^2 / (eta T)."""
    return Sides(
        2 * reflected_loss(z_star / 2), reflected_loss(z_attack) + eps**2 / (step_size * visits)
    )


@cache
def self_bounding_constant():
    """k = max_z sigmoid(z)^2 / ln(1 + e^z) = 0.40726...; the thesis has 1 for it."""
    return -minimize_scalar(
        lambda z: -(expit(z) ** 2) / loss(-z),
        bounds=(0, 3),
        method="bounded",
        options={"xatol": 1e-10},
    ).fun


def reflected_pgd(z_star, z_attack, distance, alpha, L, step_size, visits):
    """(2 - k) h(z_attack) <= 2 h(z_star + (1 - alpha) distance L) + distance^2 / (eta T), with
    h(z) = ln(1 + e^z) and k from `self_bounding_constant`, for Algorithm 5 with eta <= 1 / L^2.

    z_star: margin at any point of the ball, at that distance from x. L: from `two_layer.lipschitz`.
    It contains Lemma 18 and (6.5). Source: beyond the thesis, Theorem 3.
    """
    left = (2 - self_bounding_constant()) * loss(-z_attack)
    return Sides(
        left, 2 * loss(-(z_star + (1 - alpha) * distance * L)) + distance**2 / (step_size * visits)
    )


def surrogate_factor(eps, step_size, visits, k=1):
    """The factor c in P{level >= 1 - alpha} <= c E[-loss'(z_attack)], for Algorithm 5.

    k: 1 for c = 4 e^(eps^2 / (eta T)), or a number down to `self_bounding_constant` for a
    smaller c. Source: beyond the thesis, consequence 2 of Theorem 3.
    """
    return 4 ** (1 / (2 - k)) * np.exp(eps**2 / ((2 - k) * step_size * visits))


def margin_pgd_visits(level, alpha):
    """Least number of points that PGD on the margin visits before it is sure to have found a flip:
    the least integer above (level - 1 + alpha)^-2.

    level: larger than 1 - alpha. Raises ValueError otherwise. Source: beyond the thesis, Theorem 2.
    """
    excess = level - 1 + alpha
    if excess <= 0:
        raise ValueError(f"level must be larger than 1 - alpha, but it was {level}.")
    return floor(excess**-2) + 1


def visits_at_level(b0, alpha):
    """ceil((b0 - 1 + alpha)^-2): as many points as `margin_pgd_visits` at every level above b0.

    b0: larger than 1 - alpha. Raises ValueError otherwise. Source: beyond the thesis, Theorem 5.
    """
    excess = b0 - 1 + alpha
    if excess <= 0:
        raise ValueError(f"b0 must be larger than 1 - alpha, but it was {b0}.")
    return ceil(round(excess**-2, 9))  # .2^-2 is 25, whatever the rounding of b0 - 1 + alpha


def flow_time(z, slope, loss="ce"):
    """Total step that gradient ascent needs to bring an affine margin from z > 0 down to 0.

    slope: norm of the margin's gradient. loss: "ce" gives (e^z + z - 1) / slope^2, below which no
    sequence of steps succeeds; "reflected" gives (z + 1 - e^-z) / slope^2, from which on every one
    does. Source: beyond the thesis, Proposition 9.
    """
    if loss not in ("ce", "reflected"):
        raise ValueError(f"loss must be 'ce' or 'reflected', but it was {loss!r}.")
    total = np.exp(z) + z - 1 if loss == "ce" else z + 1 - np.exp(-z)
    return total / slope**2


# ---------------------------------------------------------------- training


@dataclass(frozen=True)
class Setting:
    """What the bounds on training depend on; raises ValueError unless 0 <= eps < gamma <= R.

    R: bound of ||x||. gamma: margin of the data. eps: radius of the attack. alpha: in (0, 1].
    A: norm of the top layer, kappa sqrt(m) in the thesis, where all |a_r| = kappa.
    """

    R: float
    gamma: float
    eps: float
    alpha: float
    A: float = 1.0

    def __post_init__(self):
        for name, value in zip(
            ("R", "gamma", "alpha", "A"), (self.R, self.gamma, self.alpha, self.A), strict=True
        ):
            arguments.positive(name, value)
        arguments.nonnegative("eps", self.eps)
        if not self.eps < self.gamma <= self.R or self.alpha > 1:
            raise ValueError(f"eps < gamma <= R and alpha <= 1 are needed, but it was {self}.")

    @property
    def largest_step(self):
        """1 / (A (R + eps))^2, the largest step of training, and the one of Theorem 16."""
        return 1 / (self.A * (self.R + self.eps)) ** 2

    @property
    def correlation(self):
        """c = (gamma - eps) alpha A: each weight gradient has at least this along V_*."""
        return (self.gamma - self.eps) * self.alpha * self.A


def rounds_lemma_19(setting, error, start, step_size=None):
    """T_tr of Lemma 19, 4 (1 + start gamma alpha A error) / (eta c^2 error^2).

    start: at least 0. step_size: at most `setting.largest_step`, its default.
    """
    step_size, c = step_size or setting.largest_step, setting.correlation
    bonus = start * setting.gamma * setting.alpha * setting.A * error
    return 4 * (1 + bonus) / (step_size * c**2 * error**2)


def rounds_theorem_16(setting, error, omega):
    """T_tr of Theorem 16 for ||W_1||_F <= omega, at the largest step; as printed.

    64 (R + eps)^2 (1 + omega gamma alpha A error) / ((gamma - eps)^2 alpha^2 error^2).
    """
    R, gamma, eps, alpha, A = astuple(setting)
    return (
        64
        * ((R + eps) / ((gamma - eps) * alpha * error)) ** 2
        * (1 + omega * gamma * alpha * A * error)
    )


def rounds_corollary_4(setting, error):
    """128 (R + eps)^2 / ((gamma - eps) error)^2: alpha = A = 1, omega = 1 / gamma, error <= 1."""
    R, gamma, eps, *_ = astuple(setting)
    return 128 * ((R + eps) / ((gamma - eps) * error)) ** 2


class Corollary5(NamedTuple):
    """The settings of Corollary 5, corrected, beside the attack steps as printed."""

    A: float  # kappa sqrt(m) = beta / (2 eps (1 - alpha))
    training_step: float
    attack_step: float
    attack_visits: float  # 2 beta^2 norm^2 / ((1 - alpha)^2 error)
    attack_visits_as_printed: float  # the fraction upside down
    rounds: float


def corollary_5(setting, beta, error, omega, norm):
    """What Corollary 5 prescribes for beta > 0 and alpha < 1; A of the setting is not used.

    omega: bound of ||W_1||_F. norm: ||W_t||_F. Raises ValueError if alpha = 1 or eps = 0.
    """
    R, gamma, eps, alpha, _ = astuple(setting)
    if alpha == 1 or eps == 0:
        raise ValueError(f"alpha < 1 and eps > 0 are needed, but it was {setting}.")
    A = arguments.positive("beta", beta) / half_threshold(2 * eps, alpha, 1)
    scaled = Setting(R, gamma, eps, alpha, A)
    return Corollary5(
        A,
        scaled.largest_step,
        attack_step(A, norm),
        2 * (beta * norm / (1 - alpha)) ** 2 / error,
        2 * ((1 - alpha) / (beta * norm)) ** 2 / error,
        rounds_theorem_16(scaled, error, omega),
    )


def squared_norm_bound(start, step_size, rounds, constant=3):
    """(6.7): ||W||_F^2 after that many rounds is at most start^2 + constant eta rounds.

    constant: 3 as printed; `growth_constant` is the least one that holds for every single step.
    """
    return start**2 + constant * step_size * rounds


class TotalCost(NamedTuple):
    """Attack steps of all rounds of Theorem 16, before rounding up, at A = 1."""

    total: float  # 12 eps^2 T (T + 1) / ((R + eps)^2 error), T = T_tr
    as_printed: float  # 12 eps^2 T^2 / ((R + eps)^2 error), which is smaller than the sum
    bound: float  # 12 128^2 eps^2 (R + eps)^2 / ((gamma - eps)^4 alpha^4 error^5), as printed


def total_cost(setting, error):
    """The weight-independent bounds on all attack steps, for omega^2 = 3 / (R + eps)^2, A = 1.

    The last bound needs error <= 1/2. Source: thesis, Section 6.3, dependence on the norm.
    """
    R, gamma, eps, alpha, _ = astuple(setting)
    T = rounds_theorem_16(Setting(R, gamma, eps, alpha), error, sqrt(3) / (R + eps))
    each = 12 * eps**2 / ((R + eps) ** 2 * error)
    bound = 12 * 128**2 * (eps * (R + eps)) ** 2 / (((gamma - eps) * alpha) ** 4 * error**5)
    return TotalCost(each * T * (T + 1), each * T**2, bound)


# ---------------------------------------------------------------- training, sharper


def growth(p):
    """phi(p) = p^2 + 2 p ln((1 - p) / p): ||W||_F^2 grows by at most step phi(p_t) in round t.

    p: in (0, 1), minus the derivative of the loss. Source: beyond the thesis, Theorem 1 (a).
    """
    p = np.asarray(p, dtype=float)
    return p**2 + 2 * p * np.log((1 - p) / p)


@cache
def growth_constant():
    """max phi = 0.61184..., which replaces the 3 of (6.7)."""
    return -minimize_scalar(
        lambda p: -growth(p), bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-10}
    ).fun


def average_surrogate(setting, average, rounds, start, step_size=None):
    """eta c^2 T p^2 <= max(phi(p), 0) + 2 c start p for the average p of the first T weights p_t.

    Along every path, for every attack in the ball and every order of samples.
    Source: beyond the thesis, Theorem 1 (b).
    """
    step_size, c = step_size or setting.largest_step, setting.correlation
    right = np.maximum(growth(average), 0) + 2 * c * start * average
    return Sides(step_size * c**2 * rounds * average**2, right)


def rounds_sharp(setting, error, start, step_size=None):
    """T_eps = (phi(error) + 2 c start error) / (eta c^2 error^2): from it on the average of the
    weights p_t is at most the error, along every path; error in (0, 1/2].

    Raises ValueError for another error. Source: beyond the thesis, Theorem 1 (c).
    """
    if not 0 < error <= 0.5:
        raise ValueError(f"error must lie in (0, 1/2], but it was {error}.")
    step_size, c = step_size or setting.largest_step, setting.correlation
    return float((growth(error) + 2 * c * start * error) / (step_size * (c * error) ** 2))


def mistakes(setting, start, step_size=None):
    """N = (1 + 2 c start) / (eta c^2), the most updates that mistake-driven training ever makes.

    N / error rounds bring the mean robust error of the iterates below the error.
    Source: beyond the thesis, Theorem 6.
    """
    step_size, c = step_size or setting.largest_step, setting.correlation
    return (1 + 2 * c * start) / (step_size * c**2)


def end_to_end(setting, error, b0, start):
    """All gradients that suffice for a mean error of 2 error at level b0, both rounded up:
    (by Theorem 5, with the logistic loss; by Theorem 6, mistake-driven).

    b0: larger than 1 - alpha. start: at least 0. Raises ValueError for bad arguments.
    """
    visits = visits_at_level(b0, setting.alpha)
    rounds = ceil(rounds_sharp(setting, error, start)), ceil(mistakes(setting, start) / (2 * error))
    return rounds[0] * visits, rounds[1] * visits
