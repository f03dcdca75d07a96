"""Two-layer networks and their gradients: each against torch's autograd or a closed form."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import leaky_problem as problem
from helpers.instances import torch_margin
from helpers.refusals import refusals
from runproofs.networks import two_layer
from runproofs.networks.two_layer import TwoLayerNetwork

seeds, slopes = st.integers(0, 2**32 - 1), st.floats(0, 1)


# ---------------------------------------------------------------- the network


def test_fractions_stay_exact():
    W = np.array([[Fraction(1), Fraction(2)], [Fraction(-3), Fraction(1, 2)]])
    net, x = TwoLayerNetwork(W, W[0] / 3, 0), W[1]
    hidden = W @ x
    values = np.array([net(x), net[[0, 1]](x), two_layer.margin(net, x, -1)])
    expected = [hidden[1] * Fraction(2, 3)] * 2 + [-hidden[1] * Fraction(2, 3)]
    assert hidden[0] < 0 < hidden[1]
    np.testing.assert_array_equal(values, expected)
    gradient = two_layer.weight_gradient(net, x, 1)
    np.testing.assert_array_equal(gradient, [0 * x, Fraction(2, 3) * x])
    assert all(isinstance(entry, Fraction) for entry in (*values, *gradient.flat))


@given(seeds)
def test_margin_and_both_gradients_are_those_of_autograd(seed):
    net, x, y = problem(seed)
    u = torch.tensor(x, requires_grad=True)
    W = torch.tensor(net.W, requires_grad=True)
    z = torch_margin(net, u, y, W=W)
    gu, gW = torch.autograd.grad(z, (u, W))
    np.testing.assert_allclose(two_layer.margin(net, x, y), z.item(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(two_layer.input_gradient(net, x, y), gu.numpy(), atol=1e-12)
    at_once = two_layer._margin_and_gradient(net, x, y)
    np.testing.assert_allclose(at_once[0], z.item(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(at_once[1], gu.numpy(), atol=1e-12)
    np.testing.assert_allclose(two_layer.weight_gradient(net, x, y), gW.numpy(), atol=1e-12)


def test_fractions_stay_exact_in_batches():
    third = Fraction(1, 3)
    net = TwoLayerNetwork(
        Fraction(1, 6) * np.array([[3, -2], [12, 6]]), third * np.array([3, 9]), third
    )
    in_floats = TwoLayerNetwork(net.W.astype(float), [1, 3], 1 / 3)
    x = Fraction(1, 7) * np.array([[7, 2], [-7, 2]])
    for function in (two_layer.margin, two_layer.input_gradient, two_layer.weight_gradient):
        exact = function(net, x, [1, -1])
        assert all(isinstance(entry, Fraction) for entry in exact.flat)
        expected = function(in_floats, x.astype(float), [1, -1])
        np.testing.assert_allclose(exact.astype(float), expected, rtol=1e-14)


def test_slope_at_a_kink_is_that_of_autograd():
    net = TwoLayerNetwork([[2.0, 1], [1, -3], [0, 0]], [5.0, -7, 11], 0.3)
    for x in ([-1.0, 2], [3.0, 1], [0.0, 0]):
        u = torch.tensor(x, requires_grad=True, dtype=float)
        (expected,) = torch.autograd.grad(torch_margin(net, u, -1), u)
        np.testing.assert_allclose(two_layer.input_gradient(net, x, -1), expected, atol=1e-14)


def test_each_network_of_a_batch_meets_each_point():
    net, x, y = problem(4, 6)
    grid = two_layer.margin(net.at_each_point(), x, y)
    for i in range(6):
        one = TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i])
        np.testing.assert_allclose(
            grid[i],
            [torch_margin(one, torch.tensor(u), v) for u, v in zip(x, y, strict=True)],
            atol=1e-13,
        )


# ---------------------------------------------------------------- masks


@given(seeds)
def test_a_mask_is_the_network_without_the_other_units(seed):
    net, x, _ = problem(seed, m=5)
    mask = np.random.default_rng(seed).random(5) < 0.6
    kept = TwoLayerNetwork(np.vstack([net.W[mask], np.zeros(4)]), [*net.a[mask], 3], net.alpha)
    for same in (mask, mask.astype(int), mask.tolist(), tuple(mask.astype(np.uint8))):
        np.testing.assert_allclose(net[same](x), kept(x), atol=1e-13)
    gradient = two_layer.weight_gradient(net[mask], x, 1)
    np.testing.assert_array_equal(gradient.any(-1), mask)


def test_masks_and_networks_broadcast():
    net, x, _ = problem(5, 2, 1, m=4)
    masks = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]])
    found = net[masks](x)
    assert found.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            one = TwoLayerNetwork(net.W[i, 0], net.a[i, 0], net.alpha[i, 0])
            np.testing.assert_allclose(found[i, j], one[masks[j]](x[i, 0]), atol=1e-14)
    assert (found[:, 2] == 0).all()
    np.testing.assert_array_equal(net[masks][masks](x), found)


def test_networks_of_other_chapters_are_written_as_their_docstring_says():
    rng = np.random.default_rng(7)
    x, V, U = rng.standard_normal(3), rng.standard_normal((3, 5)), rng.standard_normal((2, 5))
    outputs = TwoLayerNetwork(V.T, U, 0)(x)
    np.testing.assert_allclose(outputs, U @ np.maximum(V.T @ x, 0), rtol=1e-13)
    W, a, b = rng.standard_normal((5, 3)), rng.choice([-1.0, 1.0], 5), np.array([1, 0, 0, 1, 1])
    value = 5**-0.5 * a @ np.diag(b) @ np.maximum(W @ x, 0)
    assert TwoLayerNetwork(W, a / 5**0.5, 0)[b](x) == pytest.approx(value, rel=1e-13)


def test_the_lipschitz_constant_is_the_product_of_norms_at_any_scale():
    net, _, _ = problem(8, m=4)
    plain = np.linalg.norm(net.a) * np.linalg.norm(net.W, 2)
    for scale in (1e-200, 1, 1e200):
        scaled = TwoLayerNetwork(scale * net.W, net.a / scale, net.alpha)
        assert two_layer.lipschitz(scaled) == pytest.approx(plain, rel=1e-14)
    assert two_layer.lipschitz(TwoLayerNetwork([[1e200]], [1e-200], 0)) == 1


# ---------------------------------------------------------------- losses


def test_losses_are_reflections_and_do_not_overflow():
    z = np.array([-800, -3.0, 0, 1.5, 800])
    np.testing.assert_array_equal(two_layer.reflected_loss(z), -two_layer.loss(-z))
    np.testing.assert_allclose(two_layer.loss(z)[1:4], np.log(1 + np.exp(-z[1:4])))
    np.testing.assert_array_equal(two_layer.loss(z[[0, 4]]), [800, 0])
    grid = np.linspace(-40, 40, 1001)
    assert (two_layer.reflected_loss(grid) <= (grid < 0)).all()
    assert (1 + two_layer.reflected_loss(grid) / np.log(2) <= (grid < 0)).all()
    assert (two_layer.loss(grid) / np.log(2) >= (grid < 0)).all()
    assert two_layer.loss(-0.1) < 1  # the natural logarithm dips below the 0-1 loss


def test_trap_is_the_printed_network_with_a_floor_and_a_cliff():
    alpha, mu = np.array([0.0, 0.3, 1.0]), np.array([[0.2], [0.5]])
    nets = two_layer.trap(alpha, mu)
    assert nets.W.shape == (2, 3, 3, 2)
    root = 0.3**0.5
    np.testing.assert_array_equal(nets.W[1, 1], [[root, 0], [-1, 0], [0, 0.5]])
    np.testing.assert_array_equal(nets.a[1, 1], [-root, -1, 0.5])
    np.testing.assert_array_equal(nets.alpha[1], alpha)
    for u1, u2 in ((2.0, 3.0), (-2.0, 3.0)):
        expected = mu**2 * u2 - (1 - alpha**2) * max(0, -u1)
        np.testing.assert_allclose(nets([u1, u2]), expected, rtol=1e-14)
    floor = two_layer.input_gradient(nets, [1.0, 1.0], 1)
    np.testing.assert_allclose(floor[..., 0], 0, atol=1e-15)  # the two units cancel
    np.testing.assert_allclose(floor[..., 1], mu**2 + 0 * alpha)


# ---------------------------------------------------------------- arguments

NET = TwoLayerNetwork(np.eye(2), [1.0, 1.0], 0.5)


def test_a_network_that_was_checked_stays_as_it_is():
    with pytest.raises(FrozenInstanceError):
        NET.alpha = 1.5


test_bad_arguments_are_named_in_one_sentence = refusals(
    (lambda: TwoLayerNetwork(np.ones(3), [1.0], 0.5), "W"),
    (lambda: TwoLayerNetwork(np.eye(2), [1.0], 0.5), "a"),
    (lambda: TwoLayerNetwork(np.eye(2), [1.0, 1.0], 1.5), "alpha"),
    (lambda: TwoLayerNetwork(np.eye(2), [1.0, 1.0], [-0.5, 0.5]), "alpha must be at least 0"),
    (lambda: TwoLayerNetwork(np.ones((3, 2, 2)), np.ones((4, 2)), 0.5), "batch"),
    (lambda: two_layer.margin(NET, [1.0, 2.0, 3.0], 1), "x"),
    (lambda: two_layer.margin(NET, [1.0, 2.0], 0), "y"),
    (lambda: two_layer.margin(NET, np.ones((3, 2)), [1, 1]), "batch"),
    (lambda: TwoLayerNetwork(np.eye(2), [1, 1], np.ones(5))(np.ones((3, 2))), "network and x"),
    (lambda: TwoLayerNetwork(np.eye(2), [1, 1], np.ones(5))[np.ones((3, 2))], "network and mask"),
    (lambda: NET[0.5, 1], "mask"),
    (lambda: NET[2, 1], "mask"),
    (lambda: NET[1, 1, 1], "mask"),
    (lambda: NET[[1, 0], [1]], "mask"),
    (lambda: NET[["1", "0"]], "mask"),
    (lambda: NET[0], "mask"),
    (lambda: NET[np.ma.masked_array([1, 1], [0, 1])], "some are masked"),
    (lambda: two_layer.trap(0.5, 0), "mu"),
    (lambda: two_layer.trap([0.1, 0.2], [1, 2, 3]), "alpha and mu"),
)
