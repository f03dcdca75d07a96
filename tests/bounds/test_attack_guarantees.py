"""The bounds on attacks by hand, in exact arithmetic and by quadrature."""

from fractions import Fraction
from math import exp, nan

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.bounds import attack_guarantees as attacks


def test_thresholds_and_steps_by_hand():
    np.testing.assert_allclose(attacks.beta_threshold([0.5, 2], 0.75, 3), [0.75, 3], rtol=1e-15)
    np.testing.assert_allclose(attacks.attack_step([2, 0.5], 3), [1 / 36, 4 / 9], rtol=1e-15)


def test_visits_are_exact_for_all_numbers_of_two_decimals():
    """Against integers: with excess k / 100 the power is 10000 / k^2."""
    for i in range(101):
        for j in range(100 - i + 1, 251):
            k, b, alpha = i + j - 100, j / 100, i / 100
            assert attacks.visits_at_level(b, alpha) == -(-10_000 // k**2), (b, alpha)


def test_visits_where_the_power_is_no_integer_or_barely_one():
    assert attacks.visits_at_level(0.4, 0.8) == 25  # the least level above .4 needs no more
    assert attacks.visits_at_level(np.nextafter(0.4, 1), 0.8) == 25
    assert attacks.visits_at_level(np.nextafter(0.4, 0), 0.8) == 26
    for b in (0.7001, 0.50003, 1.234567, 0.5000000001):
        power = 1 / (Fraction(str(b)) - Fraction(1, 2)) ** 2
        assert attacks.visits_at_level(b, 0.5) == power.__ceil__()
    assert attacks.visits_at_level(1, np.array(0.5)) == 4


@pytest.mark.parametrize(("loss", "sign"), [("ce", 1), ("reflected", -1)])
def test_flow_times_are_those_of_the_flow(loss, sign):
    """dz/dt = -slope^2 / (1 + e^(+-z)), integrated numerically from 3 to 0; its limits.

    Near 0 it is a series, where e^z + z - 1 has lost half of its digits.
    """
    z = np.linspace(0, 3, 20_001)
    time = np.trapezoid(1 + np.exp(sign * z), z) / 2.5**2
    assert attacks.flow_time(3.0, 2.5, loss) == pytest.approx(time, rel=1e-7)
    z = np.array([1e-10, 1e-5, 1e-4])
    series = 2 * z + sign * z**2 / 2 + z**3 / 6 + sign * z**4 / 24
    np.testing.assert_allclose(attacks.flow_time(z, 1, loss), series, rtol=1e-15)
    np.testing.assert_array_equal(attacks.flow_time([-1, 0, -800], 2, loss), 0)
    by_hand = {"ce": exp(30) + 29, "reflected": 31 - exp(-30)}[loss] / 9
    assert attacks.flow_time(30, 3, loss) == pytest.approx(by_hand, rel=1e-14)


test_bad_arguments_are_named_in_one_sentence = refusals(
    (lambda: attacks.beta_threshold(-1, 0.5, 1), "eps"),
    (lambda: attacks.beta_threshold(1, 1.5, 1), "alpha"),
    (lambda: attacks.beta_threshold(1, 0.5, [1, nan]), "A"),
    (lambda: attacks.attack_step(0, 1), "A"),
    (lambda: attacks.attack_step(1, [2, 0]), "norm"),
    (lambda: attacks.visits_at_level(0.2, 0.8), "b0"),
    (lambda: attacks.visits_at_level(1, [0.5, 0.6]), "alpha"),
    (lambda: attacks.flow_time(nan, 1), "z"),
    (lambda: attacks.flow_time(1, 0), "slope"),
    (lambda: attacks.flow_time(1, 1, "margin"), "loss"),
)
