"""Constants and right-hand sides of Chapter 5: the guarantees for dropout in the lazy regime.

Notation: q keep probability, gamma the margin of Assumption 2 (at most q / 2), eta = step_size,
T steps, width m, inputs in R^d with |x| <= 1, radius c, l(z) = log_2(1 + e^-z) and Q = -l'. All
functions broadcast over their arguments. T, m and d are numbers here, real ones too: the sizes
that the theorems ask for exceed what runs. Hypotheses are the business of the caller, and the
docstrings name them; the widths come from `theorem_14_width` and `mask_aware_width`.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from runproofs import _arguments as arguments

LN2 = np.log(2)
BEST_LOSS = brentq(lambda l: np.expm1(l) - 2 * l, 1, 2, xtol=1e-15)
RHO = (1 - np.exp(-BEST_LOSS)) ** 2 / BEST_LOSS  # max over l > 0 of (1 - e^-l)^2 / l, at that l
SUPERMARTINGALE = 1 / (1 - np.exp(-1))  # by convexity of e^-u on [0, 1]
FREEDMAN = 1 / (3 - np.e)  # from e^u <= 1 + u + (e - 2) u^2 for u <= 1
PRINTED = 12.0, 6.0  # the constants of Theorem 15


def kappa(step_size, N=1):
    """2 - RHO N eta / ln 2, the coefficient of eta L_t in the one-step form of Proposition 5.E.

    step_size: larger than 0. N: the largest squared norm of a gradient of g_t, at least 0. The
    proposition divides by kappa, and so it asks for a value above 0: step_size below 3.40 / N.
    Raises ValueError for bad arguments. Source: beyond/sharper-regret; the thesis has 1 for it.

    >>> round(float(kappa(np.log(2))), 5)
    1.59274
    """
    step_size = arguments.numbers("step_size", step_size, above=0)
    N = arguments.numbers("N", N, least=0)
    return 2 - RHO * N * step_size / LN2


def mu(step_size, N=1):
    """1 + 2 RHO s / (4 ln 2 - s) with s = eta N: what a rival's loss costs in Proposition 5.E (b).

    step_size, N: as in `kappa`, with step_size N below 4 ln 2. Raises ValueError for bad arguments.
    Source: beyond/sharper-regret; the thesis has 2 for it.

    >>> round(float(mu(np.log(2))), 5)
    1.27151
    """
    s = arguments.numbers("step_size", step_size, above=0) * arguments.numbers("N", N, least=0)
    if np.any(s >= 4 * LN2):
        raise ValueError(f"step_size N must be below 4 ln 2 = 2.77..., but it was {s.max()}.")
    return 1 + 2 * RHO * s / (4 * LN2 - s)


def start_radius(d, m):
    """c = sqrt(d) + 2 sqrt(ln m) + 1: the rows of W_1 are within c - 1 with probability 1 - 1 / m.

    d, m: at least 1. Raises ValueError for smaller ones. Source: thesis, Section 5.3, without the
    last term of its c, which no proof needs.

    >>> float(start_radius(4, 1))
    3.0
    """
    d, m = arguments.numbers("d", d, least=1), arguments.numbers("m", m, least=1)
    return np.sqrt(d) + 2 * np.sqrt(np.log(m)) + 1


def delta_0(step_size, T, m, radius):
    """1 / (4 eta c sqrt(m) T), the failure probability for which Theorem 14 fixes its lambda.

    All arguments are larger than 0; ValueError otherwise. Source: thesis, proof of Theorem 14.

    >>> float(delta_0(0.5, 10, 25, 2))
    0.005
    """
    step_size, T, m, radius = _positive(step_size=step_size, T=T, m=m, radius=radius)
    return 1 / (4 * step_size * radius * np.sqrt(m) * T)


def lemma_13_lambda(gamma, step_size, T, delta):
    """lambda = (5 ln(2 eta T) + sqrt(44 ln(6 T / delta))) / gamma of Lemma 13.

    gamma, step_size, T, delta: larger than 0, with 6 T >= delta; ValueError otherwise. A bound
    needs 2 eta T >= 1 as well: below, lambda can be 0 or negative. Source: thesis/lemma-13.

    >>> lemma_13_lambda(0.5, 0.5, 1, 6 * np.exp(-11)).round(12).item()
    44.0
    """
    gamma, step_size, T, delta = _positive(gamma=gamma, step_size=step_size, T=T, delta=delta)
    if np.any(delta > 6 * T):
        raise ValueError("delta must be at most 6 T, for else the logarithm in lambda is negative.")
    return (5 * np.log(2 * step_size * T) + np.sqrt(44 * np.log(6 * T / delta))) / gamma


def theorem_14_lambda(gamma, step_size, T, m, radius):
    """lambda = (5 ln(2 eta T) + sqrt(44 ln(24 eta c sqrt(m) T^2))) / gamma of Theorem 14.

    Lemma 13 at delta = `delta_0`. radius: c, `start_radius(d, m)` in the thesis and sqrt(d) + 1 in
    Theorem 5.I, which has no projection. Other arguments, range and errors as there. Source:
    thesis/theorem-14, beyond/theorem-14-no-projection.

    >>> (theorem_14_lambda(0.5, 0.5, 1, 1, np.exp(11) / 12)).round(12).item()
    44.0
    """
    delta = delta_0(step_size, T, m, radius)
    _positive_log(6 * T / delta)
    return lemma_13_lambda(gamma, step_size, T, delta)


def theorem_14_width(gamma, step_size, T, d, *, projection=True):
    """The smallest width m >= 1 with m >= 2401 gamma^-6 lambda^2; lambda grows with ln m.

    gamma, step_size larger than 0, 2 eta T >= 1, d >= 1; ValueError otherwise. projection: the c of
    Theorem 14, else that of Theorem 5.I. The right side h(m) increases with m, so h(1), h(h(1)),
    ... increase to its least fixed point; a real number. Every larger m is admitted, too. Source:
    beyond/width-power-of-q.

    >>> f"{theorem_14_width(0.5, np.log(2), 5.7e5, 1):.3g}"
    '7.64e+09'
    """
    gamma, d = arguments.numbers("gamma", gamma, above=0), arguments.numbers("d", d, least=1)

    def asked(m):
        radius = start_radius(d, m) if projection else np.sqrt(d) + 1
        return 2401 * theorem_14_lambda(gamma, step_size, T, m, radius) ** 2 / gamma**6

    return _least_width(asked, step_size, T)


def theorem_14(lam, step_size, T, kappa=1):
    """(2 lambda^2 + 1) / (kappa eta T): the average over t <= T of E[R(q W_t)] is at most this.

    lam: any real number. kappa: 1 in Theorem 14, `kappa(step_size)` in Theorems 5.I and 5.J. The
    others are larger than 0; ValueError otherwise. A bound under the hypotheses of these theorems:
    eta <= ln 2, 2 eta T >= 1, the margin and the width.

    >>> float(theorem_14(3, 0.5, 100))
    0.38
    """
    lam = arguments.numbers("lam", lam)
    step_size, T, kappa = _positive(step_size=step_size, T=T, kappa=kappa)
    return (2 * lam**2 + 1) / (kappa * step_size * T)


def concentration(total, delta, *, largest=1 / LN2, inflation=SUPERMARTINGALE):
    """inflation (X_1 + ... + X_t + M ln(1 / delta)) for 0 <= X_s <= M.

    With probability at least 1 - delta the sum of the conditional means of the X_s, each given
    what came before it, stays below this for all t at once, if inflation is SUPERMARTINGALE or
    larger; FREEDMAN, which is, follows from Freedman's inequality too, for one t.
    total: at least 0. delta: larger than 0 and below 1, up to rounding. largest: M, larger than 0,
    1 / ln 2 as for Q. Raises ValueError for bad arguments. Source: thesis/remark-5.4-martingale,
    beyond/theorem-15-constants.

    >>> float(concentration(3, np.exp(-2), largest=1, inflation=2).round(12))
    10.0
    """
    total = arguments.numbers("total", total, least=0)
    M, inflation = _positive(largest=largest, inflation=inflation)
    return inflation * (total + M * _log_inverse(delta))


def concentration_failure(p, delta, steps, *, inflation=SUPERMARTINGALE):
    """The probability that `concentration` fails at some t <= steps, exactly, for tossed coins.

    X_s is 1 with probability p, else 0, independently, and it fails at t if t p exceeds it. p: in
    [0, 1], of any shape. steps: a whole number, at least 1. Other arguments and errors as there.
    Returns an array of the shape of p. Cost: O(steps^2) for each p, by the law of the number of
    ones on the paths that have not failed so far. Source: beyond/theorem-15-constants.

    >>> float(concentration_failure(0.75, 0.9, 1))  # a zero is enough
    0.25
    """
    p = arguments.numbers("p", p, least=0, most=1)[..., None]
    steps = arguments.positive_integer("steps", steps)
    bound = concentration(np.arange(steps + 1), delta, largest=1, inflation=inflation)
    law = np.eye(1, steps + 1)[0] + 0 * p
    failed = 0 * p[..., 0]
    for t in range(1, steps + 1):
        before, law = law, (1 - p) * law
        law[..., 1:] += p * before[..., :-1]
        low = t * p > bound
        failed = failed + (law * low).sum(-1)
        law = np.where(low, 0, law)
    return failed


def theorem_15_constants(inflation):
    """The two constants that `concentration` with this inflation gives in Theorem 15.

    4 ln 2 inflation in front of lambda^2 / (eta T), 2 inflation in front of ln(1 / delta) / T.
    Raises ValueError unless inflation is larger than 0. Source: beyond/theorem-15-constants.

    >>> [round(float(c), 4) for c in theorem_15_constants(SUPERMARTINGALE)]
    [4.3862, 3.164]
    """
    inflation = arguments.numbers("inflation", inflation, above=0)
    return 4 * LN2 * inflation, 2 * inflation


def theorem_15(lam, step_size, T, delta, *, constants=PRINTED, kappa=1):
    """C lambda^2 / (kappa eta T) + C' ln(1 / delta) / T: the average of R(W_t; B_t) is below it.

    constants: C, C', the thesis' 12 and 6 unless given, or of `theorem_15_constants`; with the
    supermartingale's and kappa = `kappa(step_size)` the second bound of Theorems 5.I and 5.J.
    Other arguments and errors as in `theorem_14` and `concentration`. Source: thesis/theorem-15.

    >>> float(theorem_15(1, 0.5, 100, np.exp(-10)).round(12))
    0.84
    """
    lam = arguments.numbers("lam", lam)
    step_size, T, kappa = _positive(step_size=step_size, T=T, kappa=kappa)
    first, second = constants
    return first * lam**2 / (kappa * step_size * T) + second * _log_inverse(delta) / T


def certificate(total, T, delta):
    """2 ln 2 / (1 - 1/e) (sum Q_t + ln(1 / delta) / ln 2) / T: Proposition 5.H, from the sum of Q.

    With probability at least 1 - delta, for all T at once, the average error of fresh sub-networks
    along the run is at most this. total: sum over t <= T of Q_t(W_t), at least 0. Other arguments
    and errors as in `concentration`. Source: beyond/unseen-subnetworks-certificate.

    >>> round(float(certificate(10, 100, 0.05)), 4)
    0.3141
    """
    return 2 * LN2 * concentration(total, delta) / arguments.numbers("T", T, above=0)


def mistake_certificate(mistakes, T, delta):
    """(K + ln(1 / delta)) / ((1 - 1/e) T): Proposition 5.H, from the number K of online mistakes.

    mistakes: the number of t <= T with y_t g_t(W_t) <= 0. All else as in `certificate`.

    >>> round(float(mistake_certificate(10, 100, 0.05)), 4)
    0.2056
    """
    return concentration(mistakes, delta, largest=1) / arguments.numbers("T", T, above=0)


class MaskAware(NamedTuple):
    """Theorem 5.J at one width: lambda, L, Lambda = max(lambda / g, 10 L), and the least width.

    width: 900 Lambda^4 / (lambda g)^2; the theorem applies if m is at least that.
    """

    lam: np.ndarray
    L: np.ndarray
    Lambda: np.ndarray
    width: np.ndarray


def mask_aware(g, step_size, T, d, m, *, keep):
    """The quantities of Theorem 5.J, whose width condition keeps track of the mask.

    g: margin of the full features (q = 1), so that gamma = q g. keep: q, in (0, 1]. g, step_size:
    than 0. d, m: at least 1. 2 eta T >= 1. Raises ValueError otherwise. Returns `MaskAware`; its
    bounds are `theorem_14` and `theorem_15` at its lam and kappa. Source: beyond/mask-aware-width.

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


def mask_aware_width(g, step_size, T, d, *, keep):
    """The smallest width m >= 1 that Theorem 5.J admits, by the iteration of `theorem_14_width`.

    Arguments and errors as in `mask_aware`. A real number; every larger m is admitted, too.

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
