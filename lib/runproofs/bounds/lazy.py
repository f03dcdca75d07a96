"""Constants and right-hand sides of Chapter 5: the guarantees for dropout in the lazy regime.

Notation: q keep probability, gamma the margin of Assumption 2 (at most q / 2), eta = step_size,
T steps, width m, inputs in R^d with ``|x| <= 1``, radius c, ``l(z) = log_2(1 + e^-z)`` and
Q = -l'. All functions broadcast over their arguments. T, m and d are numbers here, real ones too:
the sizes that the theorems ask for exceed what runs. Hypotheses are the business of the caller,
and the docstrings name them; the widths come from `theorem_14_width` and `mask_aware_width`.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from runproofs import _arguments as arguments

LN2 = np.log(2)
BEST_LOSS = brentq(lambda l: np.expm1(l) - 2 * l, 1, 2, xtol=1e-15)
RHO = (1 - np.exp(-BEST_LOSS)) ** 2 / BEST_LOSS  # max over l > 0 of (1 - e^-l)^2 / l, at that l
SUPERMARTINGALE = 1 / (1 - np.exp(-1))  # by convexity of e^-u on [0, 1]
FREEDMAN = 1 / (3 - np.e)  # from e^u <= 1 + u + (e - 2) u^2 for u <= 1
PRINTED = 12.0, 6.0  # the constants of Theorem 15


def kappa(step_size: ArrayLike, N: ArrayLike = 1) -> float | np.ndarray:
    """Coefficient of ``eta L_t`` in the one-step form of Proposition 5.E, ``2 - RHO N eta / ln 2``.

    The proposition divides by it, and so it asks for a value above 0: eta below 3.40 / N.

    Parameters
    ----------
    step_size : float or array_like
        Larger than 0.
    N : float or array_like, optional
        Largest squared norm of a gradient of g_t, at least 0; 1 by default.

    Returns
    -------
    float or ndarray
        The coefficient; the thesis has 1 for it.

    References
    ----------
    :claim:`beyond/sharper-regret`

    Examples
    --------
    >>> round(float(kappa(np.log(2))), 5)
    1.59274
    """
    step_size = arguments.numbers("step_size", step_size, above=0)
    N = arguments.numbers("N", N, least=0)
    return 2 - RHO * N * step_size / LN2


def mu(step_size: ArrayLike, N: ArrayLike = 1) -> float | np.ndarray:
    """What the loss of a rival costs in Proposition 5.E (b).

    ``1 + 2 RHO s / (4 ln 2 - s)`` with s = eta N.

    Parameters
    ----------
    step_size : float or array_like
        Larger than 0, with s below 4 ln 2.
    N : float or array_like, optional
        Largest squared norm of a gradient of g_t, at least 0; 1 by default.

    Returns
    -------
    float or ndarray
        The factor; the thesis has 2 for it.

    References
    ----------
    :claim:`beyond/sharper-regret`

    Examples
    --------
    >>> round(float(mu(np.log(2))), 5)
    1.27151
    """
    s = arguments.numbers("step_size", step_size, above=0) * arguments.numbers("N", N, least=0)
    if np.any(s >= 4 * LN2):
        raise ValueError(f"step_size N must be below 4 ln 2 = 2.77..., but it was {s.max()}.")
    return 1 + 2 * RHO * s / (4 * LN2 - s)


def start_radius(d: ArrayLike, m: ArrayLike) -> float | np.ndarray:
    """Radius of the projection, ``c = sqrt(d) + 2 sqrt(ln m) + 1``.

    The rows of W_1 are within c - 1 with probability at least 1 - 1 / m.

    Parameters
    ----------
    d : float or array_like
        Number of inputs, at least 1.
    m : float or array_like
        Width, at least 1.

    Returns
    -------
    float or ndarray
        The radius, without the last term of the thesis' c, which no proof needs.

    References
    ----------
    :claim:`thesis/remark-5.3-init-norm`

    Examples
    --------
    >>> float(start_radius(4, 1))
    3.0
    """
    d, m = arguments.numbers("d", d, least=1), arguments.numbers("m", m, least=1)
    return np.sqrt(d) + 2 * np.sqrt(np.log(m)) + 1


def delta_0(
    step_size: ArrayLike, T: ArrayLike, m: ArrayLike, radius: ArrayLike
) -> float | np.ndarray:
    """Failure probability for which Theorem 14 fixes its lambda, ``1 / (4 eta c sqrt(m) T)``.

    Parameters
    ----------
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, larger than 0.
    m : float or array_like
        Width, larger than 0.
    radius : float or array_like
        Radius c, larger than 0.

    Returns
    -------
    float or ndarray
        The probability.

    References
    ----------
    :claim:`thesis/theorem-14`

    Examples
    --------
    >>> float(delta_0(0.5, 10, 25, 2))
    0.005
    """
    step_size, T, m, radius = _positive(step_size=step_size, T=T, m=m, radius=radius)
    return 1 / (4 * step_size * radius * np.sqrt(m) * T)


def lemma_13_lambda(
    gamma: ArrayLike, step_size: ArrayLike, T: ArrayLike, delta: ArrayLike
) -> float | np.ndarray:
    """The lambda of Lemma 13, ``(5 ln(2 eta T) + sqrt(44 ln(6 T / delta))) / gamma``.

    Parameters
    ----------
    gamma : float or array_like
        Margin, larger than 0.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, larger than 0.
    delta : float or array_like
        Failure probability, larger than 0 and at most 6 T.

    Returns
    -------
    float or ndarray
        The lambda; a bound needs ``2 eta T >= 1`` as well, below which it can be 0 or negative.

    References
    ----------
    :claim:`thesis/lemma-13`

    Examples
    --------
    >>> lemma_13_lambda(0.5, 0.5, 1, 6 * np.exp(-11)).round(12).item()
    44.0
    """
    gamma, step_size, T, delta = _positive(gamma=gamma, step_size=step_size, T=T, delta=delta)
    if np.any(delta > 6 * T):
        raise ValueError("delta must be at most 6 T, for else the logarithm in lambda is negative.")
    return (5 * np.log(2 * step_size * T) + np.sqrt(44 * np.log(6 * T / delta))) / gamma


def theorem_14_lambda(
    gamma: ArrayLike, step_size: ArrayLike, T: ArrayLike, m: ArrayLike, radius: ArrayLike
) -> float | np.ndarray:
    """The lambda of Theorem 14, that of Lemma 13 at `delta_0`.

    ``(5 ln(2 eta T) + sqrt(44 ln(24 eta c sqrt(m) T^2))) / gamma``.

    Parameters
    ----------
    gamma : float or array_like
        Margin, larger than 0.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, larger than 0, with ``24 eta c sqrt(m) T^2 >= 1``.
    m : float or array_like
        Width, larger than 0.
    radius : float or array_like
        Radius c, larger than 0: that of `start_radius` in the thesis, and ``sqrt(d) + 1`` in
        Theorem 5.I, which has no projection.

    Returns
    -------
    float or ndarray
        The lambda; a bound needs ``2 eta T >= 1`` as well, below which it can be 0 or negative.

    References
    ----------
    :claim:`thesis/theorem-14`, :claim:`beyond/theorem-14-no-projection`

    Examples
    --------
    >>> (theorem_14_lambda(0.5, 0.5, 1, 1, np.exp(11) / 12)).round(12).item()
    44.0
    """
    delta = delta_0(step_size, T, m, radius)
    _positive_log(6 * T / delta)
    return lemma_13_lambda(gamma, step_size, T, delta)


def theorem_14_width(
    gamma: ArrayLike, step_size: ArrayLike, T: ArrayLike, d: ArrayLike, *, projection: bool = True
) -> float | np.ndarray:
    """The smallest width of Theorem 14, the least m >= 1 with ``m >= 2401 gamma^-6 lambda^2``.

    Parameters
    ----------
    gamma : float or array_like
        Margin, larger than 0.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, with ``2 eta T >= 1``.
    d : float or array_like
        Number of inputs, at least 1.
    projection : bool, optional
        Whether c is that of Theorem 14, the default, or that of Theorem 5.I.

    Returns
    -------
    float or ndarray
        The width, a real number; every larger one is admitted, too.

    Notes
    -----
    lambda grows with ln m. The right side h(m) increases with m, so that h(1), h(h(1)), ...
    increase to its least fixed point.

    References
    ----------
    :claim:`beyond/width-power-of-q`

    Examples
    --------
    >>> f"{theorem_14_width(0.5, np.log(2), 5.7e5, 1):.3g}"
    '7.64e+09'
    """
    gamma, d = arguments.numbers("gamma", gamma, above=0), arguments.numbers("d", d, least=1)

    def asked(m):
        radius = start_radius(d, m) if projection else np.sqrt(d) + 1
        return 2401 * theorem_14_lambda(gamma, step_size, T, m, radius) ** 2 / gamma**6

    return _least_width(asked, step_size, T)


def theorem_14(
    lam: ArrayLike, step_size: ArrayLike, T: ArrayLike, kappa: ArrayLike = 1
) -> float | np.ndarray:
    """Bound on the average of ``E[R(q W_t)]`` over t <= T, ``(2 lambda^2 + 1) / (kappa eta T)``.

    Parameters
    ----------
    lam : float or array_like
        The lambda.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, larger than 0.
    kappa : float or array_like, optional
        Larger than 0; 1, the default, in Theorem 14, and `kappa` of step_size in Theorems 5.I and
        5.J.

    Returns
    -------
    float or ndarray
        A bound under the hypotheses of these theorems: ``eta <= ln 2``, ``2 eta T >= 1``, the
        margin and the width.

    References
    ----------
    :claim:`thesis/theorem-14`, :claim:`beyond/theorem-14-no-projection`,
    :claim:`beyond/mask-aware-width`

    Examples
    --------
    >>> float(theorem_14(3, 0.5, 100))
    0.38
    """
    lam = arguments.numbers("lam", lam)
    step_size, T, kappa = _positive(step_size=step_size, T=T, kappa=kappa)
    return (2 * lam**2 + 1) / (kappa * step_size * T)


def concentration(
    total: ArrayLike,
    delta: ArrayLike,
    *,
    largest: ArrayLike = 1 / LN2,
    inflation: ArrayLike = SUPERMARTINGALE,
) -> float | np.ndarray:
    """Bound on a sum of conditional means from the sum of 0 <= X_s <= M, for all t at once.

    With probability at least 1 - delta the sum over s <= t of the means of the X_s, each given what
    came before it, stays below ``inflation (X_1 + ... + X_t + M ln(1 / delta))``.

    Parameters
    ----------
    total : float or array_like
        Sum of the X_s, at least 0.
    delta : float or array_like
        Failure probability, in (0, 1).
    largest : float or array_like, optional
        M, larger than 0; 1 / ln 2, as for Q, by default.
    inflation : float or array_like, optional
        Larger than 0; a bound if it is at least SUPERMARTINGALE, the default. FREEDMAN is larger,
        and follows from Freedman's inequality too, for one t.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/remark-5.4-martingale`, :claim:`beyond/theorem-15-constants`

    Examples
    --------
    >>> float(concentration(3, np.exp(-2), largest=1, inflation=2).round(12))
    10.0
    """
    total = arguments.numbers("total", total, least=0)
    M, inflation = _positive(largest=largest, inflation=inflation)
    return inflation * (total + M * _log_inverse(delta))


def concentration_failure(
    p: ArrayLike, delta: float, steps: int, *, inflation: float = SUPERMARTINGALE
) -> float | np.ndarray:
    """The probability that `concentration` fails at some t <= steps, exactly, for tossed coins.

    X_s is 1 with probability p, else 0, independently, and it fails at t if t p exceeds it.

    Parameters
    ----------
    p : float or array_like
        Probability of a one, in [0, 1]; of Fractions the answer has no rounding.
    delta : float
        Failure probability that is asked for, in (0, 1).
    steps : int
        Number of coins, at least 1.
    inflation : float, optional
        Larger than 0; SUPERMARTINGALE by default.

    Returns
    -------
    float or ndarray
        The probability for each p. With Fractions it is that of a bound which is smaller by one or
        two millionths, a rational one, and so no less.

    Notes
    -----
    Cost: ``O(steps^2)`` for each p, by the law of the number of ones on the paths that have not
    failed so far.

    References
    ----------
    :claim:`beyond/theorem-15-constants`

    Examples
    --------
    >>> float(concentration_failure(0.75, 0.9, 1))  # a zero is enough
    0.25
    """
    p = np.asarray(arguments.numbers("p", p, exact=True, least=0, most=1))[..., None]
    steps = arguments.positive_integer("steps", steps)
    bound = concentration(np.arange(steps + 1), delta, largest=1, inflation=inflation)
    if p.dtype == object:
        bound = np.array([Fraction(floor(10**6 * b) - 1, 10**6) for b in bound])
    law = (np.arange(steps + 1) == 0) + 0 * p
    failed = 0 * p[..., 0]
    for t in range(1, steps + 1):
        before, law = law, (1 - p) * law
        law[..., 1:] += p * before[..., :-1]
        low = t * p > bound
        failed = failed + (law * low).sum(-1)
        law = np.where(low, 0, law)
    return failed


def theorem_15_constants(inflation: ArrayLike) -> tuple[float | np.ndarray, float | np.ndarray]:
    """The two constants that `concentration` with this inflation gives in Theorem 15.

    Parameters
    ----------
    inflation : float or array_like
        Larger than 0.

    Returns
    -------
    first : float or ndarray
        ``4 ln 2 inflation``, in front of ``lambda^2 / (eta T)``.
    second : float or ndarray
        ``inflation``, in front of ``ln(1 / delta) / T``: half of what the sum of the Q would give,
        as mistakes are at most 1, and 1{z <= 0} is at most 2 ln 2 Q.

    References
    ----------
    :claim:`beyond/theorem-15-constants`

    Examples
    --------
    >>> [round(float(c), 4) for c in theorem_15_constants(SUPERMARTINGALE)]
    [4.3862, 1.582]
    """
    inflation = arguments.numbers("inflation", inflation, above=0)
    return 4 * LN2 * inflation, inflation


def theorem_15(
    lam: ArrayLike,
    step_size: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    *,
    constants: tuple[float, float] = PRINTED,
    kappa: ArrayLike = 1,
) -> float | np.ndarray:
    """Bound on the average of ``R(W_t; B_t)`` over t <= T.

    ``C lambda^2 / (kappa eta T) + C' ln(1 / delta) / T``.

    Parameters
    ----------
    lam : float or array_like
        The lambda.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, larger than 0.
    delta : float or array_like
        Failure probability, in (0, 1).
    constants : (float, float), optional
        C and C'; by default 12 and 6, as printed, or else from `theorem_15_constants`.
    kappa : float or array_like, optional
        Larger than 0, 1 by default. With `kappa` of step_size and the supermartingale's constants,
        it is the second bound of Theorems 5.I and 5.J.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`thesis/theorem-15`, :claim:`beyond/theorem-14-no-projection`,
    :claim:`beyond/mask-aware-width`

    Examples
    --------
    >>> float(theorem_15(1, 0.5, 100, np.exp(-10)).round(12))
    0.84
    """
    lam = arguments.numbers("lam", lam)
    step_size, T, kappa = _positive(step_size=step_size, T=T, kappa=kappa)
    first, second = constants
    return first * lam**2 / (kappa * step_size * T) + second * _log_inverse(delta) / T


def certificate(total: ArrayLike, T: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Bound on the average error of fresh subnetworks along a run, from the sum of the Q.

    ``(2 ln 2 sum Q_t + ln(1 / delta)) / ((1 - 1/e) T)``, with probability at least 1 - delta for
    all T at once: `mistake_certificate`, where 1{z <= 0} is at most 2 ln 2 Q.

    Parameters
    ----------
    total : float or array_like
        Sum over t <= T of the ``Q_t(W_t)``, at least 0.
    T : float or array_like
        Number of steps, larger than 0.
    delta : float or array_like
        Failure probability, in (0, 1).

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`beyond/unseen-subnetworks-certificate`

    Examples
    --------
    >>> round(float(certificate(10, 100, 0.05)), 4)
    0.2667
    """
    return mistake_certificate(2 * LN2 * arguments.numbers("total", total, least=0), T, delta)


