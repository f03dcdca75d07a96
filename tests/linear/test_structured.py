"""Structured factorizations: every block is minimized, and optima that are known are reached."""

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers.refusals import refusals
from runproofs.linalg import nuclear_norm
from runproofs.linear import nuclear, structured

RNG = np.random.default_rng(17)


def drawn(m, n, r, law=RNG.normal):
    return law(size=(m, r)), law(size=(n, r))


def test_objectives():
    Y = RNG.normal(size=(5, 4))
    U, V = drawn(5, 4, 3)
    value = np.linalg.norm(Y - U @ V.T) ** 2
    value += 0.7 * np.linalg.norm(U, axis=0) @ np.linalg.norm(V, axis=0)
    assert structured.objective(U, V, Y, 0.7) == pytest.approx(value)
    more = 0.3 * sum(np.linalg.norm(U[:, i]) * np.abs(V[:, i]).sum() for i in range(3))
    assert structured.objective(U, V, Y, 0.7, 0.3) == pytest.approx(value + more)


def test_one_column_is_minimized_exactly():
    """In a sweep over one column U is the best for the old v, and V for the new U."""
    Y = RNG.uniform(size=(5, 4))
    u, v = drawn(5, 4, 1, RNG.uniform)
    U, V = structured.nmf(Y, u, v, 0.5, sweeps=1)
    for part, value in (
        (U, lambda x: structured.objective(np.maximum(x, 0)[:, None], v, Y, 0.5)),
        (V, lambda x: structured.objective(U, np.maximum(x, 0)[:, None], Y, 0.5)),
    ):
        best = minimize(value, part[:, 0], bounds=[(0, None)] * len(part))
        assert value(part[:, 0]) <= best.fun + 1e-9


def test_sweeps_never_raise_the_objectives():
    Y = RNG.uniform(size=(7, 9))
    U, V = drawn(7, 9, 4, RNG.uniform)
    counts = 1, 2, 5, 20
    ends = [(U, V), *(structured.nmf(Y, U, V, 0.4, sweeps=k) for k in counts)]
    assert (np.diff([structured.objective(*end, Y, 0.4) for end in ends]) < 0).all()
    ends = [(U, V), *(structured.dictionary(Y, U, V, 0.2, 0.1, sweeps=k) for k in counts)]
    values = [structured.objective(*end, Y, 0.2, 0.1) for end in ends]
    assert (np.diff(values) < 0).all()
    atoms, codes = structured.dictionary(Y, U, V, 0.2, 0.1)
    alive = codes.any(axis=0)
    assert np.linalg.norm(atoms, axis=0)[alive] == pytest.approx(1)
    assert (codes == 0).any()


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
    fall = structured.objective(U, V, Y, 0.6) - structured.objective(*longer, Y, 0.6)
    assert value > 0.5
    assert fall == pytest.approx((value - 0.3) ** 2)
    same = structured.append_non_negative(Y, U, V, 100)
    assert not same[0][:, -1].any()


def test_codes_and_atoms_see_both_norms():
    """One atom: its codes by the prox."""
    Y = RNG.normal(size=(6, 5))
    U, V = structured.dictionary(Y, *drawn(6, 5, 1), 0.9, 0.7, sweeps=1)
    np.testing.assert_allclose(
        V, nuclear.shrink_columns(structured.soft_threshold(Y.T @ U, 0.35), 0.45), atol=1e-13
    )
    half = np.full((4, 1), 0.5)  # length 1, l1 norm 2: the atom dies up to lam / 2 + lam_1
    for size, alive in ((1.15, False), (1.25, True)):
        U, V = structured.dictionary(size * half.T, [[1.0]], half, 0.4, 1, sweeps=1)
        assert U.any() == V.any() == alive
    U, V = structured.dictionary(Y, *drawn(6, 5, 2), 100, 1)
    assert U.any() == V.any() == 0


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
