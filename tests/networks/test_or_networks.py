"""First-one and all-ones networks: their formulas are enumerations, exactly."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import multilayer, or_networks
from runproofs.networks.multilayer import MultilayerNetwork

HALF = Fraction(1, 2)
GADGETS = [(1, 3, 2), (2, 4, 2), (2, 2, 3), (3, 3, 4)]
SHAPES = [(1, 1, 2), (3, 2, 2), (2, 2, 3), (3, 1, 4)]
RATES = [HALF, Fraction(1, 4)]


def measured(network, p):
    """The criterion on P_(1,1), layer by layer."""
    K = network.sizes[0]
    return multilayer.criterion(network, multilayer.half(np.ones(K, dtype=int), 1), keep=p)


def scaled(network, factor):
    """The network with all output weights times a factor."""
    *hidden, top = network.weights
    return MultilayerNetwork([*hidden, factor * top], network.biases)


def shifted(network, step):
    *hidden, top = network.biases
    return MultilayerNetwork(network.weights, [*hidden, top + step])


@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("shape", GADGETS)
def test_the_best_first_one_network(shape, p):
    for biased in (False, True):
        best = or_networks.best_first_one(*shape, keep=p, biased=biased)
        value = measured(best, p)
        assert value == or_networks.first_one_criterion(*shape, keep=p, biased=biased)
        assert measured(scaled(best, Fraction(101, 100)), p) > value
        assert measured(scaled(best, Fraction(99, 100)), p) > value
        steps = [measured(shifted(best, Fraction(s, 100)), p) for s in (-1, 1)]
        assert (min(steps) > value) is biased


@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_non_negative_network(shape, p):
    best = or_networks.best_non_negative(*shape, keep=p)
    value = measured(best, p)
    assert value == or_networks.non_negative_minimum(*shape, keep=p)
    for factor in (Fraction(101, 100), Fraction(99, 100)):
        assert measured(scaled(best, factor), p) > value
    for step in (Fraction(1, 100), -Fraction(1, 100)):
        assert measured(shifted(best, step), p) > value


def test_floats_stay_floats():
    for formula in (
        lambda p: or_networks.kappa(3, 4, keep=p),
        lambda p: or_networks.profile(or_networks.first_one(4, 4, 2, HALF**2), keep=p)[1],
        lambda p: or_networks.first_one_criterion(3, 6, 3, keep=p, biased=True),
        lambda p: or_networks.non_negative_minimum(3, 6, 3, keep=p),
        lambda p: measured(or_networks.best_first_one(3, 3, 3, keep=p), p),
    ):
        assert isinstance(formula(Fraction(1, 3)), Fraction)
        assert isinstance(formula(1 / 3), float)
        assert formula(1 / 3) == pytest.approx(float(formula(Fraction(1, 3))), rel=1e-12)


def test_shapes_and_weights():
    network = or_networks.first_one(2, 4, 4, size=3, bias=7)
    assert network.sizes == (2, 4, 4, 4)
    assert network.weights[0].tolist() == [[1, 0], [-1, 1]] * 2
    assert [network([0, 0]), network([0, 1]), network([1, 1])] == [7, 103, 103]
    plain = or_networks.all_ones(2, 3, 3, size=3, bias=7)
    assert plain.sizes == (2, 3, 3)
    assert plain([1, 2]) == 7 + 81


def test_the_profile_is_the_conditional_mean():
    rng, p = np.random.default_rng(3), Fraction(1, 3)
    for sizes in ((3, 2, 1), (2, 3, 2, 1)):
        shapes = zip(sizes[1:], sizes[:-1], strict=True)
        weights = [rng.integers(-3, 4, shape) * HALF for shape in shapes]
        network = MultilayerNetwork(weights, [rng.integers(-2, 3, n) for n in sizes[1:]])
        patterns, chances = multilayer.all_patterns(network, keep=p)
        outputs = multilayer.dropout_output(network, np.ones(sizes[0], dtype=int), patterns, keep=p)
        for count, mean in enumerate(or_networks.profile(network, keep=p)):
            here = patterns[0].sum(1) == count
            assert mean == (chances * outputs)[here].sum() / chances[here].sum()


test_bad_arguments_are_named = refusals(
    (lambda: or_networks.first_one(2, 3, 2, 1), "n must be a multiple of K = 2"),
    (lambda: or_networks.first_one_criterion(2, 3, 2, keep=HALF), "n must be a multiple of K = 2"),
    (lambda: or_networks.all_ones(2, 3, 1, 1), "d must be an integer that is at least 2"),
    (lambda: or_networks.all_ones(0, 3, 2, 1), "K must be an integer"),
    (lambda: or_networks.kappa(1.5, 2, keep=HALF), "n must be an integer"),
    (lambda: or_networks.non_negative_minimum(2, 3, 2, keep=0), "keep must be a probability"),
    (lambda: or_networks.profile(MultilayerNetwork([[[1, 1]]]), keep=HALF), "hidden layer"),
    (
        lambda: or_networks.profile(
            MultilayerNetwork([np.ones((2, 1, 2)), np.ones((2, 1, 1))]), keep=HALF
        ),
        "network must be a single one",
    ),
    (lambda: or_networks.profile(or_networks.all_ones(13, 1, 2), keep=HALF), "at most 4096 masks"),
)
