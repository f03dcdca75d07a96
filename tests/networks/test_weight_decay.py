"""Weight decay on one point: exact instances, brute force, networks, and bad arguments."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import multilayer, weight_decay

# norm, lam, depth, the optimal signal and J_2
EXACT = [
    (5, Fraction(1), 2, Fraction(3, 5), Fraction(4, 25)),
    (1, Fraction(122, 625), 3, Fraction(64, 125), Fraction(15433, 62500)),
    (8, Fraction(4 * 122, 625), 3, Fraction(64, 125), Fraction(15433, 62500)),
    (1, Fraction(171, 2000), 4, Fraction(81, 100), Fraction(6517, 40000)),
]


@pytest.mark.parametrize(("norm", "lam", "depth", "A", "J"), EXACT)
def test_exact_instances(norm, lam, depth, A, J):
    norm, lam, A, J = (float(number) for number in (norm, lam, A, J))
    assert weight_decay.signal(norm, lam, depth) == pytest.approx(A, rel=1e-14)
    assert weight_decay.profile(A, norm, lam, depth) == pytest.approx(J, rel=1e-14)
    assert weight_decay.aversion(norm, lam, depth) == pytest.approx((1 - A) ** 2 / 4, rel=1e-13)


@pytest.mark.parametrize("depth", [2, 3, 7, 40])
def test_signal_is_the_minimum_on_a_grid(depth):
    norm = np.array([0.3, 1, 20])[:, None]
    critical = weight_decay.critical_penalty(norm, depth)
    lam = critical * np.array([0, 0.3, 0.9, 0.999, 1, 1.001, 3])
    A = weight_decay.signal(norm, lam, depth)
    assert A.shape == (3, 7)
    grid = np.linspace(0, 1.2, 24001)
    values = weight_decay.profile(grid, norm[..., None], lam[..., None], depth)
    best = weight_decay.profile(A, norm, lam, depth)
    assert (best <= values.min(-1) + 1e-15).all()
    alive = np.arange(7) < (4 if depth == 2 else 5)
    np.testing.assert_array_equal(A > 0, np.broadcast_to(alive, A.shape))
    np.testing.assert_allclose(A[:, 0], 1, rtol=0, atol=1e-15)
    assert (A[:, alive] >= (depth - 2) / (depth - 1)).all()
    # at lam_c both are optimal, and the larger risk counts
    np.testing.assert_allclose(best[:, 4], 0.25, rtol=1e-13)
    np.testing.assert_allclose(A[:, 4], (depth - 2) / (depth - 1), rtol=0, atol=1e-7)
    averse = weight_decay.aversion(norm, lam, depth)
    np.testing.assert_allclose(averse[:, :4], ((1 - A) ** 2 / 4)[:, :4])
    np.testing.assert_array_equal(averse[:, 4:], 0.25)


@pytest.mark.parametrize("sizes", [[1], [3], [2, 3], [2, 1, 4]])
def test_the_cheapest_network(sizes):
    x, A = np.array([1.0, -2, 2]), 0.4
    network = weight_decay.cheapest_network(x, A, sizes)
    assert network.sizes == (3, *sizes)
    np.testing.assert_allclose(network([[0, 0, 0], x]), [0.3, 0.7], rtol=1e-14)
    norm = multilayer.squared_norm(network)
    assert norm == pytest.approx(weight_decay.least_norm(A, 3, len(sizes) + 1), rel=1e-14)
    found = multilayer.penalised_risk(network, multilayer.half(x, 1), 0.1)
    assert found == pytest.approx(weight_decay.profile(A, 3, 0.1, len(sizes) + 1), rel=1e-13)
    dead = weight_decay.cheapest_network(x, 0, sizes)
    assert (multilayer.squared_norm(dead), dead(x)) == (0, 0.5)


def test_descents_end_at_the_closed_form():
    x, lam, sizes, norm = [1, 2], 0.15, [3, 3], 5**0.5
    values, networks = weight_decay.descents(x, lam, sizes, 30, 1)
    A = weight_decay.signal(norm, lam, 3)
    assert values[0] == pytest.approx(weight_decay.profile(A, norm, lam, 3), rel=1e-9)
    assert (np.diff(values) >= 0).all()
    found = multilayer.penalised_risk(networks, multilayer.half(np.array(x, float), 1), lam)
    np.testing.assert_allclose(found.astype(float), values, rtol=1e-12)
    assert networks.sizes == (len(x), *sizes)


def test_a_penalty_on_biases_changes_the_optimum():
    """x = (3, 4), lam = 1: 0.16935 and the risk 0.0255."""
    values, networks = weight_decay.descents([3, 4], 1, [2], 30, 2, bias_lam=1)
    x = np.array([3.0, 4])
    biases = sum((a**2).sum(-1) for a in networks.biases) / 2
    found = multilayer.penalised_risk(networks, multilayer.half(x, 1), 1) + biases
    np.testing.assert_allclose(found.astype(float), values, rtol=1e-12)
    assert values[0] == pytest.approx(0.16935, abs=1e-5)
    assert multilayer.risk(networks, multilayer.half(x, 1))[0] == pytest.approx(0.0255, abs=1e-4)


test_bad_arguments = refusals(
    (lambda: weight_decay.signal(0, 1, 2), "norm must be larger than 0"),
    (lambda: weight_decay.signal(1, -1, 2), "lam must be at least 0"),
    (lambda: weight_decay.aversion(1, [-1], 3), "lam must be at least 0"),
    (lambda: weight_decay.profile(1, 1, -1, 2), "lam must be at least 0"),
    (lambda: weight_decay.profile(-1, 1, 1, 2), "A must be at least 0"),
    (lambda: weight_decay.signal(1, 1, 1), "depth must be an integer that is at least 2"),
    (lambda: weight_decay.least_norm(1, np.nan, 2), "norm must have finite"),
    (lambda: weight_decay.cheapest_network([0, 0], 1, [1]), "the norm of x must be"),
    (lambda: weight_decay.cheapest_network([1], -1, [1]), "A must be a number"),
    (lambda: weight_decay.descents([1], 1, [2], 0, 0), "starts must be an integer"),
    (lambda: weight_decay.descents([1], -1, [2], 1, 0), "lam must be a number"),
    (lambda: weight_decay.descents([1], 1, [2], 1, 0, bias_lam=-1), "bias_lam must be"),
    (lambda: weight_decay.cheapest_network([1], 1, []), "widths must be a non-empty list"),
)
