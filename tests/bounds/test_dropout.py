"""The bounds on dropout by hand, and where their ends are."""

from math import nan, sqrt

import numpy as np
import pytest

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
    assert dropout.theorem_13(3, 50, 5) == pytest.approx(0.15, rel=1e-15)
    assert dropout.theorem_13(3, 50, 0.5) == pytest.approx(0.015, rel=1e-15)


def test_the_constants_of_the_corollaries_follow():
    assert 1.20710678 < dropout.SHARPER < 1.20710679
    assert 8 * dropout.SHARPER < 9.66
    assert 27 < 16 * sqrt(2) * dropout.SHARPER < 28
    assert 3.856 < dropout.WEIGHTED_TRACE < 3.857


def test_bounds_broadcast():
    n, norm = np.array([4.0, 16.0]), np.array([[2.0], [3.0]])
    np.testing.assert_array_equal(dropout.theorem_12(1, 0.25, n, norm), 4 * norm / n)
    assert dropout.theorem_13(1, n, norm).shape == (2, 2)
    assert dropout.theorem_12([], 0.25, n[:0], 1).shape == (0,)


GOOD = {"alpha": 1, "beta": 0.2, "n": 9, "norm": 1, "rank": 2}
TAKES = {
    dropout.theorem_12: ("alpha", "beta", "n", "norm"),
    dropout.theorem_12_expected: ("alpha", "beta", "n", "rank"),
    dropout.theorem_13: ("alpha", "n", "norm"),
}
BAD = {
    "alpha": (-1, nan),
    "beta": (0, 0.51, nan),
    "n": (0, nan),
    "norm": (-1,),
    "rank": (-1,),
}


@pytest.mark.parametrize("bound", TAKES)
def test_bad_arguments_are_named(bound):
    good = {name: GOOD[name] for name in TAKES[bound]}
    assert bound(**good) > 0
    for name in TAKES[bound]:
        for value in BAD[name]:
            sentence = "rank" if name == "norm" and "rank" in good else name
            with pytest.raises(ValueError, match=rf"^{sentence} must"):
                bound(**good | {name: value})
    with pytest.raises(ValueError, match=r"^constant must"):
        bound(**good, constant=0)
    ends = {"alpha": 0, "beta": 0.5}
    assert bound(**good | {k: v for k, v in ends.items() if k in good}) >= 0
