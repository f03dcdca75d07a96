"""The bounds on training by hand and by solvers."""

from fractions import Fraction
from math import ceil, inf, log, nan, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers.refusals import refusals
from runproofs.bounds import robust
from runproofs.bounds.robust import Setting

NU, GAMMA, R = 0.15, 0.4, 1.0


def test_setting_by_hand():
    setting = Setting(R=2, gamma=0.75, eps=0.5, alpha=0.4, A=3)
    assert setting.largest_step == pytest.approx(1 / 56.25, rel=1e-15)
    assert setting.correlation == pytest.approx(0.3, rel=1e-15)
    np.testing.assert_allclose(
        robust.squared_norm_bound(2, 0.5, np.array([0, 7])), [4, 14.5], rtol=1e-15
    )
    assert robust.squared_norm_bound(2, 0.5, 7, 0.6) == pytest.approx(6.1, rel=1e-15)


def test_fractions_stay_exact():
    third, half = Fraction(1, 3), Fraction(1, 2)
    setting = Setting(Fraction(1), half, third, half, Fraction(2))
    values = setting.largest_step, robust.rounds_lemma_19(setting, half / 2, third * 3)
    values += robust.rounds_theorem_16(setting, half / 2, third), robust.mistakes(setting, third)
    assert all(isinstance(value, Fraction) for value in values)
    in_floats = Setting(1, 0.5, 1 / 3, 0.5, 2)
    expected = in_floats.largest_step, robust.rounds_lemma_19(in_floats, 0.25, 1)
    expected += robust.rounds_theorem_16(in_floats, 0.25, 1 / 3), robust.mistakes(in_floats, 1 / 3)
    np.testing.assert_allclose([float(value) for value in values], expected, rtol=1e-13)


def test_growth_has_its_limits_at_the_ends():
    np.testing.assert_array_equal(robust.growth([0, 1]), [0, -inf])
    np.testing.assert_allclose(robust.growth([0.5, 0.2]), [0.25, 0.04 + 0.4 * log(4)], rtol=1e-14)
    assert robust.growth(1e-300) == pytest.approx(2e-300 * 300 * log(10), rel=1e-14)


def test_rounds_solve_the_inequality_of_the_proof():
    """By bisection in T: (X - start)^2 = start^2 + step T phi, X = step c T error."""
    setting, start_, step = Setting(R, GAMMA, NU, 0.7), 1.5, 0.6
    c = (GAMMA - NU) * 0.7
    for error in (0.5, 0.1, 0.01):
        phi = error**2 + 2 * error * np.log((1 - error) / error)

        def slack(T, error=error, phi=phi):
            return (step * c * T * error - start_) ** 2 - start_**2 - step * T * phi

        T = brentq(slack, 1e-3 + 2 * start_ / (step * c * error), 1e9)
        assert robust.rounds_sharp(setting, error, start_, step) == pytest.approx(T, rel=1e-9)
    N = brentq(lambda n: (step * c * n - start_) ** 2 - start_**2 - step * n, 30, 1e9)
    assert robust.mistakes(setting, start_, step) == pytest.approx(N, rel=1e-9)


def test_lemma_19_suffices_for_the_inequality_of_its_proof():
    """At the printed T_tr the left side step c T error - start exceeds the growth bound."""
    setting = Setting(R, GAMMA, NU, 0.7)
    for error in (0.5, 0.1, 0.01):
        T = robust.rounds_lemma_19(setting, error, 1.5)
        step, c = setting.largest_step, setting.correlation
        assert step * c * T * error - 1.5 >= sqrt(robust.squared_norm_bound(1.5, step, T))
        assert robust.rounds_sharp(setting, error, 1.5) < T
        # Theorem 16 is Lemma 19 at a quarter of the error, up to the bonus
        ratio = robust.rounds_theorem_16(setting, error, 0) / T
        assert ratio == pytest.approx(16 / (1 + 1.5 * GAMMA * 0.7 * error))


