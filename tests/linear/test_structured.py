"""Structured factorizations: every block is minimized, and optima that are known are reached."""

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers.refusals import refusals
from runproofs.linalg import nuclear_norm, shrink
from runproofs.linear import nuclear, structured

RNG = np.random.default_rng(17)


def drawn(m, n, r, law=RNG.normal):
    return law(size=(m, r)), law(size=(n, r))


def is_prox(P, X, penalty, feasible=lambda p: p):
    """No feasible point near the columns of P, nor far from them, has a smaller value."""
    for p, x in zip(P.T, X.T, strict=True):
        value = ((p - x) ** 2).sum() / 2 + penalty(p)
        for size in (1e-3, 1e-1, 1):
            for q in [*(p + size * RNG.normal(size=(50, len(p)))), (1 - size) * p, x, 0 * x]:
                q = feasible(q)
                assert value <= ((q - x) ** 2).sum() / 2 + penalty(q) + 1e-12


@pytest.mark.parametrize("t", [0, 0.3, 2])
def test_proximal_maps(t):
    X = RNG.normal(size=(3, 8))
    is_prox(structured.soft_threshold(X, t), X, lambda p: t * np.abs(p).sum())
    is_prox(
        nuclear.shrink_columns(np.maximum(X, 0), t),
        X,
        lambda p: t * np.linalg.norm(p),
        lambda p: np.maximum(p, 0),
    )
    is_prox(
        nuclear.shrink_columns(structured.soft_threshold(X, 0.4), t),
        X,
        lambda p: t * np.linalg.norm(p) + 0.4 * np.abs(p).sum(),
    )


def test_objectives():
    Y = RNG.normal(size=(5, 4))
    U, V = drawn(5, 4, 3)
    value = np.linalg.norm(Y - U @ V.T) ** 2
    value += 0.7 * np.linalg.norm(U, axis=0) @ np.linalg.norm(V, axis=0)
    assert structured.objective(Y, U, V, 0.7) == pytest.approx(value)
    more = 0.3 * sum(np.linalg.norm(U[:, i]) * np.abs(V[:, i]).sum() for i in range(3))
    assert structured.objective(Y, U, V, 0.7, 0.3) == pytest.approx(value + more)


def test_one_column_is_minimized_exactly():
    """In a sweep over one column U is the best for the old v, and V for the new U."""
    Y = RNG.uniform(size=(5, 4))
    u, v = drawn(5, 4, 1, RNG.uniform)
    U, V = structured.nmf(Y, u, v, 0.5, sweeps=1)
    for part, value in (
        (U, lambda x: structured.objective(Y, np.maximum(x, 0)[:, None], v, 0.5)),
        (V, lambda x: structured.objective(Y, U, np.maximum(x, 0)[:, None], 0.5)),
    ):
        best = minimize(value, part[:, 0], bounds=[(0, None)] * len(part))
        assert value(part[:, 0]) <= best.fun + 1e-9


def test_sweeps_never_raise_the_objectives():
    Y = RNG.uniform(size=(7, 9))
    U, V = drawn(7, 9, 4, RNG.uniform)
    counts = 1, 2, 5, 20
    ends = [(U, V), *(structured.nmf(Y, U, V, 0.4, sweeps=k) for k in counts)]
    assert (np.diff([structured.objective(Y, *end, 0.4) for end in ends]) < 0).all()
    ends = [(U, V), *(structured.dictionary(Y, U, V, 0.2, 0.1, sweeps=k) for k in counts)]
    values = [structured.objective(Y, *end, 0.2, 0.1) for end in ends]
    assert (np.diff(values) < 0).all()
    atoms, codes = structured.dictionary(Y, U, V, 0.2, 0.1)
    alive = codes.any(axis=0)
    assert np.linalg.norm(atoms, axis=0)[alive] == pytest.approx(1)
    assert (codes == 0).any()


