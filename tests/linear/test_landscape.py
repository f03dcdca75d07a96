"""The landscape: Hessians against autograd, critical points against brute force."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linalg import random_orthogonal, with_spectrum
from runproofs.linear import landscape, shallow
from runproofs.linear.landscape.enumeration import _subsets, _ways_to_choose_blocks

examples = settings(max_examples=30)
sizes, seeds = st.integers(1, 4), st.integers(0, 2**32 - 1)
rates = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 8.0]), st.floats(0.05, 20))
spectra = st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.0, 3.5]), min_size=1, max_size=3)


def torch_hessian(M, lam, U, V=None):
    M = torch.tensor(M)

    def F(z):
        U_ = z[: U.size].view(*U.shape)
        V_ = U_ if V is None else z[U.size :].view(*V.shape)
        return (M - U_ @ V_.T).square().sum() + lam * ((U_**2).sum(0) * (V_**2).sum(0)).sum()

    z = torch.tensor(U.ravel() if V is None else np.concatenate([U.ravel(), V.ravel()]))
    return torch.autograd.functional.hessian(F, z).numpy()


def least_value(M, r, lam):
    return shallow.optimal_spectrum(np.linalg.svd(M, compute_uv=False), r, lam).value


def largest(*gradients):
    return max(np.abs(g).max() for g in gradients)


# ---------------------------------------------------------------- Hessians


@examples
@given(sizes, sizes, sizes, rates, seeds)
def test_hessian_is_that_of_automatic_differentiation(d2, d0, r, lam, seed):
    rng = np.random.default_rng(seed)
    M, U, V = (rng.standard_normal(shape) for shape in ((d2, d0), (2, d2, r), (2, d0, r)))
    H = landscape.hessian(U, V, M, lam)
    for i in range(2):
        np.testing.assert_allclose(H[i], torch_hessian(M, lam, U[i], V[i]), atol=1e-11 * (1 + lam))
    assert (H.mT == H).all()


@examples
@given(sizes, sizes, rates, seeds)
def test_tied_hessian_is_that_of_automatic_differentiation(d, r, lam, seed):
    rng = np.random.default_rng(seed)
    M, U = rng.standard_normal((d, d)), rng.standard_normal((2, d, r))
    H = landscape.tied_hessian(U, M, lam)
    for i in range(2):
        np.testing.assert_allclose(H[i], torch_hessian(M, lam, U[i]), atol=1e-11 * (1 + lam))


@examples
@given(sizes, st.lists(st.floats(-3, 3), min_size=1, max_size=6), seeds)
def test_least_eigenvalue_and_strictness(batch, values, seed):
    Q = random_orthogonal(len(values), seed)
    H = np.broadcast_to((Q * values) @ Q.T, (batch, len(values), len(values)))
    np.testing.assert_allclose(landscape.least_eigenvalue(H), min(values), atol=1e-13)
    strict = min(values) < -1e-3 * max(map(abs, values))  # relative to the scale
    assert (landscape.is_strict_saddle(H, 1e-3) == strict).all()


# ---------------------------------------------------------------- enumerated critical points


def equalized_spectra(mu, r, lam):
    """Sets E with a positive solution of (I + (lam / r) 1 1^T) x = mu_E, by a linear solver."""
    spectra = {(): np.zeros(0)}
    for k in range(1, min(r, len(mu)) + 1):
        for E in combinations(range(len(mu)), k):
            x = np.linalg.solve(np.eye(k) + lam / r, mu[list(E)])
            if x.min() > 1e-9:
                spectra[E] = x
    return spectra


@examples
@given(spectra, st.integers(1, 4), rates, seeds)
def test_equalized_tied_critical_points(mu, r, lam, seed):
    mu = np.sort(mu)[::-1] - 0.5  # a negative eigenvalue now and then
    rng = np.random.default_rng(seed)
    W = random_orthogonal(len(mu), rng)
    skew = rng.standard_normal((len(mu), len(mu)))
    M = (W * mu) @ W.T + skew - skew.T
    points = landscape.tied_critical_points(M, r, lam)
    expected = equalized_spectra(mu, r, lam)
    assert {p.indices for p in points} == set(expected)
    best = shallow.tied_objective(shallow.optimal_autoencoder(M, r, lam), M, lam)
    for p in points:
        x = expected[p.indices]
        assert largest(shallow.tied_gradient(p.U, M, lam)) < 1e-11 * (1 + lam)
        np.testing.assert_allclose((p.U**2).sum(0), x.sum() / r, atol=1e-12)
        spectrum = np.sort(np.append(x, np.zeros(len(mu) - x.size)))
        np.testing.assert_allclose(np.linalg.eigvalsh(p.U @ p.U.T), spectrum, atol=1e-12)
        is_global = shallow.tied_objective(p.U, M, lam) <= best + 1e-9
        if lam > 0:
            assert landscape.is_strict_saddle(landscape.tied_hessian(p.U, M, lam)) != is_global


@examples
@given(spectra, st.integers(0, 1), st.integers(1, 3), st.floats(0.05, 20), seeds)
def test_untied_critical_points_are_global_or_strict(sigma, extra, r, lam, seed):
    M = with_spectrum(len(sigma), len(sigma) + extra, sigma, seed)
    sigma = np.sort(sigma)[::-1]
    points = landscape.critical_points(M, r, lam, seed)
    carried = {(0, ())}
    for live in range(1, r + 1):
        carried |= {(live, E) for E in equalized_spectra(sigma, live, lam) if E}
    assert {(p.live, p.indices) for p in points} == carried
    singular = extra > 0 or sigma.min() == 0
    assert any(p.half_dead for p in points) == singular
    best = least_value(M, r, lam)
    values = []
    for p in points:
        scores = np.sort(np.linalg.norm(p.U, axis=0) * np.linalg.norm(p.V, axis=0))[::-1]
        assert (scores[: p.live] > 1e-6).all()
        assert (scores[p.live :] == 0).all()
        half_dead = (p.U != 0).any(0) ^ (p.V != 0).any(0)
        assert half_dead.sum() == p.half_dead
        assert largest(*shallow.gradient(p.U, p.V, M, lam)) < 1e-10 * (1 + lam)
        values.append(shallow.objective(p.U, p.V, M, lam))
        is_global = values[-1] <= best + 1e-9
        H = landscape.hessian(*shallow.balance(p.U, p.V), M, lam)
        assert landscape.is_strict_saddle(H) != is_global
    assert min(values) == pytest.approx(best, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6, 1e150])
def test_enumerated_critical_points_of_any_scale(scale):
    M = np.diag([3.0, 2, 1, 0])
    unit = landscape.tied_critical_points(M, 3, 0.5)
    assert len(unit) == 8
    scaled = landscape.tied_critical_points(scale * M, 3, 0.5)
    assert [p.indices for p in scaled] == [p.indices for p in unit]
    for p, q in zip(unit, scaled, strict=True):
        np.testing.assert_allclose(q.U @ q.U.T / scale, p.U @ p.U.T, atol=1e-13)
        np.testing.assert_allclose((q.U**2).sum(0) / scale, (p.U**2).sum(0), atol=1e-13)
    assert len(landscape.all_tied_critical_points(scale * M, 2, 0.5)) == 13
    counts = [len(landscape.critical_points(s * M, 3, 0.5, 0)) for s in (1.0, scale)]
    assert counts[0] == counts[1] == 1 + 3 + 6 + 7 + 1 + 3 + 6  # live units, some with half dead


def test_an_eigenvalue_is_present_if_it_is_more_than_rounding():
    for small, present in ((1.1e-12, True), (0.9e-12, False)):
        points = landscape.tied_critical_points([1e3, 1e3 * small], 2, 0.0)
        assert ((0, 1) in [p.indices for p in points]) == present


def test_enumerated_critical_points_at_large_rates():
    points = landscape.tied_critical_points(np.ones(3), 3, 1e9)
    assert len(points) == 8  # equal eigenvalues are all kept, however small
    np.testing.assert_allclose((points[-1].U ** 2).sum(), 3 / (1 + 1e9), rtol=1e-12)
    assert len(landscape.tied_critical_points([3.0, 2], 2, 1e308)) <= 3


@pytest.mark.parametrize(("d", "r"), [(1, 1), (1, 5), (3, 3), (4, 3), (3, 5)])
def test_the_number_of_points_is_known_beforehand(d, r):
    points = landscape.all_tied_critical_points(np.arange(d) + 5.0, r, 1e-6)
    assert len(points) == _ways_to_choose_blocks(d, r)
    sets = landscape.tied_critical_points(np.arange(d) + 5.0, r, 1e-6)
    assert len(sets) == _subsets(d, r)


def test_too_many_points_are_refused_at_once():
    many = "M and r must allow at most 65536 critical points, but there may be"
    for call, count in (
        (lambda: landscape.tied_critical_points(np.ones(400), 2, 1), 1 + 400 + 400 * 399 // 2),
        (lambda: landscape.all_tied_critical_points(np.ones(8), 8, 1), 199361),
        (lambda: landscape.all_tied_critical_points(np.ones(30), 30, 1), 2**30),
        (lambda: landscape.all_tied_critical_points([1.0], 65537, 1), 65537),
        (lambda: landscape.critical_points(np.eye(16), 16, 1, 0), ""),
    ):
        with pytest.raises(ValueError, match=f"{many} {count}"):
            call()
    # eigenvalues that no critical point can have do not count
    assert len(landscape.tied_critical_points(-np.ones(40), 40, 1)) == 1
    assert len(landscape.tied_critical_points(np.diag([1.0, 2] + [0] * 30), 5, 1e-3)) == 4


# ---------------------------------------------------------------- found critical points, descents


@pytest.mark.parametrize("tied", [False, True])
def test_found_critical_points_are_global_or_strict(tied):
    rng = np.random.default_rng(3)
    saddles = 0
    for _ in range(40):
        M = rng.standard_normal((3, 3 if tied else 2)) + np.eye(3)[:, : 3 if tied else 2]
        r, lam = int(rng.integers(1, 4)), float(rng.choice([0.1, 1, 6]))
        U, V = (rng.standard_normal((d, r)) * (rng.random((d, r)) < 0.5) for d in M.shape)
        if tied:  # which sees only the symmetric part of M
            U = landscape.find_tied_critical_point(U, M, lam)
            gradients = [shallow.tied_gradient(U, M, lam)]
            best = shallow.tied_objective(shallow.optimal_autoencoder(M, r, lam), M, lam)
            excess = shallow.tied_objective(U, M, lam) - best
            H = landscape.tied_hessian(U, M, lam)
        else:
            U, V = landscape.find_critical_point(U, V, M, lam)
            gradients = shallow.gradient(U, V, M, lam)
            excess = shallow.objective(U, V, M, lam) - least_value(M, r, lam)
            H = landscape.hessian(*shallow.balance(U, V), M, lam)
        assert largest(*gradients) < 1e-9
        assert excess > -1e-9
        if excess > 1e-7:
            saddles += 1
            assert landscape.is_strict_saddle(H, 1e-8)
    assert saddles >= 10


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("shape", "r"), [((3, 2), 1), ((2, 3), 2), ((3, 3), 5), ((1, 1), 2)])
def test_descents_all_reach_the_closed_form(shape, r, lam, scale):
    M = scale * np.random.default_rng(5).standard_normal(shape)
    found = landscape.descend(M, r, lam, 3, 0)
    best = least_value(M, r, lam)
    np.testing.assert_allclose(found.values, best, rtol=1e-10, atol=1e-12 * scale**2)
    assert shallow.objective(found.U, found.V, M, lam) == pytest.approx(found.values.min())
    product = shallow.optimal_product(M, r, lam)
    np.testing.assert_allclose(found.U @ found.V.T, product, atol=1e-5 * scale)


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("d", "r"), [(3, 1), (3, 2), (2, 4)])
def test_tied_descents_all_reach_the_closed_form(d, r, lam):
    M = np.random.default_rng(6).standard_normal((d, d))
    found = landscape.descend(M, r, lam, 4, 0, tied=True)
    U = shallow.optimal_autoencoder(M, r, lam)
    np.testing.assert_allclose(found.values, shallow.tied_objective(U, M, lam), rtol=1e-10)
    np.testing.assert_allclose(found.U @ found.U.T, U @ U.T, atol=1e-5)
    np.testing.assert_array_equal(found.U, found.V)


# ---------------------------------------------------------------- bad arguments

I, nan = np.eye(2), float("nan")


test_bad_arguments_are_named = refusals(
    (lambda: landscape.hessian(I, I, np.eye(3), 1), "M must have 2 rows"),
    (lambda: landscape.hessian(I, I[:, :1], I, 1), "U and V must agree"),
    (lambda: landscape.hessian(I, I, I, -1), "lam must be a number that is at least 0"),
    (lambda: landscape.tied_hessian(I, np.eye(3), 1), "M must have 2 rows"),
    (lambda: landscape.least_eigenvalue([1e20 * I, [[1, 5], [0, 1]]]), "H must be symmetric"),
    (lambda: landscape.critical_points(I, 1, 1, "a"), "rng must be a NumPy Generator or a seed"),
    (lambda: landscape.descend(I, 1, 1, 1, -1), "rng must be .* a seed.* it was -1"),
    (lambda: landscape.is_strict_saddle(I, -1), "tol must be a number that is at least 0"),
    (lambda: landscape.is_strict_saddle(I[0]), "H must be a square matrix or a batch"),
    (lambda: landscape.tied_critical_points(np.ones((2, 3)), 1, 1), "M must be a square"),
    (lambda: landscape.tied_critical_points(I, 0, 1), "r must be an integer that is at least"),
    (lambda: landscape.all_tied_critical_points(I, 1.0, 1), "r must be an integer .* 1.0"),
    (lambda: landscape.all_tied_critical_points([nan], 1, 1), "M must have finite entries"),
    (lambda: landscape.critical_points(I, 1, -1, 0), "lam must be a number that is at least 0"),
    (lambda: landscape.critical_points(I, 1.0, 1, 0), "r must be an integer .* it was 1.0"),
    (lambda: landscape.find_critical_point(I, I, np.eye(3), 1), "M must have 2 rows"),
    (lambda: landscape.find_critical_point(I[None], I[None], I, 1), "U must be a matrix, but"),
    (lambda: landscape.find_critical_point(I, I, I, -1), "lam must be a number"),
    (lambda: landscape.find_tied_critical_point(I, np.eye(3), 1), "M must have 2 rows"),
    (lambda: landscape.find_tied_critical_point(I, I, -1), "lam must be a number"),
    (lambda: landscape.descend(np.ones((2, 3)), 1, 1, 1, 0, tied=True), "M must be a square"),
    (lambda: landscape.descend(I, -1, 1, 1, 0), "r must be an integer that is at least 1"),
    (lambda: landscape.descend(I, 1, -1, 1, 0), "lam must be a number that is at least 0"),
)