def mistake_certificate(mistakes: ArrayLike, T: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Bound on the average error of fresh subnetworks along a run, from the online mistakes.

    ``(K + ln(1 / delta)) / ((1 - 1/e) T)``, with probability at least 1 - delta for all T at once.

    Parameters
    ----------
    mistakes : float or array_like
        Number K of t <= T with ``y_t g_t(W_t) <= 0``, at least 0.
    T : float or array_like
        Number of steps, larger than 0.
    delta : float or array_like
        Failure probability, in (0, 1).

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    :claim:`beyond/unseen-subnetworks-certificate`

    Examples
    --------
    >>> round(float(mistake_certificate(10, 100, 0.05)), 4)
    0.2056
    """
    return concentration(mistakes, delta, largest=1) / arguments.numbers("T", T, above=0)


class MaskAware(NamedTuple):
    """Theorem 5.J at one width; see `mask_aware`.

    Attributes
    ----------
    lam : float or ndarray
        The lambda.
    L : float or ndarray
        The logarithm L.
    Lambda : float or ndarray
        ``max(lambda / g, 10 L)``.
    width : float or ndarray
        ``900 Lambda^4 / (lambda g)^2``; the theorem applies if m is at least that.
    """

    lam: np.ndarray
    L: np.ndarray
    Lambda: np.ndarray
    width: np.ndarray


def mask_aware(
    g: ArrayLike, step_size: ArrayLike, T: ArrayLike, d: ArrayLike, m: ArrayLike, *, keep: ArrayLike
) -> MaskAware:
    """The quantities of Theorem 5.J, whose width condition keeps track of the mask.

    Parameters
    ----------
    g : float or array_like
        Margin of the full features (q = 1), so that gamma = q g; larger than 0.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, with ``2 eta T >= 1``.
    d : float or array_like
        Number of inputs, at least 1.
    m : float or array_like
        Width, at least 1.
    keep : float or array_like
        Probability q of keeping a unit, in (0, 1].

    Returns
    -------
    MaskAware
        The bounds are `theorem_14` and `theorem_15` at its lam and `kappa` of step_size.

    References
    ----------
    :claim:`beyond/mask-aware-width`

    Examples
    --------
    >>> at = mask_aware(0.5, 0.5, 1, 1, np.exp(9), keep=1)
    >>> bool(at.Lambda == 10 * at.L), round(float(at.L), 3)
    (True, 17.659)
    """
    g, step_size, T = _positive(g=g, step_size=step_size, T=T)
    keep = arguments.numbers("keep", keep, above=0, most=1)
    d, m = arguments.numbers("d", d, least=1), arguments.numbers("m", m, least=1)
    _check_horizon(step_size, T)
    K = step_size * (np.sqrt(d) + 1)
    log = _positive_log(32 * K * np.sqrt(m) * T**2)
    lam = (5 * np.log(2 * step_size * T) + np.sqrt(44 * log)) / (keep * g)
    L = np.log(64 * K * m**1.5 * T**2)
    Lambda = np.maximum(lam / g, 10 * L)
    return MaskAware(lam, L, Lambda, (30 * Lambda**2 / (lam * g)) ** 2)


def mask_aware_width(
    g: ArrayLike, step_size: ArrayLike, T: ArrayLike, d: ArrayLike, *, keep: ArrayLike
) -> float | np.ndarray:
    """The smallest width m >= 1 that Theorem 5.J admits.

    Parameters
    ----------
    g : float or array_like
        Margin of the full features (q = 1), so that gamma = q g; larger than 0.
    step_size : float or array_like
        Larger than 0.
    T : float or array_like
        Number of steps, with ``2 eta T >= 1``.
    d : float or array_like
        Number of inputs, at least 1.
    keep : float or array_like
        Probability q of keeping a unit, in (0, 1].

    Returns
    -------
    float or ndarray
        The width, a real number; every larger one is admitted, too.

    References
    ----------
    :claim:`beyond/mask-aware-width`

    Examples
    --------
    >>> f"{mask_aware_width(np.sqrt(2) / 4, np.log(2), 1e6, 2, keep=1):.3g}"
    '4.85e+10'
    """
    return _least_width(lambda m: mask_aware(g, step_size, T, d, m, keep=keep).width, step_size, T)


# ----------------------------------------------------------------------------------------- helpers


def _least_width(asked, step_size, T):
    """The limit of m = 1, asked(1), asked(asked(1)), ...: the least m with asked(m) <= m."""
    _check_horizon(*_positive(step_size=step_size, T=T))
    m, last = np.maximum(asked(1), 1), 0.0
    while np.any(m > last * (1 + 1e-14)):
        m, last = np.maximum(asked(m), 1), m
    return m


def _positive(**values):
    return [arguments.numbers(name, x, above=0) for name, x in values.items()]


def _check_horizon(step_size, T):
    if np.any(2 * step_size * T < 1):
        raise ValueError("2 step_size T must be at least 1, for else lambda need not be positive.")


def _positive_log(x):
    if np.any(x < 1):
        raise ValueError("T must be larger, for else the logarithm in lambda is negative.")
    return np.log(x)


def _log_inverse(delta):
    """ln(1 / delta), also where 1 / delta overflows."""
    return -np.log(arguments.numbers("delta", delta, above=0, below=1))
