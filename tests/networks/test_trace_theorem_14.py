"""The audit of a run, against whole gradients, and where it must fail.

Instances in dimension one, where its inequalities are tight, are on its page (along_a_run.md).
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks import lazy, trace_theorem_14
from runproofs.networks.two_layer import weight_gradient

LN_2 = np.log(2)
XOR = np.array([1, -1]) / np.sqrt(2)


def psi_of_xor(z):
    return np.sign(z) * XOR


def run_of(net, q, rng, *, radius=np.inf, lam=4.0, T=40, psi=psi_of_xor, step_size=LN_2):
    V = trace_theorem_14.competitor(net, psi)
    steps = lazy.algorithm_4(net, *lazy.xor(), keep=q, step_size=step_size, rng=rng, radius=radius)
    steps = list(islice(steps, T + 1))
    return steps, V, trace_theorem_14.trace(steps, T, V, lam, step_size=step_size)


def worst(inequalities):
    """The least slack of each, relative to the larger side."""
    return {
        name: ((one.right - one.left) / np.maximum(1, np.abs(one.right))).min()
        for name, one in inequalities.items()
    }


def test_every_quantity_is_that_of_full_gradients():
    """Frobenius products of whole gradients, from another module, one step at a time."""
    rng, lam = np.random.default_rng(0), 4.0
    steps, V, seen = run_of(lazy.start(30, 2, rng), 0.5, rng, lam=lam)
    W_1 = steps[0].network.W
    U = W_1 + lam * V
    for t, (net, x, y, mask, z) in enumerate(steps[:-1]):
        now = weight_gradient(net[mask], x, y)
        first = weight_gradient(steps[0].network[mask], x, y)
        half = net.W + LN_2 * now / (LN_2 * (1 + np.exp(z)))
        flips = [(w @ x > 0) != (w_1 @ x > 0) for w, w_1 in zip(net.W, W_1, strict=True)]
        moved = [np.linalg.norm(w - w_1) for w, w_1 in zip(net.W, W_1, strict=True)]
        expected = {
            "initial": np.sum(first * W_1),
            "drift": np.sum((now - first) * W_1),
            "initial_margin": np.sum(first * V),
            "margin_drift": np.sum((now - first) * V),
            "margin": np.sum(now * V),
            "competitor": np.sum(now * U),
            "flipped": sum(flips),
            "flipped_kept": sum(f and b for f, b in zip(flips, mask, strict=True)),
            "moved": max(moved),
            "moved_next": np.linalg.norm(half - W_1, axis=1).max(),
            "longest_half": np.linalg.norm(half, axis=1).max(),
            "projected": 0,
            "along": np.sum((half - W_1) * V),
            "distance": np.linalg.norm(net.W - U) ** 2,
            "distance_half": np.linalg.norm(half - U) ** 2,
            "distance_next": np.linalg.norm(half - U) ** 2,
            "loss": np.log2(1 + np.exp(-z)),
            "Q": 1 / (1 + np.exp(z)) / LN_2,
            "competitor_loss": np.log2(1 + np.exp(-np.sum(now * U))),
        }
        for name, value in expected.items():
            assert getattr(seen, name)[t] == pytest.approx(value, abs=1e-10), name
    assert seen.flipped_kept.max() > 0
    assert (seen.m, seen.lam, seen.step_size) == (30, lam, LN_2)


def test_they_hold_for_unequal_top_weights_any_psi_and_short_inputs():
    rng = np.random.default_rng(4)
    net = lazy.start(200, 3, rng, (2,))
    net = replace(net, a=net.a * rng.uniform(0, 1, net.a.shape))
    map_of = rng.normal(size=(3, 3))
    V = trace_theorem_14.competitor(net, lambda z: np.tanh(z @ map_of) / np.sqrt(3))
    X = rng.normal(size=(7, 3))
    X /= np.linalg.norm(X, axis=1).max()
    steps = lazy.algorithm_4(net, X, [1, -1, 1, 1, -1, -1, 1], keep=0.6, step_size=0.4, rng=rng)
    seen = trace_theorem_14.trace(steps, 200, V, 3, step_size=0.4)
    assert min(worst(trace_theorem_14.always(seen)).values()) >= -1e-12


def test_a_ratio_above_one_is_a_violation_and_nothing_else():
    left, right = np.array([[1, 3, 0, -2, -1, 1e-16, 1, -1], [2, 2, 0, -1, -2, 0, 0, 2]])
    ratio = trace_theorem_14.Inequality(left, right).ratio
    assert ratio.tolist() == [0.5, 1.5, 0, 0, np.inf, 0, np.inf, -0.5]


def test_an_active_projection_does_not_break_the_distances():
    rng = np.random.default_rng(1)
    net = lazy.start(20, 2, rng)
    net = replace(net, W=net.W * np.minimum(1, 1.5 / np.linalg.norm(net.W, axis=1))[:, None])
    _, V, seen = run_of(net, 1.0, rng, radius=2.0, lam=0.5, T=600)
    assert np.linalg.norm(net.W + 0.5 * V, axis=1).max() <= 2
    assert (seen.projected > 1e-3).sum() > 5
    slack = worst(trace_theorem_14.always(seen))
    slack.pop("(5.11), margin")  # the only one that needs a projection that does nothing
    assert min(slack.values()) >= -1e-12
    assert (seen.distance_next < seen.distance_half - 1e-3).any()


def test_a_large_step_violates_the_step():
    rng = np.random.default_rng(2)
    _, _, seen = run_of(lazy.start(20, 2, rng), 1.0, rng, T=100, step_size=60.0)
    slack = worst(trace_theorem_14.always(seen))
    assert slack["(5.3), one step"] < -0.1
    assert slack["(5.12), distance"] < -0.1


def test_events_and_promises_on_a_wide_run():
    rng = np.random.default_rng(3)
    _, _, seen = run_of(lazy.start(3000, 2, rng, (2,)), 0.5, rng, radius=8.0, lam=40.0, T=60)
    gamma = np.sqrt(2) / 8
    events = trace_theorem_14.events(seen, gamma, 0.1)
    assert events["Lemma 14, output"].right[0, 0] == pytest.approx(np.sqrt(2 * np.log(3600)))
    assert events["Lemma 15, margin"].right[0, 0] == pytest.approx(np.sqrt(2 * np.log(1800) / 3000))
    assert events["Lemma 16, flips"].right[0, 0] == pytest.approx(np.sqrt(1500 * np.log(1800)))
    promised = trace_theorem_14.promised(seen, gamma, 8.0)
    assert min(worst(events | promised).values()) > 0
    displacement = promised["Lemma 13 (1), displacement"].right
    assert displacement == pytest.approx(np.full((60, 2), 140 / gamma / 3000**0.5))
    assert promised["Lemma 13 (2), loss of U"].right[0, 0] == pytest.approx(1600 / 120 / LN_2)
    strip = 3000 * seen.moved + np.sqrt(1500 * np.log(1800))
    assert events["Lemma 16, flips"].right == pytest.approx(strip)
    for name, left, right in (
        ("(5.7), effect of flips", np.abs(seen.drift), 20 * gamma),
        ("(5.8), five sevenths", 5 * gamma / 7, seen.margin),
        ("(5.10), rows in the ball", seen.longest_half, 8),
        ("(5.12), sqrt 2 lambda", np.sqrt(seen.distance_half), 40 * np.sqrt(2)),
    ):
        assert promised[name].left == pytest.approx(np.broadcast_to(left, (60, 2))), name
        assert promised[name].right == pytest.approx(np.broadcast_to(right, (60, 2))), name
    turned = seen._replace(initial_margin=-seen.initial_margin, margin=-seen.margin)
    assert worst(trace_theorem_14.events(turned, gamma, 0.1))["Lemma 15, margin"] < 0
    assert worst(trace_theorem_14.promised(turned, gamma, 8.0))["(5.8), five sevenths"] < 0


NET = lazy.start(4, 2, 0)
STEPS, V, SEEN = run_of(NET, 0.5, 0, T=2, lam=1)


def audit(steps=STEPS, T=2, V=V, lam=1, step_size=0.5):
    return trace_theorem_14.trace(steps, T, V, lam, step_size=step_size)


test_bad_arguments_are_named = refusals(
    (
        lambda: trace_theorem_14.competitor(NET, lambda z: z[0]),
        r"psi\(W\) must have the shape of W",
    ),
    (lambda: audit([], 1), "steps must be at least 2"),
    (lambda: audit(T=0), "T must be"),
    (lambda: audit(T=3), "steps must be at least 4"),
    (lambda: audit(V=V[:3]), "V must have the shape"),
    (lambda: audit(lam=-1), "lam must be"),
    (lambda: audit(step_size=0), "step_size"),
    (lambda: trace_theorem_14.promised(SEEN, 0, 5), "gamma"),
    (lambda: trace_theorem_14.promised(SEEN, 0.1, 0), "radius"),
    (lambda: trace_theorem_14.events(SEEN, 0.1, 1), "delta"),
)
