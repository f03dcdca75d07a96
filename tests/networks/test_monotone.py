"""First-one and all-ones networks: their formulas are enumerations, and none is below the best."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from runproofs.networks import monotone, multilayer
from runproofs.networks.multilayer import MultilayerNetwork

HALF = Fraction(1, 2)
GADGETS = [(1, 3, 2), (2, 4, 2), (2, 2, 3), (3, 3, 2), (4, 8, 2), (3, 3, 4)]
SHAPES = [(1, 1, 2), (2, 2, 2), (3, 2, 2), (2, 2, 3), (3, 1, 4), (4, 3, 2)]
RATES = [HALF, Fraction(2, 3), Fraction(1, 4)]


def measured(network, p):
    """The criterion on P_(1,1), layer by layer."""
    K = network.sizes[0]
    return multilayer.criterion(network, multilayer.half(np.ones(K, dtype=int), 1), p)


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
        best = monotone.best_first_one(*shape, p, biased=biased)
        value = measured(best, p)
        assert value == monotone.first_one_criterion(*shape, p, biased=biased)
        assert measured(scaled(best, Fraction(101, 100)), p) > value
        assert measured(scaled(best, Fraction(99, 100)), p) > value
        steps = [measured(shifted(best, Fraction(s, 100)), p) for s in (-1, 1)]
        assert (min(steps) > value) is biased
    assert monotone.first_one_criterion(*shape, p, biased=True) < monotone.first_one_criterion(
        *shape, p
    )


def test_known_criteria_of_first_one_networks():
    known = {(2, 2, 2): (5, 16), (4, 4, 2): (17, 64), (4, 8, 2): (3, 16), (2, 4, 3): (3, 10)}
    for shape, value in known.items():
        assert monotone.first_one_criterion(*shape, HALF) == Fraction(*value)
    assert monotone.first_one_criterion(4, 8, 2, Fraction(2, 3)) == Fraction(17, 162)
    assert monotone.first_one_criterion(2, 4, 2, HALF, biased=True) == Fraction(1, 6)


@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_non_negative_network(shape, p):
    best = monotone.best_non_negative(*shape, p)
    value = measured(best, p)
    assert value == monotone.non_negative_minimum(*shape, p)
    for factor in (Fraction(101, 100), Fraction(99, 100)):
        assert measured(scaled(best, factor), p) > value
    for step in (Fraction(1, 100), -Fraction(1, 100)):
        assert measured(shifted(best, step), p) > value


@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 2, 2), (2, 2, 3)])
def test_no_non_negative_network_is_better(shape, p):
    """Steps from the best network and from random ones, in many directions, exactly."""
    rng = np.random.default_rng(5)
    best, least = monotone.best_non_negative(*shape, p), monotone.non_negative_minimum(*shape, p)
    for k in range(30):
        step = Fraction(1, (3, 30, 300)[k % 3])
        weights = [W * abs(1 + step * rng.integers(-3, 4, W.shape)) for W in best.weights]
        biases = [b + step * rng.integers(-3, 4, b.shape) for b in best.biases]
        assert measured(MultilayerNetwork(weights, biases), p) >= least


@pytest.mark.parametrize(("shape", "p"), [((2, 2, 2), 0.5), ((2, 2, 2), 0.7), ((2, 2, 3), 0.5)])
def test_minimisation_from_many_starts_finds_the_same(shape, p):
    K, n, d = shape
    sizes, rng = [K, *[n] * (d - 1), 1], np.random.default_rng(2)
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    counts = np.cumsum([a * b for a, b in shapes] + sizes[1:])[:-1]
    patterns, chances = multilayer.all_patterns(monotone.all_ones(*shape), p)

    def criterion(v):
        parts = np.split(v, counts)
        weights = [part.reshape(pair) for part, pair in zip(parts[:d], shapes, strict=True)]
        network = MultilayerNetwork(weights, parts[d:])
        on, off = (
            multilayer.dropout_output(network, np.full(K, x), patterns, p) for x in (1.0, 0.0)
        )
        return chances @ ((on - 1) ** 2 + off**2) / 2

    weights, biases = counts[d - 1], sum(sizes[1:])
    bounds = [(0, None)] * weights + [(None, None)] * biases
    exactly = {"bounds": bounds, "method": "L-BFGS-B", "options": {"ftol": 1e-15, "gtol": 1e-9}}
    starts = rng.random((8, weights + biases))  # near kinks most end 1e-6 to 1e-2 above
    found = min(minimize(criterion, start, **exactly).fun for start in starts)
    least = monotone.non_negative_minimum(*shape, p)
    assert found == pytest.approx(least, abs=1e-6)
    assert found > least - 1e-12


def test_known_minima():
    known = {
        (2, 4, 2, HALF): (7, 44), (2, 2, 3, HALF): (19, 92), (4, 1, 2, HALF): (3, 16),
        (3, 2, 2, Fraction(1, 4)): (2, 9), (2, 2, 3, Fraction(2, 3)): (61, 372),
        (3, 1, 2, Fraction(3, 4)): (13, 106), (64, 2015, 2, HALF): (1, 128),
    }  # fmt: skip
    for arguments, value in known.items():
        assert monotone.non_negative_minimum(*arguments) == Fraction(*value)
    assert monotone.kappa(3, 4, Fraction(2, 3)) == Fraction(7, 6) ** 3 - 1


def test_floats_stay_floats():
    for formula in (
        lambda p: monotone.kappa(3, 4, p),
        lambda p: monotone.first_one_criterion(3, 6, 3, p, biased=True),
        lambda p: monotone.non_negative_minimum(3, 6, 3, p),
        lambda p: measured(monotone.best_first_one(3, 3, 3, p), p),
    ):
        assert isinstance(formula(Fraction(1, 3)), Fraction)
        assert isinstance(formula(1 / 3), float)
        assert formula(1 / 3) == pytest.approx(float(formula(Fraction(1, 3))), rel=1e-12)


def test_shapes_and_weights():
    network = monotone.first_one(2, 4, 4, size=3, bias=7)
    assert network.sizes == (2, 4, 4, 4)
    assert network.weights[0].tolist() == [[1, 0], [-1, 1]] * 2
    assert [network([0, 0]), network([0, 1]), network([1, 1])] == [7, 103, 103]
    plain = monotone.all_ones(2, 3, 3, size=3, bias=7)
    assert plain.sizes == (2, 3, 3)
    assert plain([1, 2]) == 7 + 81


@pytest.mark.parametrize("p", [HALF, Fraction(1, 3), 1 / 3])
def test_the_profile_is_the_conditional_mean(p):
    rng = np.random.default_rng(3)
    exact = isinstance(p, Fraction)
    for sizes in ((3, 2, 1), (2, 3, 2, 1)):
        pairs = zip(sizes[1:], sizes[:-1], strict=True)
        weights = [rng.integers(-3, 4, shape) * Fraction(1, 2) for shape in pairs]
        network = MultilayerNetwork(weights, [rng.integers(-2, 3, n) for n in sizes[1:]])
        patterns, chances = multilayer.all_patterns(network, p)
        outputs = multilayer.dropout_output(network, np.ones(sizes[0], dtype=int), patterns, p)
        kept, psi = patterns[0].sum(1), monotone.profile(network, p)
        for count, mean in enumerate(psi):
            here = kept == count
            by_hand = (chances * outputs)[here].sum() / chances[here].sum()
            assert mean == (by_hand if exact else pytest.approx(by_hand, rel=1e-12))
    assert monotone.profile(monotone.first_one(4, 4, 2, HALF**2), HALF).tolist() == [0] + [HALF] * 4


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: monotone.first_one(2, 3, 2, 1), "n must be a multiple of K = 2"),
        (lambda: monotone.first_one_criterion(2, 3, 2, HALF), "n must be a multiple of K = 2"),
        (
            lambda: monotone.all_ones(2, 3, 1, 1),
            "d must be an integer that is at least 2, for one hidden layer",
        ),
        (lambda: monotone.all_ones(0, 3, 2, 1), "K must be an integer"),
        (lambda: monotone.kappa(1.5, 2, HALF), "n must be an integer"),
        (lambda: monotone.non_negative_minimum(2, 3, 2, 0), "p must be a keep probability"),
        (lambda: monotone.profile(MultilayerNetwork([[[1, 1]]]), HALF), "hidden layer"),
        (
            lambda: monotone.profile(
                MultilayerNetwork([np.ones((2, 1, 2)), np.ones((2, 1, 1))]), HALF
            ),
            "network must be a single one",
        ),
        (lambda: monotone.profile(monotone.all_ones(13, 1, 2), HALF), "at most 4096 masks"),
    ],
)
def test_bad_arguments_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
