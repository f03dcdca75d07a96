"""Descent paths in rational arithmetic against known optima, and in floating point."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from helpers.refusals import refusals
from runproofs.networks import convex_relu, descent_path
from runproofs.networks.descent_path import dependence, reduce_weights

seeds = st.integers(0, 2**32 - 1)


def fractions(values, denominator=1):
    return np.vectorize(lambda v: Fraction(int(v), denominator), otypes=[object])(values)


@given(seeds)
def test_exact_paths_never_rise_and_end_at_the_optimum(seed):
    """|phi c - y|_1 + lam theta c for D = 1: the optimum has at most one weight."""
    rng = np.random.default_rng(seed)
    N = rng.integers(2, 8)
    phi, theta = fractions(rng.integers(-3, 4, (1, N))), fractions(rng.integers(0, 4, N), 2)
    y, lam = Fraction(int(rng.integers(-4, 5))), Fraction(int(rng.integers(1, 7)), 4)
    start = fractions(np.zeros(N))
    start[rng.choice(N, 2, replace=False)] = fractions(rng.integers(0, 5, 2), 3)

    def f(c):
        return sum(abs(phi @ c - y)) + lam * (theta @ c)

    fits = [y / p if p * y > 0 else Fraction(0) for p in phi[0]]
    end = min((fit * row for fit, row in zip(fits, fractions(np.eye(N)), strict=True)), key=f)
    path = descent_path.descent_path(phi, theta, start, end)
    corners = path.corners
    assert (corners[0] == start).all()
    assert f(corners[-1]) == f(end)
    assert (phi @ corners[-1] == phi @ end).all()
    assert path.needed() <= 2
    assert (corners >= 0).all()
    times = [Fraction(k, 8) for k in range(9)]
    values = [f((1 - t) * a + t * b) for a, b in pairwise(corners) for t in times]
    assert all(a >= b for a, b in pairwise(values))
    assert (phi @ corners[path.parts["improve"]] == phi @ start).all()


@pytest.mark.parametrize("seed", range(8))
def test_paths_of_networks(seed):
    """From random units to a certified optimum, in floating point, against linear programs."""
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 8)
    X, y = np.c_[rng.uniform(-1, 1, n), np.ones(n)], rng.normal(size=n)
    lam = 0.2 * convex_relu.planar_polar(X, y[:, None]).value
    best = convex_relu.meta_algorithm(X, y[:, None], lam)[-1]
    U, v = rng.normal(size=(n + 1, 2)), rng.normal(size=n + 1)
    atoms = np.vstack([U, best.U])
    phi = np.maximum(X @ atoms.T, 0) * np.append(v, best.V[:, 0])
    theta = np.linalg.norm(atoms, axis=1) * abs(np.append(v, best.V[:, 0]))
    start = np.repeat([1.0, 0], [n + 1, len(best.U)])
    path = descent_path.descent_path(phi, theta, start, 1 - start)
    assert path.needed() <= n + 1
    t = np.linspace(0, 1, 9)[:, None]
    c = np.vstack([(1 - t) * a + t * b for a, b in pairwise(path.corners)])
    f = ((c @ phi.T - y) ** 2).sum(1) / 2 + lam * c @ theta
    assert (np.diff(f) <= 1e-9 * f[0]).all()
    assert f[-1] == pytest.approx(best.value, rel=1e-9)
    improved = path.corners[path.parts["improve"]]
    program = linprog(theta, A_eq=phi, b_eq=phi @ start)
    assert theta @ improved == pytest.approx(program.fun, rel=1e-9)


def test_rounding_is_no_pivot_where_all_numbers_are_negative():
    T = -np.array([[1, 2], [1, 2 + 1e-14]])
    assert descent_path._eliminate(T, range(2)) == [0]


@given(seeds)
def test_dependence_and_reduction(seed):
    rng = np.random.default_rng(seed)
    D, r = rng.integers(1, 5), rng.integers(1, 8)
    phi, theta = rng.integers(-2, 3, (D, r)), rng.integers(0, 4, r)
    exact = dependence(fractions(phi), fractions(theta))
    assert (exact is None) == (np.linalg.matrix_rank(phi) == r)
    if exact is not None:
        assert (fractions(phi) @ exact == 0).all()
        assert fractions(theta) @ exact <= 0
        assert min(exact) == -1
        np.testing.assert_allclose(dependence(phi, theta), exact.astype(float), atol=1e-9)
    corners = reduce_weights(fractions(phi), fractions(theta), fractions(np.ones(r)))
    assert (fractions(phi) @ corners.T == fractions(phi.sum(1))[:, None]).all()
    assert (np.diff(corners @ fractions(theta)) <= 0).all()
    assert (np.diff((corners > 0).sum(1)) < 0).all()


test_bad_arguments = refusals(
    (lambda: dependence([1.0, 2], [1]), "phi must be a matrix"),
    (lambda: dependence(fractions([1, 2]), fractions([1])), "phi must be a matrix"),
    (lambda: dependence([[1.0, 2]], [1]), "must have length 2"),
    (lambda: reduce_weights([[1.0]], [1], [-2]), "at least 0, but a weight is -2"),
    (lambda: dependence([[Fraction(1), 0.5]], [1, 1]), "or only Fractions"),
)
