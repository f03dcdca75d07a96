"""The bounds of Chapter 6 on adversarial training as numbers: rounds and total cost.

`error` is the thesis' epsilon, `eps` the radius of the attack (the thesis' nu), `start` the norm
||W_1||_F, and A stands for kappa sqrt(m), or ||a||_2 where a top layer is arbitrary. In formulas
eta is `step_size`, at most `setting.largest_step`, which is its default; T is the number of
`rounds`. Bounds are numbers, not rounded up, unless they say so.
"""

from dataclasses import astuple, dataclass
from functools import cache
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import xlog1py, xlogy

from runproofs import _arguments as arguments
from runproofs.bounds.attacks import Sides, attack_step, beta_threshold, visits_at_level


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

    setting: a `Setting`. error: larger than 0. start: at least 0. step_size: larger than 0 and at
    most `setting.largest_step`, its default. Raises ValueError for bad arguments.
    """
    error, start = arguments.positive("error", error), arguments.nonnegative("start", start)
    step_size, c = _step(setting, step_size), setting.correlation
    bonus = start * setting.gamma * setting.alpha * setting.A * error
    return 4 * (1 + bonus) / (step_size * c**2 * error**2)


def rounds_theorem_16(setting, error, omega):
    """T_tr of Theorem 16 for ||W_1||_F <= omega, at the largest step; as printed.

    64 (R + eps)^2 (1 + omega gamma alpha A error) / ((gamma - eps)^2 alpha^2 error^2).
    error: larger than 0. omega: at least 0. Raises ValueError for bad arguments.

    >>> round(rounds_theorem_16(Setting(R=1, gamma=0.5, eps=0, alpha=0.8), error=0.1, omega=1), 6)
    41600.0
    """
    error, omega = arguments.positive("error", error), arguments.nonnegative("omega", omega)
    R, gamma, eps, alpha, A = astuple(setting)
    return (
        64
        * ((R + eps) / ((gamma - eps) * alpha * error)) ** 2
        * (1 + omega * gamma * alpha * A * error)
    )


def rounds_corollary_4(setting, error):
    """128 (R + eps)^2 / ((gamma - eps) error)^2, Theorem 16 or more for alpha = A = 1,
    omega = 1 / gamma and error <= 1; alpha and A of the setting are not used.

    error: larger than 0. Raises ValueError for bad arguments. Source: thesis, Corollary 4.
    """
    R, gamma, eps, *_ = astuple(setting)
    return 128 * ((R + eps) / ((gamma - eps) * arguments.positive("error", error))) ** 2


class Corollary5(NamedTuple):
    """The settings of Corollary 5, corrected, beside the attack steps as printed."""

    A: float  # kappa sqrt(m) = beta / (2 eps (1 - alpha))
    training_step: float
    attack_step: float
    attack_visits: float  # 2 beta^2 norm^2 / ((1 - alpha)^2 error)
    attack_visits_as_printed: float  # the fraction upside down
    rounds: float


def corollary_5(setting, beta, error, omega, norm):
    """What Corollary 5 prescribes; A of the setting is not used.

    beta, error: larger than 0. omega: bound of ||W_1||_F, at least 0. norm: ||W_t||_F, larger than
    0. Raises ValueError for bad arguments, and if alpha = 1 or eps = 0.
    """
    R, gamma, eps, alpha, _ = astuple(setting)
    if alpha == 1 or eps == 0:
        raise ValueError(f"alpha < 1 and eps > 0 are needed, but it was {setting}.")
    beta, error = arguments.positive("beta", beta), arguments.positive("error", error)
    norm = arguments.positive("norm", norm)
    A = beta / beta_threshold(eps, alpha, 1)
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

    start, step_size, rounds: at least 0, numbers or arrays. constant: 3 as printed, or any number
    from 0 on; `growth_constant` is the least one that holds for every single step.
    Raises ValueError for bad arguments.
    """
    start, rounds = (
        arguments.at_least_zero("start", start),
        arguments.at_least_zero("rounds", rounds),
    )
    step_size = arguments.at_least_zero("step_size", step_size)
    constant = arguments.nonnegative("constant", constant)
    return start**2 + constant * step_size * rounds


class TotalCost(NamedTuple):
    """Attack steps of all rounds of Theorem 16, before rounding up, at A = 1."""

    total: float  # 12 eps^2 T (T + 1) / ((R + eps)^2 error), T = T_tr
    as_printed: float  # 12 eps^2 T^2 / ((R + eps)^2 error), which is smaller than the sum
    bound: float  # 12 128^2 eps^2 (R + eps)^2 / ((gamma - eps)^4 alpha^4 error^5), as printed


