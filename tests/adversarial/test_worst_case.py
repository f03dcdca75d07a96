"""Exact worst cases against each other, and along circles; robust errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from runproofs.adversarial.worst_case import (
    level,
    plane_candidates,
    robust_error,
    worst_case,
    worst_case_by_faces,
)
from runproofs.networks import two_layer
from runproofs.networks._arrangement import as_points, middles, rays
from runproofs.networks.two_layer import TwoLayerNetwork, lipschitz, margin

seeds = st.integers(0, 2**32 - 1)


def random_problems(n, m, d, rng):
    net = TwoLayerNetwork(
        rng.standard_normal((n, m, d)), rng.uniform(-1, 1, (n, m)), rng.uniform(0.01, 1, n)
    )
    x = rng.standard_normal((n, d)) * rng.uniform(0.2, 3, (n, 1))
    return net, x, rng.choice([-1.0, 1.0], n)


def degenerate_problems(n, m, d, rng):
    """Small integers: parallel, canceling and zero rows, centers on kinks and at the origin."""
    net = TwoLayerNetwork(
        rng.integers(-2, 3, (n, m, d)), rng.integers(-2, 3, (n, m)), rng.choice([0, 0.5, 1], n)
    )
    return net, rng.integers(-1, 2, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("problems", [random_problems, degenerate_problems])
@pytest.mark.parametrize("m", [1, 2, 4])
@pytest.mark.parametrize("eps", [1.0, 0.6, 2**0.5, 4.5])  # 1 and sqrt 2: discs that touch lines
def test_plane_and_faces_agree(problems, m, eps):
    net, x, y = problems(80, m, 2, np.random.default_rng(m))
    plane, faces = worst_case(net, x, y, eps), worst_case_by_faces(net, x, y, eps)
    scale = lipschitz(net) * (eps + np.linalg.norm(x, axis=-1))
    assert (np.abs(plane.margin - faces.margin) <= 1e-13 * scale).all()
    for attack in (plane, faces):
        assert (np.linalg.norm(attack.point - x, axis=-1) <= eps * (1 + 1e-12)).all()
        np.testing.assert_allclose(margin(net, attack.point, y), attack.margin, atol=1e-12)


@pytest.mark.parametrize("m", [30, 400])
def test_worst_case_of_many_units_is_the_least_along_the_circle(m):
    """By a scan and a bounded minimization; the center and the origin besides."""
    net, x, y = random_problems(6, m, 2, np.random.default_rng(m))
    eps = 0.7
    exact = worst_case(net, x, y, eps)
    t = np.linspace(-np.pi, np.pi, 20_001)
    for i in range(6):
        one = TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i])

        def z(t, i=i, one=one):
            return margin(one, x[i] + eps * np.stack([np.cos(t), np.sin(t)], -1), y[i])

        start = t[z(t).argmin()]
        near = start - 2 * t[1] + 2 * t[0], start + 2 * t[1] - 2 * t[0]
        found = minimize_scalar(z, bounds=near, options={"xatol": 1e-12}).fun
        at_origin = 0 if np.hypot(*x[i]) <= eps else np.inf
        least = min(found, z(start), margin(one, x[i], y[i]), at_origin)
        scale = lipschitz(one) * (eps + np.hypot(*x[i]))
        assert -1e-13 * scale <= least - exact.margin[i] <= 1e-9 * scale


def test_many_discs_are_taken_in_pieces_and_more_units_than_a_piece_holds():
    net, x, y = random_problems(2000, 4, 2, np.random.default_rng(11))
    together = worst_case(net, x, y, 1.0)
    for i in (0, 909, 910, 911, 1999):
        alone = worst_case(TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i]), x[i], y[i], 1.0)
        np.testing.assert_allclose(together.point[i], alone.point, atol=1e-14)
        np.testing.assert_allclose(together.margin[i], alone.margin, atol=1e-14)
    W, a = np.tile(net.W[:2], (1250, 1)), np.tile(net.a[:2], 1250) / 1250
    copies = worst_case(TwoLayerNetwork(W, a, net.alpha[:2]), x[:2], y[:2], 1.0)
    np.testing.assert_allclose(copies.margin, together.margin[:2], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e6])
def test_worst_case_is_homogeneous(scale):
    for problems in (random_problems, degenerate_problems):
        net, x, y = problems(200, 5, 2, np.random.default_rng(14))
        attack = worst_case(net, scale * x, y, scale * 0.8)
        expected = scale * worst_case(net, x, y, 0.8).margin
        np.testing.assert_allclose(attack.margin, expected, rtol=0, atol=1e-13 * scale * 20)


def test_candidates_of_the_plane_are_what_they_say():
    """Crossings lie on a line or stand for none; a sector's is the optimum of its linear piece."""
    net, x, y = random_problems(200, 4, 2, np.random.default_rng(8))
    found = plane_candidates(net, x, y, 1.0)
    assert [c.shape[1] for c in found] == [1, 1, 8, 8]
    on_line = np.abs(found.crossings @ net.W.mT).min(-1) < 1e-12
    on_circle = np.abs(np.linalg.norm(found.crossings - x[:, None], axis=-1) - 1) < 1e-12
    missing = (found.crossings == x[:, None]).all(-1)
    assert ((on_line & on_circle) | missing).all()
    at_origin = (found.origin[:, 0] == 0).all(1)
    np.testing.assert_array_equal(at_origin, np.linalg.norm(x, axis=1) <= 1)
    for i in range(200):
        inside = as_points(middles(rays(net.W[i])))
        one = TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i])
        g = two_layer.input_gradient(one, inside, y[i])
        expected = x[i] - g / np.linalg.norm(g, axis=-1, keepdims=True)
        np.testing.assert_allclose(found.sectors[i], expected, atol=1e-9)
    with pytest.raises(ValueError, match="inputs in the plane"):
        plane_candidates(TwoLayerNetwork([[1.0]], [1.0], 0.5), [0.0], 1, 1)


