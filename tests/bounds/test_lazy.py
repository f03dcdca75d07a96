"""The bounds of Chapter 5 by hand, by bisection, and on laws where they can be computed."""

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from helpers.refusals import refusals
from runproofs.bounds import lazy
from runproofs.instances import lazy as instances

LN2 = log(2)
XOR = sqrt(2) / 4


def test_mu_is_enough_in_one_step_and_nearly_the_best_for_small_steps():
    """D_2 <= D_1 - 2 eta L + 2 mu eta L(U) over 2 eta, for all margins z and v of the two."""
    z = np.linspace(-8, 8, 321)
    v = z[:, None]
    loss_z, loss_v, Q = np.logaddexp(0, -z), np.logaddexp(0, -v), expit(-z)  # each times ln 2
    for s in (0.01, LN2, 2.7):
        least = ((loss_z + Q * (z - v) + s * Q**2 / (2 * LN2)) / loss_v).max()
        assert least <= lazy.mu(s)
        assert lazy.mu(s / 4, 4) == lazy.mu(s)
        if s < 0.1:
            assert least - 1 > 0.99 * (lazy.mu(s) - 1)
    assert lazy.mu(1, 0) == 1
    assert lazy.kappa(1, 0) == 2


def test_lambda_by_hand():
    log_6 = 1 + log(6)
    expected = (5 * log(8) + sqrt(44 * log_6)) / 0.2
    found = lazy.lemma_13_lambda(0.2, 0.4, 10, 10 / exp(1))
    assert found == pytest.approx(expected, rel=1e-14)
    c = lazy.start_radius(9, exp(4))
    assert c == pytest.approx(8, rel=1e-14)
    assert lazy.delta_0(0.4, 10, 100, 8) == pytest.approx(1 / 1280, rel=1e-14)
    by_hand = (5 * log(8) + sqrt(44 * log(24 * 0.4 * 8 * 10 * 100))) / 0.2
    assert lazy.theorem_14_lambda(0.2, 0.4, 10, 100, 8) == pytest.approx(by_hand, rel=1e-14)


def test_the_ends_of_the_ranges_belong_to_them():
    at_end = lazy.lemma_13_lambda(0.2, 0.4, 10, 60)  # delta = 6 T
    assert at_end == pytest.approx(5 * log(8) / 0.2, rel=1e-14)
    for T in (0.5, 0.7):  # 2 eta T = 1, and a little more
        m = lazy.theorem_14_width(0.1, 1, T, 1)
        found = lazy.theorem_14_lambda(0.1, 1, T, m, lazy.start_radius(1, m))
        assert m == pytest.approx(2401 * found**2 / 0.1**6, rel=1e-12)


@pytest.mark.parametrize("projection", [True, False])
@pytest.mark.parametrize(("gamma", "T", "d"), [(0.5, 1e3, 1), (XOR / 2, 1e6, 2), (0.01, 1e9, 784)])
def test_widths_of_theorem_14_by_bisection(gamma, T, d, projection):
    def slack(log_m):
        m = exp(log_m)
        c = sqrt(d) + 1 + (2 * sqrt(log_m) if projection else 0)
        lam = (5 * log(2 * LN2 * T) + sqrt(44 * log(24 * LN2 * c * sqrt(m) * T**2))) / gamma
        return m / (2401 * gamma**-6 * lam**2) - 1

    expected = exp(brentq(slack, 1, 200, xtol=1e-13))
    found = lazy.theorem_14_width(gamma, LN2, T, d, projection=projection)
    assert found == pytest.approx(expected, rel=1e-11)


