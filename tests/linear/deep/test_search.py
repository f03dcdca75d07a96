"""The two descents against the exact optima, and their arguments."""

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.linalg import psd_sqrt, random_orthogonal, with_spectrum
from runproofs.linear import deep
from runproofs.linear.deep import search

ROOT = np.array([[1.3, 0.4, 0.0], [0.4, 0.9, 0.2], [0.0, 0.2, 0.6]])


@pytest.mark.parametrize(
    ("widths", "sigma", "lam"),
    [((4,), [3.0, 1.0], 0.7), ((3, 2), [2.0, 1.0], 0.8), ((2, 3, 2), [500.0, 200.0], 2.0)],
)
def test_search_finds_the_induced_regularizer(widths, sigma, lam):
    C = ROOT @ ROOT
    M = with_spectrum(4, 3, sigma, np.random.default_rng(1)) @ np.linalg.inv(psd_sqrt(C))
    found = deep.search_implementation(M, widths, lam, 3, 0, C)
    exact = deep.induced_regularizer(sigma, widths, lam).value
    assert found.values.min() == pytest.approx(exact, rel=1e-10)
    np.testing.assert_allclose(deep.network_map(found.weights), M, atol=1e-10 * max(sigma))
    assert float(deep.regularizer(found.weights, lam, C)) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("lam", [1e-300, 1e-18, 1e-9, 1e-3, 50.0, 1e6, 1e90])
def test_search_at_every_rate(lam):
    found = deep.search_implementation(np.diag([2.0, 1.0]), (3, 4), lam, 3, 0)
    exact = deep.induced_regularizer([2, 1], (3, 4), lam).value
    np.testing.assert_allclose(found.values.min(), exact, rtol=1e-10)
    np.testing.assert_allclose(deep.network_map(found.weights), np.diag([2, 1]), atol=1e-12)
    assert deep.regularizer(found.weights, lam) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("lam", [1e-200, 1e-9, 0.6, 40.0])
def test_the_last_layer_is_completed_at_least_cost(lam):
    """Its R by the library's formula, its gradient by differences, no other last layer better."""
    rng = np.random.default_rng(0)
    sizes, target = [(3, 2), (4, 3), (2, 4)], rng.standard_normal((3, 2))
    layers = [rng.standard_normal(shape) for shape in sizes]
    weights, value, gradients = search._completed(layers, target, lam)
    np.testing.assert_allclose(deep.network_map(weights), target, atol=1e-13)
    assert deep.regularizer(weights, lam) / lam == pytest.approx(value, rel=1e-11)
    for j, g in enumerate(gradients):
        differences = np.zeros(g.shape)
        for index in np.ndindex(g.shape):
            ends = []
            for h in (1e-5, -1e-5):
                moved = [W.copy() for W in layers]
                moved[j][index] += h
                ends.append(search._completed(moved, target, lam)[1])
            differences[index] = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(g, differences, atol=1e-7 * max(np.abs(g).max(), value))
    wide = [rng.standard_normal((4, 2))]
    weights, value, _ = search._completed(wide, target, lam)
    free = np.linalg.svd(wide[0].T)[2][2:]  # rows that add nothing to the map
    for _ in range(10):
        other = weights[-1] + rng.standard_normal((3, 2)) @ free
        np.testing.assert_allclose(other @ wide[0], target, atol=1e-12)
        assert deep.regularizer([*wide, other], lam) > value * lam * (1 + 1e-6)


@pytest.mark.parametrize(
    ("widths", "m", "lam"),
    [
        ((3,), [2.0, 1.0, 0.5], 0.7),
        ((3, 2), [1.0, 0.9, 0.5], 0.2),
        ((2, 3, 2), [300.0, 200.0], 0.3),
    ],
)
def test_search_finds_the_global_optimum(widths, m, lam):
    C = ROOT @ ROOT
    Cyx = with_spectrum(4, 3, m, np.random.default_rng(1)) @ psd_sqrt(C)
    found = deep.search_optimum(Cyx, widths, lam, 6, 0, C)
    exact = deep.global_optimum(m, widths, lam).value
    assert found.values.min() == pytest.approx(exact, rel=1e-10)
    reached = deep.objective(found.weights, Cyx, lam, 0, C)
    assert float(reached) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e-6, 1e6, 1e20, 1e150])
