"""The bounds on training by hand, by solvers, and where one linear unit attains them."""

from dataclasses import FrozenInstanceError
from math import ceil, inf, log, nan, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers.refusals import refusals
from runproofs.adversarial.margin_attacks import clean
from runproofs.adversarial.robust_training import adversarial_training, mistake_driven_training
from runproofs.bounds import attack_guarantees, robust
from runproofs.bounds.robust import Setting
from runproofs.networks.two_layer import TwoLayerNetwork

NU, GAMMA, R = 0.15, 0.4, 1.0


# ---------------------------------------------------------------- training


def test_setting_by_hand():
    setting = Setting(R=2, gamma=0.75, eps=0.5, alpha=0.4, A=3)
    assert setting.largest_step == pytest.approx(1 / 56.25, rel=1e-15)
    assert setting.correlation == pytest.approx(0.3, rel=1e-15)
    np.testing.assert_allclose(
        robust.squared_norm_bound(2, 0.5, np.array([0, 7])), [4, 14.5], rtol=1e-15
    )
    assert robust.squared_norm_bound(2, 0.5, 7, 0.6) == pytest.approx(6.1, rel=1e-15)


def test_a_setting_that_was_checked_stays_as_it_is():
    setting = Setting(R=2, gamma=0.75, eps=0.5, alpha=0.4)
    with pytest.raises(FrozenInstanceError):
        setting.eps = 3


def test_growth_has_its_limits_at_the_ends():
    np.testing.assert_array_equal(robust.growth([0, 1]), [0, -inf])
    np.testing.assert_allclose(robust.growth([0.5, 0.2]), [0.25, 0.04 + 0.4 * log(4)], rtol=1e-14)
    assert robust.growth(1e-300) == pytest.approx(2e-300 * 300 * log(10), rel=1e-14)


@pytest.mark.parametrize(("start", "a", "x"), [(0.0, 1, 1), (0.2, 1, 1), (0.1, 2, 0.8)])
def test_averages_of_one_linear_unit_attain_the_bound_in_the_first_round(start, a, x):
    """d = m = alpha = 1 and eps = 0, against V_*: eta c^2 p^2 = phi(p) + 2 c start p."""
    unit, setting = TwoLayerNetwork([[-start]], [a], 1), Setting(x, x, 0, 1, a)
    options = {"rounds": 1, "step_size": setting.largest_step, "attack": clean, "sample": 0}
    result = adversarial_training(unit, [[x]], [1], 0, **options)
    p = 1 / (1 + np.exp(result.margins[0, 0]))
    c = setting.correlation
    left = setting.largest_step * c**2 * p**2
    assert left == pytest.approx(robust.growth(p) + 2 * c * start * p, rel=1e-14)
    squared = (result.weights[1] ** 2).sum()
    largest = robust.squared_norm_bound(start, setting.largest_step, robust.growth(p), 1)
    assert squared == pytest.approx(largest, rel=1e-14)


def test_mistakes_are_attained_by_one_linear_unit():
    unit = TwoLayerNetwork([[0.0]], [2], 1)
    setting = Setting(0.8, 0.8, 0, 1, 2)
    options = {"rounds": 9, "step_size": setting.largest_step, "attack": clean, "sample": 0}
    result = mistake_driven_training(unit, [[0.8]], [1], 0, **options)
    assert (result.margins <= 0).sum() == 1
    assert robust.mistakes(setting, 0) == pytest.approx(1, rel=1e-14)


def test_the_largest_growth_is_where_it_is_stationary():
    p = brentq(lambda p: p + np.log((1 - p) / p) - 1 / (1 - p), 0.1, 0.5)
    assert robust.growth(p) == pytest.approx(0.611844393709, abs=1e-12)
    assert (robust.growth(p + np.array([-0.01, 0.01])) < robust.growth(p)).all()


def test_rounds_solve_the_inequality_of_the_proof():
    """By bisection in T: (X - start)^2 = start^2 + step T phi, X = step c T error."""
    setting, start_, step = Setting(R, GAMMA, NU, 0.7), 1.5, 0.6
    c = (GAMMA - NU) * 0.7
    for error in (0.5, 0.1, 0.01):
        phi = error**2 + 2 * error * np.log((1 - error) / error)
        T = brentq(
            lambda T, e=error, phi=phi: (
                (step * c * T * e - start_) ** 2 - start_**2 - step * T * phi
            ),
            1e-3 + 2 * start_ / (step * c * error),
            1e9,
        )
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


# ---------------------------------------------------------------- arguments

S = Setting(1, 0.5, 0.1, 0.8)


test_bad_arguments_are_named_in_one_sentence = refusals(
    (lambda: Setting(1, 0.5, -0.1, 1), "eps"),
    (lambda: Setting(1, 0.5, 0.1, 0), "alpha"),
    (lambda: Setting(1, 0.5, 0.1, 1, 0), "A"),
    (lambda: Setting("1", 0.5, 0.1, 1), "R"),
    (lambda: robust.rounds_theorem_16(S, -0.1, 1), "error"),
    (lambda: robust.rounds_theorem_16(S, 0.1, -1), "omega"),
    (lambda: robust.squared_norm_bound(-1, 1, 1), "start"),
    (lambda: robust.squared_norm_bound(1, -1, 1), "step_size"),
    (lambda: robust.squared_norm_bound(1, 1, [-1]), "rounds"),
    (lambda: robust.squared_norm_bound(1, 1, 1, -3), "constant"),
    (lambda: robust.total_cost(S, 0), "error"),
    (lambda: robust.growth(2.0), "p"),
    (lambda: robust.growth([-0.1, 0.1]), "p"),
    (lambda: robust.rounds_sharp(S, 0.6, 1), "error"),
    (lambda: robust.rounds_sharp(S, 0, 1), "error"),
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


@pytest.mark.parametrize("values", [(1, 0.5, 0.6, 1), (1, 1.2, 0.1, 1), (1, 0.5, 0.1, 1.1)])
def test_impossible_settings_are_refused(values):
    with pytest.raises(ValueError, match="eps < gamma <= R"):
        Setting(*values)


def test_end_to_end_numbers():
    setting, start = Setting(1, 0.5, 0.1, 0.8), sqrt(3) / 1.1
    assert robust.total_cost(setting, 0.05).bound == pytest.approx(7.26e11, rel=1e-3)
    assert robust.mistakes(setting, start) == pytest.approx(23.7, abs=0.05)
    assert ceil(robust.rounds_sharp(setting, 0.05, start)) == 1642
    assert attack_guarantees.visits_at_level(0.4, 0.8) == 25
