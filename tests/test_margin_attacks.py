"""Gradient attacks on the margin: each against torch's autograd or a closed form."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from torch.nn.functional import leaky_relu, softplus

from runproofs.adversarial import margin_attacks
from runproofs.networks import two_layer
from runproofs.networks.two_layer import TwoLayerNetwork

seeds = st.integers(0, 2**32 - 1)
LOSSES = {"ce": lambda z: softplus(-z), "reflected": lambda z: -softplus(z), "margin": lambda z: -z}


def problem(seed, *batch, m=3, d=4):
    rng = np.random.default_rng(seed)
    net = TwoLayerNetwork(
        rng.standard_normal((*batch, m, d)),
        rng.standard_normal((*batch, m)),
        rng.random(batch),
    )
    return net, rng.standard_normal((*batch, d)), rng.choice([-1.0, 1.0], batch)


def torch_margin(net, u, y, bias=0.0, offset=0.0, W=None):
    """Of a single network, by another library."""
    W = torch.tensor(net.W) if W is None else W
    hidden = leaky_relu(u @ W.T + torch.as_tensor(bias), float(net.alpha))
    return torch.as_tensor(y) * (hidden @ torch.tensor(net.a) + offset)


def autograd_pgd(net, x, y, eps, step, steps, loss, normalize=False, bias=0.0, offset=0.0):
    """The visited points of Algorithm 5, one sample, written for torch."""
    x = torch.tensor(x)
    u, path = x.clone(), []
    for t in range(1, steps + 1):
        u.requires_grad_()
        z = torch_margin(net, u, y, bias, offset)
        path.append((u.detach().numpy().copy(), float(z.detach())))
        (g,) = torch.autograd.grad(LOSSES[loss](z), u)
        if normalize:
            g = g / g.norm()
        u = u.detach() + (step(t) if callable(step) else step) * g
        if (u - x).norm() > eps:
            u = x + eps * (u - x) / (u - x).norm()
    return path


# ---------------------------------------------------------------- projection


@given(seeds, st.floats(0, 3))
def test_projection_is_the_nearest_point_of_the_ball(seed, eps):
    rng = np.random.default_rng(seed)
    x, u, v = rng.standard_normal((3, 2))
    p, q = margin_attacks.project(u, x, eps), margin_attacks.project(v, x, eps)
    assert np.linalg.norm(p - x) <= eps + 1e-12
    np.testing.assert_allclose(margin_attacks.project(p, x, eps), p, atol=1e-14)
    assert np.linalg.norm(p - q) <= np.linalg.norm(u - v) + 1e-12
    if np.linalg.norm(u - x) <= eps:
        np.testing.assert_allclose(p, u, atol=1e-15)


def test_projection_agrees_with_a_constrained_minimizer():
    x, u = np.array([0.3, -0.4, 1.0]), np.array([2.0, 1.0, -1.0])
    ball = {"type": "ineq", "fun": lambda p: 0.25 - ((p - x) ** 2).sum()}
    found = minimize(lambda p: ((p - u) ** 2).sum(), x, constraints=ball, tol=1e-12).x
    np.testing.assert_allclose(margin_attacks.project(u, x, 0.5), found, atol=1e-6)


# ---------------------------------------------------------------- Algorithm 5


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_pgd_is_the_loop_of_algorithm_5(loss, seed):
    net, x, y = problem(seed)
    expected = autograd_pgd(net, x, y, 0.7, lambda t: 0.3 / t, 12, loss)
    options = {"step_size": lambda t: 0.3 / (1 + t), "visits": 12, "loss": loss}
    path = margin_attacks.pgd_path(net, x, y, 0.7, **options)
    np.testing.assert_allclose(path.point, [u for u, _ in expected], atol=1e-10)
    np.testing.assert_allclose(path.margin, [z for _, z in expected], atol=1e-10)
    assert (np.linalg.norm(path.point - x, axis=-1) <= 0.7 + 1e-12).all()
    best = margin_attacks.pgd(net, x, y, 0.7, **options)
    assert best.margin == path.margin.min()
    np.testing.assert_array_equal(best.point, path.point[path.margin.argmin()])


def test_pgd_returns_the_best_visited_point_and_not_the_last():
    valley = TwoLayerNetwork([[1.0], [-1.0]], [1.0, 1.0], 0.1)  # margin .9 |u|
    path = margin_attacks.pgd_path(valley, [0.1], 1, 1, step_size=0.5, visits=2)
    assert path.margin[1] > path.margin[0] + 0.01
    best = margin_attacks.pgd(valley, [0.1], 1, 1, step_size=0.5, visits=2)
    assert best.margin == pytest.approx(0.09)
    assert best.point == pytest.approx(0.1)


def test_pgd_reaches_the_optimum_of_a_linear_network():
    net, x, y = problem(3, 40)
    net = TwoLayerNetwork(net.W, net.a, 1.0)
    w = (net.a[:, None] @ net.W)[:, 0]
    optimum = y * (w * x).sum(-1) - 0.5 * np.linalg.norm(w, axis=-1)
    attack = margin_attacks.pgd(net, x, y, 0.5, step_size=1e6, visits=60, loss="margin")
    np.testing.assert_allclose(attack.margin, optimum, atol=1e-9)


def test_batch_of_networks_gives_what_each_gives_alone():
    net, x, y = problem(4, 6)
    together = margin_attacks.pgd(net, x, y, 0.6, step_size=0.2, visits=9)
    for i in range(6):
        single = TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i])
        alone = margin_attacks.pgd(single, x[i], y[i], 0.6, step_size=0.2, visits=9)
        np.testing.assert_allclose(together.point[i], alone.point, atol=1e-13)
    grid = two_layer.margin(net.at_each_point(), x, y)  # each network at each point
    np.testing.assert_allclose(np.diag(grid), two_layer.margin(net, x, y), atol=1e-13)


def test_printed_update_adds_a_number_to_every_coordinate():
    """The evidence of the register: -.3049 as printed, -.0953 by the gradient."""
    net = TwoLayerNetwork(np.eye(2), [1.0, 1.0], 1.0)
    printed = margin_attacks.pgd_as_printed(net, [1.0, 2.0], 1, 5, step_size=0.1, visits=2).point
    np.testing.assert_allclose(printed, [1 - 0.3048587, 2 - 0.3048587], atol=1e-7)
    correct = margin_attacks.pgd(net, [1.0, 2.0], 1, 5, step_size=0.1, visits=2).point
    np.testing.assert_allclose(correct, [1 - 0.0952574, 2 - 0.0952574], atol=1e-7)


def test_printed_update_misses_the_optimum_of_a_linear_network():
    net = TwoLayerNetwork([[1.0, -1.0]], [1.0], 1.0)
    printed = margin_attacks.pgd_as_printed(net, [0.2, 0.1], 1, 0.5, step_size=1, visits=200).margin
    correct = margin_attacks.pgd(net, [0.2, 0.1], 1, 0.5, step_size=1, visits=200).margin
    assert correct == pytest.approx(0.1 - 0.5 * np.sqrt(2), abs=1e-9)
    assert printed > correct + 0.5


# ---------------------------------------------------------------- the hidden space


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("normalize", [False, True])
def test_hidden_space_pgd_visits_the_same_points(loss, normalize):
    rng = np.random.default_rng(0)
    net = TwoLayerNetwork(rng.standard_normal((6, 40)), rng.standard_normal(6), 0.3)
    x, y = rng.standard_normal((5, 40)), rng.choice([-1, 1], 5)
    bias, offset = rng.standard_normal(6), 0.7
    for steps in (1, 2, 3, 12):
        attack = margin_attacks.pgd_hidden(
            net, x, y, 0.4, step_size=0.02, visits=steps, loss=loss, normalize=normalize, bias=bias,
            offset=offset,
        )  # fmt: skip
        for i in range(5):
            path = autograd_pgd(net, x[i], y[i], 0.4, 0.02, steps, loss, normalize, bias, offset)
            point, z = min(path, key=lambda visited: visited[1])
            np.testing.assert_allclose(attack.point[i], point, atol=1e-11)
            np.testing.assert_allclose(attack.margin[i], z, atol=1e-11)


def test_clipping_leaves_the_row_space():
    """Why the hidden space cannot hold a box of pixels."""
    rng = np.random.default_rng(1)
    net = TwoLayerNetwork(rng.standard_normal((6, 40)), rng.standard_normal(6), 0.3)
    x = rng.random((1, 40))
    moved = margin_attacks.pgd_hidden(net, x, [1.0], 3, step_size=1, visits=5, loss="margin").point
    for u, inside in ((moved, True), (moved.clip(0, 1), False)):
        delta = (u - x)[0]
        residual = delta - np.linalg.lstsq(net.W.T, delta)[0] @ net.W
        assert (np.linalg.norm(residual) < 1e-10) == inside


# ---------------------------------------------------------------- arguments

NET = TwoLayerNetwork(np.eye(2), [1.0, 1.0], 0.5)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: margin_attacks.pgd(NET, [1.0, np.inf], 1, 1, step_size=1, visits=1), "x"),
        (lambda: margin_attacks.pgd(NET, [1.0, 2.0], 1, -1, step_size=1, visits=1), "eps"),
        (lambda: margin_attacks.pgd(NET, [1.0, 2.0], 1, 1, step_size=-1, visits=2), "step"),
        (lambda: margin_attacks.pgd(NET, [1.0, 2.0], 1, 1, step_size=1, visits=0), "visits"),
        (
            lambda: margin_attacks.pgd(NET, [1.0, 2.0], 1, 1, step_size=1, visits=1, loss="0-1"),
            "loss",
        ),
        (
            lambda: margin_attacks.pgd_hidden(
                NET.at_each_point(), [[1.0, 2]], 1, 1, step_size=1, visits=1
            ),
            "single",
        ),
        (lambda: margin_attacks.pgd_hidden(NET, [1.0, 2.0], 1, 1, step_size=1, visits=1), "x"),
        (lambda: margin_attacks.project([1.0, 2.0], [1.0, 2.0], -1), "eps"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(call, name):
    with pytest.raises(ValueError, match=name) as error:
        call()
    assert str(error.value).count(". ") == 0
    assert str(error.value).endswith(".")
