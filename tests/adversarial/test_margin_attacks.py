"""Gradient attacks on the margin: each against torch's autograd or a closed form."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import softplus

from helpers.instances import leaky_problem as problem
from helpers.instances import torch_margin
from helpers.refusals import refusals
from runproofs.adversarial import margin_attacks
from runproofs.networks import two_layer
from runproofs.networks.two_layer import TwoLayerNetwork

seeds = st.integers(0, 2**32 - 1)
LOSSES = {"ce": lambda z: softplus(-z), "reflected": lambda z: -softplus(z), "margin": lambda z: -z}


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


@given(seeds, st.floats(0, 3))
def test_projection_is_the_nearest_point_of_the_ball(seed, eps):
    """The step back stands at an obtuse angle to the way from there to any point of the ball."""
    rng = np.random.default_rng(seed)
    x, u, v = rng.standard_normal((3, 2))
    p = margin_attacks.project(u, x, eps)
    assert np.linalg.norm(p - x) <= eps + 1e-12
    assert (u - p) @ (x + eps * v / np.linalg.norm(v) - p) <= 1e-12


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1, 1e160, 1e200, 1e300])
def test_projection_knows_no_scale(scale):
    """3, 4, 5 at scales whose squares under- or overflow; other radii, and another center."""
    u, x = scale * np.array([[3.0, 4], [0.3, 0.4], [0, 0]]), np.zeros(2)
    expected = scale * np.array([[0.6, 0.8], [0.3, 0.4], [0, 0]])
    np.testing.assert_allclose(margin_attacks.project(u, x, scale), expected, rtol=1e-15)
    x = scale * np.array([2.0, -1])
    expected = x + 2 * scale * np.array([1, 5]) / 26**0.5
    np.testing.assert_allclose(margin_attacks.project(u[0], x, 2 * scale), expected, rtol=1e-14)
    np.testing.assert_array_equal(margin_attacks.project(u[0], x, 0), x)


def test_projection_from_far_away():
    np.testing.assert_allclose(margin_attacks.project([3e200, -4e200], [1, 2], 5), [4, -2])
    found = margin_attacks.project([[3e200, 4e200, 1], [0, 1e-200, 9]], [0, 0, 0], 5)
    np.testing.assert_allclose(found, [[3, 4, 1e-200], [0, 5e-200 / 9, 5]], rtol=1e-14)
    np.testing.assert_allclose(
        margin_attacks.project([3e200, 4e200], [0, 0], 1e-200), [6e-201, 8e-201], rtol=1e-14
    )
    with pytest.raises(ValueError, match="from x to u must be shorter"):
        margin_attacks.project([1.7e308, 0], [-1.7e308, 0], 1)


def test_points_of_the_ball_come_back_to_the_bit():
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((2, 500, 3))
    inside = np.linalg.norm(u - x, axis=1) < 2
    assert 100 < inside.sum() < 400
    found = margin_attacks.project(u, x, 2)
    np.testing.assert_array_equal(found[inside], u[inside])
    np.testing.assert_allclose(np.linalg.norm(found - x, axis=1)[~inside], 2, rtol=1e-14)
    each = margin_attacks.project(u[:, None], x[:7], 2)  # every u about seven centers
    np.testing.assert_array_equal(each[3, 5], margin_attacks.project(u[3], x[5], 2))


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
    best = margin_attacks.algorithm_5(net, x, y, 0.7, **options)
    assert best.margin == path.margin.min()
    np.testing.assert_array_equal(best.point, path.point[path.margin.argmin()])


@pytest.mark.parametrize("step", [1e20, 1e200, 1e300])
def test_steps_far_out_of_the_ball_end_on_its_surface(step):
    """Raw ascent on the margin of a linear network: one step, however long, is the optimum."""
    net = TwoLayerNetwork([[3.0, 4]], [1.0], 1)
    optimum = [1 - 0.3, 2 - 0.4]
    found = margin_attacks.algorithm_5(net, [1, 2], 1, 0.5, step_size=step, visits=3, loss="margin")
    np.testing.assert_allclose(found.point, optimum, rtol=1e-15)
    options = {"step_size": step, "visits": 3, "loss": "margin"}
    found = margin_attacks.pgd_hidden(net, [[1, 2]], 1, 0.5, **options)
    np.testing.assert_allclose(found.point, [optimum], rtol=1e-15)


@pytest.mark.parametrize("scale", [1e-170, 1e-90, 1e90])
def test_hidden_space_pgd_knows_no_scale_of_the_inputs(scale):
    rng = np.random.default_rng(0)
    net = TwoLayerNetwork(rng.standard_normal((4, 7)), rng.standard_normal(4), 0.3)
    x, y = rng.standard_normal((5, 7)), rng.choice([-1, 1], 5)
    options = {"visits": 6, "loss": "margin"}
    plain = margin_attacks.pgd_hidden(net, x, y, 0.4, step_size=0.1, **options)
    found = margin_attacks.pgd_hidden(
        net, scale * x, y, 0.4 * scale, step_size=0.1 * scale, **options
    )
    np.testing.assert_allclose(found.point / scale, plain.point, rtol=1e-12)
    assert np.linalg.norm(plain.point - x, axis=1).min() > 0.3


def test_margins_that_overflow_are_no_robustness():
    """Not even one of two."""
    net = TwoLayerNetwork([[1e300, 1e300]], [1e300], 1)
    for attack in (margin_attacks.algorithm_5, margin_attacks.pgd_path, margin_attacks.pgd_hidden):
        with pytest.raises(ValueError, match="margin overflows"), np.errstate(all="ignore"):
            attack(net, [[1.0, 2.0], [0, 0]], 1, 0, step_size=1, visits=2)


def test_slope_at_a_kink_is_alpha_in_the_hidden_space_too():
    net = TwoLayerNetwork([[1.0, 0], [0, 1]], [1.0, 1.0], 0.25)
    options = {"step_size": 0.1, "visits": 2, "loss": "margin"}
    found = margin_attacks.pgd_hidden(net, [[0.0, 1]], 1, 1, **options)
    np.testing.assert_allclose(found.point, [[-0.025, 0.9]], rtol=1e-14)
    np.testing.assert_allclose(
        margin_attacks.algorithm_5(net, [0.0, 1], 1, 1, **options).point, found[0][0]
    )


def test_clean_is_the_point_itself_for_the_whole_batch():
    net, _, _ = problem(4, 6)
    found = margin_attacks.clean(net, np.arange(4.0), 1, 0.3)
    np.testing.assert_array_equal(found.point, np.tile(np.arange(4.0), (6, 1)))
    np.testing.assert_array_equal(found.margin, two_layer.margin(net, np.arange(4.0), 1))
    found = margin_attacks.algorithm_5(net, np.arange(4.0), 1, 0, step_size=1, visits=3)
    assert found.point.shape == (6, 4)


def test_results_are_arrays_of_their_own():
    net, _, _ = problem(4, 1)
    x = np.arange(4.0)
    pgd, path = (
        partial(attack, step_size=1, visits=1)
        for attack in (margin_attacks.algorithm_5, margin_attacks.pgd_path)
    )
    for attack in (margin_attacks.clean, pgd, path):
        found = attack(net, x, 1, 0.3).point
        found += 1
        assert x.tolist() == [0, 1, 2, 3]


def test_each_point_may_have_its_own_step():
    net, x, y = problem(4, 6)
    steps = np.array([0, 0.1, 0.2, 0.3, 0.4, 5])
    together = margin_attacks.pgd_path(net, x, y, 0.6, step_size=steps, visits=4)
    single = TwoLayerNetwork(net.W[0], net.a[0], net.alpha[0])
    hidden = margin_attacks.pgd_hidden(single, x, y, 0.6, step_size=steps, visits=4)
    for i in range(6):
        one = TwoLayerNetwork(net.W[i], net.a[i], net.alpha[i])
        alone = margin_attacks.pgd_path(one, x[i], y[i], 0.6, step_size=steps[i], visits=4)
        np.testing.assert_allclose(together.point[:, i], alone.point, atol=1e-13)
        alone = margin_attacks.algorithm_5(single, x[i], y[i], 0.6, step_size=steps[i], visits=4)
        np.testing.assert_allclose(hidden.point[i], alone.point, atol=1e-13)


def test_the_best_visited_point_is_returned_and_the_first_of_equals():
    valley = TwoLayerNetwork([[1.0], [-1.0]], [1.0, 1.0], 0.1)  # margin .9 |u|
    path = margin_attacks.pgd_path(valley, [0.1], 1, 1, step_size=0.5, visits=2)
    assert path.margin[1] > path.margin[0] + 0.01
    best = margin_attacks.algorithm_5(valley, [0.1], 1, 1, step_size=0.5, visits=2)
    assert (best.margin, best.point) == (pytest.approx(0.09), pytest.approx(0.1))
    flat = TwoLayerNetwork([[1.0, 0], [-1, 0]], [1.0, 1.0], 1)
    found = margin_attacks.algorithm_5(flat, [1.0, 2], 1, 1, step_size=0.1, visits=4)
    np.testing.assert_array_equal(found.point, [1, 2])
    found = margin_attacks.pgd_hidden(flat, [[1.0, 2]], 1, 1, step_size=0.1, visits=4)
    np.testing.assert_array_equal(found.point, [[1, 2]])


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


NET = TwoLayerNetwork(np.eye(2), [1.0, 1.0], 0.5)


def attack(x=(1.0, 2.0), y=1, eps=1, **change):
    return margin_attacks.algorithm_5(NET, x, y, eps, **{"step_size": 1, "visits": 3} | change)


def hidden(net=NET, x=((1.0, 2.0),), y=1, **change):
    return margin_attacks.pgd_hidden(net, x, y, 1, **{"step_size": 1, "visits": 3} | change)


test_bad_arguments_are_named_in_one_sentence = refusals(
    (lambda: attack(x=[1.0, np.inf]), "x"),
    (lambda: attack(eps=-1), "eps"),
    (lambda: attack(visits=2.5), "visits"),
    (lambda: attack(loss=["ce"]), "loss"),
    (lambda: attack(step_size=None), "step_size"),
    (lambda: attack(x=np.ones((6, 2)), step_size=np.ones(5)), "step_size"),
    (lambda: attack(step_size=lambda t: [0.1, 0.2]), "step_size"),
    (lambda: attack(step_size=lambda t: np.nan if t else 1), "step_size"),
    (lambda: margin_attacks.clean(NET, [1.0, 2.0], 1, -1), "eps"),
    (lambda: margin_attacks.clean(NET, [1.0], 1, 1), "x"),
    (lambda: margin_attacks.project([1.0, 2.0], [1.0, 2.0], -1), "eps"),
    (lambda: margin_attacks.project([], [], 1), "x must have a last axis"),
    (lambda: margin_attacks.project([1.0], [1.0, 2.0], 1), "u must"),
    (lambda: margin_attacks.project(np.ones((3, 2)), np.ones((4, 2)), 1), "batch axes"),
    (lambda: margin_attacks.project([np.nan, 1], [1.0, 2.0], 1), "u must"),
    (lambda: margin_attacks.project(torch.ones(2).requires_grad_(), [1.0, 2.0], 1), "u must"),
    (lambda: hidden(TwoLayerNetwork(np.ones((1, 2, 2)), [1, 1], 1)), "single network"),
    (lambda: hidden(TwoLayerNetwork(np.eye(2), [[1, 1]], 1)), "single network"),
    (lambda: hidden(TwoLayerNetwork(np.eye(2), [1, 1], [1])), "single network"),
    (lambda: hidden(x=[1.0, 2.0]), "x must have 2 axes, the last of length 2"),
    (lambda: hidden(y=[1, -1]), "y"),
    (lambda: hidden(step_size=np.ones(5)), "step_size"),
    (lambda: hidden(bias=np.ones(3)), "bias"),
    (lambda: hidden(bias=[1, np.nan]), "bias"),
    (lambda: hidden(offset=[1.0]), "offset"),
)
