"""Theorem 3.A and Proposition 5.A by a convex solver, which `make test-convex` installs first.

The first is a geometric program: its objective and its budgets are posynomials in the shares. The
second minimises a sum of norms.
"""

import cvxpy
import numpy as np
import pytest
from test_deep_optima import ARCHITECTURES
from test_lazy_margin import KINDS, by_hand, instance

from runproofs.linear import deep
from runproofs.networks import lazy_margin


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
