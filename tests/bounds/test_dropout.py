"""The bounds on dropout by hand, and where their ends are."""

from math import nan, sqrt

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs import linalg
from runproofs.bounds import dropout


def test_mahalanobis_norm_by_hand_and_by_the_pseudo_inverse():
    assert dropout.mahalanobis_norm([[3, 4]], np.diag([9, 4])) == pytest.approx(sqrt(5), rel=1e-15)
    rng = np.random.default_rng(1)
    A = rng.normal(size=(2, 4))
    C, X = A.T @ A, rng.normal(size=(3, 5, 2)) @ A  # rank 2 in dimension 4
    expected = np.einsum("bij,jk,bik->b", X, np.linalg.pinv(C, rcond=1e-10), X) ** 0.5
    np.testing.assert_allclose(dropout.mahalanobis_norm(X, C), expected, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1, 1e6])
def test_mahalanobis_norm_knows_no_units(scale):
    atoms = linalg.isotropic_law(3, 5) @ np.diag([1, 2, 3])
    C = atoms.T @ atoms / 6
    norms = dropout.mahalanobis_norm(scale * atoms, scale**2 * C)
    assert norms == pytest.approx(sqrt(6 * 3), rel=1e-12)


def test_points_outside_the_range_are_refused():
    C = np.diag([1.0, 0.0])
    with pytest.raises(ValueError, match="range of C"):
        dropout.mahalanobis_norm([[1, 0], [1, 1e-6]], C)
    with pytest.raises(ValueError, match="range of C"):
        dropout.mahalanobis_norm([[1, 0]], np.zeros((2, 2)))
    assert dropout.mahalanobis_norm([[1, 1e-10]], C) == 1
    assert dropout.mahalanobis_norm([[0, 0]], np.zeros((2, 2))) == 0
    assert dropout.mahalanobis_norm([[0, 1]], np.diag([1, 1e-11])) == pytest.approx(10**5.5)
    with pytest.raises(ValueError, match="range of C"):
        dropout.mahalanobis_norm([[0, 1]], np.diag([1, 1e-13]))
    with pytest.raises(ValueError, match="C must"):
        dropout.mahalanobis_norm([[1, 0]], np.eye(3))


def test_bounds_by_hand():
    """n = 50, alpha = 3, beta = 1/9, norm = 5."""
    assert dropout.theorem_12(3, 1 / 9, 50, 5) == pytest.approx(1.8, rel=1e-15)
    assert dropout.theorem_12(3, 1 / 9, 50, 5, 1) == pytest.approx(0.9, rel=1e-15)
    assert dropout.theorem_12_expected(3, 1 / 9, 36, 16) == pytest.approx(12, rel=1e-15)
    np.testing.assert_allclose(dropout.theorem_13(3, 50, [5, 0.5]), [0.15, 0.015], rtol=1e-15)
    assert pytest.approx(1.20710678, abs=1e-8) == dropout.SHARPER
    assert 3.856 < dropout.WEIGHTED_TRACE < 3.857
    n, norm = np.array([4.0, 16.0]), np.array([[2.0], [3.0]])
    np.testing.assert_array_equal(dropout.theorem_12(1, 0.25, n, norm), 4 * norm / n)
    assert dropout.theorem_12([], 0.25, n[:0], 1).shape == (0,)
    assert dropout.theorem_12(0, 0.5, 9, 1) == 0


test_bad_arguments_are_named = refusals(
    (lambda: dropout.theorem_12(-1, 0.2, 9, 1), "alpha must"),
    (lambda: dropout.theorem_12(nan, 0.2, 9, 1), "alpha must"),
    (lambda: dropout.theorem_12(1, 0, 9, 1), "beta must"),
    (lambda: dropout.theorem_12(1, 0.51, 9, 1), "beta must"),
    (lambda: dropout.theorem_12(1, 0.2, 0, 1), "n must"),
    (lambda: dropout.theorem_12(1, 0.2, 9, -1), "norm must"),
    (lambda: dropout.theorem_12(1, 0.2, 9, 1, 0), "constant must"),
    (lambda: dropout.theorem_12_expected(1, 0.51, 9, 2), "beta must"),
    (lambda: dropout.theorem_12_expected(1, 0.2, 0, 2), "n must"),
    (lambda: dropout.theorem_12_expected(1, 0.2, 9, -1), "rank must"),
    (lambda: dropout.theorem_13(-1, 9, 1), "alpha must"),
    (lambda: dropout.theorem_13(1, 0, 1), "n must"),
)
