"""The nuclear-norm problem in factors: optima, gaps and steps against independent routes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers.refusals import refusals
from runproofs.linalg import nuclear_norm, shrink, with_spectrum
from runproofs.linear import nuclear

RNG = np.random.default_rng(16)
Y = 3 * RNG.normal(size=(8, 6))
LAM = 4.5


def optimum(Y, lam):
    X = shrink(Y, lam)
    return ((Y - X) ** 2).sum() / 2 + lam * nuclear_norm(X)


def drawn(r, m=8, n=6, scale=1.0):
    return scale * RNG.normal(size=(m, r)), scale * RNG.normal(size=(n, r))


def test_objective_column_by_column():
    U, V = drawn(3)
    products = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in zip(U.T, V.T, strict=True)]
    expected = np.linalg.norm(Y - U @ V.T) ** 2 / 2 + LAM * sum(products)
    assert nuclear.objective(U, V, Y, LAM) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("scale", [0, 0.1, 1, 3])
@pytest.mark.parametrize("r", [1, 3, 9])
def test_the_gap_bounds_the_missing_amount_by_the_best_multiple_of_the_residual(r, scale):
    for _ in range(20):
        U, V = drawn(r, scale=scale)
        value, gap = nuclear.objective(U, V, Y, LAM), nuclear.duality_gap(Y, U, V, LAM)
        assert value - optimum(Y, LAM) <= gap * (1 + 1e-12)
        R = Y - U @ V.T
        s = np.linspace(0, LAM / np.linalg.norm(R, 2), 1001)
        bounds = value - s * (R * Y).sum() + s**2 / 2 * (R**2).sum()
        assert gap == pytest.approx(bounds.min(), rel=1e-6)


def test_the_gap_where_it_is_known():
    """Y = 2, lam = 1/2: at 0 the bound is the true gap; at the optimum 3/2 it is 0."""
    assert nuclear.duality_gap([[2]], [[0]], [[0]], 0.5) == 1.125
    assert nuclear.duality_gap([[2]], [[1.5]], [[1]], 0.5) == pytest.approx(0, abs=1e-15)
    assert nuclear.duality_gap([[2]], [[2]], [[1]], 0.5) == 1  # R = 0 certifies the bound 0 alone
    assert nuclear.duality_gap([[2]], [[3]], [[1]], 1) == 3.5  # s = 0


def test_an_appended_pair_lowers_by_half_the_square():
    U, V = drawn(2, scale=0.3)
    sigma = np.linalg.norm(Y - U @ V.T, 2)
    fall = nuclear.objective(U, V, Y, LAM) - nuclear.objective(
        *nuclear.append_polar(Y, U, V, LAM), Y, LAM
    )
    assert fall == pytest.approx((sigma - LAM) ** 2 / 2, rel=1e-10)
    longer, _ = nuclear.append_polar(Y, U, V, 100)
    assert longer.shape == (8, 3)
    assert not longer[:, 2].any()


@pytest.mark.parametrize(
    ("sigma", "lam"), [((3, 2, 2, 2, 1), 1), ((3, 2, 1), 2), ((3, 1), 0), ((0,), 1)]
)
def test_greedy_ends_at_soft_thresholding(sigma, lam):
    M = with_spectrum(7, 5, sigma, RNG)
    U, V = nuclear.greedy(M, lam)
    assert U.shape[1] == sum(s > lam for s in sigma)
    np.testing.assert_allclose(U @ V.T, shrink(M, lam), atol=1e-13)


def test_steps_by_hand():
    """Y = 1, u = v = 1, lam = 1/2."""
    one = [[1.0]]
    assert nuclear.proximal_sweep(one, one, one, 0.5)[0] == 0.5
    u, v = nuclear.proximal_sweep(one, one, one, 0.5, fraction=0.25)
    assert u == 7 / 8
    # eta = (1/4) / u^2, gradient u (u - 1), threshold eta / 2 times u
    assert v == pytest.approx(1 - 0.25 / u**2 * (u * (u - 1) + u / 2))
    assert nuclear.proximal_sweep_as_printed(one, one, one, 0.5, fraction=0.25) == (1, 1)
    assert nuclear.objective([[0.5]], one, one, 0.5) == 3 / 8
    zero = [[0.0]]
    assert nuclear.proximal_sweep(one, zero, zero, 0.5) == (0, 0)
    assert nuclear.proximal_sweep_as_printed(one, zero, zero, 0.5) == (0, 0)
    assert nuclear.proximal_sweep_as_printed([[3.0]], zero, one, 0.5)[0] == 2.5
    assert nuclear.column_sweep(one, zero, one, 0.5)[0] == 0.5
    assert nuclear.column_sweep(one, one, zero, 0.5) == (0, 0)


def test_the_last_columns_see_the_first_ones():
    U, V = drawn(3)
    after, _ = nuclear.column_sweep(Y, U, V, LAM)
    for i in range(3):
        mixed = np.column_stack([after[:, :i], U[:, i:]])
        done = np.column_stack([after[:, : i + 1], U[:, i + 1 :]])
        found = minimize(
            lambda u, i=i, mixed=mixed: nuclear.objective(
                np.column_stack([mixed[:, :i], u, mixed[:, i + 1 :]]), V, Y, LAM
            ),
            done[:, i],
        )
        assert nuclear.objective(done, V, Y, LAM) <= found.fun + 1e-9


@pytest.mark.parametrize("still", [1e-6, 1e-2])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_growing_ends_with_a_certificate(scale, still):
    U, V = drawn(1)
    grown = nuclear.grow(scale * Y, scale * LAM, U, V, still=still)
    best = optimum(scale * Y, scale * LAM)
    assert len(grown.values) == len(grown.bounds) == len(grown.sizes)
    assert (np.diff(grown.values) <= 1e-12 * best).all()
    assert (grown.bounds <= best * (1 + 1e-12)).all()
    assert grown.values[-1] == pytest.approx(best, rel=1e-9)
    assert grown.bounds[-1] == pytest.approx(best, rel=1e-9)
    gap = nuclear.duality_gap(scale * Y, U, V, scale * LAM)
    assert grown.values[0] - grown.bounds[0] == pytest.approx(gap)
    assert set(np.diff(grown.sizes)) <= {0, 1}
    assert grown.U.shape[1] == grown.sizes[-1]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_shrinking_knows_no_scale(scale):
    X = np.array([[3.0, 0, 0.3], [4, 0, 0.4]]) * scale
    with np.errstate(over="raise"):
        found = nuclear.shrink_columns(X, scale)
    np.testing.assert_allclose(found / scale, [[2.4, 0, 0], [3.2, 0, 0]], rtol=1e-15)
    each = nuclear.shrink_columns(X, np.array([2.5, 1, 0.5]) * scale)
    np.testing.assert_allclose(each / scale, [[1.5, 0, 0], [2, 0, 0]], rtol=1e-15)
    assert not nuclear.shrink_columns([[3e-200], [4e-200]], 5.1e-200).any()
    assert not nuclear.shrink_columns([[3e-200], [4e-200]], 1e300).any()


def test_growing_stops_at_once_where_it_can_or_must():
    top = np.linalg.norm(Y, 2)
    assert len(nuclear.grow(Y, 2 * top, np.zeros((8, 1)), np.zeros((6, 1))).values) == 1
    U, V = drawn(1)
    assert len(nuclear.grow(Y, LAM, U, V, steps=3).values) == 4
    assert len(nuclear.grow(0 * Y, LAM, 0 * U, 0 * V).values) == 1


test_bad_arguments_are_named = refusals(
    (lambda: nuclear.objective(np.ones((8, 2)), np.ones((6, 1)), Y, 1), "number of columns"),
    (lambda: nuclear.objective(np.ones((7, 2)), np.ones((6, 2)), Y, 1), "Y must have 7 rows"),
    (lambda: nuclear.objective(*drawn(2), Y, -1), "lam must be"),
    (lambda: nuclear.polar([1.0]), "R must be a matrix"),
    (lambda: nuclear.proximal_sweep(Y, *drawn(2), 1, fraction=1.5), "fraction must be"),
    (lambda: nuclear.proximal_sweep(Y, *drawn(2), 1, fraction=0), "fraction must be"),
    (lambda: nuclear.shrink_columns(np.ones((2, 3)), [1, 2]), "t must be a number or 3"),
    (lambda: nuclear.shrink_columns(np.ones((2, 3)), -1), "t must be"),
    (lambda: nuclear.grow(Y, 1, *drawn(1), tol=0), "tol must be"),
    (lambda: nuclear.grow(Y, 1, *drawn(1), still=0), "still must be"),
    (lambda: nuclear.grow(Y, 1, *drawn(1), steps=0), "steps must be"),
    (lambda: nuclear.greedy(Y, -1), "lam must be"),
    (lambda: nuclear.append_polar(Y, np.zeros((7, 0)), np.zeros((6, 0)), 1), "must have 7 rows"),
)
