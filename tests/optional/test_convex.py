"""Theorems 3.A and S.D, Proposition 5.A, ReLU networks by a convex solver.

The first is a geometric program: its objective and its budgets are posynomials in the shares. The
second is a quadratic program over convex sequences. The last two minimize sums of norms.
"""

from math import comb

import cvxpy
import numpy as np
import pytest

from helpers.instances import ARCHITECTURES
from helpers.lazy_problems import KINDS, by_hand, instance
from runproofs.linear import deep
from runproofs.networks import convex_relu, lazy_margin, or_networks


@pytest.mark.parametrize(("sigma", "widths", "lam"), ARCHITECTURES)
def test_the_induced_regularizer_solves_the_geometric_program(sigma, widths, lam):
    x = cvxpy.Variable((len(widths), len(sigma)), pos=True)
    costs = []
    for i, s in enumerate(sigma):
        cost = s**2
        for j in range(len(widths)):
            cost = cost * (1 + lam / x[j, i])
        costs.append(cost)
    budgets = [cvxpy.sum(x[j, :]) <= d for j, d in enumerate(widths)]
    problem = cvxpy.Problem(cvxpy.Minimize(sum(costs)), budgets)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    problem.solve(gp=True, solver=cvxpy.CLARABEL, **tolerances)
    found = deep.induced_regularizer(sigma, widths, lam)
    expected = problem.value - np.square(sigma).sum()
    assert found.value == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(found.allocation, x.value, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_planar_margin_solves_the_sum_of_norms(kind, seed):
    X, y = instance(kind, seed)
    _, mass, active = by_hand(X)
    alpha = cvxpy.Variable(len(X), nonneg=True)
    norms = [m * cvxpy.norm((on * y * X.T) @ alpha) for m, on in zip(mass, active, strict=True)]
    problem = cvxpy.Problem(cvxpy.Minimize(sum(norms)), [cvxpy.sum(alpha) == 1])
    problem.solve(solver=cvxpy.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_feas"), 1e-9))
    found = lazy_margin.planar_margin(X, y)
    assert [found.lower, found.upper] == pytest.approx([problem.value] * 2, abs=1e-7)
    K = y[:, None] * lazy_margin.feature_kernel(X) * y
    square = cvxpy.quad_form(alpha, cvxpy.psd_wrap(K))
    machine = cvxpy.Problem(cvxpy.Minimize(square), [cvxpy.sum(alpha) == 1])
    machine.solve(solver=cvxpy.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_feas"), 1e-10))
    assert lazy_margin.kernel_margin(X, y).upper ** 2 == pytest.approx(machine.value, abs=1e-7)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.9])
@pytest.mark.parametrize(("K", "n", "d"), [(1, 1, 2), (2, 3, 2), (5, 1, 3), (12, 4, 4)])
def test_the_best_non_negative_network_solves_the_quadratic_program(K, n, d, p):
    """Phi(B, F) over all B and convex F with F(0) >= 0, as Theorem S.D states it."""
    chances = np.array([comb(K, k) * p**k * (1 - p) ** (K - k) for k in range(K + 1)])
    kappa = or_networks.kappa(n, d, keep=p)
    B, F = cvxpy.Variable(), cvxpy.Variable(K + 1)
    mean = cvxpy.square(B + F - 1) + kappa * cvxpy.square(F)
    at_zero = cvxpy.square(B + F[0]) + kappa * cvxpy.square(F[0])
    convex = [cvxpy.diff(F, 2) >= 0] if K > 1 else []
    problem = cvxpy.Problem(cvxpy.Minimize(at_zero + chances @ mean), [F[0] >= 0, *convex])
    problem.solve(solver=cvxpy.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_feas"), 1e-10))
    assert or_networks.non_negative_minimum(K, n, d, keep=p) == pytest.approx(
        problem.value / 2, abs=1e-8
    )
    best = or_networks.best_non_negative(K, n, d, keep=p)
    assert best.biases[-1][0] == pytest.approx(B.value, abs=1e-4)
    slope = best.weights[-1][0, 0] * n ** (d - 1) / p
    np.testing.assert_allclose(F.value, slope * np.arange(K + 1), atol=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_planar_relu_networks_solve_the_program_over_all_patterns(seed):
    """One cone a sector and sign of the output, as Pilanci and Ergen (2020) enumerate them."""
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 11)
    X = np.c_[rng.uniform(-1, 1, n), np.ones(n)] if seed % 2 else rng.normal(size=(n, 2))
    y, lam = rng.normal(size=n), 0.05 * 4 ** rng.uniform(-1, 1)
    lines = np.arctan2(X[:, 0], -X[:, 1])
    angles = np.sort(np.concatenate([lines, lines + np.pi]) % (2 * np.pi))
    middles = (angles + np.append(angles[1:], angles[0] + 2 * np.pi)) / 2
    output, norms, cones = 0, [], []
    for middle in middles:
        on = X @ [np.cos(middle), np.sin(middle)] > 0
        for sign in (1, -1):
            z = cvxpy.Variable(2)
            output = output + sign * ((on[:, None] * X) @ z)
            norms.append(cvxpy.norm(z))
            cones.append(np.where(on, 1, -1)[:, None] * X @ z >= 0)
    cost = cvxpy.sum_squares(y - output) / 2 + lam * sum(norms)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), cones)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    problem.solve(solver=cvxpy.CLARABEL, **tolerances)
    found = convex_relu.meta_algorithm(X, y[:, None], lam)[-1]
    assert found.gap <= 1e-9
    assert found.value == pytest.approx(problem.value, rel=1e-7)
