"""The attacks whose settings are proved, and the trainings that they are proved for."""

from math import ceil

import numpy as np
import pytest

from helpers.twelve_points import GAMMA, NU, R, run, start
from runproofs.adversarial import margin_attacks, robust_training
from runproofs.adversarial.margin_attacks import algorithm_5
from runproofs.adversarial.robust_training import (
    adversarial_training,
    attack_of_half_threshold,
    attack_of_theorem_16,
    mistake_driven_training,
)
from runproofs.bounds import robust as bounds
from runproofs.bounds.attack_guarantees import visits_at_level
from runproofs.bounds.robust import Setting
from runproofs.networks import two_layer
from runproofs.networks.two_layer import TwoLayerNetwork


def recorded(monkeypatch):
    """The calls of Algorithm 5 by the attacks with proved settings, and of its gradients."""
    calls, gradients = [], []

    def spy(*args, **options):
        calls.append(options)
        return algorithm_5(*args, **options)

    def counted(*args):
        gradients.append(args)
        return two_layer._margin_and_gradient(*args)

    monkeypatch.setattr(robust_training, "algorithm_5", spy)
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
        alone = algorithm_5(net, x[i], y[i], 0.25, step_size=step, visits=480)
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
