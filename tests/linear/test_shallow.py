"""Shallow dropout: each formula against a route that does not share its code."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linalg import nuclear_norm, psd_sqrt, random_orthogonal, with_spectrum
from runproofs.linear import shallow

examples = settings(max_examples=40)
sizes, seeds = st.integers(1, 5), st.integers(0, 2**32 - 1)
rates = st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0, 8.0]), st.floats(1e-3, 100))


@st.composite
def matrices(draw, square=False):
    """Generic, rank-deficient, zero and repeated spectra, from 1 x 1 to 5 x 5."""
    d2 = draw(sizes)
    d0 = d2 if square else draw(sizes)
    m = min(d2, d0)
    rng = np.random.default_rng(draw(seeds))
    special = np.ones(m), np.zeros(m), 3.0 * np.eye(m)[0], np.arange(m) // 2
    sigma = draw(st.sampled_from([rng.exponential(size=m), *special]))
    return with_spectrum(d2, d0, sigma, rng)


def pair_for(M, r, seed, *batch):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((*batch, d, r)) for d in M.shape)


def enumerated_objective(U, V, M, theta, root):
    """(2.1): all masks, all points +-sqrt(d0) root e_k, whose second moment is root root^T."""
    d0, r = V.shape
    points = np.sqrt(d0) * root
    total = 0.0
    for mask in product([0, 1], repeat=r):
        probability = theta ** sum(mask) * (1 - theta) ** (r - sum(mask))
        prediction = U @ np.diag(mask) @ V.T @ points / theta
        total += probability * ((M @ points - prediction) ** 2).sum() / d0
    return total


def autograd(M, lam, U, V=None):
    """The objective, and its gradients, by automatic differentiation; tied if V is None."""
    U = torch.tensor(U, requires_grad=True)
    V = U if V is None else torch.tensor(V, requires_grad=True)
    loss = (torch.tensor(M) - U @ V.T).square().sum()
    value = loss + lam * ((U**2).sum(0) * (V**2).sum(0)).sum()
    return value.item(), torch.autograd.grad(value, [U] if V is U else [U, V])


# ---------------------------------------------------------------- objective, gradient


@examples
@given(matrices(), st.integers(1, 6), st.floats(0.1, 1), seeds)
def test_objective_is_the_mean_over_masks_and_inputs(M, r, theta, seed):
    U, V = pair_for(M, r, seed)
    lam = (1 - theta) / theta
    expected = enumerated_objective(U, V, M, theta, random_orthogonal(M.shape[1], seed))
    assert shallow.objective(U, V, M, lam) == pytest.approx(expected, rel=1e-11)
    A = np.random.default_rng(seed).standard_normal((M.shape[1], M.shape[1]))
    C = A @ A.T
    expected = enumerated_objective(U, V, M, theta, psd_sqrt(C))
    assert shallow.objective(U, V, M, lam, C) == pytest.approx(expected, rel=1e-10)


def test_fractions_stay_exact():
    U, M = Fraction(1, 3) * np.arange(6).reshape(3, 2), Fraction(1, 7) * np.arange(9).reshape(3, 3)
    lam, C = Fraction(2, 5), M + M.T + 9 * np.eye(3, dtype=int)
    floats = U.astype(float), M.astype(float), 0.4
    found = [
        shallow.objective(U, U, M, 0 * lam),
        shallow.objective(U, U, M, lam, C),
        shallow.tied_objective(U, M, lam),
        *shallow.tied_gradient(U, M, lam).ravel(),
    ]
    expected = [
        shallow.objective(floats[0], *floats[:2], 0),
        shallow.objective(floats[0], *floats, C.astype(float)),
        shallow.tied_objective(*floats),
        *shallow.tied_gradient(*floats).ravel(),
    ]
    assert all(isinstance(x, Fraction) for x in found)
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=1e-13)


@examples
@given(matrices(), sizes, seeds)
def test_path_norm_sums_over_paths(M, r, seed):
    U, V = pair_for(M, r, seed)
    paths = product(range(M.shape[0]), range(M.shape[1]), range(r))
    total = sum(U[j, i] ** 2 * V[k, i] ** 2 for j, k, i in paths)
    assert shallow.path_norm(U, V) == pytest.approx(np.sqrt(total), rel=1e-12)
    assert shallow.regularizer(U, V, 0.3) == pytest.approx(0.3 * total, rel=1e-12)


@examples
@given(matrices(), sizes, rates, seeds)
def test_gradient_is_that_of_automatic_differentiation(M, r, lam, seed):
    U, V = pair_for(M, r, seed)
    _, expected = autograd(M, lam, U, V)
    for g, e in zip(shallow.gradient(U, V, M, lam), expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-11, atol=1e-11)


@examples
@given(matrices(square=True), sizes, rates, seeds)
def test_tied_objective_and_gradient(M, r, lam, seed):
    U, _ = pair_for(M, r, seed)
    value, (expected,) = autograd(M, lam, U)
    assert shallow.tied_objective(U, M, lam) == pytest.approx(value)
    np.testing.assert_allclose(shallow.tied_gradient(U, M, lam), expected, rtol=1e-11, atol=1e-11)


@examples
@given(matrices(), sizes, rates, seeds)
def test_batch_axes(M, r, lam, seed):
    U, V = pair_for(M, r, seed, 2, 3)
    C = np.diag(np.arange(M.shape[1]) + 0.5)
    for function in (
        lambda u, v: [shallow.objective(u, v, M, lam), shallow.path_norm(u, v)],
        lambda u, v: [shallow.objective(u, v, M, lam, C), shallow.regularizer(u, v, lam, C)],
        lambda u, v: shallow.gradient(u, v, M, lam),
        shallow.balance,
    ):
        batched = function(U, V)
        for i in np.ndindex(2, 3):
            for found, expected in zip(batched, function(U[i], V[i]), strict=True):
                np.testing.assert_allclose(found[i], expected, rtol=1e-12, atol=1e-13)


@examples
@given(matrices(), sizes, seeds)
def test_balance(M, r, seed):
    U, V = pair_for(M, r, seed)
    U[:, 0] *= 1e6
    bU, bV = shallow.balance(U, V)
    np.testing.assert_allclose(np.linalg.norm(bU, axis=0), np.linalg.norm(bV, axis=0), rtol=1e-12)
    np.testing.assert_allclose(bU @ bV.T, U @ V.T, rtol=1e-11, atol=1e-11)
    assert ((bU * U).sum(0) > 0).all()


def test_balance_of_dead_and_half_dead_columns():
    U, V = shallow.balance([[0.0, 0, 5]], [[0.0, -3, 0], [0, 4, 0]])
    np.testing.assert_allclose(U, [[0, 0, 1]])
    np.testing.assert_allclose(V, [[0, -0.6, 0], [0, 0.8, 0]])


# ---------------------------------------------------------------- optimum


@settings(examples, max_examples=200)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=8), st.integers(1, 10), rates)
def test_spectrum_is_that_of_non_negative_least_squares(sigma, r, lam):
    optimum = shallow.optimal_spectrum(sigma, r, lam)
    sigma = np.sort(sigma)[::-1]
    scale = max(sigma[0], 1e-300)
    x, value = shallow.spectrum_by_nnls(sigma, r, lam)
    np.testing.assert_allclose(optimum.spectrum, x, rtol=0, atol=1e-11 * scale)
    assert optimum.value == pytest.approx(value, rel=1e-9, abs=1e-12 * scale**2)
    np.testing.assert_allclose(
        optimum.kappa, [sigma[: j + 1].mean() for j in range(sigma.size)], rtol=1e-12
    )


@examples
@given(matrices(), st.integers(1, 7), rates, seeds)
def test_optimal_factors_are_an_equalized_stationary_point_of_the_optimal_value(M, r, lam, seed):
    U, V = shallow.optimal_factors(M, r, lam)
    assert U.shape == (M.shape[0], r)
    assert V.shape == (M.shape[1], r)
    X = shallow.optimal_product(M, r, lam)
    np.testing.assert_allclose(U @ V.T, X, atol=1e-12)
    for F in (U, V):
        np.testing.assert_allclose((F**2).sum(0), nuclear_norm(X) / r, atol=1e-12)
    sigma = np.linalg.svd(M, compute_uv=False)
    _, least = shallow.spectrum_by_nnls(sigma, r, lam)
    value = shallow.objective(U, V, M, lam)
    assert value == pytest.approx(least, rel=1e-9, abs=1e-12)
    for g in shallow.gradient(U, V, M, lam):
        np.testing.assert_allclose(g, 0, atol=1e-11 * (1 + lam))
    # nothing near or far does better
    dU, dV = pair_for(M, r, seed, 200)
    for size in (1e-3, 0.1, 1):
        assert shallow.objective(U + size * dU, V + size * dV, M, lam).min() >= value - 1e-12
    assert shallow.objective(dU, dV, M, lam).min() >= value - 1e-12


@examples
@given(matrices(square=True), st.integers(1, 7), rates, seeds)
def test_optimal_autoencoder(M, r, lam, seed):
    rng = np.random.default_rng(seed)
    M = M @ random_orthogonal(len(M), rng)  # indefinite and not symmetric
    U = shallow.optimal_autoencoder(M, r, lam)
    S = (M + M.T) / 2
    mu = np.linalg.eigvalsh(S)[::-1]
    x, least = shallow.spectrum_by_nnls(np.maximum(mu, 0), r, lam)
    value = shallow.tied_objective(U, M, lam)
    extra = (np.minimum(mu, 0) ** 2).sum() + ((M - S) ** 2).sum()
    assert value == pytest.approx(least + extra, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(U @ U.T)[::-1], x, atol=1e-11)
    np.testing.assert_allclose((U**2).sum(0), x.sum() / r, atol=1e-12)
    np.testing.assert_allclose(shallow.tied_gradient(U, M, lam), 0, atol=1e-10 * (1 + lam))
    dU = rng.standard_normal((200, *U.shape))
    for size in (1e-3, 0.1, 1):
        assert shallow.tied_objective(U + size * dU, M, lam).min() >= value - 1e-12


def exact_optimum(sigma, r, lam):
    """The rules of Theorem 6 as printed (r + lam j, truncated to rank r), in fractions."""
    sigma, lam = [Fraction(s) for s in sorted(sigma, reverse=True)], Fraction(lam)
    ranks = range(1, min(r, len(sigma)) + 1)
    rank = max((j for j in ranks if sigma[j - 1] * (r + lam * j) > lam * sum(sigma[:j])), default=0)
    total = sum(sigma[:rank])
    alpha = lam * total / (r + lam * rank)
    spectrum = [s - alpha for s in sigma[:rank]] + [Fraction(0)] * (len(sigma) - rank)
    return rank, alpha, spectrum, alpha * total + sum(s * s for s in sigma[rank:])


@settings(examples, max_examples=200)
@given(
    st.lists(st.floats(0, 10) | st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=8),
    st.integers(1, 10),
    rates | st.sampled_from([1e-300, 1e-17, 1e9, 1e17, 1e308]),
    st.sampled_from([2.0**-400, 1.0, 2.0**400]),
)
def test_spectrum_is_right_to_the_last_digits_at_any_rate(sigma, r, lam, scale):
    sigma = [scale * s for s in sigma if s == 0 or s > 1e-9]
    sigma = sigma or [scale]
    optimum = shallow.optimal_spectrum(sigma, r, lam)
    rank, alpha, spectrum, value = exact_optimum(sigma, r, lam)
    if optimum.rank != rank:  # only where the last of the values kept is 0 but for rounding
        last = spectrum[max(rank, 1) - 1] if rank > optimum.rank else optimum.spectrum.min()
        assert abs(last) * (r + Fraction(lam)) < 1e-14 * r * max(sigma)
        return
    # x_rho is a difference of sigma_rho and mu times the gaps, both rounded, over 1 + mu rho
    rounding = 4 * len(sigma) * 2.0**-52 * max(sigma) / (1 + lam / r * max(rank, 1))
    tiny = 1e-322  # the spacing of the least floats, some of which lam = 1e308 leads to
    for x, exact in zip(optimum.spectrum, spectrum, strict=True):
        allowed = Fraction(1, 10**15) * exact + Fraction(rounding) + Fraction(tiny)
        assert abs(Fraction(x) - exact) <= allowed
    assert optimum.threshold == pytest.approx(float(alpha), rel=2e-15, abs=tiny)
    if scale == 1:
        assert optimum.value == pytest.approx(float(value), rel=4e-15, abs=tiny)


# ---------------------------------------------------------------- edges, scales


@pytest.mark.parametrize("exponent", [-200, -100, 0, 100, 200])
def test_path_norm_and_balance_of_any_scale(exponent):
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((3, 4)), rng.standard_normal((5, 4))
    scale, apart = 2.0 ** (2 * exponent), 10.0 ** (np.array([1, -1, 0.5, 0]) * exponent)
    # the product of the scales is 1, as far apart as they are
    assert shallow.path_norm(U * apart, V / apart) == pytest.approx(shallow.path_norm(U, V))
    assert shallow.path_norm(scale * U, V) == pytest.approx(scale * shallow.path_norm(U, V))
    bU, bV = shallow.balance(U * apart, V / apart)
    np.testing.assert_allclose(bU @ bV.T, U @ V.T, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(bU, axis=0), np.linalg.norm(bV, axis=0))
    bU, bV = shallow.balance(scale * U, scale * V)
    np.testing.assert_allclose(bU @ bV.T / scale / scale, U @ V.T, atol=1e-13)
    assert shallow.path_norm([[3e-310, 0]], [[1.0, 5]]) == pytest.approx(3e-310)
    bU, bV = shallow.balance([[1e-310]], [[1e308]])
    np.testing.assert_allclose([bU, bV], [[[0.1]], [[0.1]]])


def test_an_indefinite_second_moment_is_refused_where_it_shows():
    U, V = np.zeros((2, 3)), np.zeros((4, 3))
    C = np.diag([1.0, 1, 1, -1e-9])  # more than rounding
    nearly = np.diag([1.0, 1, 1, -1e-11])  # rounding
    with pytest.raises(ValueError, match="C must be positive semidefinite, but it gives a vector"):
        shallow.regularizer(U + 1, np.eye(4, 3, -1), 1, C)
    for scale, length in ((1e9, 1.0), (1e-9, 1.0), (1.0, 1e6), (1.0, 1e-6)):  # both are relative
        X = length * np.eye(2, 4, 2)
        shallow.objective(U, V, X, 1, scale * nearly)
        with pytest.raises(ValueError, match="C must be positive semidefinite"):
            shallow.objective(U, V, X, 1, scale * C)


@examples
@given(matrices(), sizes, rates, seeds)
def test_the_kernels_of_loops_are_the_checked_functions(M, r, lam, seed):
    U, V = pair_for(M, r, seed, 2)
    expected = shallow.objective(U, V, M, lam)
    np.testing.assert_allclose(shallow.value_and_gradient(U, V, M, lam)[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(shallow.closed_form_objective(U, V, M, lam), expected)


@pytest.mark.parametrize("shape", [(1, 1), (6, 1), (5, 5)])
@pytest.mark.parametrize("r", [1, 3, 1000])
@pytest.mark.parametrize("scale", [0.0, 1e-150, 1e150])
def test_optimal_factors_of_any_shape_and_scale(shape, r, scale):
    M = np.random.default_rng(0).standard_normal(shape)
    unit = shallow.optimal_product(M, r, 0.7)
    assert 0 < np.abs(unit).max() < np.inf
    np.testing.assert_allclose(
        shallow.optimal_product(scale * M, r, 0.7), scale * unit, rtol=1e-10, atol=1e-13 * scale
    )
    U, V = shallow.optimal_factors(scale * M, r, 0.7)
    np.testing.assert_allclose(U @ V.T, scale * unit, rtol=1e-9, atol=1e-12 * scale)
    for F in (U, V):
        norms = np.linalg.norm(F, axis=0)
        np.testing.assert_allclose(norms, np.sqrt(scale * nuclear_norm(unit) / r), rtol=1e-10)
    value = shallow.objective(U, V, scale * M, 0.7)
    sigma = np.linalg.svd(M, compute_uv=False)
    at_unit_scale = shallow.optimal_spectrum(sigma, r, 0.7).value
    assert value == pytest.approx(scale**2 * at_unit_scale, rel=1e-9)
    if shape == (5, 5):
        A, unit = (shallow.optimal_autoencoder(s * M, r, 0.7) for s in (scale, 1.0))
        np.testing.assert_allclose(A @ A.T, scale * unit @ unit.T, atol=1e-12 * scale)


# ---------------------------------------------------------------- as printed


@examples
@given(matrices(), st.integers(1, 6), rates)
def test_printed_product_differs_by_the_missing_truncation_only(M, r, lam):
    printed = shallow.optimal_product_as_printed(M, r, lam)
    W, s, Yt = np.linalg.svd(printed, full_matrices=False)
    assume(r >= s.size or s[r] < 1e-9 or s[r - 1] - s[r] > 1e-6)  # a tie is cut in many ways
    s[r:] = 0
    np.testing.assert_allclose((W * s) @ Yt, shallow.optimal_product(M, r, lam), atol=1e-11)


@examples
@given(sizes, sizes, st.floats(0.01, 5), seeds)
def test_printed_algorithm_3_follows_its_steps(d2, d0, lam, seed):
    M = np.random.default_rng(seed).standard_normal((d2, d0))
    W, s, Yt = np.linalg.svd(M)
    means = [s[:j].mean() for j in range(1, s.size + 1)]
    bounds = [lam * j * kappa / (1 + lam * j) for j, kappa in enumerate(means, start=1)]
    rho = max(j for j in range(1, s.size + 1) if s[j - 1] > bounds[j - 1])
    U, V = shallow.factorize_as_printed(M, lam)
    kept = sum((s[i] - bounds[rho - 1]) * np.outer(W[:, i], Yt[i]) for i in range(rho))
    np.testing.assert_allclose(U @ V.T, kept, atol=1e-12)
    assert U.shape == (d2, rho)
    np.testing.assert_allclose((V**2).sum(0), nuclear_norm(kept) / rho, rtol=1e-10)


# ---------------------------------------------------------------- bad arguments

I, nan = np.eye(2), float("nan")


test_bad_arguments_are_named = refusals(
    (lambda: shallow.objective(I, I, I, -0.1), "lam must be a number that is at least 0.*-0.1"),
    (lambda: shallow.objective(I, I, np.ones((3, 2)), 1), r"M must have 2 rows.*\(3, 2\)"),
    (lambda: shallow.objective(I, I, np.ones((2, 3)), 1), r"M must have 2 columns.*\(2, 3\)"),
    (lambda: shallow.objective(I, I[:, :1], I, 1), "U and V must agree .*number of columns"),
    (lambda: shallow.objective(I, I, I, 1, np.eye(3)), "C must have 2 rows"),
    (lambda: shallow.objective(I, I, I, 1, [[0, 1], [0, 0]]), "C must be symmetric"),
    (lambda: shallow.regularizer(I, I, 1, [[0, 1], [0, 0]]), "C must be symmetric"),
    (lambda: shallow.regularizer(I, I, -1), "lam must be a number that is at least 0"),
    (lambda: shallow.path_norm(I, I[0]), "V must be a matrix or a batch of matrices.*1 axes"),
    (lambda: shallow.gradient(I, I, I, -1), "lam must be a number that is at least 0"),
    (lambda: shallow.tied_objective(I, np.ones((2, 3)), 1), "M must be a square matrix"),
    (lambda: shallow.tied_gradient(I, np.ones((2, 3)), 1), "M must be a square matrix"),
    (lambda: shallow.balance(I, np.ones((2, 3))), "U and V must agree"),
    (lambda: shallow.optimal_spectrum([1, -1], 1, 1), "every entry of sigma must be at least 0"),
    (lambda: shallow.optimal_spectrum([1], 0, 1), "r must be an integer that is at least 1"),
    (lambda: shallow.optimal_spectrum([1], 1, -1), "lam must be a number that is at least 0"),
    (lambda: shallow.optimal_product(I, 0, 1), "r must be an integer that is at least 1"),
    (lambda: shallow.optimal_autoencoder(np.ones((2, 3)), 1, 1), "M must be a square matrix"),
    (lambda: shallow.optimal_product_as_printed(I, 1, -1), "lam must be a number"),
    (lambda: shallow.factorize_as_printed(0 * I, 1), "M must not be zero"),
    (lambda: shallow.factorize_as_printed(I, -1), "lam must be a number that is at least 0"),
)


def test_fractions_stay_fractions():
    U, V = np.array([[1, 2]]) * Fraction(1, 3), np.array([[3, 4]]) * Fraction(1, 7)
    M, third = np.array([[Fraction(5)]]), Fraction(1, 3)
    lam = (1 - third) / third
    value = shallow.objective(U, V, M, lam)
    assert value == (5 - Fraction(11, 21)) ** 2 + 2 * (Fraction(9, 441) + Fraction(64, 441))
    one = np.array([[Fraction(1)]])
    assert shallow.objective_by_enumeration(U, V, one, M, keep=third) == value
    assert shallow.gradient(U, V, M, lam)[0].dtype == object
    floats = shallow.objective(U.astype(float), V.astype(float), M, 2.0)
    np.testing.assert_allclose(float(floats), float(value), rtol=1e-14)
    with pytest.raises(ValueError, match="both have floats or both have Fractions"):
        shallow.objective(U, V.astype(float), M, lam)
