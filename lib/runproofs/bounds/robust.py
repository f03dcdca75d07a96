"""The bounds of Chapter 6 on adversarial training as numbers: rounds and total cost.

error is the thesis' epsilon, eps the radius of the attack (the thesis' nu), start the norm
``||W_1||_F``, and A stands for ``kappa sqrt(m)``, or ``||a||_2`` where a top layer is arbitrary. In
formulas eta is step_size and T is the number of rounds. Bounds are numbers, not rounded up; those
without roots and logarithms are exact where all numbers are Fractions.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from runproofs import _arguments as arguments


@dataclass(frozen=True)
class Setting:
    """What the bounds on training depend on.

    Attributes
    ----------
    R : float
        Bound of ``||x||``, at least gamma.
    gamma : float
        Margin of the data, larger than eps.
    eps : float
        Radius of the attack, at least 0.
    alpha : float
        Slope of the leaky ReLU, in (0, 1].
    A : float, optional
        Norm of the top layer, larger than 0: ``kappa sqrt(m)`` in the thesis, where all
        ``|a_r| = kappa``.

    References
    ----------
    :claim:`thesis/assumption-3`
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
    def largest_step(self) -> float | Fraction:
        """Largest step of training, ``1 / (A (R + eps))^2``, and the one of Theorem 16."""
        return 1 / (self.A * (self.R + self.eps)) ** 2

    @property
    def correlation(self) -> float | Fraction:
        """Least product of a weight gradient with V_*, ``c = (gamma - eps) alpha A``."""
        return (self.gamma - self.eps) * self.alpha * self.A


def rounds_lemma_19(
    setting: Setting,
    error: float | Fraction,
    start: float | Fraction,
    step_size: float | Fraction | None = None,
) -> float | Fraction:
    """Rounds T_tr of Lemma 19, ``4 (1 + start gamma alpha A error) / (eta c^2 error^2)``.

    Parameters
    ----------
    setting : Setting
        Data, attack and network.
    error : float
        Error to reach, larger than 0.
    start : float
        Norm of the start, at least 0.
    step_size : float, optional
        Larger than 0 and at most the largest step of the setting, its default.

    Returns
    -------
    float
        The number of rounds.

    References
    ----------
    :claim:`thesis/lemma-19`
    """
    error = arguments.number("error", error, exact=True, above=0)
    start = arguments.number("start", start, exact=True, least=0)
    step_size, c = _step(setting, step_size), setting.correlation
    bonus = start * setting.gamma * setting.alpha * setting.A * error
    return 4 * (1 + bonus) / (step_size * c**2 * error**2)


