"""The two descents against the exact optima, and their arguments."""

import numpy as np
import pytest

from runproofs.linalg import psd_sqrt, with_spectrum
from runproofs.linear import deep

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


@pytest.mark.parametrize(
    ("M", "widths", "starts", "named"),
    [
        (np.zeros((2, 2)), (2,), 1, "M"),
        (np.eye(2), (1, 2), 1, "widths"),
        (np.eye(2), (2,), 0, "starts"),
    ],
)
def test_search_names_bad_arguments(M, widths, starts, named):
    with pytest.raises(ValueError, match=named):
        deep.search_implementation(M, widths, 1.0, starts, 0)


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


@pytest.mark.parametrize(
    ("Cyx", "widths", "lam", "named"),
    [
        (np.zeros((2, 2)), (2,), 1, "Cyx"),
        (np.eye(2), (), 1, "widths"),
        (np.eye(2), (2,), -1, "lam"),
    ],
)
def test_search_for_the_optimum_names_bad_arguments(Cyx, widths, lam, named):
    with pytest.raises(ValueError, match=named):
        deep.search_optimum(Cyx, widths, lam, 1, 0)


def test_optimum_where_a_block_of_the_hessian_is_singular():
    found = deep.global_optimum([1.0, 0.9, 0.5], (3, 3, 3), 3.0)  # d = (k - 1) lam / 2
    assert found.rank == 1
    assert found.value == pytest.approx(-1 / 8, rel=1e-12)
