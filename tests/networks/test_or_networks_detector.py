"""The detector of the empty input: its network and its formulas; its page compares criteria."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import or_networks
from runproofs.networks.multilayer import (
    all_patterns,
    criterion,
    dropout_output,
    half,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def test_all_patterns_one_by_one():
    network, p = or_networks.detector(2, 2, 3, keep=THIRD), THIRD
    patterns, law = all_patterns(network, keep=p)
    on_ones = dropout_output(network, [1, 1], patterns, keep=p)
    on_zeros = dropout_output(network, [0, 0], patterns, keep=p)
    mean = law @ ((on_ones - 1) ** 2 + on_zeros**2) / 2
    assert mean == or_networks.detector_minimum(2, 2, 3, keep=p)
    empty = patterns[0].sum(1) == 0
    assert set(on_ones[~empty]) == {network.biases[-1][0]}  # no noise where something arrives
    assert len(set(on_ones[empty])) > 1


def test_one_input_never_and_ties_are_no_win():
    assert not any(
        or_networks.detector_wins(1, n, d, keep=p)
        for n, d, p in product((1, 10, 1000), (2, 5), (THIRD, HALF, Fraction(9, 10)))
    )
    assert not or_networks.detector_wins(
        2, 3, 2, keep=Fraction(1)
    )  # nothing is dropped: 0 against 0
    assert or_networks.detector_minimum(2, 3, 2, keep=Fraction(1)) == 0


@pytest.mark.parametrize(("K", "p"), [(1, HALF), (2, HALF), (5, THIRD)])
def test_the_infimum_is_the_limit_of_wide_detectors(K, p):
    q = 1 - p
    wide = or_networks.detector_minimum(K, 10**9, 4, keep=p)
    assert 0 < wide - q**K / (2 * (1 + q**K)) < Fraction(1, 10**8)


def test_floats_give_floats_near_the_fractions():
    exact, rounded = (or_networks.detector_minimum(3, 4, 3, keep=p) for p in (THIRD, 1 / 3))
    assert isinstance(rounded, float)
    assert rounded == pytest.approx(float(exact), rel=1e-13)
    network = or_networks.detector(3, 4, 3, keep=1 / 3)
    assert network.weights[0].dtype == float
    assert criterion(network, half(np.ones(3), 1), keep=1 / 3) == pytest.approx(rounded, rel=1e-12)


test_bad_arguments = refusals(
    (lambda: or_networks.detector(0, 3, 2, keep=HALF), "K must be an integer that is at least 1"),
    (lambda: or_networks.detector(2, 3, 2, keep=0), "keep must be a probability"),
    (
        lambda: or_networks.detector_minimum(2, 1.5, 2, keep=HALF),
        "n must be an integer that is at least 1",
    ),
    (lambda: or_networks.detector_minimum(2, 3, 2, keep=0), "keep must be a probability"),
    (
        lambda: or_networks.detector_wins(2, 3, 1, keep=HALF),
        "d must be an integer that is at least 2",
    ),
    (lambda: or_networks.detector_wins(2, 3, 2, keep=0), "keep must be a probability"),
)
