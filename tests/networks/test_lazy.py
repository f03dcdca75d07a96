"""Algorithm 4 against exact steps, automatic differentiation and enumeration."""

from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest
import torch

from helpers.refusals import refusals
from runproofs.masks import all_masks
from runproofs.networks import lazy, two_layer
from runproofs.networks.two_layer import TwoLayerNetwork

LN_2 = np.log(2)
F = Fraction
START = TwoLayerNetwork(
    [[1, 5 / 3], [1, 1 / 2], [1 / 4, 6 / 5], [1 / 4, 3 / 4]], np.array([1, -1, -1, 1]) / 2, 0
)
EXAMPLES = [([1, 0], 1, [1, 1, 0, 0]), ([0, 1], -1, [1, 0, 1, 0])]


def test_the_linearization_of_fractions_is_exact():
    W = np.array([[Fraction(1, 3)], [Fraction(-1)]])
    value = lazy.linearization(TwoLayerNetwork(W, W[:, 0], 0), 3 * W, W[0])
    assert isinstance(value, Fraction)
    assert value == Fraction(1, 9)


def test_the_loss_is_in_base_2():
    assert lazy.loss(0) == 1
    assert lazy.negative_derivative(0) == pytest.approx(1 / (2 * LN_2), rel=1e-15)
    z = np.linspace(-30, 30, 61)
    slope = (lazy.loss(z + 1e-6) - lazy.loss(z - 1e-6)) / 2e-6
    assert np.allclose(-slope, lazy.negative_derivative(z), atol=1e-8)
    assert lazy.loss(-700) == pytest.approx(700 / LN_2)
    assert lazy.negative_derivative([800, -800]) == pytest.approx([0, 1 / LN_2], rel=1e-15)


def test_two_steps_of_algorithm_4_are_those_computed_by_hand():
    network = START
    for x, y, mask in EXAMPLES:
        assert network[mask](x) == pytest.approx(0, abs=1e-15)  # so that step_size * Q is 1/2
        network = lazy.update(network, x, y, mask, step_size=LN_2, radius=1.5)
    expected = [[F(9, 10), F(19, 20)], [F(3, 4), F(1, 2)], [F(1, 4), F(29, 20)], [F(1, 4), F(3, 4)]]
    assert np.allclose(network.W, np.array(expected, dtype=float), atol=1e-15)
    rescaled = TwoLayerNetwork(network.W / 2, network.a, 0)
    assert rescaled([0.6, 0.8]) == pytest.approx(-11 / 400, abs=1e-15)


@pytest.mark.parametrize("radius", [np.inf, 2.2])
def test_steps_of_a_batch_are_those_of_automatic_differentiation(radius):
    rng = np.random.default_rng(3)
    network = lazy.start(12, 3, rng, runs=(2, 4))
    x, y = rng.normal(size=(2, 4, 3)), rng.choice([-1.0, 1.0], (2, 4))
    mask = rng.random((2, 4, 12)) < 0.4
    W = torch.tensor(network.W, requires_grad=True)
    hidden = torch.relu((W @ torch.tensor(x)[..., None])[..., 0])
    z = torch.tensor(y) * (torch.tensor(network.a * mask) * hidden).sum(-1)
    torch.nn.functional.softplus(-z).sum().backward()
    wanted = (W - 0.7 / LN_2 * W.grad).detach()
    wanted *= torch.clamp(radius / wanted.norm(dim=-1, keepdim=True), max=1)
    found = lazy.update(network, x, y, mask, step_size=0.7, radius=radius).W
    assert np.allclose(found, wanted.numpy(), atol=1e-12)
    assert not np.allclose(found, network.W, atol=0.01)


def test_the_generator_takes_the_steps_that_it_shows():
    rng, network = np.random.default_rng(8), lazy.start(40, 2, 5, runs=(6,))
    run = lazy.algorithm_4(network, *lazy.xor(), keep=0.3, step_size=0.5, rng=rng, radius=2.5)
    steps = list(islice(run, 60))
    assert steps[0].network.W is network.W
    for step, following in pairwise(steps):
        z = two_layer.margin(step.network[step.mask], step.x, step.y)
        assert np.allclose(z, step.margin, atol=1e-14)
        W = lazy.update(*step[:4], step_size=0.5, radius=2.5).W
        assert (W == following.network.W).all()
    kept = np.mean([step.mask for step in steps])
    assert abs(kept - 0.3) < 4 * (0.21 / (60 * 240)) ** 0.5
    lengths = np.linalg.norm(steps[-1].network.W, axis=-1)
    assert lengths.max() <= 2.5 * (1 + 1e-12)
    assert (lengths > 2.4999).sum() > 3


def test_examples_are_drawn_by_their_masses():
    X, Y = lazy.xor()
    start, masses = lazy.start(3, 2, 0, runs=(50,)), [0.7, 0, 0, 0.3]
    steps = lazy.algorithm_4(start, X, Y, keep=1, step_size=1, rng=1, masses=masses)
    drawn = np.array([step.x for step in islice(steps, 40)])
    share = (drawn == X[0]).all(-1).mean()
    assert abs(share - 0.7) < 4 * (0.21 / 2000) ** 0.5
    assert share + (drawn == X[3]).all(-1).mean() == 1


