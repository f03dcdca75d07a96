"""Norms of networks by hand and by lists of paths, and the bounds (1.1) to (1.4) by hand."""

import doctest
from itertools import product
from math import inf, log, nan, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runproofs.bounds import generalization as bounds

W1, W2 = np.array([[3.0, 4], [0, 0], [0, 2]]), np.array([[1.0, 2, 2]])
ALL = [
    bounds.path_norm_bound,
    bounds.spectral_bound,
    bounds.pac_bayes_bound,
    bounds.frobenius_bound,
]


def products_along_paths(weights):
    """One entry a path, from any input to any output."""
    widths = [weights[0].shape[1], *(W.shape[0] for W in weights)]
    for path in product(*map(range, widths)):
        yield prod(W[j, i] for W, i, j in zip(weights, path[:-1], path[1:], strict=True))


def test_examples_in_docstrings():
    assert doctest.testmod(bounds) == (0, 8)


# ---------------------------------------------------------------- norms


def test_mixed_norm_by_hand():
    X = [[3, 0], [4, 5]]
    assert bounds.mixed_norm(X, 2, 1) == pytest.approx(10, rel=1e-15)
    assert bounds.mixed_norm(np.transpose(X), 2, 1) == pytest.approx(3 + sqrt(41), rel=1e-15)
    assert bounds.mixed_norm(X, 1, inf) == 7
    assert bounds.mixed_norm(X, inf, 1) == 9
    assert bounds.mixed_norm([[8, -27]], inf, 2 / 3) == pytest.approx(13**1.5, rel=1e-14)
    assert bounds.mixed_norm(X, 3, 2) == pytest.approx(sqrt(91 ** (2 / 3) + 25), rel=1e-14)


def test_mixed_norms_of_a_batch_at_extreme_scales():
    X = np.array([[[3.0, 0], [4, 5]], [[0, 0], [0, 0]]])
    np.testing.assert_allclose(bounds.mixed_norm(1e200 * X, 2, 2), [sqrt(50) * 1e200, 0])
    small = bounds.mixed_norm(1e-200 * X, 5, 7)[0]
    assert small * 1e200 == pytest.approx((1267**1.4 + 5**7) ** (1 / 7), rel=1e-14)
    assert bounds.mixed_norm(np.ones((4, 2, 3, 5)), 2, 1).shape == (4, 2)


def test_dual_exponent():
    assert bounds.dual_exponent(2) == 2
    for p in (1.25, 3, 100.0):
        assert 1 / p + 1 / bounds.dual_exponent(p) == pytest.approx(1, rel=1e-15)


@given(st.integers(0, 10**6), st.sampled_from([1, 1.5, 2, 3, 7, inf]), st.integers(1, 3))
def test_path_norm_is_the_norm_of_all_paths(seed, p, k):
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 4, size=k + 2)
    weights = [rng.normal(size=(widths[i + 1], widths[i])) for i in range(k + 1)]
    listed = np.linalg.norm(list(products_along_paths(weights)), p)
    assert bounds.path_norm(weights, p) == pytest.approx(listed, rel=1e-12)


def test_path_norm_by_hand():
    weights = [np.array([[1, -2], [3, 1]]), np.array([[2, -1]])]  # paths 2, -4, -3, -1
    assert bounds.path_norm(weights, 1) == 10
    assert bounds.path_norm(weights, 2) == pytest.approx(sqrt(30), rel=1e-15)
    assert bounds.path_norm(weights, 3) == pytest.approx(100 ** (1 / 3), rel=1e-15)
    assert bounds.path_norm(weights, inf) == 4


def test_path_norm_of_a_batch_and_without_underflow():
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 5, 1, 3))]
    batch = bounds.path_norm(weights, 3)
    assert batch.shape == (2, 5)
    one = bounds.path_norm([W[1, 4] for W in weights], 3)
    assert batch[1, 4] == pytest.approx(one, rel=1e-15)
    small = [np.full((2, 2), 1e-3), np.full((1, 2), 1e-3)]
    assert bounds.path_norm(small, 200) == pytest.approx(1e-6 * 4 ** (1 / 200), rel=1e-13)
    assert bounds.path_norm([np.zeros((2, 2)), np.ones((1, 2))], 2) == 0


# ---------------------------------------------------------------- bounds


