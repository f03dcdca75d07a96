"""The margin of Assumption 2: both bounds by hand, and the kernel machine."""

import numpy as np
import pytest
from scipy.optimize import nnls

from helpers.lazy_problems import KINDS, by_hand, instance
from helpers.refusals import refusals
from runproofs.networks.lazy_margin import (
    arcs,
    feature_kernel,
    kernel_margin,
    planar_margin,
    potential,
    sampled_margins,
)

ANGLES = np.deg2rad([0, 40, 100, 190, 250])
FIVE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1), np.array([1.0, 1, -1, -1, 1])
CORNERS = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([1.0, 1, -1, -1])


def bounds_by_hand(found, X, y, q=1):
    z, mass, active = by_hand(X)
    psi = found.psi(3 * z)
    assert np.linalg.norm(psi, axis=1).max() <= 1 + 1e-15
    margins = q * np.einsum("k,kd,ki,id,i->i", mass, psi, active, X, y)
    assert found.alpha.min() >= 0
    assert found.alpha.sum() == pytest.approx(1, abs=1e-12)
    G = (active * found.alpha * y) @ X
    return margins.min(), q * mass @ np.linalg.norm(G, axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_the_two_bounds_are_what_psi_and_alpha_prove_and_they_meet(kind, n):
    X, y = instance(kind, 0, n)
    found = planar_margin(X, y, keep=0.7)
    longest = np.linalg.norm(X, axis=1).max()
    lower, upper = bounds_by_hand(found, X, y, 0.7)
    assert found.lower == pytest.approx(lower, abs=1e-9 * longest)
    assert found.upper == pytest.approx(upper, abs=1e-9 * longest)
    assert -1e-14 <= found.upper - found.lower <= 1e-8 * longest
    assert found.upper <= 0.35 * np.linalg.norm(X, axis=1).min() + 1e-8 * longest
    machine = kernel_margin(X, y, keep=0.7)
    assert found.lower <= machine.upper + 1e-12
    assert machine.lower**2 <= 0.7 * found.upper * longest + 1e-12
    separable = machine.upper > 0.001 * longest
    assert -1e-12 <= machine.upper - machine.lower <= (1e-8 if separable else 1e-6) * longest


@pytest.mark.parametrize("scale", [1e-300, 1e305])
def test_lengths_whose_square_is_no_number(scale):
    X, y = FIVE
    for margin in planar_margin, kernel_margin:
        found, expected = margin(scale * X, y), margin(X, y)
        bounds = np.array([found.lower, found.upper]) / scale
        np.testing.assert_allclose(bounds, expected[:2], rtol=0, atol=1e-8)
    tiny = X * np.array([[1], [1e-310], [1], [1], [1]])
    assert planar_margin(tiny, y).upper <= 1e-8
    np.testing.assert_array_equal(arcs(scale * X).active, arcs(X).active)


@pytest.mark.parametrize("apart", [1e-3, 1e-9, 1e-15])
def test_points_that_nearly_coincide(apart):
    rng = np.random.default_rng(3)
    X = np.repeat(rng.standard_normal((10, 2)), 2, axis=0)
    X[1::2] += apart * rng.standard_normal((10, 2))
    for y in np.tile([1.0, -1], 10), np.repeat(rng.choice([-1.0, 1], 10), 2):
        found = planar_margin(X, y)
        lower, upper = bounds_by_hand(found, X, y) if apart > 1e-8 else found[:2]
        assert 0 <= found.upper - found.lower <= 1e-8
        assert [found.lower, found.upper] == pytest.approx([lower, upper], abs=1e-9)
        assert found.lower <= apart or y[0] == y[1]


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1, 2], [1, 2]], [1, -1]),  # both labels
        ([[1, 2], [3, 6], [0, 1]], [1, -1, 1]),  # on one ray
        ([[0, 0], [1, 0]], [1, 1]),
        ([[0, 0]], [1]),
        ([[1, 0], [0, 1], [-1, 0], [0, -1]], [1, 1, -1, -1]),
    ],
)
def test_margins_of_zero_and_above(X, y):
    found, machine = planar_margin(X, y), kernel_margin(X, y)
    separable = len(X) == 4
    assert (found.lower > 0.1) == (machine.lower > 0.1) == separable
    if not separable:
        assert found.lower == 0
        assert not found.psi.value.any()
        assert found.upper <= 1e-8
        assert machine.upper <= 1e-6


