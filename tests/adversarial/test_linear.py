"""Closed forms for linear models against corners, fine circles and a solver."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from runproofs.adversarial.linear import dual_vector, linear_attack, project_ball

NORMS = (1, 2, math.inf)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def extremes(p, d=2):
    """Points whose hull is the unit ball of l_p, for p = 2 nearly so."""
    if p == 1:
        return np.concatenate([np.eye(d), -np.eye(d)])
    if p == 2:
        angles = np.linspace(0, 2 * np.pi, 100_001)
        return np.stack([np.cos(angles), np.sin(angles)], -1)
    return 2 * np.indices((2,) * d).reshape(d, -1).T - 1.0


@pytest.mark.parametrize("p", NORMS)
def test_the_attack_is_the_best_extreme_point(p, rng):
    w, x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), rng.choice([-1, 1], 50)
    found = y * (w * linear_attack(w, x, y, 0.7, p)).sum(-1)
    candidates = x[:, None] + 0.7 * extremes(p)
    least = (y[:, None] * (w[:, None] * candidates).sum(-1)).min(-1)
    np.testing.assert_allclose(found, least, rtol=0, atol=1e-8)
    dual = np.linalg.norm(w, {1: math.inf, 2: 2, math.inf: 1}[p], axis=-1)
    np.testing.assert_allclose(y * (w * x).sum(-1) - 0.7 * dual, found, atol=1e-12)
    assert np.linalg.norm(dual_vector(w, p), p, axis=-1).max() <= 1 + 1e-12


@pytest.mark.parametrize("p", NORMS)
def test_a_projection_satisfies_its_variational_inequality(p, rng):
    """<v - P v, z - P v> <= 0 for every z of the ball, which singles it out."""
    v = rng.normal(size=(200, 3)) * np.exp(rng.normal(size=(200, 1)))
    nearest = project_ball(v, 1.3, p)
    assert np.linalg.norm(nearest, p, axis=-1).max() <= 1.3 + 1e-12
    if p == 2:
        z = 1.3 * v / np.linalg.norm(v, axis=-1, keepdims=True)
        z = np.broadcast_to(z[:, None], (200, 1, 3))
    else:
        z = np.broadcast_to(1.3 * extremes(p, 3), (200, len(extremes(p, 3)), 3))
    assert ((v - nearest)[:, None] * (z - nearest[:, None])).sum(-1).max() <= 1e-9
    inside = np.linalg.norm(v, p, axis=-1) <= 1.3
    assert inside.any()
    np.testing.assert_array_equal(nearest[inside], v[inside])


def test_the_l1_projection_against_a_solver(rng):
    for v in rng.normal(size=(5, 4)) * 2:
        start, bounds = np.full(8, 0.05), [(0, None)] * 8
        budget = {"type": "ineq", "fun": lambda z: 1 - z.sum()}
        found = minimize(
            lambda z, v=v: ((z[:4] - z[4:] - v) ** 2).sum(),
            start, bounds=bounds, constraints=budget, tol=1e-12,
        ).x  # fmt: skip
        np.testing.assert_allclose(project_ball(v, 1, 1), found[:4] - found[4:], atol=1e-5)


def test_ties_zero_and_scales():
    np.testing.assert_allclose(project_ball([1e200, 1e200], 2e200, 1), [1e200, 1e200])
    np.testing.assert_allclose(project_ball([3e200, 4e200], 5, 2), [3, 4])
    np.testing.assert_allclose(dual_vector([3e200, 4e-200], 2), [1, 0])
    np.testing.assert_allclose(dual_vector([3e-200, 4e-200], 2), [0.6, 0.8])
    np.testing.assert_allclose(project_ball([2.0, 2.0, 0.0], 1, 1), [0.5, 0.5, 0])
    for p in NORMS:
        np.testing.assert_array_equal(project_ball([3.0, -1.0], 0, p), [0, 0])
        np.testing.assert_array_equal(dual_vector([0.0, 0.0], p), [0, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dual_vector([1, 2], 3), "p must be 1, 2 or inf"),
        (lambda: project_ball([1, 2], -1, 2), "eps"),
        (lambda: linear_attack([1, 2], [0, 0], 0.5, 1, 2), "y must be -1 or 1"),
        (lambda: project_ball([math.nan], 1, 1), "v"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