def test_bounds_by_hand():
    s1 = sqrt((29 + sqrt(29**2 - 4 * 36)) / 2)  # W1^T W1 has trace 29 and determinant 36
    rows, columns = (7, 3), (3 + sqrt(20), 5)  # sums of lengths
    spectral = sum((a / b) ** (2 / 3) for a, b in zip(rows, (s1, 3), strict=True))
    value = bounds.spectral_bound([W1, W2], 1)
    assert value == pytest.approx(3 * s1 * spectral**1.5, rel=1e-14)
    assert value == pytest.approx(51.853, abs=5e-4)
    wrong = sum((a / b) ** (2 / 3) for a, b in zip(columns, (s1, 3), strict=True))
    assert abs(3 * s1 * wrong**1.5 - value) > 10
    value = bounds.pac_bayes_bound([W1, W2], 1)
    assert value == pytest.approx(3 * s1 * sqrt(3 * (29 / s1**2 + 1)), rel=1e-14)
    assert value == pytest.approx(39.127, abs=5e-4)
    assert bounds.frobenius_bound([W1, W2], 1) == pytest.approx(3 * sqrt(29), rel=1e-14)
    # d = 3, k = 1, p = 4: p* = 4/3; paths 3, 4, 4 = 2 * 2
    value = bounds.path_norm_bound([W1, W2], 25, p=4)
    expected = 2 * 3**0.75 * (81 + 256 + 256) ** 0.25 * sqrt(log(4)) / 5
    assert value == pytest.approx(expected, rel=1e-14)
    assert bounds.path_norm_bound([W1, W2], 25, p=1) == pytest.approx(2 * 11 * sqrt(log(4)) / 5)
    infinite = bounds.path_norm_bound([W1, W2], 25, p=inf)
    assert infinite == pytest.approx(2 * 3 * 4 * sqrt(log(4)) / 5)


@pytest.mark.parametrize(("k", "d"), [(1, 1), (4, 6), (7, 2)])
def test_bounds_of_identities(k, d):
    weights, n = [np.eye(d)] * (k + 1), 9
    assert bounds.spectral_bound(weights, n) == pytest.approx((k + 1) ** 1.5 * d / 3, rel=1e-13)
    assert bounds.pac_bayes_bound(weights, n) == pytest.approx(k * d * sqrt(k + 1) / 3, rel=1e-13)
    expected = sqrt(k) * d ** ((k + 1) / 2) / 3
    assert bounds.frobenius_bound(weights, n) == pytest.approx(expected, rel=1e-13)
    expected = 2**k * d ** (k / 2 + 0.5) * sqrt(log(2 * d)) / 3
    assert bounds.path_norm_bound(weights, n) == pytest.approx(expected, rel=1e-13)


def test_the_output_layer_does_not_count_as_width():
    weights = [np.ones((1, 1)), np.ones((64, 1))]
    assert bounds.spectral_bound(weights, 1) ** 2 == pytest.approx(8000, rel=1e-13)
    assert bounds.pac_bayes_bound(weights, 1) ** 2 == pytest.approx(128, rel=1e-13)
    assert bounds.path_norm_bound(weights, 1) == pytest.approx(2 * 8 * sqrt(log(2)), rel=1e-13)


def test_inputs_do_not_count_as_width():
    weights = [np.ones((1, 64)), np.ones((1, 1))]  # one hidden unit: d = 1
    assert bounds.pac_bayes_bound(weights, 1) ** 2 == pytest.approx(128, rel=1e-13)
    assert bounds.path_norm_bound(weights, 1) == pytest.approx(2 * 8 * sqrt(log(128)), rel=1e-13)


@pytest.mark.parametrize("bound", ALL)
def test_bounds_broadcast_scale_with_n_and_ignore_how_scale_is_spread(bound):
    rng = np.random.default_rng(5)
    weights = [rng.normal(size=(3, *shape)) for shape in ((4, 2), (5, 4), (1, 5))]
    value = bound(weights, np.array([[10], [90]]))
    assert value.shape == (2, 3)
    np.testing.assert_allclose(value[0], 3 * value[1], rtol=1e-14)
    np.testing.assert_allclose(value[0, 2], bound([W[2] for W in weights], 10), rtol=1e-14)
    moved = [6 * weights[0], weights[1] / 2, weights[2] / 3]
    np.testing.assert_allclose(bound(moved, 10), value[0], rtol=1e-13)
    np.testing.assert_allclose(bound([7 * weights[0], *weights[1:]], 10), 7 * value[0], rtol=1e-13)
    assert bound([0 * weights[0], *weights[1:]], 10).tolist() == [0, 0, 0]


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("bad", [0, -1, nan, "2", None, True])
def test_exponents_are_checked(bad):
    with pytest.raises(ValueError, match="p must be a number that is larger than 0, or infinity"):
        bounds.mixed_norm(W1, bad, 2)
    with pytest.raises(ValueError, match="q must be a number that is larger than 0, or infinity"):
        bounds.mixed_norm(W1, 2, bad)
    for call in (bounds.path_norm, lambda w, p: bounds.path_norm_bound(w, 5, p)):
        with pytest.raises(ValueError, match="p must be a number that is at least 1, or infinity"):
            call([W1, W2], bad)
    with pytest.raises(ValueError, match="at least 1"):
        bounds.dual_exponent(0.5)


@pytest.mark.parametrize("bound", ALL)
def test_weights_and_n_are_checked(bound):
    with pytest.raises(ValueError, match="at least two matrices"):
        bound([W1], 5)
    with pytest.raises(ValueError, match="W_2 must have as many columns"):
        bound([W1, W1], 5)
    for n in (0, -3, nan):
        with pytest.raises(ValueError, match=r"^n must"):
            bound([W1, W2], n)