def test_blocks_have_a_certified_optimum():
    """Y = non-negative pairs with disjoint supports: soft thresholding is non-negative itself."""
    rng = np.random.default_rng(6)  # the starts of seeds 0 to 5 end higher
    Y = np.zeros((9, 8))
    for k, size in enumerate((4, 3, 2)):
        block = np.outer(rng.uniform(0.2, 1, 3), rng.uniform(0.2, 1, 2))
        Y[3 * k : 3 * k + 3, 2 * k : 2 * k + 2] = size * block / np.linalg.norm(block)
    X = shrink(Y, 0.5)
    best = ((Y - X) ** 2).sum() + nuclear_norm(X)
    U, V = structured.nmf(Y, *drawn(9, 8, 8, rng.uniform), 1, sweeps=2000)
    assert structured.objective(Y, U, V, 1) == pytest.approx(best, rel=1e-9)
    np.testing.assert_allclose(U @ V.T, X, atol=1e-6)
    assert U.min() >= 0 <= V.min()


def test_the_non_negative_polar_lies_between_every_pair_and_its_bound():
    for _ in range(10):
        R = RNG.normal(size=(5, 6))
        pair, bound = structured.non_negative_polar(R)
        assert pair.u.min() >= 0 <= pair.v.min()
        assert [np.linalg.norm(pair.u), np.linalg.norm(pair.v)] == pytest.approx([1, 1])
        assert pair.u @ R @ pair.v == pytest.approx(pair.value)
        u, v = RNG.uniform(size=(2000, 5)), RNG.uniform(size=(2000, 6))
        u *= RNG.uniform(size=u.shape) < 0.5  # corners matter
        others = np.einsum("ki,ij,kj->k", u, R, v)
        others /= np.maximum(np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1), 1e-9)
        assert max(others.max(), R.max()) <= pair.value * (1 + 1e-12) <= bound * (1 + 1e-9)
    pair, bound = structured.non_negative_polar(np.diag([2.0, 3.0]))
    assert (pair.value, bound) == pytest.approx((3, 3), rel=1e-14)
    pair, bound = structured.non_negative_polar(-np.ones((2, 3)))
    assert pair.value == bound == pair.u.any() == pair.v.any() == 0


def test_appending_lowers_by_the_square_and_drops_dead_columns():
    Y = RNG.uniform(size=(5, 6))
    U, V = 0.3 * RNG.uniform(size=(5, 3)), RNG.uniform(size=(6, 3))
    U[:, 1] = 0
    value = structured.non_negative_polar(Y - U @ V.T)[0].value
    longer = structured.append_non_negative(Y, U, V, 0.6)
    assert [X.shape for X in longer] == [(5, 3), (6, 3)]
    fall = structured.objective(Y, U, V, 0.6) - structured.objective(Y, *longer, 0.6)
    assert value > 0.5
    assert fall == pytest.approx((value - 0.3) ** 2)
    same = structured.append_non_negative(Y, U, V, 100)
    assert not same[0][:, -1].any()


def test_the_sparse_penalty_alone_is_known():
    """lam = 0: over all sizes the least value is that of sum over columns of Y: shrink them."""
    Y = RNG.normal(size=(4, 5))
    X = nuclear.shrink_columns(Y, 0.6)
    best = ((Y - X) ** 2).sum() + 1.2 * np.linalg.norm(X, axis=0).sum()
    U, V = structured.dictionary(
        Y, Y + 0.01 * RNG.normal(size=Y.shape), np.eye(5), 0, 1.2, sweeps=3000
    )
    assert structured.objective(Y, U, V, 0, 1.2) == pytest.approx(best, rel=1e-6)


