"""The bounds of Chapter 6 along exactly measured runs, and the attacks with proved settings."""

from functools import partial
from math import ceil

import numpy as np
import pytest

from helpers.twelve_points import GAMMA, NU, R, X, Y, run, start, weights_of
from runproofs.adversarial import margin_attacks, robust_training
from runproofs.adversarial.margin_attacks import clean, pgd
from runproofs.adversarial.robust_training import (
    adversarial_training,
    attack_of_half_threshold,
    attack_of_theorem_16,
    mistake_driven_training,
)
from runproofs.adversarial.worst_case import level, robust_error, worst_case
from runproofs.bounds import robust as bounds
from runproofs.bounds.attack_guarantees import beta_threshold, visits_at_level
from runproofs.bounds.robust import Setting
from runproofs.networks import two_layer
from runproofs.networks.two_layer import TwoLayerNetwork

PHI = 0.611844393709  # the largest value of `growth`

# ---------------------------------------------------------------- Theorem 16 and Lemma 19


def test_theorem_16_holds_exactly_along_runs():
    error, net, setting = 0.2, start(), Setting(R, GAMMA, NU, 0.7)
    result = run(net, rounds=60, attack=attack_of_theorem_16(error))
    beta = beta_threshold(NU, 0.7, 1)
    errors = robust_error(result.networks(net), X, Y, NU, beta)
    assert errors[0].min() == 1  # the start points the wrong way
    first = (errors.mean(1) <= 2 * error).argmax()
    assert 0 < first < bounds.rounds_theorem_16(setting, error, 1.5)
    assert errors[-1].max() <= 2 * error


def test_theorem_16_needs_the_top_layer_and_the_full_step():
    """Its counterexamples: d = m = 1, kappa = 1, a = 1e-4, or a step 1e5 times too small."""
    setting = Setting(1, 0.9, 0.1, 1)
    rounds = ceil(bounds.rounds_theorem_16(setting, 0.4, 1 / 0.9))
    assert rounds == 1059
    one = {"X": [[1.0], [-1.0]], "Y": [1, -1], "eps": 0.1, "rounds": rounds, "attack": worst_case}
    for a, step, fails in ((1, 1, False), (1e-4, 1, True), (1, 1e-5, True)):
        net = TwoLayerNetwork([[-1 / 0.9]], [a], 1)
        options = one | {"sample": np.random.default_rng(0)}
        result = adversarial_training(net, step_size=step * setting.largest_step, **options)
        errors = robust_error(result.networks(net), one["X"], one["Y"], 0.1)
        assert (errors.min() == 1) == fails


@pytest.mark.parametrize("attack", [clean, worst_case, partial(pgd, step_size=1, visits=10)])
def test_growth_correlation_and_averages_hold_at_every_round(attack):
    """(6.7), its sharp step, the correlation with V_*, and Theorem 6.H (b), (c), (d)."""
    net, setting = start(), Setting(R, GAMMA, NU, 0.7)
    step, T = setting.largest_step, 1500
    result = run(net, rounds=T, attack=attack)
    p, W = weights_of(result), result.weights
    squares = (W**2).sum((-2, -1))
    assert (np.diff(squares, axis=0) <= step * bounds.growth(p) + 1e-12).all()
    rounds = np.arange(T + 1)[:, None]
    for constant in (3, PHI):
        assert (squares <= bounds.squared_norm_bound(1.5, step, rounds, constant) + 1e-12).all()
    along = (W * net.a[..., None] * np.array([1.0, 0.0])).sum((-2, -1))
    assert (np.diff(along, axis=0) >= step * setting.correlation * p - 1e-12).all()
    averages = p.cumsum(0) / rounds[1:]
    c = setting.correlation
    right = np.maximum(bounds.growth(averages), 0) + 2 * c * 1.5 * averages
    assert (step * c**2 * rounds[1:] * averages**2 <= right + 1e-12).all()
    for error in (0.3, 0.15):
        assert bounds.rounds_sharp(setting, error, 1.5) < T
        late = rounds[1:, 0] >= bounds.rounds_sharp(setting, error, 1.5)
        assert (averages[late] <= error).all()


