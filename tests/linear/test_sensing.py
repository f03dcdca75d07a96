"""Matrix sensing: formulas against enumeration, prices against a search that knows no theory."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.linalg import isotropic_law, with_spectrum
from runproofs.linear import sensing, shallow
from runproofs.masks import expectation


def cells(d2, d0):
    """All indicator matrices, row by row."""
    return np.eye(d2 * d0).reshape(-1, d2, d0)


def problem(seed, d2=3, d0=4, rank=2):
    rng = np.random.default_rng(seed)
    M = with_spectrum(d2, d0, rng.uniform(0.5, 2, rank), rng)
    return rng, M, rng.dirichlet(np.ones(d2)), rng.dirichlet(np.ones(d0))


def test_fractions_stay_exact():
    one, third = np.array([[Fraction(1)]]), np.array([Fraction(1, 3)])
    value = sensing.objective(one, one, [one], third, Fraction(1, 2))  # (1/3 - 1)^2 + 1/2
    assert (value, sensing.regularizer(one, one, [one, one / 3])) == (
        Fraction(17, 18),
        Fraction(5, 9),
    )
    assert all(isinstance(x, Fraction) for x in (value, sensing.regularizer(one, one, [one])))


@pytest.mark.parametrize("seed", range(3))
def test_objective_is_the_mean_over_all_masks(seed):
    rng = np.random.default_rng(seed)
    p, d1, n = rng.uniform(0, 0.9), 4, 5
    U, V = rng.standard_normal((2, 3, d1)), rng.standard_normal((2, 2, d1))
    A, y = rng.standard_normal((n, 3, 2)), rng.standard_normal(n)
    for law in (None, rng.dirichlet(np.ones(n))):

        def loss(b, law=law):
            error = y - np.einsum("aik,ajk,nij->an", U * b / (1 - p), V, A)
            return np.average(error**2, axis=1, weights=law)

        masked = expectation(loss, d1, keep=1 - p)
        assert sensing.objective(U, V, A, y, p / (1 - p), law) == pytest.approx(masked, rel=1e-12)


def test_gradient_and_fit():
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((4, 3)), rng.standard_normal((3, 3))
    A, y = rng.standard_normal((7, 4, 3)), rng.standard_normal(7)
    steps = 1e-6 * np.eye(21)
    dU, dV = steps[:, :12].reshape(21, 4, 3), steps[:, 12:].reshape(21, 3, 3)
    above, below = (sensing.objective(U + s * dU, V + s * dV, A, y, 0.4) for s in (1, -1))
    slopes = np.concatenate([g.ravel() for g in sensing.gradient(U, V, A, y, 0.4)])
    np.testing.assert_allclose((above - below) / 2e-6, slopes, rtol=1e-6, atol=1e-7)
    start = U.copy()
    end = sensing.fit(U, V, A, y, 0.4)
    assert (start == U).all()
    assert np.abs(np.concatenate(sensing.gradient(*end, A, y, 0.4))).max() < 1e-6
    assert sensing.objective(*end, A, y, 0.4) < sensing.objective(U, V, A, y, 0.4)
    assert sensing.objective(*sensing.fit(U, V, A, y, 0), A, y, 0) < 1e-12


def test_regularizer_of_product_and_isotropic_laws():
    rng, _, p, q = problem(0)
    U, V = rng.standard_normal((5, 3, 6)), rng.standard_normal((5, 4, 6))
    sampled = sensing.regularizer(U, V, cells(3, 4), np.outer(p, q).ravel())
    weighted = shallow.regularizer(np.sqrt(p)[:, None] * U, np.sqrt(q)[:, None] * V, 1)
    assert sampled == pytest.approx(weighted, rel=1e-12)
    gaussian = sensing.regularizer(U, V, isotropic_law(12, rng).reshape(-1, 3, 4))
    assert gaussian == pytest.approx(shallow.regularizer(U, V, 1), rel=1e-12)


def test_sharp_instance_of_proposition_4():
    M, p, q = [[1, 1], [0, 2]], [2 / 3, 1 / 3], [3 / 4, 1 / 4]
    price = 1 / 2 + np.sqrt(6) / 6
    assert sensing.induced_regularizer(M, p, q, 2) == pytest.approx(price, rel=1e-13)
    assert sensing.induced_regularizer(M, q, p, 2) == pytest.approx(0.94991, abs=1e-5)
    norms = sensing.weighted_trace_norm([M, M], p, q)
    assert norms == pytest.approx(np.sqrt(2 * price) * np.ones(2), rel=1e-13)


@pytest.mark.parametrize(
    ("d2", "d0", "rank", "d1"), [(3, 4, 2, 2), (4, 3, 3, 7), (5, 2, 1, 3), (1, 1, 1, 1)]
)
@pytest.mark.parametrize("scale", [0, 1e-12, 1, 1e6])
def test_optimal_factors(d2, d0, rank, d1, scale):
    _, M, p, q = problem(d1, d2, d0, rank)
    M *= scale
    U, V = sensing.optimal_factors(M, p, q, d1)
    assert U.shape == (d2, d1)
    assert V.shape == (d0, d1)
    assert pytest.approx(M, abs=1e-12 * scale) == U @ V.T
    products = (p @ U**2) * (q @ V**2)
    assert products == pytest.approx((sensing.weighted_trace_norm(M, p, q) / d1) ** 2, rel=1e-10)
    price = sensing.regularizer(U, V, cells(d2, d0), np.outer(p, q).ravel())
    assert price == pytest.approx(sensing.induced_regularizer(M, p, q, d1), rel=1e-10)


I = np.eye(2)

test_errors = refusals(
    (lambda: sensing.induced_regularizer(I, [1, 1], [1, 1], 1), "d1 must be at least the rank"),
    (lambda: sensing.optimal_factors(I, [0, 1], [1, 1], 2), "every entry of p must be larger"),
    (lambda: sensing.optimal_factors(I, [1, 1], [1, 0], 2), "every entry of q must be larger"),
    (lambda: sensing.weighted_trace_norm(I, [1, -1], [1, 1]), "every entry of p must be at least"),
    (lambda: sensing.weighted_trace_norm(I, [1, 1], [1, 1, 1]), "q must have 2 entries"),
    (lambda: sensing.regularizer(I, I, I), "A must be"),
    (lambda: sensing.regularizer(I, I, [I], [0.5]), "probabilities of sum 1"),
    (lambda: sensing.objective(I, I, [I], [1.0, 2.0], 1), "y must have 1 entries"),
    (lambda: sensing.objective(I, I, [I], [1.0], -1), "lam must be"),
)