def test_codes_and_atoms_see_both_norms():
    """One atom: its codes by the prox; samples with orthogonal columns: shrunk by half the sum."""
    Y = RNG.normal(size=(6, 5))
    U, V = structured.dictionary(Y, *drawn(6, 5, 1), 0.9, 0.7, sweeps=1)
    np.testing.assert_allclose(
        V, nuclear.shrink_columns(structured.soft_threshold(Y.T @ U, 0.35), 0.45), atol=1e-13
    )
    half = np.full((4, 1), 0.5)  # length 1, l1 norm 2: the atom dies up to lam / 2 + lam_1
    for size, alive in ((1.15, False), (1.25, True)):
        U, V = structured.dictionary(size * half.T, [[1.0]], half, 0.4, 1, sweeps=1)
        assert U.any() == V.any() == alive
    Y = np.linalg.qr(Y)[0] * [4, 3, 2, 1.5, 0.6]
    U, V = structured.dictionary(Y, Y + 0.05 * RNG.normal(size=(6, 5)), np.eye(5), 1.3, 0.5)
    np.testing.assert_allclose(U @ V.T, nuclear.shrink_columns(Y, 0.9), atol=1e-12)


def test_a_pair_under_outliers_is_found():
    """The gradient is 1 at the outliers and (lam - 1) / 5 elsewhere: lam along the planted pair."""
    lam, gamma, signs = 2.5, 3.0, np.outer([1, -1, 1, 1, -1, 1], [1, 1, -1, 1, -1, -1])
    places = np.roll(np.eye(6), 2, axis=0)
    outliers = places * signs * RNG.uniform(0, 30, size=(6, 6))
    Y = 0.7 * signs + signs * np.where(places, 1, (lam - 1) / 5) / gamma + outliers
    P, s, Qt = np.linalg.svd(Y)
    U, V, E = structured.robust_pca(Y, P * s, Qt.T, lam, gamma)
    np.testing.assert_allclose(U @ V.T, 0.7 * signs, atol=1e-11)
    np.testing.assert_allclose(E, outliers, atol=1e-11)


def test_huber_is_a_minimum_over_errors():
    for gamma in (0.5, 1, 3):
        for z in (0, 0.3, -1 / gamma, 2.5, -7):
            e = np.linspace(-8, 8, 160001)
            least = (np.abs(e) + gamma / 2 * (z - e) ** 2).min()
            assert structured.huber(z, gamma) == pytest.approx(least, abs=1e-7)
    assert structured.huber([[1, 2], [0, -3]], 2) == pytest.approx(0.75 + 1.75 + 2.75)


def test_robust_pca_solves_the_convex_problem():
    Y = np.outer(RNG.normal(size=6), RNG.normal(size=7))
    Y[1, 2] += 9
    lam, gamma = 2, 1.5
    U, V, E = structured.robust_pca(Y, *drawn(6, 7, 4), lam, gamma, sweeps=3000)
    X = U @ V.T
    G = gamma * np.clip(Y - X, -1 / gamma, 1 / gamma)  # minus the gradient of the Huber loss
    assert np.linalg.norm(G, 2) <= lam * (1 + 1e-9)
    assert (G * X).sum() == pytest.approx(lam * nuclear_norm(X), rel=1e-9)
    value = structured.huber(Y - X, gamma)
    assert value == pytest.approx(np.abs(E).sum() + gamma / 2 * ((Y - X - E) ** 2).sum())
    assert E[1, 2] > 5


I = np.eye(2)

test_bad_arguments_are_named = refusals(
    (lambda: structured.nmf(I, -I, I, 1), "every entry of U must be at least 0"),
    (lambda: structured.nmf(I, I, -I, 1), "every entry of V must be at least 0"),
    (lambda: structured.nmf(I, I, I, 1, sweeps=0), "sweeps must be"),
    (lambda: structured.dictionary(I, I, I, 1, -1), "lam_1 must be"),
    (lambda: structured.huber([1.0], 0), "gamma must be"),
    (lambda: structured.robust_pca(I, I, I, 1, 0), "gamma must be"),
    (lambda: structured.soft_threshold([1.0], -1), "t must be"),
    (lambda: structured.objective(I, I, I, 1, -1), "lam_1 must be"),
)