def test_growth_fails_at_twice_the_step_and_averages_fail_beyond_the_margin():
    one = TwoLayerNetwork([[1.0852966]], [1.0], 1)
    options = {"rounds": 1, "attack": clean, "sample": np.random.default_rng(0)}
    for factor in (1, 2):
        result = adversarial_training(one, [[1.0]], [1], 0, step_size=factor, **options)
        growth = np.diff((result.weights**2).sum((-2, -1)), axis=0)[0, 0] / factor
        if factor == 1:
            assert growth == pytest.approx(PHI, abs=1e-9)
        else:
            assert growth > PHI + 0.05
    options |= {"rounds": 300, "attack": worst_case}
    hopeless = adversarial_training(one, [[0.5], [-0.5]], [1, -1], 0.6, step_size=0.8, **options)
    assert weights_of(hopeless).mean() > 0.45
    assert robust_error(hopeless.networks(one), [[0.5], [-0.5]], [1, -1], 0.6).min() == 1


# ---------------------------------------------------------------- sharper: Theorems 6.J and 6.I


def test_few_samples_are_attackable_on_arrival():
    error, b0, net = 0.15, 0.45, start()
    T = ceil(bounds.rounds_sharp(Setting(R, GAMMA, NU, 0.7), error, 1.5))
    result = run(net, rounds=T, attack=attack_of_half_threshold(b0))
    before = TwoLayerNetwork(result.weights[:-1], net.a, net.alpha)
    attackable = level(before, X[result.indices], Y[result.indices], NU) > b0
    assert (result.margins[attackable] < 0).all()  # Theorem 6.E, at every arrival
    assert (attackable.sum(0) > 0).all()
    assert (attackable.sum(0) <= 2 * error * T).all()


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1])
def test_mistake_driven_training_makes_few_updates_in_the_worst_order(alpha):
    net, setting = start(alpha), Setting(R, GAMMA, NU, alpha)

    def hardest(network):
        return worst_case(network.at_each_point(), X, Y, NU).margin.argmin(-1)

    result = mistake_driven_training(
        net, X, Y, NU, rounds=400, step_size=setting.largest_step, attack=worst_case, sample=hardest
    )
    updates = (result.margins <= 0).sum(0)
    assert (updates > 0).all()
    assert (updates <= bounds.mistakes(setting, 1.5)).all()
    errors = robust_error(result.networks(net), X, Y, NU)
    assert (errors[-1] == 0).all()  # beta = 0 with an exact attack: Corollary 6.K
    moved = (np.diff(result.weights, axis=0) != 0).any((-2, -1))
    np.testing.assert_array_equal(moved, result.margins <= 0)


def test_mistake_driven_training_never_ends_beyond_the_margin():
    one = TwoLayerNetwork([[1.0]], [1.0], 1)
    result = mistake_driven_training(
        one, [[0.5], [-0.5]], [1, -1], 0.6, rounds=500, step_size=0.8, attack=worst_case,
        sample=np.random.default_rng(0),
    )  # fmt: skip
    assert (result.margins <= 0).all()


def test_trap_keeps_both_trainings_attackable():
    """Proposition 6.G (ii), and its control: a smaller start escapes."""
    alpha, mu, t = 0.5, 0.3, 0.1
    trap, x = two_layer.trap(alpha, mu), np.array([[t, 2.0]])
    A, largest = np.linalg.norm(trap.a), np.linalg.norm(x) + 1
    options = {"step_size": 1 / (A * largest) ** 2, "sample": np.random.default_rng(0)}
    attack = partial(pgd, step_size=1, visits=10)
    for scale, trapped in ((200, True), (20, False)):
        net = TwoLayerNetwork(scale * trap.W, trap.a, alpha)
        result = adversarial_training(net, x, [1], 1, rounds=1500, attack=attack, **options)
        levels = level(result.networks(net), x, [1], 1.0)
        assert (levels.min() > 0.3) == trapped
    result = mistake_driven_training(trap, x, [1], 1, rounds=50, attack=attack, **options)
    assert (result.margins > 0).all()


# ---------------------------------------------------------------- the proved settings