def test_the_linearization_reproduces_the_output_at_its_own_weights_only():
    rng = np.random.default_rng(2)
    network, other = lazy.start(9, 3, rng, runs=(5,)), lazy.start(9, 3, rng, runs=(5,))
    x, mask = rng.normal(size=(5, 3)), rng.random((5, 9)) < 0.6
    gradient = two_layer.weight_gradient(network[mask], x, np.ones(5))
    wanted = (gradient * other.W).sum((-2, -1))
    assert np.allclose(lazy.linearization(network, other.W, x, mask), wanted, atol=1e-13)
    own = lazy.linearization(network, network.W, x, mask)
    assert np.allclose(own, network[mask](x), atol=1e-13)
    assert not np.allclose(wanted, TwoLayerNetwork(other.W, network.a, 0)[mask](x), atol=0.05)


def test_the_slope_at_a_kink_is_0():
    network = TwoLayerNetwork([[0.0, 1.0], [1.0, 0.0]], [1.0, 1.0], 0)
    assert (lazy.update(network, [1, 0], 1, [1, 1], step_size=1).W[0] == [0, 1]).all()
    assert lazy.linearization(network, np.ones((2, 2)), [1, 0]) == 1


def test_the_start_has_its_law():
    network = lazy.start(300, 5, 4, runs=(20,))
    assert network.W.shape == (20, 300, 5)
    assert network.alpha == 0
    assert (np.abs(network.a) == 1 / 300**0.5).all()
    assert abs(network.a.mean()) < 4 / 6000**0.5 / 300**0.5
    assert abs(network.W.mean()) < 4 / 30000**0.5
    assert abs(network.W.var() - 1) < 4 * (2 / 30000) ** 0.5


def test_a_silent_network_errs_everywhere():
    X, Y = lazy.xor()
    networks = lazy.start(3, 2, 0)[all_masks(3, keep=0.5)[0]]
    errors = lazy.error(networks, X, Y)
    assert errors.shape == (8,)
    assert errors[0] == 1
    z = Y * networks.at_each_point()(X)
    assert (errors == np.mean(z <= 0, -1)).all()
    masses = [0.5, 0.2, 0.2, 0.1]
    assert np.allclose(lazy.error(networks, X, Y, masses), (z <= 0) @ masses)


@pytest.mark.parametrize("d", [2, 5])
def test_noisy_xor_has_all_its_points_once_and_labels_by_the_first_two(d):
    X, Y = lazy.noisy_xor(d)
    assert len({tuple(x) for x in X}) == len(X) == 2**d
    assert np.allclose(np.linalg.norm(X, axis=1), 1, atol=1e-15)
    assert (np.where(X[:, 0] != 0, 1, -1) == Y).all()
    assert ((X[:, 0] == 0) != (X[:, 1] == 0)).all()
    assert (X[:, 2:] != 0).all()


def algorithm_4(data, q=1, masses=None):
    return lazy.algorithm_4(START, *data, keep=q, step_size=1, rng=0, masses=masses)


test_bad_arguments_are_named = refusals(
    (lambda: lazy.noisy_xor(1), "d must be an integer that is at least 2 and at most 20, since"),
    (lambda: lazy.noisy_xor(21), "d must be"),
    (lambda: lazy.start(0, 2, 0), "m must be"),
    (lambda: lazy.start(2, 2, None), "rng must be"),
    (lambda: lazy.update(START, [1, 0], 1, [1, 1, 0, 2], step_size=1), "mask must"),
    (lambda: lazy.update(START, [1, 0], 2, [1, 1, 0, 0], step_size=1), "y must"),
    (lambda: lazy.update(START, [1, 0], 1, [1, 1, 0, 0], step_size=0), "step_size must"),
    (lambda: lazy.project_rows([[np.nan, 1]], 2), "W must have finite"),
    (lambda: lazy.project_rows([["1", "2"]], 2), "W must be a matrix"),
    (lambda: lazy.loss(np.nan), "z must be a number or an array"),
    (lambda: two_layer.loss([1j]), "z must be a number or an array"),
    (lambda: lazy.linearization(START, START.W, [1, 0], [1, 0]), "mask must .* 4 on its last"),
    (lambda: lazy.linearization(START, START.W, [1, 0], [[1, 2, 0, 1]]), "mask must"),
    (lambda: lazy.linearization(START, [START.W] * 3, [[1, 0]] * 2), "agree in their batch axes"),
    (lambda: lazy.project_rows(START.W, -1), "radius must"),
    (lambda: lazy.linearization(START, START.W[:1], [1, 0]), "U must have 4 rows"),
    (lambda: lazy.linearization(START, START.W, [1, 0, 0]), "x must"),
    (lambda: lazy.error(START, *lazy.noisy_xor(3)), "X must have 2 columns"),
    (lambda: algorithm_4(lazy.xor(), q=0), "keep must be a probability"),
    (lambda: algorithm_4(lazy.noisy_xor(3)), "X must have 2 columns"),
    (lambda: algorithm_4(lazy.xor(), masses=[1, 1]), "masses must"),
)