def test_mask_aware_width_by_bisection_and_both_branches():
    branches = set()
    for g, q, d, T in ((0.5, 1, 1, 1e3), (0.5, 0.01, 784, 1e6), (XOR, 1, 2, 1e6)):

        def slack(log_m, g=g, q=q, d=d, T=T):
            m, K = exp(log_m), LN2 * (sqrt(d) + 1)
            lam = (5 * log(2 * LN2 * T) + sqrt(44 * log(32 * K * sqrt(m) * T**2))) / (q * g)
            L = log(64 * K * m**1.5 * T**2)
            branches.add(lam / g > 10 * L)
            return sqrt(m) / (30 * max(lam / g, 10 * L) ** 2 / (lam * g)) - 1

        expected = exp(brentq(slack, 1, 100, xtol=1e-13))
        found = lazy.mask_aware_width(g, LN2, T, d, keep=q)
        assert found == pytest.approx(expected, rel=1e-11)
        assert lazy.mask_aware(g, LN2, T, d, found, keep=q).width == pytest.approx(found, rel=1e-12)
    assert branches == {True, False}


@pytest.mark.parametrize("more", [1 + 1e-9, 2, 1e3, 1e9, 1e40])
def test_every_larger_width_is_admitted(more):
    q, T = np.array([[1], [0.3], [1e-4]]), np.array([1 / (2 * LN2), 1e3, 1e12])
    m = more * lazy.mask_aware_width(0.5, LN2, T, 2, keep=q)
    assert (lazy.mask_aware(0.5, LN2, T, 2, m, keep=q).width < m).all()
    for projection in (True, False):
        m = more * lazy.theorem_14_width(q / 2, LN2, T, 2, projection=projection)
        c = lazy.start_radius(2, m) if projection else np.sqrt(2) + 1
        assert (2401 * (2 / q) ** 6 * lazy.theorem_14_lambda(q / 2, LN2, T, m, c) ** 2 < m).all()


def test_widths_are_at_least_one():
    """No data have a margin beyond 1 / 2: only there the floor acts."""
    assert lazy.theorem_14_width(100, LN2, 10, 1) == 1
    assert lazy.mask_aware_width(1e9, LN2, 10, 1, keep=1e-9) == 1


def test_right_hand_sides_by_hand():
    assert lazy.theorem_14(10, 0.5, 100, 2) == pytest.approx(2.01, rel=1e-14)
    bound = lazy.theorem_15(10, 0.5, 100, exp(-3), constants=(3, 7), kappa=2)
    assert bound == pytest.approx(3.21, rel=1e-14)
    assert lazy.theorem_15(10, 0.5, 100, exp(-3)) == pytest.approx(24.18, rel=1e-14)
    np.testing.assert_allclose(
        lazy.theorem_15_constants(lazy.FREEDMAN), [9.841711, 3.549647], atol=1e-6
    )
    assert lazy.theorem_15_constants(0.5) == pytest.approx((2 * LN2, 0.5), rel=1e-14)
    k = 1 / (1 - exp(-1))
    assert lazy.certificate(3, 10, exp(-2)) == pytest.approx(k * (6 * LN2 + 2) / 10, rel=1e-12)
    assert lazy.mistake_certificate(3, 10, exp(-2)) == pytest.approx(k / 2, rel=1e-12)


def test_failure_probabilities_whose_inverse_overflows():
    bound, log = lazy.theorem_15(0, 1, 1, 1e-320, constants=(3, 7)), 320 * np.log(10)
    assert bound == pytest.approx(7 * log, rel=1e-4)  # 1e-320 has few digits
    assert lazy.mistake_certificate(0, 1, 1e-320) == pytest.approx(log / (1 - exp(-1)), rel=1e-4)


@pytest.mark.parametrize("inflation", [1.1, lazy.SUPERMARTINGALE])
def test_a_failure_at_any_time_by_all_paths(inflation):
    p, delta, steps = np.array([[0.03, 0.2], [0.5, 0.9]]), 0.4, 10
    tosses = (np.arange(2**steps)[:, None] >> np.arange(steps) & 1).astype(float)
    ones, times = tosses.cumsum(1), np.arange(1, steps + 1)
    bound = lazy.concentration(ones, delta, largest=1, inflation=inflation)
    ever = (times * p[..., None, None] > bound).any(-1)
    law = np.where(tosses, p[..., None, None], 1 - p[..., None, None]).prod(-1)
    expected = (law * ever).sum(-1)
    found = lazy.concentration_failure(p, delta, steps, inflation=inflation)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert expected.max() > 0.1
    assert lazy.concentration_failure(0, delta, steps, inflation=inflation) == 0


