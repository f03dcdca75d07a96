"""Linear algebra: optimality certificates, known spectra, moments of the Haar distribution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linalg import (
    _symmetric_part,
    column_norms,
    isotropic_law,
    nuclear_norm,
    psd_sqrt,
    random_orthogonal,
    root_and_inverse,
    shrink,
    symmetric_with_spectrum,
    with_spectrum,
)

examples = settings(max_examples=40)
sizes, seeds = st.integers(1, 6), st.integers(0, 2**32 - 1)


@examples
@given(sizes, sizes, sizes, seeds)
def test_prescribed_spectrum_and_nuclear_norm(d2, d0, k, seed):
    rng = np.random.default_rng(seed)
    sigma = rng.exponential(size=min(k, d2, d0))
    M = with_spectrum(d2, d0, sigma, rng)
    squares = np.append(np.sort(sigma**2)[::-1], np.zeros(d2 - sigma.size))
    np.testing.assert_allclose(np.linalg.eigvalsh(M @ M.T)[::-1], squares, rtol=0, atol=1e-12)
    expected = sigma.sum() * np.array([1, 3])
    np.testing.assert_allclose(nuclear_norm(np.stack([M, -3 * M])), expected, rtol=1e-12)
    assert nuclear_norm(M) == pytest.approx(expected[0], rel=1e-12)


@examples
@given(sizes, sizes, st.floats(0, 3), seeds)
def test_shrinkage_satisfies_the_optimality_condition_of_its_proximal_problem(m, n, alpha, seed):
    X = np.random.default_rng(seed).standard_normal((m, n))
    S = shrink(X, alpha)
    # S minimizes ||X - S||_F^2 / 2 + alpha ||S||_* iff X - S is alpha times a subgradient at S
    assert np.linalg.norm(X - S, 2) <= alpha + 1e-12
    assert ((X - S) * S).sum() == pytest.approx(alpha * nuclear_norm(S), abs=1e-12)


@examples
@given(st.integers(1, 5), st.floats(0, 2), seeds)
def test_shrinkage_truncates_to_the_rank(rank, alpha, seed):
    rng = np.random.default_rng(seed)
    W, Y = random_orthogonal(5, rng), random_orthogonal(4, rng)[:, :4]
    s = np.array([4, 3, 1, 0.5])
    expected = sum(max(s[i] - alpha, 0) * np.outer(W[:, i], Y[:, i]) for i in range(min(rank, 4)))
    np.testing.assert_allclose(shrink((W[:, :4] * s) @ Y.T, alpha, rank), expected, atol=1e-12)


@examples
@given(sizes, sizes, seeds)
def test_psd_root(d, rank, seed):
    A = np.random.default_rng(seed).standard_normal((d, rank))
    C = A @ A.T
    R = psd_sqrt(C)
    np.testing.assert_allclose(R @ R, C, atol=1e-12 * np.abs(C).max())
    np.testing.assert_allclose(R, R.T, atol=1e-13 * np.abs(R).max())
    assert np.linalg.eigvalsh(R)[0] >= -1e-12 * np.abs(R).max()


@examples
@given(sizes, st.floats(0, 10), st.sampled_from([1e-200, 1e-12, 1.0, 1e6, 1e200]), seeds)
def test_root_and_inverse_of_any_condition_and_scale(d, decades, scale, seed):
    Q = random_orthogonal(d, seed)
    values = scale * 10 ** -np.linspace(0, decades, d)
    C = (Q * values) @ Q.T
    R, inverse = root_and_inverse(C)
    np.testing.assert_allclose(R @ R, C, rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(R @ inverse, np.eye(d), atol=1e-15 * 10**decades + 1e-14)
    np.testing.assert_allclose(R, psd_sqrt(C), rtol=0, atol=1e-15 * np.sqrt(scale))


@pytest.mark.parametrize(("scale", "least"), [(1e-6, "9e-19"), (1e6, "9e-07")])
def test_definite_means_a_condition_number_below_1e12(scale, least):
    inverse = root_and_inverse(scale * np.diag([1, 1.1e-12]))[1]
    np.testing.assert_allclose(inverse[1, 1], (scale * 1.1e-12) ** -0.5)
    with pytest.raises(ValueError, match=rf"C must be positive definite, but .* is {least}"):
        root_and_inverse(scale * np.diag([1, 0.9e-12]))


def test_rounding_may_look_asymmetric_or_negative():
    # asymmetry and negative eigenvalues of 1e-10, relatively, are rounding; more is an error
    np.testing.assert_allclose(psd_sqrt([[1, 0.99e-10], [0, 1]]), np.eye(2), atol=1e-10)
    np.testing.assert_allclose(psd_sqrt(np.diag([1e9, -0.09])), np.diag([1e9**0.5, 0]))
    with pytest.raises(ValueError, match="C must be symmetric"):
        psd_sqrt([[1, 1.01e-10], [0, 1]])
    with pytest.raises(ValueError, match=r"eigenvalue is -0\.11"):
        psd_sqrt(np.diag([1e9, -0.11]))


@examples
@given(sizes, seeds)
def test_symmetric_part_is_the_nearest_symmetric_matrix(d, seed):
    rng = np.random.default_rng(seed)
    M, B = rng.standard_normal((2, d, d))
    S = _symmetric_part(M)
    assert (S == S.T).all()
    assert ((M - S) * (B + B.T)).sum() == pytest.approx(0, abs=1e-12)


def test_random_orthogonal_has_the_moments_of_the_haar_distribution():
    rng = np.random.default_rng(0)
    draws = np.array([random_orthogonal(3, rng) for _ in range(4000)])
    np.testing.assert_allclose(draws @ draws.mT - np.eye(3), 0, atol=1e-13)
    traces = np.trace(draws, axis1=1, axis2=2)
    # Haar on O(3): the trace has mean 0 and variance 1; five standard errors, seed fixed
    assert abs(traces.mean()) < 5 / np.sqrt(4000)
    assert abs((traces**2).mean() - 1) < 5 * (traces**2).std() / np.sqrt(4000)
    assert abs(np.linalg.det(draws).mean()) < 5 / np.sqrt(4000)


def test_singular_subspaces_are_uniform():
    rng = np.random.default_rng(1)
    draws = np.array([with_spectrum(4, 3, [1, 1], rng) for _ in range(4000)])
    # M M^T is the projection onto a uniform plane in R^4, so that its mean is I / 2
    np.testing.assert_allclose((draws @ draws.mT).mean(0), np.eye(4) / 2, atol=0.025)
    np.testing.assert_allclose((draws.mT @ draws).mean(0), np.eye(3) * 2 / 3, atol=0.025)
    assert abs(draws.mean(0)).max() < 0.05


@examples
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), seeds)
def test_symmetric_matrix_with_prescribed_eigenvalues(mu, seed):
    M = symmetric_with_spectrum(mu, seed)
    assert (M == M.T).all()
    np.testing.assert_allclose(np.linalg.eigvalsh(M), np.sort(mu), atol=1e-13)


def test_eigenvectors_are_uniform():
    rng = np.random.default_rng(2)
    draws = np.array([symmetric_with_spectrum([1, 0, 0], rng) for _ in range(4000)])
    # a projection onto a uniform line w in R^3: E w_i^2 = 1/3, E w_i^4 = 1/5, E w_i^2 w_j^2 = 1/15
    np.testing.assert_allclose(draws.mean(0), np.eye(3) / 3, atol=0.025)
    squares = (2 * np.eye(3) + 1) / 15
    np.testing.assert_allclose((draws**2).mean(0), squares, atol=0.025)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales(scale):
    X = np.random.default_rng(0).standard_normal((4, 3))
    assert nuclear_norm(scale * X) / scale == pytest.approx(nuclear_norm(X), rel=1e-12)
    np.testing.assert_allclose(shrink(scale * X, scale, 2) / scale, shrink(X, 1, 2), atol=1e-12)


def test_column_norms_are_exact_where_the_plain_formula_is_and_keep_infinities():
    exact = column_norms(np.array([[3.0, 0, 1e300, 5e-324], [4, 0, 0, 0]]))
    np.testing.assert_array_equal(exact, [5, 0, 1e300, 5e-324])
    with np.errstate(over="ignore"):
        norms = column_norms(np.array([[np.inf, np.nan, 1.0], [1, 1, 0]]))
    np.testing.assert_array_equal(norms, [np.inf, np.nan, 1])
    X = np.random.default_rng(0).standard_normal((50, 40))
    np.testing.assert_array_equal(column_norms(X), np.sqrt((X * X).sum(0)))


test_bad_arguments_are_named = refusals(
    (lambda: nuclear_norm([1, 2]), "X must be a matrix or a batch of matrices, but it has 1 axes"),
    (lambda: shrink(np.eye(2), -1), "alpha must be a number that is at least 0, but it was -1"),
    (lambda: shrink(np.eye(2), 1, 0), "rank must be an integer that is at least 1, but it was 0"),
    (lambda: shrink(np.ones((2, 2, 2)), 1), "X must be a matrix, but it has 3 axes"),
    (lambda: _symmetric_part(np.ones((2, 3))), r"M must be a square matrix.*\(2, 3\)"),
    (lambda: symmetric_with_spectrum([[1]], 0), "mu must be a non-empty vector"),
    (lambda: symmetric_with_spectrum([1], -1), "rng must be .* at least 0, but it was -1"),
    (lambda: with_spectrum(2, 2, [1], "a"), "rng must be a NumPy Generator or a seed.* 'a'"),
    (lambda: random_orthogonal(2, 1.5), r"rng must be a NumPy Generator .* it was 1\.5"),
    (lambda: isotropic_law(2, "a"), "rng must be a NumPy Generator .* it was 'a'"),
    (lambda: root_and_inverse([[1, 1], [1, 1]]), "C must be positive definite"),
    (lambda: root_and_inverse(0 * np.eye(2)), "C must be positive definite.*eigenvalue is 0"),
    (lambda: random_orthogonal(True, 0), "n must be an integer .* but it was True"),
    (lambda: with_spectrum(2, 0, [1], 0), "d0 must be an integer that is at least 1"),
    (lambda: with_spectrum(2, 2, [1, -1], 0), "every entry of sigma must be at least 0"),
    (lambda: with_spectrum(3, 2, [1, 1, 1], 0), "sigma must have at most .* 2 entries.* has 3"),
)
