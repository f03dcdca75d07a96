"""Rademacher complexities by enumeration: against loops in fractions, and closed forms."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.bounds.rademacher import (
    all_functions,
    all_samples,
    empirical_complexity,
    expected_complexity,
)
from runproofs.masks import all_signs

HALF = Fraction(1, 2)


@st.composite
def tables(draw):
    """A table of one to five functions at one to four points, in fractions."""
    members, points = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    entries = st.fractions(-3, 3, max_denominator=12)
    rows = [[draw(entries) for _ in range(points)] for _ in range(members)]
    return np.array(rows, dtype=object)


def by_loops(rows):
    """The definition, word by word."""
    n = len(rows[0])
    best = [
        max(sum(s * value for s, value in zip(signs, row, strict=True)) for row in rows)
        for signs in product((-1, 1), repeat=n)
    ]
    return Fraction(sum(best)) / (n * len(best))


@given(tables())
def test_the_complexity_is_its_definition_exactly(table):
    exact = empirical_complexity(table)
    assert isinstance(exact, Fraction)
    assert exact == by_loops(table.tolist())
    batch = np.array([[table, 2 * table, 0 * table]], float)  # floats, and of two axes
    expected = float(exact) * np.array([[1, 2, 0]])
    np.testing.assert_allclose(empirical_complexity(batch), expected, atol=1e-12)
    assert isinstance(empirical_complexity(batch[0, 0]), float)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_all_signs_as_a_class_fit_every_noise(n):
    assert empirical_complexity(all_signs(n)) == 1
    assert empirical_complexity((all_signs(n) > 0) * 1.0) == HALF
    assert empirical_complexity(np.array([[1] * n, [-1] * n])) == pytest.approx(
        np.abs(all_signs(n).sum(1)).mean() / n
    )


def test_all_samples_have_the_product_law():
    law = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    samples, p = all_samples(law, 4)
    assert samples.shape == (81, 4)
    expected = {s: np.prod([law[i] for i in s]) for s in product(range(3), repeat=4)}
    assert {tuple(s): q for s, q in zip(samples.tolist(), p, strict=True)} == expected
    assert sum(p) == 1
    np.testing.assert_allclose(all_samples(np.array(law, float), 4)[1], p.astype(float))


def test_samples_from_one_point_and_from_many():
    samples, p = all_samples([1.0], 100)
    assert samples.shape == (1, 100)
    assert p.tolist() == [1.0]
    samples, p = all_samples(np.full(10**6, 1e-6), 1)  # added up one by one, the law is 8e-12 off
    np.testing.assert_array_equal(samples[:, 0], np.arange(10**6))
    assert (p == 1e-6).all()


@given(tables(), st.integers(1, 3))
def test_the_expected_complexity_is_the_mean_over_samples(table, n):
    weights = np.arange(1, table.shape[1] + 1)
    law = [Fraction(int(w), int(weights.sum())) for w in weights]
    expected = sum(
        np.prod([law[i] for i in sample]) * by_loops(table[:, list(sample)].tolist())
        for sample in product(range(len(law)), repeat=n)
    )
    assert expected_complexity(table, law, n) == expected
    floats = expected_complexity(table.astype(float), [float(w) for w in law], n)
    assert floats == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(("N", "n"), [(1, 1), (1, 6), (2, 5), (3, 4), (5, 3)])
def test_all_functions_are_their_table(N, n):
    table = (all_signs(N) > 0) * 1.0
    exact = expected_complexity(table, np.full(N, 1 / N), n)
    assert all_functions(N, n) == pytest.approx(exact, rel=1e-12)


def test_all_functions_on_many_points_fit_half_of_the_noise():
    assert all_functions(10**12, 10**6) == pytest.approx(0.5, rel=1e-6)
    assert all_functions(10**24, 10) == pytest.approx(0.5, rel=1e-12)
    # for a single point it is the mean distance of a walk, 2k C(2k, k) / 4^k
    assert all_functions(1, 1000) == pytest.approx(np.sqrt(1 / (2 * np.pi * 1000)), rel=1e-3)


test_wrong_arguments_are_named = refusals(
    (lambda: all_functions(0, 3), "N must be an integer that is at least 1"),
    (lambda: all_functions(3, 2.0), "n must be an integer that is at least 1"),
    (lambda: all_samples([0.5, 0.6], 2), "law must be a list of probabilities"),
    (lambda: all_samples([[1.0]], 2), "law must be a list of probabilities"),
    (lambda: all_samples([0.5, 0.5], 21), "n must allow at most 1048576 samples"),
    (lambda: all_samples([0.5, np.nan], 2), "law must have finite entries"),
    (lambda: empirical_complexity([1.0, 2.0]), "values must have one function in each row"),
    (lambda: empirical_complexity([[1.0, np.nan]]), "values must have finite entries"),
    (lambda: empirical_complexity([[1.0], [1.0, 2.0]]), "values must be"),
    (lambda: empirical_complexity(np.zeros((1000, 17))), "values must allow at most"),
    (lambda: expected_complexity(np.zeros((2, 3)), [0.5, 0.5], 2), "table must have 2 columns"),
)
