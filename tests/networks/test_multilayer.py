"""Multilayer networks with dropout: two exact routes agree, and bad arguments are named."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import multilayer
from runproofs.networks.multilayer import MultilayerNetwork

FIGURE_1 = MultilayerNetwork([[[1, 1], [1, 1]], [[1, 1]]])
HALF = Fraction(1, 2)


def drawn(rng, sizes):
    """A rational network with biases."""
    weights = [rng.integers(-3, 4, shape) for shape in zip(sizes[1:], sizes[:-1], strict=True)]
    return MultilayerNetwork(
        [W * Fraction(1, 2) for W in weights], [rng.integers(-2, 3, n) for n in sizes[1:]]
    )


@pytest.mark.parametrize("p", [HALF, Fraction(1, 5), Fraction(1)])
@pytest.mark.parametrize("sizes", [(2, 3, 2, 1), (3, 4, 1), (2, 1)])
def test_layer_by_layer_is_all_patterns(sizes, p):
    rng = np.random.default_rng(7)
    for _ in range(3):
        network, x = drawn(rng, sizes), rng.integers(-3, 4, sizes[0])
        patterns, chances = multilayer.all_patterns(network, keep=p)
        outputs = multilayer.dropout_output(network, x, patterns, keep=p)
        law = multilayer.output_law(network, x, keep=p)
        listed = {value: chances[outputs == value].sum() for value in set(outputs)}
        assert {k: v for k, v in law.items() if v} == {k: v for k, v in listed.items() if v}
        assert (
            multilayer.criterion(network, [(1, x, 2)], keep=p)
            == (chances * (outputs - 2) ** 2).sum()
        )


def test_figure_1_and_its_neighbors():
    example = [(1, [1, -1], 8)]
    assert multilayer.risk(FIGURE_1, example) == 64
    assert multilayer.criterion(FIGURE_1, example, keep=HALF) == 54
    assert multilayer.criterion(FIGURE_1, example, keep=Fraction(2, 3)) == Fraction(335, 6)
    assert multilayer.squared_norm(FIGURE_1) == 6
    assert multilayer.penalised_risk(FIGURE_1, example, HALF) == 64 + Fraction(3, 2)


def test_biases_of_every_layer_count():
    network = MultilayerNetwork([[[1, 1], [1, 1]], [[1, 1]]], [[0, HALF], [0]])
    law = multilayer.output_law(network, [1, -1], keep=HALF)
    sixteenths = {value: chance * 16 for value, chance in law.items()}
    assert sixteenths == {9: 1, 5: 1, 4: 1, 1: 4, 0: 9}
    assert MultilayerNetwork([[[2]]], [[3]])([5]) == 13


def test_exact_stays_exact_and_floats_stay_floats():
    assert isinstance(FIGURE_1([1, 1]), Fraction)
    floats = MultilayerNetwork([[[1.0, 1], [1, 1]], [[1, 1]]])
    assert isinstance(floats([1, 1]), float)
    value = multilayer.criterion(floats, [(1, [1, -1], 8)], keep=HALF)
    assert value == pytest.approx(54, rel=1e-12)
    assert isinstance(value, float)
    mixed = MultilayerNetwork([[[HALF, 0.25], [1, 0.5]], [[1, 1]]], [[0, HALF], [0.5]])
    assert mixed.weights[0].dtype == float
    assert mixed([HALF, 0.5]) == 0.375 + 1.25 + 0.5
    assert isinstance(multilayer.criterion(FIGURE_1, [(1, [HALF, -1.0], 8)], keep=HALF), float)


def test_fractions_of_numpy_integers_do_not_overflow():
    large = Fraction(np.int64(2**40), np.int64(1))
    assert MultilayerNetwork([[[large]], [[large]]])([1]) == 2**80


def test_batches_of_networks_points_and_patterns():
    rng = np.random.default_rng(1)
    W, V = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 1, 3))
    network, x = MultilayerNetwork([W, V]), rng.normal(size=(4, 2))
    single = [MultilayerNetwork([W[i], V[i]])(x[i]) for i in range(4)]
    np.testing.assert_allclose(network(x), single, rtol=1e-14)
    masks = rng.integers(0, 2, (5, 4, 2)), rng.integers(0, 2, (5, 4, 3))
    outputs = multilayer.dropout_output(network, x, masks, keep=0.5)
    assert outputs.shape == (5, 4)
    by_hand = V[2] @ (masks[1][3, 2] * 2 * np.maximum(W[2] @ (masks[0][3, 2] * 2 * x[2]), 0))
    assert outputs[3, 2] == pytest.approx(by_hand.item(), rel=1e-13)
    by_hand = (W[1] ** 2).sum() + (V[1] ** 2).sum()
    assert multilayer.squared_norm(network)[1] == pytest.approx(by_hand)


def test_equal_nodes_are_merged_at_any_width():
    K, n, p = 3, 40, Fraction(2, 3)
    shapes = [(n, K), (n, n), (1, n)]
    law = multilayer.output_law(
        MultilayerNetwork([np.ones(s, int) for s in shapes]), [1] * K, keep=p
    )
    assert len(law) <= (K + 1) * (n + 1) ** 2
    assert sum(law.values()) == 1
    # products of three independent binomials, each with mean m p and second moment 1 + q / (m p)
    assert sum(chance * value for value, chance in law.items()) == K * n**2
    second = (K * n**2) ** 2 * (1 + Fraction(1, 2 * K)) * (1 + Fraction(1, 2 * n)) ** 2
    assert sum(chance * value**2 for value, chance in law.items()) == second


LARGE = MultilayerNetwork([np.ones((1, 21))])
BATCHES = (
    MultilayerNetwork([[[1, 1]]], [np.ones((3, 1), int)]),  # of biases
    MultilayerNetwork([np.ones((2, 1, 2))]),
)

test_bad_arguments_are_named = refusals(
    (lambda: MultilayerNetwork([]), "weights must hold at least one layer"),
    (lambda: MultilayerNetwork([[[1, 2]], [[1, 2]]]), r"weights\[1\] must have 1 columns"),
    (lambda: MultilayerNetwork([[[1], [2]]]), r"weights\[0\] must be a matrix of one row"),
    (lambda: MultilayerNetwork([[[1, 2], [3]]]), r"weights\[0\] must be"),
    (lambda: MultilayerNetwork([[1, 2]]), r"weights\[0\] must be a matrix"),
    (lambda: MultilayerNetwork([[[1, np.nan]]]), "finite"),
    (lambda: MultilayerNetwork([[[1]], [[1]]], [[0]]), r"biases must have lengths \[1, 1\]"),
    (lambda: FIGURE_1([1, 2, 3]), "x must have a last axis of length 2"),
    (lambda: multilayer.dropout_output(FIGURE_1, [1, 1], [1], keep=HALF), "pattern must hold 2"),
    (lambda: multilayer.dropout_output(FIGURE_1, [1, 1], [1, [1]], keep=HALF), r"pattern\[1\]"),
    (lambda: multilayer.dropout_output(FIGURE_1, [1, 1], [1, [1, 2]], keep=HALF), "zeros and ones"),
    (lambda: multilayer.output_law(FIGURE_1, [[1, 1]], keep=HALF), "x must be a point of 2 inputs"),
    (lambda: multilayer.output_law(FIGURE_1, [1, 1], keep=0), "keep must be a probability"),
    (lambda: multilayer.all_patterns(FIGURE_1, keep=0), "keep must be a probability"),
    (lambda: multilayer.all_patterns(LARGE, keep=HALF), "network must have at most 20 inputs and"),
    (lambda: multilayer.penalised_risk(FIGURE_1, [(1, [1, 1], 1)], -1), "lam must be"),
    *(
        (lambda n=n: multilayer.output_law(n, [1, 1], keep=HALF), "network must be a")
        for n in BATCHES
    ),
)
