"""Sweeps over the sectors of the plane, against signs at points, autograd and fractions."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import leaky_relu

from helpers.refusals import refusals
from runproofs.networks._arrangement import (
    as_complex,
    as_points,
    middles,
    rays,
    sector_of,
    sector_sums,
)
from runproofs.networks.two_layer import TwoLayerNetwork

seeds = st.integers(0, 2**32 - 1)


def integer_rows(rng, *shape):
    """Rows of small integers: many are zero, equal, opposite or on the axes."""
    return rng.integers(-2, 3, (*shape, 2)).astype(float)


def widths(found):
    return np.diff(found.angle, append=found.angle[..., :1] + 2 * np.pi)


# ---------------------------------------------------------------- rays


@given(seeds, st.integers(1, 7), st.booleans())
def test_each_unit_turns_on_its_two_rays_and_nowhere_else(seed, m, degenerate):
    rng = np.random.default_rng(seed)
    W = integer_rows(rng, m) if degenerate else rng.standard_normal((m, 2)) * 1e-3
    found = rays(W)
    assert (np.diff(found.angle) >= 0).all()
    assert np.abs(found.angle).max() <= np.pi
    np.testing.assert_allclose(np.exp(1j * found.angle), found.direction, atol=1e-15)
    np.testing.assert_array_equal(np.sort(found.unit), np.repeat(np.arange(m), 2))
    for k, j in enumerate(found.unit):
        before, on, after = as_points(found.direction[k] * np.exp([-1e-9j, 0, 1e-9j])) @ W[j]
        assert abs(on) <= 1e-15 * np.linalg.norm(W[j])
        assert found.turn[k] == (np.sign(after) - np.sign(before)) / 2
        assert (found.turn[k] == 0) == (not W[j].any())


@given(seeds, st.integers(1, 7), st.booleans())
def test_patterns_are_the_signs_in_the_middle_of_each_sector(seed, m, degenerate):
    rng = np.random.default_rng(seed)
    W = integer_rows(rng, 3, m) if degenerate else rng.standard_normal((3, m, 2))
    for rows in W:  # unit vectors as weights: one sum for each unit
        found = rays(rows)
        real = widths(found) > 1e-9
        patterns = sector_sums(found, np.eye(m))[:, real]
        signs = rows @ as_points(middles(found)[real]).T > 0
        np.testing.assert_array_equal(patterns, signs)


@given(seeds)
def test_points_lie_in_the_sectors_that_are_said(seed):
    rng = np.random.default_rng(seed)
    W, u = rng.standard_normal((4, 6, 2)), rng.standard_normal((4, 30, 2))
    found = rays(W)
    sector = sector_of(found, as_complex(u))
    for i in range(4):
        patterns = sector_sums(rays(W[i]), np.eye(6))
        np.testing.assert_array_equal(patterns[:, sector[i]] > 0, W[i] @ u[i].T > 0)


def test_sectors_are_counted_from_the_first_ray_and_the_last_has_two_names():
    found = rays([[3, 3], [2, 0]])  # rays at -90, -45, 90 and 135 degrees
    u = as_complex([[1, -1.5], [2, 0.5], [-0.1, 3], [-2, 0.1], [-2, -0.1]])
    assert sector_of(found, u).tolist() == [0, 1, 2, 3, -1]
    np.testing.assert_allclose(np.degrees(np.angle(middles(found))), [-67.5, 22.5, 112.5, -157.5])


def test_points_on_a_ray_get_the_sector_of_either_side():
    W = np.array([[3.0, 1], [-2, 5], [0, 2], [4, 4]])
    found = rays(W)
    patterns = sector_sums(found, np.eye(4))
    for length in (1e-9, 7.0, 1e9):
        held = patterns[:, sector_of(found, length * found.direction)]
        for k, direction in enumerate(as_points(found.direction)):
            others = np.arange(4) != found.unit[k]
            np.testing.assert_array_equal(held[others, k] > 0, (W @ direction > 0)[others])


# ---------------------------------------------------------------- sums


def gradients(network):
    """Those of a two-layer network on the sectors between its rays, (..., 2m, 2)."""
    weights = network.a * as_complex(network.W)
    return as_points(sector_sums(rays(network.W), weights, network.alpha[..., None] * weights))


@pytest.mark.parametrize(
    ("of_W", "of_a", "of_alpha"),
    [((), (), ()), ((), (3,), ()), ((2, 1), (3,), (5, 1, 1))],
)
@pytest.mark.parametrize("m", [1, 2, 9])
def test_gradients_are_those_of_autograd(m, of_W, of_a, of_alpha):
    rng = np.random.default_rng(m)
    W, a = rng.standard_normal((*of_W, m, 2)), rng.standard_normal((*of_a, m))
    net = TwoLayerNetwork(W, a, rng.random(of_alpha))
    found = gradients(net)
    batch = np.broadcast_shapes(of_W, of_a, of_alpha)
    assert found.shape == (*batch, 2 * m, 2)
    for index in np.ndindex(batch):
        rows = np.broadcast_to(W, (*batch, m, 2))[index]
        top = torch.tensor(np.broadcast_to(a, (*batch, m))[index])
        slope = float(np.broadcast_to(net.alpha, batch)[index])
        u = torch.tensor(as_points(middles(rays(rows))), requires_grad=True)
        value = (leaky_relu(u @ torch.tensor(rows).T, slope) @ top).sum()
        (expected,) = torch.autograd.grad(value, u)
        np.testing.assert_allclose(found[index], expected.numpy(), atol=1e-13)


def test_gradients_of_integer_networks_are_exact():
    """Against fractions, with signs at the middles as they stand in floating point."""
    rng = np.random.default_rng(0)
    empty = 0
    for m in (1, 3, 6):
        W, a = integer_rows(rng, 40, m), rng.integers(-3, 4, (40, m)).astype(float)
        on_sectors = gradients(TwoLayerNetwork(W, a, 0.25))
        integers = W.astype(int).tolist(), a.astype(int).tolist()
        for rows, top, g in zip(*integers, on_sectors, strict=True):
            found = rays(rows)
            for k in np.flatnonzero(widths(found) > 1e-9):
                u = [Fraction(c) for c in as_points(middles(found)[k]).tolist()]
                total = [Fraction(0), Fraction(0)]
                for (p, q), t in zip(rows, top, strict=True):
                    slope = 1 if p * u[0] + q * u[1] > 0 else Fraction(1, 4)
                    total = [total[0] + t * slope * p, total[1] + t * slope * q]
                assert [Fraction(c) for c in g[k].tolist()] == total
            empty += (widths(found) <= 1e-9).sum()
    assert empty > 100  # rays that coincide


def test_sums_are_accurate_after_400_units():
    """Against sums of fractions; rows and weights of very different sizes."""
    rng = np.random.default_rng(4)
    W = rng.standard_normal((400, 2)) * 10 ** rng.uniform(-3, 3, (400, 1))
    net = TwoLayerNetwork(W, rng.standard_normal(400), 0.3)
    g, inside = gradients(net), as_points(middles(rays(W)))
    scale = (np.abs(net.a) * np.linalg.norm(W, axis=1)).sum()
    terms = [[Fraction(c) for c in row] for row in net.a[:, None] * W]
    for k in (0, 1, 399, 400, 798, 799):
        s = [Fraction(1) if h > 0 else Fraction(net.alpha.item()) for h in W @ inside[k]]
        exact = [float(sum(f * t[c] for f, t in zip(s, terms, strict=True))) for c in (0, 1)]
        np.testing.assert_allclose(g[k], exact, rtol=0, atol=1e-14 * scale)


def test_sums_over_the_other_units():
    """On and off may be any numbers, also where a row is zero: such a unit is never active."""
    W = np.array([[2.0, 1], [0, 0], [-3, 1], [0, 4]])
    on, off = np.array([[5.0, 7, 11, 13], [2, 2, 2, 2]]), np.array([0.25, 0.5, 1.5, 3])
    signs = as_points(middles(rays(W))) @ W.T > 0
    expected = [np.where(signs, row, off).sum(-1) for row in on]
    np.testing.assert_allclose(sector_sums(rays(W), on, off), expected, rtol=1e-15)
    together = sector_sums(rays([W, 3 * W]), on[0], off)  # one sum for two networks
    np.testing.assert_allclose(together, [expected[0], expected[0]], rtol=1e-15)


def test_rays_that_nearly_coincide_leave_no_error_behind():
    """max over the circle of |sum_k R_k max(x_k^T u, 0)| is sqrt(145); where the first sum is taken
    by signs, on a sector of width 1e-16, ten of it may be lost."""
    x, R = [[2e-16, 1], [0, 1], [1, 1]], np.array([10.0, 1, 1])
    for turned in np.exp(0.25j * np.pi * np.arange(8)):
        rows = as_points(as_complex(x) * turned)
        found = rays(rows)
        g = sector_sums(found, R * as_complex(rows))
        real = widths(found) > 1e-9
        assert abs(g[real]).max() == pytest.approx(145**0.5, rel=1e-14)
        inside = as_points(middles(found)[real])
        direct = np.maximum(inside @ rows.T, 0) @ R
        np.testing.assert_allclose((as_points(g[real]) * inside).sum(-1), direct, atol=1e-13)


@given(seeds, st.sampled_from([1e-150, 1e-12, 1e6, 1e150]))
def test_scale_does_not_matter(seed, scale):
    W = np.random.default_rng(seed).standard_normal((5, 2))
    a, b = rays(W), rays(scale * W)
    np.testing.assert_allclose(a.angle, b.angle, atol=1e-14)
    np.testing.assert_array_equal(a.unit, b.unit)


# ---------------------------------------------------------------- arguments


test_bad_rows_are_refused = refusals(
    (lambda: rays(np.eye(3)), "W must have 2 columns"),
    (lambda: rays([1.0, 2.0]), "W must be"),
    (lambda: rays([[np.inf, 1]]), "finite"),
)
