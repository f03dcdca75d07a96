"""The detector of the empty input: its network, its formulas, and where it wins."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import monotone
from runproofs.networks.multilayer import (
    MultilayerNetwork,
    all_patterns,
    criterion,
    dropout_output,
    half,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
SHAPES = [
    (2, 4, 2, HALF), (3, 1, 3, HALF), (4, 1, 2, HALF), (3, 1, 2, Fraction(3, 4)),
    (2, 2, 3, Fraction(2, 3)), (3, 2, 2, THIRD), (1, 2, 2, HALF),
]  # fmt: skip


@pytest.mark.parametrize(("K", "n", "d", "p"), SHAPES)
def test_the_criterion_of_the_network_is_the_formula(K, n, d, p):
    network = monotone.detector(K, n, d, p)
    assert criterion(network, half([1] * K, 1), p) == monotone.detector_minimum(K, n, d, p)


def test_all_patterns_one_by_one():
    network, p = monotone.detector(2, 2, 3, THIRD), THIRD
    patterns, law = all_patterns(network, p)
    on_ones = dropout_output(network, [1, 1], patterns, p)
    on_zeros = dropout_output(network, [0, 0], patterns, p)
    mean = law @ ((on_ones - 1) ** 2 + on_zeros**2) / 2
    assert mean == monotone.detector_minimum(2, 2, 3, p)
    empty = patterns[0].sum(1) == 0
    assert set(on_ones[~empty]) == {network.biases[-1][0]}  # no noise where something arrives
    assert len(set(on_ones[empty])) > 1


@pytest.mark.parametrize("part", ["size", "bias"])
def test_other_output_weights_or_biases_are_worse(part):
    K, n, d, p = 3, 2, 3, Fraction(2, 3)
    network, P = monotone.detector(K, n, d, p), half([1] * K, 1)
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        weights, biases = list(network.weights), list(network.biases)
        target = weights if part == "size" else biases
        target[-1] = target[-1] * factor
        other = MultilayerNetwork(weights, biases)
        assert criterion(other, P, p) > monotone.detector_minimum(K, n, d, p)


def test_the_condition_is_the_comparison():
    rates = Fraction(1, 10), THIRD, HALF, Fraction(4, 5)
    verdicts = set()
    for shape in product(range(1, 7), (1, 2, 3, 5, 20), (2, 3, 6), rates):
        less = monotone.detector_minimum(*shape) < monotone.non_negative_minimum(*shape)
        assert monotone.detector_wins(*shape) is less
        verdicts.add(less)
    assert len(verdicts) == 2


def test_one_input_never_and_ties_are_no_win():
    assert not any(
        monotone.detector_wins(1, n, d, p)
        for n, d, p in product((1, 10, 1000), (2, 5), (THIRD, HALF, Fraction(9, 10)))
    )
    assert not monotone.detector_wins(2, 3, 2, Fraction(1))  # nothing is dropped: 0 against 0
    assert monotone.detector_minimum(2, 3, 2, Fraction(1)) == 0


@pytest.mark.parametrize(("K", "p"), [(1, HALF), (2, HALF), (5, THIRD)])
def test_the_infimum_is_the_limit_of_wide_detectors(K, p):
    q = 1 - p
    wide = monotone.detector_minimum(K, 10**9, 4, p)
    assert 0 < wide - q**K / (2 * (1 + q**K)) < Fraction(1, 10**8)


def test_floats_give_floats_near_the_fractions():
    exact, rounded = (monotone.detector_minimum(3, 4, 3, p) for p in (THIRD, 1 / 3))
    assert isinstance(rounded, float)
    assert rounded == pytest.approx(float(exact), rel=1e-13)
    network = monotone.detector(3, 4, 3, 1 / 3)
    assert network.weights[0].dtype == float
    assert criterion(network, half(np.ones(3), 1), 1 / 3) == pytest.approx(rounded, rel=1e-12)


test_bad_arguments = refusals(
    (lambda: monotone.detector(0, 3, 2, HALF), "K must be an integer that is at least 1"),
    (lambda: monotone.detector(2, 3, 2, 0), "p must be a keep probability"),
    (lambda: monotone.detector_minimum(2, 1.5, 2, HALF), "n must be an integer that is at least 1"),
    (lambda: monotone.detector_minimum(2, 3, 2, 0), "p must be a keep probability"),
    (lambda: monotone.detector_wins(2, 3, 1, HALF), "d must be an integer that is at least 2"),
    (lambda: monotone.detector_wins(2, 3, 2, 0), "p must be a keep probability"),
)
