"""Theorem 3.A by an independent convex solver, which `make test-convex` installs first.

The program is a geometric one: its objective and its budgets are posynomials in the shares.
"""

import cvxpy
import numpy as np
import pytest
from test_deep_optima import ARCHITECTURES

from runproofs.linear import deep


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