def rounds_theorem_16(
    setting: Setting, error: float | Fraction, omega: float | Fraction
) -> float | Fraction:
    """Rounds T_tr of Theorem 16 for ``||W_1||_F <= omega``, at the largest step; as printed.

    ``64 (R + eps)^2 (1 + omega gamma alpha A error) / ((gamma - eps)^2 alpha^2 error^2)``.

    Parameters
    ----------
    setting : Setting
        Data, attack and network.
    error : float
        Error to reach, larger than 0.
    omega : float
        Bound on the norm of the start, at least 0.

    Returns
    -------
    float
        The number of rounds.

    References
    ----------
    :claim:`thesis/theorem-16`

    Examples
    --------
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


def squared_norm_bound(
    start: ArrayLike, step_size: ArrayLike, rounds: ArrayLike, constant: float = 3
) -> float | np.ndarray:
    """Bound on ``||W||_F^2`` after some rounds, ``start^2 + constant eta rounds``.

    Parameters
    ----------
    start : float or array_like
        Norm of the start, at least 0.
    step_size : float or array_like
        At least 0.
    rounds : float or array_like
        Number of rounds, at least 0.
    constant : float, optional
        At least 0; 3, as printed, by default. The least one that holds for every single step is
        0.61184..., the maximum of `growth`.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/equation-6.7`
    """
    start = arguments.numbers("start", start, least=0)
    rounds = arguments.numbers("rounds", rounds, least=0)
    step_size = arguments.numbers("step_size", step_size, least=0)
    constant = arguments.number("constant", constant, least=0)
    return start**2 + constant * step_size * rounds


class TotalCost(NamedTuple):
    """Attack steps of all rounds of Theorem 16, before rounding up, at A = 1.

    Attributes
    ----------
    total : float
        ``12 eps^2 T (T + 1) / ((R + eps)^2 error)`` with T = T_tr.
    as_printed : float
        ``12 eps^2 T^2 / ((R + eps)^2 error)``, which is smaller than the sum.
    bound : float
        ``12 128^2 eps^2 (R + eps)^2 / ((gamma - eps)^4 alpha^4 error^5)``, as printed.
    """

    total: float
    as_printed: float
    bound: float


def total_cost(setting: Setting, error: float) -> TotalCost:
    """Bounds on all attack steps that do not depend on the weights.

    For ``omega^2 = 3 / (R + eps)^2`` and A = 1.

    Parameters
    ----------
    setting : Setting
        Data, attack and network; its A is not used.
    error : float
        Error to reach, larger than 0; the last bound needs at most 1/2.

    Returns
    -------
    TotalCost
        The sum, and what is printed.

    References
    ----------
    :claim:`thesis/remark-total-cost`
    """
    R, gamma, eps, alpha, _ = astuple(setting)
    T = rounds_theorem_16(Setting(R, gamma, eps, alpha), error, sqrt(3) / (R + eps))
    each = 12 * eps**2 / ((R + eps) ** 2 * error)
    bound = 12 * 128**2 * (eps * (R + eps)) ** 2 / (((gamma - eps) * alpha) ** 4 * error**5)
    return TotalCost(each * T * (T + 1), each * T**2, bound)


# ---------------------------------------------------------------- training, sharper


def growth(p: ArrayLike) -> float | np.ndarray:
    """Growth phi of the weights: in round t ``||W||_F^2`` grows by at most ``eta phi(p_t)``.

    ``phi(p) = p^2 + 2 p ln((1 - p) / p)``.

    Parameters
    ----------
    p : float or array_like
        Minus the derivative of the loss, in [0, 1].

    Returns
    -------
    float or ndarray
        The phi of each p; its limits, 0 and -inf, at 0 and 1.

    References
    ----------
    :claim:`beyond/adversarial-training-rate`
    """
    p = arguments.numbers("p", p, least=0, most=1)
    return p**2 + 2 * (xlog1py(p, -p) - xlogy(p, p))


def rounds_sharp(
    setting: Setting, error: float, start: float, step_size: float | None = None
) -> float:
    """Rounds from which on the average of the weights p_t is at most the error, along every path.

    ``T_eps = (phi(error) + 2 c start error) / (eta c^2 error^2)``.

    Parameters
    ----------
    setting : Setting
        Data, attack and network.
    error : float
        Error to reach, in (0, 1/2].
    start : float
        Norm of the start, at least 0.
    step_size : float, optional
        Larger than 0 and at most the largest step of the setting, its default.

    Returns
    -------
    float
        The number of rounds.

    References
    ----------
    :claim:`beyond/adversarial-training-rate`
    """
    error = arguments.number("error", error, above=0, most=0.5)
    start = arguments.number("start", start, least=0)
    step_size, c = _step(setting, step_size), setting.correlation
    return float((growth(error) + 2 * c * start * error) / (step_size * (c * error) ** 2))


def mistakes(
    setting: Setting, start: float | Fraction, step_size: float | Fraction | None = None
) -> float | Fraction:
    """Most updates that mistake-driven training ever makes, ``N = (1 + 2 c start) / (eta c^2)``.

    N / error rounds bring the mean robust error of the iterates below the error.

    Parameters
    ----------
    setting : Setting
        Data, attack and network.
    start : float
        Norm of the start, at least 0.
    step_size : float, optional
        Larger than 0 and at most the largest step of the setting, its default.

    Returns
    -------
    float
        The number of updates.

    References
    ----------
    :claim:`beyond/robust-perceptron`
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
