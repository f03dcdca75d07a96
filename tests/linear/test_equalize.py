"""Equalizers are orthogonal and equalize, whatever the matrix; predicates accept what they must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linalg import random_orthogonal
from runproofs.linear.equalize import (
    diagonal_rotations,
    equalize_fft,
    equalizer,
    equalizer_as_printed,
    equalizer_fft,
    hadamard,
    importance_scores,
    is_equalized,
    plane_rotations,
    rotate,
)

seeds = st.integers(0, 2**32 - 1)


@st.composite
def matrices(draw, max_d=30, max_r=200):
    """Random, low-rank, orthogonal-column, sparse, repeated-column matrices, of any scale."""
    rng = np.random.default_rng(draw(seeds))
    d, r = draw(st.integers(1, max_d)), draw(st.integers(1, max_r))
    kind = draw(st.sampled_from(["normal", "low rank", "identity", "sparse", "repeated", "skewed"]))
    U = rng.standard_normal((d, r))
    if kind == "low rank":
        U = rng.standard_normal((d, 1)) @ rng.standard_normal((1, r))
    elif kind == "identity":
        U = np.eye(d, r)
    elif kind == "sparse":
        U *= rng.random((d, r)) < 0.1
    elif kind == "repeated":
        U[:] = U[:, :1]
    elif kind == "skewed":
        U *= np.exp(-np.linspace(0, 50, r))
    return U * draw(st.sampled_from([1.0, 1e-150, 1e150, 1e-8]))


def spread(X):
    """Relative spread of squared column norms, safe at any scale; 0 for a zero matrix."""
    X = X / (np.abs(X).max() or 1)
    squares = (X * X).sum(axis=0)
    return np.ptp(squares) / (squares.mean() or 1)


def defect(Q):
    return np.abs(Q.T @ Q - np.eye(Q.shape[1])).max()


@given(matrices())
def test_equalizer_is_orthogonal_and_equalizes(U):
    Q = equalizer(U)
    assert Q.shape == (U.shape[1],) * 2
    assert defect(Q) < 1e-12
    assert spread(U @ Q) < 1e-12


@given(matrices())
def test_plane_rotations_are_at_most_r_minus_1_and_agree_with_the_equalizer(U):
    rotations = plane_rotations(U)
    assert len(rotations) <= U.shape[1] - 1
    assert all(abs(c * c + s * s - 1) < 1e-15 and abs(s) <= c for _, _, c, s in rotations)
    assert spread(rotate(U, rotations)) < 1e-12
    np.testing.assert_allclose(rotate(np.eye(U.shape[1]), rotations), equalizer(U), atol=1e-12)


@given(matrices(max_r=40))
def test_rotations_touch_two_columns_as_documented(U):
    by_hand, rotations = U.copy(), plane_rotations(U)
    for i, j, c, s in rotations:
        by_hand[:, [i, j]] = by_hand[:, [i, j]] @ np.array([[c, -s], [s, c]])
    np.testing.assert_allclose(rotate(U, rotations), by_hand, atol=1e-13 * np.abs(U).max())


@st.composite
def symmetric(draw):
    """Indefinite, rank-one, graded, diagonal and traceless matrices, of any scale."""
    rng = np.random.default_rng(draw(seeds))
    r = draw(st.integers(1, 60))
    kind = draw(st.sampled_from(["normal", "rank one", "graded", "diagonal", "traceless"]))
    G = rng.standard_normal((r, r))
    if kind == "rank one":
        G = np.outer(G[0], G[0]) * rng.choice([-1, 1])
    elif kind == "graded":
        G *= np.exp(-np.linspace(0, 40, r))
        G *= np.exp(-np.linspace(0, 40, r))[:, None]
    elif kind == "diagonal":
        G = np.diag(G[0])
    G = G + G.T
    if kind == "traceless":
        G -= np.eye(r) * np.trace(G) / r
    return G * draw(st.sampled_from([1.0, 1e-150, 1e150, -1e-8]))


@given(symmetric())
def test_diagonal_rotations_make_any_diagonal_constant(G):
    before, r = G.copy(), len(G)
    rotations = diagonal_rotations(G)
    np.testing.assert_array_equal(G, before)
    assert len(rotations) <= r - 1
    R = rotate(np.eye(r), rotations)
    assert defect(R) < 1e-12
    assert np.linalg.slogdet(R)[0] == 1
    turned = rotate(rotate(G, rotations).T, rotations)
    np.testing.assert_allclose(turned, R.T @ G @ R, rtol=0, atol=1e-12 * np.abs(G).max())
    assert np.ptp(np.diag(turned)) <= 1e-12 * np.abs(G).max()


@given(matrices(max_r=24))
def test_printed_algorithm_equalizes_too(U):
    Q = equalizer_as_printed(U)
    assert defect(Q) < 1e-11
    assert spread(U @ Q) < 1e-11


@pytest.mark.parametrize("U", [np.zeros((3, 4)), np.ones((1, 1)), np.ones((3, 5)), np.eye(6)])
def test_equalized_matrices_are_left_alone(U):
    assert diagonal_rotations(U.T @ U) == []
    assert plane_rotations(U) == []
    np.testing.assert_array_equal(equalizer(U), np.eye(U.shape[1]))
    assert is_equalized(U)


@given(matrices(), st.sampled_from([-1.0, 2.0, 2.0**-400, 2.0**300]))
def test_equalizer_does_not_depend_on_scale(U, factor):
    if np.abs(U).max() < 1e-100:
        U = U * 2.0**400
    if np.abs(U).max() > 1e100:
        U = U * 2.0**-400
    np.testing.assert_array_equal(plane_rotations(U), plane_rotations(factor * U))


def test_many_columns_of_very_different_norms():
    U = np.random.default_rng(0).standard_normal((5, 4096)) * np.exp(-np.linspace(0, 20, 4096))
    Q = equalizer(U)
    assert defect(Q[:, ::64]) < 1e-12
    assert spread(U @ Q) < 1e-12
    D = (U * U).sum(axis=0)[:1000]
    assert spread(equalize_fft(np.diag(np.sqrt(D)), D)) < 1e-12


@given(st.integers(1, 200), seeds, st.sampled_from([1.0, 1e-300, 1e300]))
def test_fourier_equalizer(r, seed, scale):
    rng = np.random.default_rng(seed)
    D = scale * rng.random(r) * (rng.random(r) < rng.random())
    Q = equalizer_fft(D)
    assert defect(Q) < 1e-12
    assert spread(np.sqrt(D)[:, None] * Q) < 1e-12
    X = rng.standard_normal((4, r))
    np.testing.assert_allclose(equalize_fft(X, D), X @ Q, atol=1e-12)


@pytest.mark.parametrize("k", range(1, 8))
def test_hadamard_equalizes_every_diagonal(k):
    Z = hadamard(k)
    assert Z.shape == (2 ** (k - 1),) * 2
    assert defect(Z) < 1e-14
    np.testing.assert_allclose(np.abs(Z), 2 ** (-(k - 1) / 2), rtol=1e-15)
    D = np.random.default_rng(k).random(len(Z))
    assert spread(np.sqrt(D)[:, None] * Z) < 1e-13


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-300, 1.0, 2.0**300, 2.0**600])
def test_importance_scores_of_any_scale_in_numpy_and_torch(batch, scale):
    import torch

    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((*batch, 3, 5)), rng.standard_normal((*batch, 4, 5))
    U[..., 1] = 0
    plain = np.sqrt((U**2).sum(-2)) * np.sqrt((V**2).sum(-2))
    np.testing.assert_allclose(importance_scores(U * scale, V / scale), plain, rtol=1e-15)
    roots = np.sqrt(scale)  # both of the same scale, up to 1e90 each
    np.testing.assert_allclose(importance_scores(U * roots, V * roots), plain * scale, rtol=1e-15)
    U, V = torch.tensor(U), torch.tensor(V)
    np.testing.assert_allclose(importance_scores(U * scale, V / scale), plain, rtol=1e-15)
    single = importance_scores((U * 1e25).float(), (V / 1e25).float())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single, plain, rtol=1e-6)


@given(matrices(max_r=40), seeds)
def test_is_equalized_for_one_factor(U, seed):
    rng = np.random.default_rng(seed)
    assert is_equalized(U @ equalizer(U))
    if U.shape[1] > 1 and U.any():
        E = U @ equalizer(U)
        E[:, rng.integers(U.shape[1])] *= 1 + 1e-6
        assert not is_equalized(E)
        assert is_equalized(E, tol=1e-5)


@given(st.integers(1, 10), st.integers(1, 10), st.integers(1, 12), seeds)
def test_is_equalized_for_a_pair(d2, d0, r, seed):
    rng = np.random.default_rng(seed)
    k = min(d2, d0, r)
    sigma = np.concatenate([rng.random(k), np.zeros(r - k)])
    Q = equalizer_fft(sigma)
    roots = np.sqrt(sigma[:k])
    U = random_orthogonal(d2, rng)[:, :k] * roots @ Q[:k]
    V = random_orthogonal(d0, rng)[:, :k] * roots @ Q[:k]
    scale = np.exp(rng.standard_normal(r))  # Definition 2 allows u_i t_i and v_i / t_i
    assert is_equalized(U * scale, V / scale)
    if r > 1:
        V[:, 0] *= 1.001
        assert not is_equalized(U, V)


@pytest.mark.parametrize("scale", [1e-200, 1e-80, 1.0, 1e80, 1e200])
def test_joint_equalization_does_not_see_the_scale_of_columns(scale):
    assert is_equalized([[scale, 1 / scale]], [[1 / scale, scale]])
    assert not is_equalized([[scale, scale]], [[scale, -scale]])  # though the products are equal
    assert not is_equalized([[scale, 1 / scale]], [[1.001 / scale, scale]])
    assert is_equalized([[scale, 1 / scale]], [[1.001 / scale, scale]], tol=1e-3)
    assert not is_equalized([[scale, scale, 0]], [[scale, scale, 1]])
    assert is_equalized(np.zeros((2, 3)), np.zeros((4, 3)))


@pytest.mark.parametrize(
    "wrong",
    [
        (0, 0, 0.6, 0.8),
        (0.5, 1, 1.0, 0.0),
        (-1, 1, 1.0, 0.0),
        (0, 2, 1.0, 0.0),
        (0, 1, 0.6, 0.8 + 1e-9),
        (0, 1, 1.0),
    ],
)
def test_rotations_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=r"^rotations must .*\.$"):
        rotate(np.eye(2), [(0, 1, 0.6, 0.8), wrong])


def test_mixed_kinds_and_empty_tensors_are_refused():
    import torch

    T = torch.ones(2, 3)
    for U, V in ((T, np.ones((2, 3))), (np.ones((2, 3)), T), (T[0], T[0]), (T[:0], T)):
        with pytest.raises(ValueError, match="U and V must both be arrays or both tensors"):
            importance_scores(U, V)
    with pytest.raises(ValueError, match=r"U and V must agree .*\(2, 3\) and \(2, 2\)"):
        importance_scores(T, T[:, :2])


NAN = np.array([[1.0, np.nan]])


test_bad_arguments_are_named = refusals(
    (lambda: equalizer(np.ones(3)), "U"),
    (lambda: plane_rotations(np.ones((2, 2, 2))), "U"),
    (lambda: rotate(NAN, []), "X"),
    (lambda: equalizer_as_printed(NAN), "U"),
    (lambda: equalizer_fft(np.ones((2, 2))), "gram_diagonal"),
    (lambda: equalizer_fft([1.0, np.inf]), "gram_diagonal"),
    (lambda: equalize_fft(np.ones((2, 3)), np.ones(4)), "X"),
    (lambda: diagonal_rotations([[1.0, 2], [0, 1]]), "G must be symmetric"),
    (lambda: hadamard(14), "k must be an integer that is at least 1 and at most 13, for 4096"),
    (lambda: is_equalized(np.eye(2), np.eye(2), -1), "tol must be a number that is at least 0"),
    (lambda: importance_scores(np.ones((2, 3)), np.ones((2, 4))), "U and V"),
    (lambda: is_equalized(NAN), "U"),
    (lambda: is_equalized(np.ones((2, 3)), np.ones((2, 4))), "U and V"),
)