test_each_error_is_one_sentence = refusals(
    (lambda: lazy.kappa(0), "step_size must be larger than 0, but it was 0.0."),
    (lambda: lazy.kappa(1, -1), "N must be at least 0, but it was -1.0."),
    (lambda: lazy.mu([0.1, 0.7], 4), "step_size N must be below 4 ln 2"),
    (lambda: lazy.start_radius(0.5, 3), "d must be at least 1, but it was 0.5."),
    (lambda: lazy.start_radius(3, 0.5), "m must be at least 1, but it was 0.5."),
    (lambda: lazy.lemma_13_lambda(0.1, 1, 1, 7), "delta must be at most 6 T, for else"),
    (lambda: lazy.theorem_14_width(0.5, 50, 0.01, 1), "T must be larger, for else the logarithm"),
    (lambda: lazy.mask_aware_width(0.5, 50, 0.01, 1, keep=1), "T must be larger, for else"),
    (lambda: lazy.theorem_14_width(0.1, 0.1, 4, 1), "2 step_size T must be at least 1"),
    (lambda: lazy.mask_aware_width(0.1, 0.1, 4, 1, keep=1), "2 step_size T must be at least 1"),
    (
        lambda: lazy.mask_aware(0.1, 1, 4, 1, 9, keep=1.1),
        "keep must be larger than 0 and at most 1",
    ),
    (lambda: lazy.concentration(1, 1), "delta must be larger than 0 and below 1, but it was 1.0."),
    (lambda: lazy.concentration(-1, 0.1), "total must be at least 0, but it was -1.0."),
    (lambda: lazy.concentration_failure(1.1, 0.1, 5), "p must be at least 0 and at most 1, but"),
    (lambda: lazy.concentration_failure(0.1, 0.1, 0), "steps must be an integer that is at least"),
    (lambda: lazy.theorem_15(1, 1, 1, 0), "delta must be larger than 0 and .* it was 0.0."),
    (lambda: lazy.theorem_15_constants(0), "inflation must"),
    (lambda: lazy.certificate(1, 0, 0.1), "T must be larger than 0, but it was 0.0."),
)


def test_a_failure_at_any_time_in_fractions():
    """A bound that is rounded down fails no less often."""
    p = np.array([Fraction(1, 10), Fraction(3, 4)])
    exact = lazy.concentration_failure(p, 0.4, 12)
    assert all(isinstance(chance, Fraction) for chance in exact)
    rounded = lazy.concentration_failure(p.astype(float), 0.4, 12)
    assert exact.astype(float) == pytest.approx(rounded, rel=1e-12)
    (edge,) = lazy.concentration_failure([Fraction(1, 2)], float(np.exp(-0.5)), 1, inflation=1)
    assert edge == Fraction(1, 2)  # 1/2 exceeds 1/2 less a millionth
    assert lazy.concentration_failure(0.5, float(np.exp(-0.5)) * (1 - 1e-9), 1, inflation=1) == 0


def test_the_exact_lambda_is_that_of_the_formula():
    delta = instances.exact_delta_0(Fraction(1, 2), 100, 50, 2)
    found = instances.exact_lambda(Fraction(1, 4), Fraction(1, 2), 100, delta)
    radius = lazy.start_radius(2, 50)
    expected = lazy.theorem_14_lambda(0.25, 0.5, 100, 50, radius)
    assert float(found) == pytest.approx(float(expected), rel=1e-14)