def test_total_cost_is_the_sum_over_rounds():
    setting = Setting(1, 0.5, 0.1, 0.8)
    for error, ratio in ((0.5, 0.432), (0.1, 0.282), (0.01, 0.253)):
        cost = robust.total_cost(setting, error)
        assert cost == robust.total_cost(Setting(1, 0.5, 0.1, 0.8, A=7), error)
        bound = 196_608 * 0.01 * 1.21 / (0.4 * 0.8) ** 4 / error**5
        assert cost.bound == pytest.approx(bound, rel=1e-12)
        assert cost.total / cost.bound == pytest.approx(ratio, abs=1e-3)
        T = robust.rounds_theorem_16(setting, error, sqrt(3) / 1.1)
        if error > 0.05:
            n = np.arange(1, ceil(T) + 1)
            squared_norms = robust.squared_norm_bound(sqrt(3) / 1.1, 1.1**-2, n - 1)
            steps = 8 * 0.01 * squared_norms / error
            assert steps[: int(T)].sum() <= cost.total <= steps.sum()
        assert cost.as_printed == pytest.approx(12 * 0.01 / (1.21 * error) * T**2, rel=1e-12)
        assert cost.as_printed < cost.total


S = Setting(1, 0.5, 0.1, 0.8)


test_bad_arguments_are_named_in_one_sentence = refusals(
    (lambda: Setting(1, 0.5, -0.1, 1), "eps"),
    (lambda: Setting(1, 0.5, 0.1, 0), "alpha"),
    (lambda: Setting(1, 0.5, 0.1, 1, 0), "A"),
    (lambda: Setting("1", 0.5, 0.1, 1), "R"),
    (lambda: Setting(1, 0.5, 0.6, 1), "eps < gamma <= R"),
    (lambda: Setting(1, 1.2, 0.1, 1), "eps < gamma <= R"),
    (lambda: Setting(1, 0.5, 0.1, 1.1), "alpha <= 1"),
    (lambda: robust.rounds_theorem_16(S, -0.1, 1), "error"),
    (lambda: robust.rounds_theorem_16(S, 0.1, -1), "omega"),
    (lambda: robust.squared_norm_bound(-1, 1, 1), "start"),
    (lambda: robust.squared_norm_bound(1, -1, 1), "step_size"),
    (lambda: robust.squared_norm_bound(1, 1, [-1]), "rounds"),
    (lambda: robust.squared_norm_bound(1, 1, 1, -3), "constant"),
    (lambda: robust.total_cost(S, 0), "error"),
    (lambda: robust.growth(2.0), "p"),
    (lambda: robust.rounds_sharp(S, 0.6, 1), "error"),
    (lambda: robust.rounds_sharp(S, 0.1, -1), "start"),
    (lambda: robust.mistakes(S, -1), "start"),
    (lambda: robust.rounds_lemma_19(S, 0, 1), "error"),
    (lambda: robust.rounds_lemma_19(S, 0.1, -1), "start"),
)


@pytest.mark.parametrize("step_size", [0, -1, nan, 0.83, "a"])
@pytest.mark.parametrize(
    "bound",
    [
        lambda **step: robust.rounds_lemma_19(S, 0.1, 1, **step),
        lambda **step: robust.rounds_sharp(S, 0.1, 1, **step),
        lambda **step: robust.mistakes(S, 1, **step),
    ],
)
def test_steps_must_be_positive_and_at_most_the_largest(bound, step_size):
    """1 / 1.1^2 = .826...; half of it is allowed, and it itself, however it was computed."""
    with pytest.raises(ValueError, match="step_size"):
        bound(step_size=step_size)
    np.testing.assert_allclose(bound(step_size=1.1**-2), bound(), rtol=1e-13)
    np.testing.assert_allclose(bound(step_size=np.nextafter(1.1**-2, 1)), bound(), rtol=1e-13)
    assert np.ravel(bound(step_size=0.5 / 1.21))[0] != np.ravel(bound())[0]
