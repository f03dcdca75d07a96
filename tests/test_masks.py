"""Masks have the law they should, in floats and in fractions; enumerated losses are the formula."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import linear_problem as problem
from helpers.refusals import refusals
from runproofs.linalg import isotropic_law
from runproofs.linear import shallow
from runproofs.linear.shallow import objective, objective_by_enumeration
from runproofs.masks import all_masks, all_signs, expectation

seeds = st.integers(0, 2**32 - 1)
rates = st.floats(0.05, 1)
sizes = st.integers(1, 5)


@given(st.integers(1, 6), rates)
def test_expectation_of_a_product_of_masks(r, theta):
    # E prod_i (1 + b_i) = (1 + theta)^r, by independence
    product = expectation(lambda b: np.prod(1 + b), r, keep=theta)
    assert product == pytest.approx((1 + theta) ** r, rel=1e-12)


@given(st.integers(1, 8), st.fractions(0, 1).filter(bool))
def test_masks_in_fractions_are_exact(r, theta):
    b, p = all_masks(r, keep=theta)
    assert b.shape == (*p.shape, r) == (2**r, r)
    expected = {
        mask: math.prod(theta if kept else 1 - theta for kept in mask)
        for mask in product((0, 1), repeat=r)
    }
    assert {tuple(mask): q for mask, q in zip(b, p, strict=True)} == expected
    assert all(type(q) is Fraction for q in p)
    assert all(type(kept) is int for kept in b.ravel())
    assert sum(p) == 1
    order = (b << np.arange(r)).sum(1)
    np.testing.assert_array_equal(order, np.arange(2**r))
    # absolutely: where theta is nearly 1, a float loses digits of 1 - theta
    np.testing.assert_allclose(
        all_masks(r, keep=float(theta))[1], p.astype(float), rtol=0, atol=1e-14
    )
    np.testing.assert_array_equal(all_masks(r, keep=float(theta))[0], b.astype(float))


@given(st.integers(1, 6), st.fractions(0, 1).filter(bool))
def test_expectations_in_fractions_are_exact(r, theta):
    third = Fraction(1, 3)
    assert (
        expectation(lambda b: math.prod(third + k for k in b), r, keep=theta)
        == (third + theta) ** r
    )
    pairs = expectation(lambda b: np.outer(b, b), r, keep=theta)
    assert pairs.shape == (r, r)
    for i, j in np.ndindex(r, r):
        assert pairs[i, j] == (theta if i == j else theta**2)
        assert isinstance(pairs[i, j], Fraction)
    lam = (1 - theta) / theta
    assert expectation(lambda b: (b[0] / theta - 1) ** 2, r, keep=theta) == lam


@given(st.integers(1, 8), st.booleans(), seeds)
def test_isotropic_law_has_mean_0_and_second_moment_I(d, rotated, seed):
    atoms = isotropic_law(d, np.random.default_rng(seed) if rotated else None)
    assert atoms.shape == (2 * d, d)
    np.testing.assert_allclose(atoms.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(atoms.T @ atoms / (2 * d), np.eye(d), atol=1e-12)


@given(sizes, sizes, st.integers(1, 6), rates, seeds)
def test_enumerated_loss_is_the_closed_form(d2, d0, r, theta, seed):
    U, V, M, rng = problem(seed, d2, d0, r)
    X = isotropic_law(d0, rng)
    enumerated = objective_by_enumeration(U, V, X, X @ M.T, keep=theta)
    lam = (1 - theta) / theta
    assert enumerated == pytest.approx(objective(U, V, M, lam), rel=1e-11)


@pytest.mark.parametrize(("r", "n"), [(1, 1), (3, 70000), (12, 7), (13, 1)])
def test_enumeration_in_several_chunks(r, n):
    U, V, M, rng = problem(r, 2, 3, r)
    X = rng.standard_normal((n, 3))
    Y = X @ M.T + rng.standard_normal((n, 2))
    C = X.T @ X / n
    lam = 0.3 / 0.7
    # E ||y - W x||^2 for any pairs: the residual of the mean network, and what its masks add
    expected = ((Y - X @ V @ U.T) ** 2).sum() / n + shallow.regularizer(U, V, lam, C)
    assert objective_by_enumeration(U, V, X, Y, keep=0.7) == pytest.approx(expected, rel=1e-11)


U, V = np.ones((2, 3)), np.ones((4, 3))


test_bad_arguments_are_named = refusals(
    (lambda: all_masks(0, keep=0.5), "r must be an integer that is at least 1"),
    (lambda: all_masks(21, keep=0.5), "at most 20"),
    (lambda: all_signs(21), "n must be an integer .* at most 20, to list all"),
    (lambda: all_masks(2, keep=0), "keep must be a probability"),
    (lambda: all_masks(2, keep=1.5), "keep must be a probability"),
    (lambda: all_masks(2, keep=1 + Fraction(1, 10**20)), "keep must be a probability"),
    (lambda: isotropic_law(0), "d must be an integer"),
    (lambda: objective_by_enumeration(U, V, np.ones((1, 5)), np.ones((1, 2)), keep=0.5), "X must"),
    (lambda: objective_by_enumeration(U, V, np.ones((1, 4)), np.ones((2, 2)), keep=0.5), "Y must"),
    (lambda: objective_by_enumeration(U, V[:, :2], np.ones((1, 4)), U, keep=0.5), "U and V"),
    (lambda: objective_by_enumeration(U, V, np.ones((1, 4)), np.ones((1, 2)), keep=0), "keep must"),
)


def test_twenty_units_are_allowed():
    b, p = all_masks(20, keep=0.5)
    assert len(b) == 2**20
    assert p.sum() == 1


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_all_signs_are_there_once(n):
    signs = all_signs(n)
    assert signs.dtype.kind == "i"
    assert signs.shape == (2**n, n)
    assert (np.abs(signs) == 1).all()
    numbers = (signs > 0) @ (1 << np.arange(n))
    np.testing.assert_array_equal(numbers, np.arange(2**n))