def total_cost(setting, error):
    """The weight-independent bounds on all attack steps, for omega^2 = 3 / (R + eps)^2, A = 1.

    error: larger than 0; the last bound needs error <= 1/2. Raises ValueError for bad arguments.
    Source: thesis, Section 6.3, dependence on the norm.
    """
    R, gamma, eps, alpha, _ = astuple(setting)
    T = rounds_theorem_16(Setting(R, gamma, eps, alpha), error, sqrt(3) / (R + eps))
    each = 12 * eps**2 / ((R + eps) ** 2 * error)
    bound = 12 * 128**2 * (eps * (R + eps)) ** 2 / (((gamma - eps) * alpha) ** 4 * error**5)
    return TotalCost(each * T * (T + 1), each * T**2, bound)


# ---------------------------------------------------------------- training, sharper


def growth(p):
    """phi(p) = p^2 + 2 p ln((1 - p) / p): ||W||_F^2 grows by at most step phi(p_t) in round t.

    p: in [0, 1], numbers or arrays, minus the derivative of the loss; the limits are 0 at 0 and
    -inf at 1. Raises ValueError for bad arguments. Source: beyond the thesis, Theorem 6.H (a).
    """
    p = _weights("p", p)
    return p**2 + 2 * (xlog1py(p, -p) - xlogy(p, p))


@cache
def growth_constant():
    """max phi = 0.61184..., which replaces the 3 of (6.7)."""
    return -minimize_scalar(
        lambda p: -growth(p), bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-10}
    ).fun


def average_surrogate(setting, average, rounds, start, step_size=None):
    """eta c^2 T p^2 <= max(phi(p), 0) + 2 c start p for the average p of the first T weights p_t.

    Along every path, for every attack in the ball and every order of samples.
    average: in [0, 1], rounds: larger than 0, numbers or arrays. start, step_size and errors as in
    `rounds_lemma_19`. Returns `Sides`. Source: beyond the thesis, Theorem 6.H (b).
    """
    average, rounds = _weights("average", average), arguments.above_zero("rounds", rounds)
    start = arguments.nonnegative("start", start)
    step_size, c = _step(setting, step_size), setting.correlation
    right = np.maximum(growth(average), 0) + 2 * c * start * average
    return Sides(step_size * c**2 * rounds * average**2, right)


def rounds_sharp(setting, error, start, step_size=None):
    """T_eps = (phi(error) + 2 c start error) / (eta c^2 error^2): from it on the average of the
    weights p_t is at most the error, along every path.

    error: in (0, 1/2]. start, step_size and errors as in `rounds_lemma_19`.
    Source: beyond the thesis, Theorem 6.H (c).
    """
    error, start = arguments.positive("error", error), arguments.nonnegative("start", start)
    if error > 0.5:
        raise ValueError(f"error must lie in (0, 1/2], but it was {error}.")
    step_size, c = _step(setting, step_size), setting.correlation
    return float((growth(error) + 2 * c * start * error) / (step_size * (c * error) ** 2))


def mistakes(setting, start, step_size=None):
    """N = (1 + 2 c start) / (eta c^2), the most updates that mistake-driven training ever makes.

    N / error rounds bring the mean robust error of the iterates below the error.
    start, step_size and errors as in `rounds_lemma_19`. Source: beyond the thesis, Theorem 6.I.
    """
    start = arguments.nonnegative("start", start)
    step_size, c = _step(setting, step_size), setting.correlation
    return (1 + 2 * c * start) / (step_size * c**2)


def end_to_end(setting, error, b0, start):
    """All gradients that suffice for a mean error of 2 error at level b0, both rounded up:
    (by Theorem 6.J, with the logistic loss; by Theorem 6.I, mistake-driven).

    error: in (0, 1/2]. b0: larger than 1 - alpha. start: at least 0. Raises ValueError for bad
    arguments.
    """
    visits = visits_at_level(b0, setting.alpha)
    rounds = ceil(rounds_sharp(setting, error, start)), ceil(mistakes(setting, start) / (2 * error))
    return rounds[0] * visits, rounds[1] * visits


# ----------------------------------------------------------------------------------------- helpers


def _step(setting, step_size):
    """The step size, by default the largest one."""
    largest = setting.largest_step
    if step_size is None:
        return largest
    step_size = arguments.positive("step_size", step_size)
    if step_size > largest * (1 + 1e-12):  # a largest step computed otherwise may round upwards
        raise ValueError(f"step_size must be at most {largest}, but it was {step_size}.")
    return step_size


def _weights(name, p):
    p = arguments.at_least_zero(name, p)
    if p.size and p.max() > 1:
        raise ValueError(f"{name} must lie in [0, 1], but it was {p.max()}.")
    return p
