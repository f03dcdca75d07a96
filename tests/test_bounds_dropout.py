"""The bounds on dropout by hand, and where their ends are."""

from math import e, log, nan, sqrt

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
    """n = 50, alpha = 3, beta = 1/9, norm = 5, delta = 2/e: the chance term is 1/10."""
    chance = 2 / e
    assert dropout.theorem_12(3, 1 / 9, 50, 5) == pytest.approx(1.8, rel=1e-15)
    assert dropout.theorem_12(3, 1 / 9, 50, 5, 1) == pytest.approx(0.9, rel=1e-15)
    assert dropout.theorem_12_expected(3, 1 / 9, 36, 16) == pytest.approx(12, rel=1e-15)
    assert dropout.theorem_13(3, 50, 5) == pytest.approx(0.15, rel=1e-15)
    assert dropout.corollary_2(3, 1 / 9, 50, 5, chance) == pytest.approx(15.6, rel=1e-14)
    assert dropout.corollary_3(3, 50, 5, chance) == pytest.approx(16.2, rel=1e-14)
    by_hand = 8 * sqrt(6 * 4 * log(4) / 50 + 1 / 200)
    assert dropout.theorem_11(3, 4, 50, chance, 1) == pytest.approx(by_hand, rel=1e-14)
    assert dropout.theorem_11(3, 4, 50, chance) > 3 * by_hand


def test_the_proof_of_theorem_11_loses_nothing_at_one_point():
    """8 K sqrt(A) + 4 sqrt(log(2/delta) / 2n) is at most the bound, equal at one A."""
    n, delta, d2 = 100, 0.05, 7
    A = np.append(np.geomspace(1e-6, 1, 13), log(2 / delta) / (8 * n))
    proof = 8 * sqrt(1) * np.sqrt(A) + 4 * sqrt(log(2 / delta) / (2 * n))
    bound = dropout.theorem_11(A * n / (d2 * log(d2)), d2, n, delta, 1)
    assert (proof <= bound * (1 + 1e-14)).all()
    assert bound[-1] == pytest.approx(proof[-1], rel=1e-14)
    assert bound[-1] == pytest.approx(1.08648, rel=1e-5)


def test_the_constants_of_the_corollaries_follow():
    """Corollary 2 is 8 times Theorem 12, and Corollary 3 twice Corollary 2 at beta = 1/2."""
    half, chance = 0.5, 2 / e
    for constant in (2, dropout.SHARPER):
        eight = 8 * dropout.theorem_12(3, half, 50, 5, constant) + 1.2
        second = dropout.corollary_2(3, half, 50, 5, chance, 8 * constant)
        third = dropout.corollary_3(3, 50, 5, chance, 16 * sqrt(2) * constant)
        assert [eight, 2 * eight] == pytest.approx([second, third], rel=1e-14)
    assert 1.20710678 < dropout.SHARPER < 1.20710679
    assert 8 * dropout.SHARPER < 9.66
    assert 27 < 16 * sqrt(2) * dropout.SHARPER < 28
    assert 3.856 < dropout.WEIGHTED_TRACE < 3.857


def test_bounds_broadcast():
    n, norm = np.array([4.0, 16.0]), np.array([[2.0], [3.0]])
    np.testing.assert_array_equal(dropout.theorem_12(1, 0.25, n, norm), 4 * norm / n)
    assert dropout.corollary_3(1, n, norm, 0.1).shape == (2, 2)
    assert dropout.corollary_2(1, [], n[:0], 1, []).shape == (0,)
    assert dropout.theorem_11(1, [], 9, 0.1).shape == (0,)


GOOD = {"alpha": 1, "beta": 0.2, "n": 9, "norm": 1, "rank": 2, "delta": 0.1, "d2": 3}
TAKES = {
    dropout.theorem_12: ("alpha", "beta", "n", "norm"),
    dropout.theorem_12_expected: ("alpha", "beta", "n", "rank"),
    dropout.theorem_13: ("alpha", "n", "norm"),
    dropout.corollary_2: ("alpha", "beta", "n", "norm", "delta"),
    dropout.corollary_3: ("alpha", "n", "norm", "delta"),
    dropout.theorem_11: ("alpha", "d2", "n", "delta"),
}
BAD = {
    "alpha": (-1, nan),
    "beta": (0, 0.51, nan),
    "n": (0, nan),
    "norm": (-1,),
    "rank": (-1,),
    "delta": (0, 1),
    "d2": (1, 1.9),
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
    last = "K" if "d2" in good else "constant"
    with pytest.raises(ValueError, match=f"^{last} must"):
        bound(**good, **{last: 0})
    ends = {"alpha": 0, "beta": 0.5, "d2": 2, "delta": 0.999}
    assert bound(**good | {k: v for k, v in ends.items() if k in good}) >= 0