def test_arcs():
    found = arcs(FIVE[0])
    assert found.mass.sum() == pytest.approx(1, abs=1e-15)
    middle = (found.start + np.append(found.start[1:], np.pi)) / 2
    z = np.stack([np.cos(middle), np.sin(middle)], 1)
    np.testing.assert_array_equal(found.active, z @ FIVE[0].T > 0)
    assert found.start[0] == -np.pi


def test_psi_on_points_of_any_shape():
    psi = planar_margin(*CORNERS).psi
    z = np.random.default_rng(0).standard_normal((3, 5, 2))
    expected = np.sign(z) * [1, -1] / np.sqrt(2)
    np.testing.assert_allclose(psi(z), expected, atol=1e-8)
    np.testing.assert_allclose(psi([-1.0, -0.0]), psi([-1.0, -0.001]))


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_kernel_machine_by_another_solver(d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((6, d)) * rng.uniform(0.5, 2, (6, 1))
    y = np.array([1.0, -1, 1, -1, 1, 1])
    K = y[:, None] * feature_kernel(X) * y
    found = kernel_margin(X, y)
    assert found.lower <= found.upper <= found.lower + 1e-9 * np.linalg.norm(X, axis=1).max()
    factor = np.linalg.cholesky(K + 1e-15 * np.eye(6)).T
    u, _ = nnls(np.vstack([factor, np.ones(6)]), np.append(np.zeros(6), 1.0))
    alpha = u / u.sum()
    assert found.upper == pytest.approx(np.sqrt(alpha @ K @ alpha), abs=1e-9)
    assert kernel_margin(X, y, keep=0.3).lower == pytest.approx(0.3 * found.lower, abs=1e-12)


def test_the_kernel_is_the_mean_over_directions():
    rng = np.random.default_rng(4)
    X, z = (rng.standard_normal((n, 3)) for n in (5, 200000))
    active = (z @ X.T > 0).astype(float)
    expected = X @ X.T * (active.T @ active) / len(z)
    np.testing.assert_allclose(feature_kernel(X), expected, atol=0.03)
    np.testing.assert_allclose(np.diag(feature_kernel(X)), (X**2).sum(1) / 2, rtol=1e-15)
    near = np.array([[1.0, 0], [1, 1e-9], [-1, 1e-9], [0, 0]])
    expected = [0.5, 0.5 - 1e-9 / (2 * np.pi), -1e-9 / (2 * np.pi), 0]
    np.testing.assert_allclose(feature_kernel(near)[0], expected, rtol=1e-15)


def test_sampled_margins_are_those_of_the_map():
    X, y = FIVE
    found = planar_margin(X, y, keep=0.35)
    rng = np.random.default_rng(2)
    z, mask = rng.standard_normal((40, 2)), rng.random(40) < 0.35
    terms = sampled_margins(found.psi, X, y, z, mask)
    expected = [
        [kept * v * found.psi(w) @ x * (w @ x > 0) for x, v in zip(X, y, strict=True)]
        for w, kept in zip(z, mask, strict=True)
    ]
    np.testing.assert_allclose(terms, expected, atol=1e-15)


def test_the_potential_is_a_sum_over_active_points():
    X, y = FIVE
    alpha = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    z, _, active = by_hand(X)
    np.testing.assert_allclose(potential(alpha, X, y, z), (active * alpha * y) @ X, atol=1e-15)
    np.testing.assert_array_equal(potential(alpha, X, y, [0.0, 0]), [0, 0])


test_bad_arguments = refusals(
    (lambda: planar_margin([[1, 0, 0]], [1]), "must"),
    (lambda: planar_margin([[1, 0]], [0]), "must"),
    (lambda: planar_margin([[1, 0]], [1], keep=0), "must"),
    (lambda: kernel_margin([[1, 0]], [1], keep=1.5), "must"),
    (lambda: arcs([[1, 0, 0]]), "must"),
    (lambda: feature_kernel([1, 0]), "must"),
    (lambda: potential([1], [[1, 0], [0, 1]], [1, 1], [1, 0]), "must"),
    (lambda: potential([1], [[1, 0]], [1], [1, 0, 0]), "must"),
    (lambda: sampled_margins(np.sign, [[1, 0]], [1], [1, 0]), "must"),
    (lambda: sampled_margins(np.sign, [[1, 0]], [1], [[1, 0]], [2]), "mask must"),
    (lambda: sampled_margins(np.sign, [[1, 0]], [1], [[1, 0]], [1, 0]), "mask must"),
    (lambda: sampled_margins(lambda z: z[:1], [[1, 0]], [1], np.eye(2)), "must have shape"),
    (lambda: sampled_margins(np.ravel, [[1, 0]], [1], [[1, 0]]), "must"),
)
