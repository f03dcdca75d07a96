"""Adversarial training against autograd, and what it takes and keeps."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import leaky_relu, softplus

from helpers.twelve_points import GAMMA, NU, R, X, Y, run, start
from runproofs.adversarial.margin_attacks import clean, pgd
from runproofs.adversarial.robust_training import (
    adversarial_training,
    attack_of_half_threshold,
    attack_of_theorem_16,
    mistake_driven_training,
)
from runproofs.adversarial.worst_case import robust_error, worst_case
from runproofs.bounds.robust import Setting
from runproofs.networks.two_layer import TwoLayerNetwork, margin

# ---------------------------------------------------------------- the algorithms


def torch_run(net, result, attack, loss, step):
    """Algorithm 6 for one run, by autograd, on the samples that `result` drew."""
    W, a = torch.tensor(net.W), torch.tensor(net.a)
    for (i,) in result.indices:
        current = TwoLayerNetwork(W.detach().numpy(), net.a, net.alpha)
        u = torch.tensor(attack(current, X[i], Y[i], NU).point)
        W.requires_grad_()
        z = Y[i] * (leaky_relu(u @ W.T, float(net.alpha)) @ a)
        if loss(z) is not None:
            (g,) = torch.autograd.grad(loss(z), W)
            W = W.detach() - step * g
        W = W.detach()
    return W.numpy()


@pytest.mark.parametrize(
    ("train", "loss"),
    [
        (adversarial_training, lambda z: softplus(-z)),
        (mistake_driven_training, lambda z: -z if z <= 0 else None),
    ],
)
def test_training_is_autograd_with_the_attack_held_fixed(train, loss):
    batch = start(runs=1)
    net = TwoLayerNetwork(batch.W[0], batch.a[0], batch.alpha)
    attack = partial(pgd, step_size=0.5, visits=6)
    result = run(batch, train, rounds=12, step_size=0.4, attack=attack)
    expected = torch_run(net, result, attack, loss, 0.4)
    np.testing.assert_allclose(result.weights[-1, 0], expected, atol=1e-10)
    assert np.abs(result.weights[-1] - result.weights[0]).max() > 0.1


def test_training_repeats_itself_and_runs_do_not_meet():
    first, again, other = (run(start(), rounds=30, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert (first.weights != other.weights).any()
    net = start()
    for i in range(3):
        alone = TwoLayerNetwork(net.W[i : i + 1], net.a[i : i + 1], net.alpha)
        order = iter(first.indices[:, i : i + 1])
        single = adversarial_training(
            alone, X, Y, NU, rounds=30, step_size=Setting(R, GAMMA, NU, 1).largest_step,
            attack=worst_case, sample=lambda _, order=order: next(order),
        )  # fmt: skip
        np.testing.assert_allclose(single.weights[:, 0], first.weights[:, i], atol=1e-13)


def test_plain_training_attacks_nothing():
    result = run(start(), rounds=5, attack=clean)
    expected = margin(start(), X[result.indices[0]], Y[result.indices[0]])
    np.testing.assert_allclose(result.margins[0], expected, atol=1e-14)


def test_size_of_the_top_layer_is_a_unit():
    """Proposition 6.L, and its control: the step must be matched too."""
    lam, net, attack = 1e-3, start(), partial(pgd, step_size=0.5, visits=6)
    scaled = TwoLayerNetwork(net.W / lam, lam * net.a, net.alpha)
    plain = run(net, rounds=60, step_size=0.5, attack=attack)
    matched = run(scaled, rounds=60, step_size=0.5 / lam**2, attack=attack)
    np.testing.assert_allclose(lam * matched.weights, plain.weights, rtol=1e-9, atol=1e-12)
    unmatched = run(scaled, rounds=60, step_size=0.5, attack=attack)
    assert np.abs(lam * unmatched.weights - plain.weights).max() > 1
    errors = [
        robust_error(result.networks(network), X, Y, NU, beta)
        for result, network, beta in ((plain, net, 0.02), (matched, scaled, 0.02 * lam))
    ]
    np.testing.assert_array_equal(*errors)


# ---------------------------------------------------------------- weights kept, batches, samples


def test_kept_weights_are_those_of_the_whole_run():
    whole = run(start(), rounds=23)
    np.testing.assert_array_equal(whole.times, np.arange(24))
    for every, times in ((10, [0, 10, 20, 23]), (None, [0, 23]), ([3, 7], [0, 3, 7, 23])):
        for train in (adversarial_training, mistake_driven_training):
            kept = run(start(), train, rounds=23, every=every)
            expected = whole if train is adversarial_training else run(start(), train, rounds=23)
            np.testing.assert_array_equal(kept.times, times)
            np.testing.assert_array_equal(kept.weights, expected.weights[times])
            np.testing.assert_array_equal(kept.margins, expected.margins)
            np.testing.assert_array_equal(kept.networks(start()).W, kept.weights)


def test_memory_is_that_of_the_kept_weights():
    """m = 200 and d = 2 in 3 runs: 9600 bytes an iterate, and 300 rounds."""
    peaks = []
    for every in (1, 100):
        tracemalloc.start()
        run(start(m=200), rounds=300, every=every, attack=clean)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert 301 * 9600 <= peaks[0] < 2.2 * 301 * 9600
    assert peaks[1] < 20 * 9600


def test_a_batch_may_stand_in_the_weights_in_the_top_layer_or_in_the_slope():
    W, a, alpha = np.eye(2) - 0.7, np.array([[1.0, -1], [0.5, 2], [-1, 1]]), np.array([0.2, 0.5, 1])
    for batch in ({"a": a, "alpha": 0.3}, {"a": a[0], "alpha": alpha}, {"a": a[:1], "alpha": 0.3}):
        result = run(TwoLayerNetwork(W, **batch), rounds=6, step_size=0.3)
        runs = result.indices.shape[1]
        assert runs == (1 if len(batch["a"]) == 1 else 3)
        for i in range(runs):
            top = batch["a"][i] if np.ndim(batch["a"]) == 2 else batch["a"]
            slope = batch["alpha"] if np.ndim(batch["alpha"]) == 0 else batch["alpha"][i]
            order = iter(result.indices[:, i : i + 1])
            single = adversarial_training(
                TwoLayerNetwork(W, top, slope), X, Y, NU, rounds=6, step_size=0.3,
                attack=worst_case, sample=lambda _, order=order: next(order),
            )  # fmt: skip
            np.testing.assert_allclose(single.weights[:, 0], result.weights[:, i], atol=1e-13)
    assert np.abs(result.weights[-1] - result.weights[0]).max() > 0.01


def test_each_run_may_have_its_own_step():
    steps = np.array([0.1, 0.7, 0])
    result = run(start(), rounds=8, step_size=steps)
    order = iter(result.indices)
    same = adversarial_training(
        start(), X, Y, NU, rounds=8, step_size=0.7, attack=worst_case,
        sample=lambda _: next(order),
    )  # fmt: skip
    np.testing.assert_array_equal(same.weights[:, 1], result.weights[:, 1])
    assert (result.weights[:, 2] == result.weights[0, 2]).all()
    assert (same.weights[-1, 0] != result.weights[-1, 0]).any()


def test_a_seed_is_the_generator_of_that_seed():
    options = {"rounds": 9, "step_size": 0.3, "attack": clean}
    first = adversarial_training(start(), X, Y, NU, sample=7, **options)
    generator = np.random.default_rng(7)
    second = adversarial_training(start(), X, Y, NU, sample=generator, **options)
    np.testing.assert_array_equal(first.indices, second.indices)
    assert set(np.unique(run(start(), rounds=60).indices)) == set(range(12))


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"Y": [1] * 12 + [1]}, "Y"),
        ({"Y": np.zeros(12)}, "Y"),
        ({"X": np.ones((12, 3))}, "X"),
        ({"eps": -0.1}, "eps"),
        ({"rounds": 0}, "rounds"),
        ({"step_size": -1}, "step_size"),
        ({"network": TwoLayerNetwork(np.ones((2, 2, 2, 2)), np.ones(2), 1)}, "network"),
        ({"attack": attack_of_half_threshold(0.2)}, "b0"),
        ({"X": np.zeros((0, 2)), "Y": np.zeros(0)}, "X must not be empty"),
        ({"Y": [[1] * 12]}, "Y"),
        ({"rounds": 2.5}, "rounds"),
        ({"step_size": np.ones(2)}, r"step_size must be a number or have shape \(3,\)"),
        ({"step_size": np.ones((3, 1))}, "step_size"),
        ({"step_size": np.nan}, "step_size"),
        ({"network": TwoLayerNetwork(np.ones((2, 2)), np.ones((3, 4, 2)), 1)}, "network"),
        ({"sample": -1}, "sample"),
        ({"sample": True}, "sample"),
        ({"sample": 1.5}, "sample"),
        ({"sample": "a"}, "sample"),
        ({"sample": lambda _: [-1, 0, 0]}, "indices from 0 to 11"),
        ({"sample": lambda _: [0, 12, 0]}, "indices from 0 to 11"),
        ({"sample": lambda _: [0.5, 0, 1]}, r"integers \(3,\)"),
        ({"sample": lambda _: [0]}, r"integers \(3,\)"),
        ({"every": 0}, "every"),
        ({"every": [1, 1.5]}, "every"),
    ],
)
def test_bad_arguments_are_named(change, name):
    arguments = {"network": start(), "X": X, "Y": Y, "eps": NU, "rounds": 2, "step_size": 0.1}
    arguments |= {"attack": worst_case, "sample": np.random.default_rng(0)} | change
    for train in (adversarial_training, mistake_driven_training):
        with pytest.raises(ValueError, match=name) as error:
            train(**arguments)
        assert str(error.value).count(". ") == 0
        assert str(error.value).endswith(".")


@pytest.mark.parametrize("attack", [attack_of_theorem_16, attack_of_half_threshold])
@pytest.mark.parametrize("number", [0, -1, np.nan, "a"])
def test_proved_attacks_need_a_positive_number(attack, number):
    with pytest.raises(ValueError, match=r"must"):
        attack(number)