def test_searches_at_every_scale_of_the_inputs(scale):
    """x and y times s: C and Cyx times s^2, and so the least value; M and R: the same, s^2 R."""
    C, Cyx = ROOT @ ROOT * scale, with_spectrum(4, 3, [1.0, 0.9, 0.5], 1) @ ROOT * scale
    found = deep.search_optimum(Cyx, (3, 2), 0.2, 4, 0, C)
    exact = deep.global_optimum([1.0, 0.9, 0.5], (3, 2), 0.2).value
    assert found.values.min() / scale == pytest.approx(exact, rel=1e-10)
    reached = deep.objective(found.weights, Cyx, 0.2, 0, C)
    assert float(reached) / scale == pytest.approx(exact, rel=1e-10)
    M = with_spectrum(4, 3, [2.0, 1.0], 2) @ np.linalg.inv(ROOT)
    found = deep.search_implementation(M, (3, 2), 0.8, 3, 0, C)
    exact = deep.induced_regularizer([2.0, 1.0], (3, 2), 0.8).value
    assert found.values.min() / scale == pytest.approx(exact, rel=1e-10)
    np.testing.assert_allclose(deep.network_map(found.weights), M, atol=1e-10)


def test_searches_where_inputs_are_very_uneven():
    """Of condition number 1e10 along the axes, where C is exact, and 1e5 along others."""
    for basis, roots in ((np.eye(3), [1e3, 1, 1e-2]), (random_orthogonal(3, 0), [30, 1, 0.1])):
        root = basis * roots @ basis.T
        Cyx = with_spectrum(2, 3, [1.0, 0.4], 1) @ root
        found = deep.search_optimum(Cyx, (3, 2), 0.5, 5, 0, root @ root)
        exact = deep.global_optimum([1.0, 0.4], (3, 2), 0.5).value
        assert found.values.min() == pytest.approx(exact, rel=1e-9)


def test_all_starts_are_reported_and_the_best_returned():
    found = deep.search_optimum(np.eye(2), (2, 2), 1.0, 12, 0)
    assert found.values.shape == (12,)
    assert deep.objective(found.weights, np.eye(2), 1.0, 0) == pytest.approx(
        found.values.min(), rel=1e-9
    )
    ends = np.array([-0.5, -4 / 9])  # the global and the local minimum of the page
    assert np.abs(found.values[:, None] - ends).min(axis=1).max() < 1e-9
    again = deep.search_optimum(np.eye(2), (2, 2), 1.0, 12, np.random.default_rng(0))
    np.testing.assert_array_equal(found.values, again.values)


test_searches_name_bad_arguments = refusals(
    (lambda: deep.search_implementation(np.zeros((2, 2)), (2,), 1.0, 1, 0), "M"),
    (lambda: deep.search_implementation(np.eye(2), (1, 2), 1.0, 1, 0), "widths"),
    (lambda: deep.search_implementation(np.eye(2), (2,), 1.0, 0, 0), "starts"),
    (lambda: deep.search_implementation(np.eye(2), (2, 3), 1e200, 1, 0), "lam must be smaller"),
    (
        lambda: deep.search_implementation(np.diag([1e170, 1]), (2, 3), 1.0, 1, 0),
        "lam must be smaller",
    ),
    (lambda: deep.search_optimum(np.zeros((2, 2)), (2,), 1, 1, 0), "Cyx"),
    (lambda: deep.search_optimum(np.eye(2), (), 1, 1, 0), "widths"),
    (lambda: deep.search_optimum(np.eye(2), (2,), -1, 1, 0), "lam"),
)


def test_optimum_where_a_block_of_the_hessian_is_singular():
    found = deep.global_optimum([1.0, 0.9, 0.5], (3, 3, 3), 3.0)  # d = (k - 1) lam / 2
    assert found.rank == 1
    assert found.value == pytest.approx(-1 / 8, rel=1e-12)