def recorded(monkeypatch):
    """The calls of Algorithm 5 by the attacks with proved settings, and of its gradients."""
    calls, gradients = [], []

    def spy(*args, **options):
        calls.append(options)
        return pgd(*args, **options)

    def counted(*args):
        gradients.append(args)
        return two_layer._margin_and_gradient(*args)

    monkeypatch.setattr(robust_training, "pgd", spy)
    monkeypatch.setattr(margin_attacks, "_margin_and_gradient", counted)
    return calls, gradients


UNEQUAL = TwoLayerNetwork(
    [[[1, 2.0], [0, 1], [2, 0]], [[0, 1], [1, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]],
    [[0.5, -2, 1], [1, 3, -1], [1, 1, 1]],
    [0.9, 0.6, 0.7],
)  # ||W||_F^2 = 10, 2 and 0; max |a_r| = 2, 3 and 1


def test_attack_of_theorem_16_has_its_step_and_its_visits(monkeypatch):
    """1 / eta = kappa^2 m ||W||_F^2 = 120 and 54, and 8 eps^2 120 / error = 480 visits."""
    calls, gradients = recorded(monkeypatch)
    x, y = np.array([[1.0, 1], [2, -1], [0, 1]]), np.array([1.0, -1, 1])
    found = attack_of_theorem_16(0.125)(UNEQUAL, x, y, 0.25)
    [options] = calls
    np.testing.assert_allclose(options["step_size"][:2], [1 / 120, 1 / 54], rtol=1e-14)
    assert options.get("loss", "reflected") == "reflected"
    assert options["visits"] == len(gradients) == 480
    for i, step in ((0, 1 / 120), (1, 1 / 54)):
        net = TwoLayerNetwork(UNEQUAL.W[i], UNEQUAL.a[i], UNEQUAL.alpha[i])
        alone = pgd(net, x[i], y[i], 0.25, step_size=step, visits=480)
        np.testing.assert_allclose(found.point[i], alone.point, atol=1e-13)
    np.testing.assert_array_equal(found.point[2], x[2])  # of the network that is zero
    attack_of_theorem_16(0.7)(UNEQUAL, x, y, 0.25)
    assert calls[1]["visits"] == 86  # 85.7, rounded up
    attack_of_theorem_16(0.1)(UNEQUAL, x, y, 0)
    assert calls[2]["visits"] == 1


def test_attack_of_half_threshold_has_its_step_and_its_visits(monkeypatch):
    """b0 = .8, the least slope .6: .4^-2 = 6.25, hence 7 visits with steps eps / (L sqrt 7)."""
    calls, gradients = recorded(monkeypatch)
    x, y = np.array([[1.0, 1], [2, -1], [0, 1]]), np.array([1.0, -1, 1])
    attack_of_half_threshold(0.8)(UNEQUAL, x, y, 0.2)
    [options] = calls
    assert options["visits"] == len(gradients) == 7
    assert options["loss"] == "margin"
    L = np.linalg.norm(UNEQUAL.a, axis=1) * np.linalg.svd(UNEQUAL.W)[1][:, 0]
    np.testing.assert_allclose(options["step_size"][:2], 0.2 / L[:2] / 7**0.5, rtol=1e-13)
    single = TwoLayerNetwork([[1.0, 1]], [1.0], 0.8)
    attack_of_half_threshold(0.4)(single, [1.0, 2], 1, 0.1)
    assert calls[1]["visits"] == 25  # .2^-2 exactly, not 26


@pytest.mark.parametrize("theorem", [5, 6])
def test_gradients_of_a_training_are_those_of_the_end_to_end_bound(theorem, monkeypatch):
    """Each gradient that an attack takes is counted; the bound is rounds times visits."""
    setting, error, b0 = Setting(R, GAMMA, NU, 0.7), 0.3, 0.45
    train = {5: adversarial_training, 6: mistake_driven_training}[theorem]
    rounds = {
        5: bounds.rounds_sharp(setting, error, 1.5),
        6: bounds.mistakes(setting, 1.5) / (2 * error),
    }[theorem]
    _, gradients = recorded(monkeypatch)
    run(start(), train, rounds=ceil(rounds), attack=attack_of_half_threshold(b0))
    assert len(gradients) == ceil(rounds) * visits_at_level(b0, 0.7) > 1000
