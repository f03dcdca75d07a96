"""Dropout with a rate that grows with the size, and exact optimal values."""

from fractions import Fraction as F

import numpy as np
import pytest

from runproofs.instances.homogeneous import shared_equally, with_values
from runproofs.linear import shallow, variable_rate


def test_values_by_hand():
    values = [variable_rate.optimum_over_supports([3, 2, 1], r, 1)[0] for r in (1, 2, 3, 6, 12)]
    assert values == [F(19, 2), F(29, 4), 6, 4, F(12, 5)]
    assert variable_rate.optimum_over_supports([1, 2, 3], 1, 1) == (F(19, 2), [F(3, 2), 0, 0])
    assert variable_rate.optimum_over_supports([0, 0], 3, 5) == (0, [0, 0])
    assert variable_rate.optimum_over_supports([2, F(1, 2)], 2, 0) == (0, [2, F(1, 2)])


def test_the_closed_form_agrees():
    rng = np.random.default_rng(5)
    for _ in range(40):
        sigma = [F(int(n), 4) for n in rng.integers(0, 13, size=rng.integers(1, 6))]
        r, lam = int(rng.integers(1, 8)), F(int(rng.integers(0, 30)), 5)
        value, x = variable_rate.optimum_over_supports(sigma, r, lam)
        assert isinstance(value, F)
        known = shallow.optimal_spectrum([float(s) for s in sigma], r, float(lam))
        assert float(value) == pytest.approx(known.value, rel=1e-12, abs=1e-12)
        assert [float(t) for t in x] == pytest.approx(known.spectrum, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("sigma", "r", "lam"),
    [
        ([], 1, 1),
        ([1] * 13, 1, 1),
        ([0.5], 1, 1),
        ([1], 0, 1),
        ([1], 1, -1),
        (3, 1, 1),
    ],
)
def test_bad_arguments_are_named(sigma, r, lam):
    with pytest.raises(ValueError, match=r"^(sigma|every entry of sigma|r|lam) must"):
        variable_rate.optimum_over_supports(sigma, r, lam)


@pytest.mark.parametrize(("roots", "r"), [((2, 1), 2), ((3, 2, 1), 8)])
def test_exact_factors_with_equal_products(roots, r):
    """They have the product that they say, and n_i^2 = (sum of the singular values / r)^2."""
    U, V = shared_equally(roots, r)
    sigma = np.zeros(3, dtype=int)
    sigma[: len(roots)] = np.square(roots)
    assert (with_values(*sigma) == U @ V.T).all()
    assert ((U**2).sum(0) * (V**2).sum(0) == F(int(sigma.sum()), r) ** 2).all()
