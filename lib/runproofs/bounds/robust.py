"""The bounds of Chapter 6 on adversarial training as numbers: rounds and total cost.

`error` is the thesis' epsilon, `eps` the radius of the attack (the thesis' nu), `start` the norm
||W_1||_F, and A stands for kappa sqrt(m), or ||a||_2 where a top layer is arbitrary. In formulas
eta is `step_size`, at most `setting.largest_step`, which is its default; T is the number of
`rounds`. Bounds are numbers, not rounded up; those without roots and logarithms are exact where
all numbers are Fractions.
"""

from dataclasses import astuple, dataclass
from math import sqrt
from typing import NamedTuple

from scipy.special import xlog1py, xlogy

from runproofs import _arguments as arguments


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
            arguments.number(name, value, exact=True, above=0)
        arguments.number("eps", self.eps, exact=True, least=0)
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
    error = arguments.number("error", error, exact=True, above=0)
    start = arguments.number("start", start, exact=True, least=0)
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
    error = arguments.number("error", error, exact=True, above=0)
    omega = arguments.number("omega", omega, exact=True, least=0)
    R, gamma, eps, alpha, A = astuple(setting)
    return (
        64
        * ((R + eps) / ((gamma - eps) * alpha * error)) ** 2
        * (1 + omega * gamma * alpha * A * error)
    )


def squared_norm_bound(start, step_size, rounds, constant=3):
    """(6.7): ||W||_F^2 after that many rounds is at most start^2 + constant eta rounds.

    start, step_size, rounds: at least 0, numbers or arrays. constant: 3 as printed, or any number
    from 0 on; max phi = 0.61184... is the least one that holds for every single step.
    Raises ValueError for bad arguments.
    """
    start = arguments.numbers("start", start, least=0)
    rounds = arguments.numbers("rounds", rounds, least=0)
    step_size = arguments.numbers("step_size", step_size, least=0)
    constant = arguments.number("constant", constant, least=0)
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
    p = arguments.numbers("p", p, least=0, most=1)
    return p**2 + 2 * (xlog1py(p, -p) - xlogy(p, p))


def rounds_sharp(setting, error, start, step_size=None):
    """T_eps = (phi(error) + 2 c start error) / (eta c^2 error^2): from it on the average of the
    weights p_t is at most the error, along every path.

    error: in (0, 1/2]. start, step_size and errors as in `rounds_lemma_19`.
    Source: beyond the thesis, Theorem 6.H (c).
    """
    error = arguments.number("error", error, above=0, most=0.5)
    start = arguments.number("start", start, least=0)
    step_size, c = _step(setting, step_size), setting.correlation
    return float((growth(error) + 2 * c * start * error) / (step_size * (c * error) ** 2))


def mistakes(setting, start, step_size=None):
    """N = (1 + 2 c start) / (eta c^2), the most updates that mistake-driven training ever makes.

    N / error rounds bring the mean robust error of the iterates below the error.
    start, step_size and errors as in `rounds_lemma_19`. Source: beyond the thesis, Theorem 6.I.
    """
    start = arguments.number("start", start, exact=True, least=0)
    step_size, c = _step(setting, step_size), setting.correlation
    return (1 + 2 * c * start) / (step_size * c**2)


# ----------------------------------------------------------------------------------------- helpers


def _step(setting, step_size):
    """The step size, by default the largest one."""
    largest = setting.largest_step
    if step_size is None:
        return largest
    wanted, most = f"a number that is larger than 0 and at most {largest}", largest * (1 + 1e-12)
    # a largest step computed otherwise may round upwards
    return arguments.number("step_size", step_size, exact=True, wanted=wanted, above=0, most=most)