def test_worst_case_on_the_line_is_at_an_end_or_the_kink():
    net, x, y = random_problems(50, 3, 1, np.random.default_rng(3))
    ends = np.stack([x - 0.8, x + 0.8, np.clip(0, x - 0.8, x + 0.8)], 1)
    least = margin(net.at_each_point(), ends, y[:, None]).min(1)
    np.testing.assert_allclose(worst_case(net, x, y, 0.8).margin, least, atol=1e-13)


def test_worst_case_in_high_dimension_needs_only_the_span_of_the_rows():
    rng = np.random.default_rng(5)
    net, x, y = random_problems(1, 4, 3, rng)
    Q = np.linalg.qr(rng.standard_normal((300, 3)))[0]
    wide = TwoLayerNetwork(net.W @ Q.T, net.a, net.alpha)
    exact, lifted = worst_case(net, x, y, 1.0), worst_case(wide, x @ Q.T, y, 1.0)
    np.testing.assert_allclose(lifted.margin, exact.margin, atol=1e-12)
    np.testing.assert_allclose(margin(wide, lifted.point, y), exact.margin, atol=1e-12)
    assert np.linalg.norm(lifted.point - x @ Q.T) <= 1 + 1e-12


def test_worst_case_and_level_by_hand():
    """Definition 7 in the register: beta_crit = .3535533906 for this network."""
    net = TwoLayerNetwork(np.eye(2), [1.0, -1.0], 0.5)
    attack = worst_case(net, [0.3, 0.1], 1, 0.5)
    assert -attack.margin / np.sqrt(2) == pytest.approx(0.3535533906, rel=1e-9)
    linear = TwoLayerNetwork([[3.0, 4.0]], [2.0], 1)  # margin 2.6 at the point, L = 10
    assert level(linear, [0.3, 0.1], 1, 0.25) == pytest.approx(1 - 2.6 / 2.5, rel=1e-13)
    net, x, y = random_problems(50, 3, 2, np.random.default_rng(4))
    expected = -worst_case(net, x, y, 0.8).margin / (0.8 * lipschitz(net))
    np.testing.assert_allclose(level(net, x, y, 0.8), expected, atol=1e-12)


def test_radius_zero_and_zero_weights():
    net, x, y = random_problems(20, 3, 2, np.random.default_rng(1))
    np.testing.assert_allclose(worst_case(net, x, y, 0).margin, margin(net, x, y), atol=1e-14)
    zero = TwoLayerNetwork(np.zeros((3, 2)), [1.0, 1.0, 1.0], 0.5)
    assert worst_case(zero, [1.0, 0.0], 1, 1).margin == 0
    assert robust_error(zero, [[1.0, 0.0]], [1], 1) == 0


def test_what_has_no_robust_error_and_no_level_is_refused_in_one_sentence():
    net = TwoLayerNetwork([[2.0, 1], [0, 3]], [0.5, -1.5], 0.3)
    with pytest.raises(ValueError, match=r"^X must have at least one point, but it has none\.$"):
        robust_error(net, np.empty((0, 2)), [], 0.4)
    for W, a in ((np.zeros((2, 2)), net.a), (net.W, [[1.0, 2], [0, 0]])):
        with pytest.raises(ValueError, match=r"^network must not be zero[^.]*\.$"):
            level(TwoLayerNetwork(W, a, 0.3), [[1.0, 2], [3, 4]], 1, 0.4)
    attack = worst_case(net, np.empty((0, 2)), [], 0.4)
    assert attack.point.shape == (0, 2)


def test_too_many_unstable_units_are_refused_but_not_in_the_plane():
    wide = np.random.default_rng(0).standard_normal((13, 3))
    with pytest.raises(ValueError, match=r"at most 12 units.* it has 13"):
        worst_case(TwoLayerNetwork(wide, np.ones(13), 0.5), [0.0, 0.0, 0.0], 1, 1)
    assert worst_case(TwoLayerNetwork(wide[:, :2], -np.ones(13), 0.5), [0.0, 0.0], 1, 1).margin < 0


@given(seeds)
def test_robust_errors_count_balls_with_a_negative_margin(seed):
    rng = np.random.default_rng(seed)
    net, _, _ = random_problems(3, 4, 2, rng)
    X, Y = rng.standard_normal((7, 2)), rng.choice([-1.0, 1.0], 7)
    least = np.array(
        [
            [worst_case(TwoLayerNetwork(*one), x, y, 0.5).margin for x, y in zip(X, Y, strict=True)]
            for one in zip(net.W, net.a, net.alpha, strict=True)
        ]
    )
    np.testing.assert_array_equal(robust_error(net, X, Y, 0.5), (least < 0).mean(1))
    norms = np.sqrt((net.W**2).sum((1, 2)))
    for beta in (0.1, 0.5):
        expected = (least < -beta * norms[:, None]).mean(1)
        np.testing.assert_array_equal(robust_error(net, X, Y, 0.5, beta), expected)
