"""Adversarial training against autograd, and what it takes and keeps."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import leaky_relu, softplus

from helpers.refusals import refusals
from helpers.twelve_points import NU, X, Y, run, start
from runproofs.adversarial.margin_attacks import algorithm_5, clean
from runproofs.adversarial.robust_training import (
    adversarial_training,
    attack_of_half_threshold,
    attack_of_theorem_16,
    mistake_driven_training,
)
from runproofs.adversarial.worst_case import worst_case
from runproofs.networks.two_layer import TwoLayerNetwork, margin


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
    attack = partial(algorithm_5, step_size=0.5, visits=6)
    result = run(batch, train, rounds=12, step_size=0.4, attack=attack)
    expected = torch_run(net, result, attack, loss, 0.4)
    np.testing.assert_allclose(result.weights[-1, 0], expected, atol=1e-10)
    assert np.abs(result.weights[-1] - result.weights[0]).max() > 0.1


def test_training_repeats_itself_and_a_seed_is_the_generator_of_that_seed():
    first, again, other = (run(start(), rounds=60, sample=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert (first.weights != other.weights).any()
    np.testing.assert_array_equal(run(start(), rounds=60, seed=5).indices, first.indices)
    assert set(np.unique(first.indices)) == set(range(12))


def test_plain_training_attacks_nothing():
    result = run(start(), rounds=5, attack=clean)
    expected = margin(start(), X[result.indices[0]], Y[result.indices[0]])
    np.testing.assert_allclose(result.margins[0], expected, atol=1e-14)


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


@pytest.mark.parametrize(
    ("change", "runs"),
    [
        ({"W": np.stack([np.eye(2), np.eye(2) - 0.3, -np.eye(2)])}, 3),
        ({"a": [[1.0, -1], [0.5, 2], [-1, 1]]}, 3),
        ({"a": [[1.0, -1]]}, 1),
        ({"alpha": [0.2, 0.5, 1]}, 3),
    ],
)
def test_runs_of_a_batch_wherever_it_stands_do_not_meet(change, runs):
    network = {"W": np.eye(2) - 0.7, "a": [1.0, -1], "alpha": 0.3} | change
    result = run(TwoLayerNetwork(**network), rounds=6, step_size=0.3)
    assert result.indices.shape == (6, runs)
    for i in range(runs):
        parts = network | {name: batch[i : i + 1] for name, batch in change.items()}
        order = iter(result.indices[:, i : i + 1])
        single = run(
            TwoLayerNetwork(**parts), rounds=6, step_size=0.3,
            sample=lambda _, order=order: next(order),
        )  # fmt: skip
        np.testing.assert_allclose(single.weights[:, 0], result.weights[:, i], atol=1e-13)
    assert np.abs(result.weights[-1] - result.weights[0]).max() > 0.01


def test_each_run_may_have_its_own_step():
    result = run(start(), rounds=8, step_size=np.array([0.1, 0.7, 0]))
    same = run(start(), rounds=8, step_size=0.7)
    np.testing.assert_array_equal(same.weights[:, 1], result.weights[:, 1])
    assert (result.weights[:, 2] == result.weights[0, 2]).all()
    assert (same.weights[-1, 0] != result.weights[-1, 0]).any()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"Y": np.zeros(12)}, "Y"),
        ({"X": np.ones((12, 3))}, "X"),
        ({"eps": -0.1}, "eps"),
        ({"step_size": -1}, "step_size"),
        ({"attack": attack_of_half_threshold(0.2)}, "b0"),
        ({"X": np.zeros((0, 2)), "Y": np.zeros(0)}, "X must not be empty"),
        ({"Y": [[1] * 12]}, "Y"),
        ({"rounds": 2.5}, "rounds"),
        ({"step_size": np.ones(2)}, r"step_size must be a number or have shape \(3,\)"),
        ({"step_size": np.nan}, "step_size"),
        ({"network": TwoLayerNetwork(np.ones((2, 2)), np.ones((3, 4, 2)), 1)}, "network"),
        ({"sample": True}, "sample"),
        ({"sample": 1.5}, "sample"),
        ({"sample": lambda _: [0, 12, 0]}, "below 12, but one is 12"),
        ({"sample": lambda _: [0.5, 0, 1]}, "integers .* 3 of them, .* the type float64"),
        ({"sample": lambda _: [0]}, r"3 of them, but the shape is \(1,\)"),
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


test_proved_attacks_need_a_positive_number = refusals(
    (lambda: attack_of_theorem_16(0), "must"),
    (lambda: attack_of_half_threshold(np.nan), "must"),
)
