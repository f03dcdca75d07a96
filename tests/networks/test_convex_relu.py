"""The planar polar against scans, and trained networks against their certificates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.networks.convex_relu import lower_bound, meta_algorithm, objective, planar_polar

seeds = st.integers(0, 2**32 - 1)


def instance(seed, d=None):
    """Inputs with ties, opposite and zero rows, or on a line at height 1, and targets."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 13), d or rng.integers(1, 4)
    X = [
        rng.normal(size=(n, 2)),
        rng.integers(-2, 3, (n, 2)).astype(float),
        np.c_[rng.uniform(-1, 1, n), np.ones(n)],
        rng.normal(size=2) * rng.choice([-1.0, 1, 1e-16, 0], n)[:, None],
    ][rng.integers(4)]
    return rng, X, rng.normal(size=(n, d))


@given(seeds)
def test_polar_is_the_maximum_over_the_circle(seed):
    rng, X, R = instance(seed)
    X = X + rng.choice([0, 1e-16]) * rng.normal(size=X.shape)
    value, u = planar_polar(X, R)
    tiny = 1e-12 * max(np.abs(R).max() * np.abs(X).max(), 1e-300)
    assert abs(np.linalg.norm(u) - 1) <= 1e-15
    assert abs(np.linalg.norm(R.T @ np.maximum(X @ u, 0)) - value) <= tiny
    angles = np.linspace(-np.pi, np.pi, 4001)
    circle = np.array([np.cos(angles), np.sin(angles)])
    assert np.linalg.norm(R.T @ np.maximum(X @ circle, 0), axis=0).max() <= value + tiny


def test_polar_where_lines_nearly_coincide():
    assert planar_polar([[2e-16, 1], [0, 1], [1, 1]], [[10], [1], [1]]).value == np.sqrt(145)
    assert planar_polar([[0.0, 0]], [[3.0]]).value == 0
    assert planar_polar([[1.0, 0], [-1, 0]], [[3.0], [-4]]).value == 4


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_the_meta_algorithm_ends_with_a_certificate(seed):
    rng, X, Y = instance(seed)
    polar = planar_polar(X, Y).value
    if polar == 0:
        return
    lam = polar * 10 ** rng.uniform(-2, 0.1)
    steps = meta_algorithm(X, Y, lam)
    last = steps[-1]
    assert last.gap <= 1e-9
    assert (len(last.U) == 0) == (polar <= lam)
    for step in steps:
        assert abs(objective(step.U, step.V, X, Y, lam) - step.value) <= 1e-12 * step.value
        R = Y - np.maximum(X @ step.U.T, 0) @ step.V
        assert abs(planar_polar(X, R).value - step.polar) <= 1e-9 * polar
        assert lower_bound(X, Y, lam, R)[0] <= last.value * (1 + 1e-12)
        assert step.bound <= last.value * (1 + 1e-12)
    assert (np.diff([step.value for step in steps]) <= 1e-13 * steps[0].value).all()


@pytest.mark.parametrize(
    ("seed", "d"),
    [(305, None), (764, None), (1685, None), (4275, None), (9520, None), (15512, None), (2695, 1)],
)
def test_descents_that_are_hard(seed, d):
    """A unit nearly zero, one just before a ray, a valley so flat that rounding moves in it."""
    rng, X, Y = instance(seed, d)
    lam = planar_polar(X, Y).value * 10 ** rng.uniform(-2, 0.1)
    assert meta_algorithm(X, Y, lam)[-1].gap <= 1e-9


def test_values_known_exactly():
    X, Y = np.eye(2), [[1], [-1]]
    steps = meta_algorithm(X, Y, 0.1)
    assert np.allclose([step.value for step in steps], [1, 0.595, 0.19], rtol=0, atol=1e-15)
    one = meta_algorithm(X, Y, 0.1, largest=1)[-1]
    assert len(one.U) == 1
    assert one.gap > 0.6
    assert lower_bound(X, Y, 0.1, np.zeros((2, 1)))[0] == 0
    assert objective([], [], X, Y, 0.1) == 1
    assert abs(meta_algorithm(X, [[3, 4], [0, 0]], 1.0)[-1].value - 4.5) <= 1e-14


def test_a_large_problem_and_many_scales():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-1, 1, 60))
    X, Y = np.c_[x, np.ones(60)], np.sin(6 * x)[:, None]
    relative = []
    for scale in (1e-3, 1, 1e4):
        last = meta_algorithm(scale * X, 7 * scale * Y, scale**2 * 0.2 * 7)[-1]
        assert last.gap <= 1e-9
        relative.append(last.value / (7 * scale) ** 2)
    assert np.allclose(relative, relative[0], rtol=1e-8)


TARGETS = np.ones((2, 1))

test_bad_arguments = refusals(
    (lambda: planar_polar(np.ones((2, 3)), TARGETS), "X must have 2 columns"),
    (lambda: planar_polar(np.eye(2), np.ones((3, 1))), "R must have 2 rows"),
    (lambda: meta_algorithm(np.eye(2), TARGETS, 0), "lam must be a number that is larger than 0"),
    (lambda: meta_algorithm(np.eye(2), TARGETS, 1, tol=0), "tol must be a number"),
    (lambda: meta_algorithm(np.eye(2), TARGETS, 1, largest=0), "largest must be an integer"),
    (lambda: objective([[1, 0]], [], np.eye(2), TARGETS, 1), "U and V must have as many rows"),
    (lambda: objective(np.ones((2, 3)), np.ones((3, 1)), np.eye(2), TARGETS, 1), "U must have 2"),
    (lambda: objective(np.ones((4, 3)), np.ones((6, 1)), np.eye(2), TARGETS, 1), "U must have 2"),
    (lambda: objective([[1, 0]], [[1, 1]], np.eye(2), TARGETS, 1), "V must have 1 columns"),
    (lambda: objective([[np.nan, 0]], [[1]], np.eye(2), TARGETS, 1), "U must have finite"),
    (lambda: objective([["1", "0"]], [[1j]], np.eye(2), TARGETS, 1), "U must be a matrix"),
    (lambda: lower_bound(np.eye(2), TARGETS, 1, np.ones((2, 2))), "R must have 1 columns"),
)
