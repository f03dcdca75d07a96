"""Algorithm 1 steps along the gradient of the sampled loss, and trains as a plain loop does."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.instances import linear_problem as problem
from helpers.refusals import refusals
from runproofs.linalg import isotropic_law
from runproofs.linear import shallow_training as training
from runproofs.linear.shallow import gradient, objective
from runproofs.linear.shallow_training import _sample_masks, progress, sgd_step, train_linear
from runproofs.masks import expectation
from runproofs.training import cosine_schedule

seeds = st.integers(0, 2**32 - 1)
rates = st.floats(0.05, 1)
sizes = st.integers(1, 5)


# ---------------------------------------------------------------- masks


def test_sampled_masks_have_the_right_mean_and_follow_their_generator():
    n, theta = 10**6, 0.3
    sample = _sample_masks((n,), theta, torch.Generator().manual_seed(0), torch.float32)
    assert sample.dtype == torch.float32
    assert set(sample.unique().tolist()) == {0.0, 1.0}
    # 5 standard errors: a correct sampler fails for fewer than one seed in a million
    assert abs(sample.mean().item() - theta) < 5 * math.sqrt(theta * (1 - theta) / n)
    again = _sample_masks((n,), theta, torch.Generator().manual_seed(0), torch.float32)
    assert torch.equal(sample, again)
    assert (_sample_masks((1000,), 1, torch.Generator().manual_seed(0)) == 1).all()


# ---------------------------------------------------------------- Algorithm 1


@given(sizes, sizes, sizes, rates, seeds)
def test_a_step_follows_the_gradient_of_the_sampled_loss(d2, d0, r, theta, seed):
    U, V, M, rng = problem(seed, d2, d0, r)
    x, eta = rng.standard_normal(d0), 0.1
    y, mask = M @ x, (rng.random(r) < theta).astype(float)
    Ut, Vt = (torch.tensor(t, requires_grad=True) for t in (U, V))
    b, xt, yt = (torch.tensor(t) for t in (mask, x, y))
    loss = ((yt - Ut @ torch.diag(b) @ Vt.T @ xt / theta) ** 2).sum()
    gU, gV = torch.autograd.grad(loss, (Ut, Vt))
    new_U, new_V = sgd_step(U, V, x, y, mask, eta, keep=theta)
    scale = eta * theta / 2
    atol = 1e-12 * (1 + scale * max(gU.abs().max(), gV.abs().max()).item())
    np.testing.assert_allclose(new_U, U - scale * gU.numpy(), atol=atol)
    np.testing.assert_allclose(new_V, V - scale * gV.numpy(), atol=atol)


@given(sizes, sizes, sizes, rates, seeds)
@settings(max_examples=20)
def test_the_mean_step_follows_the_gradient_of_the_objective(d2, d0, r, theta, seed):
    U, V, M, rng = problem(seed, d2, d0, r)
    X, eta = isotropic_law(d0, rng), 0.1

    def moved(mask):
        n = len(X)
        batch = [np.broadcast_to(t, (n, *t.shape)).copy() for t in (U, V, mask)]
        steps = sgd_step(*batch[:2], X, X @ M.T, batch[2], eta, keep=theta)
        return np.concatenate([t.numpy().mean(axis=0) for t in steps])

    expected = expectation(moved, r, keep=theta)
    gU, gV = gradient(U, V, M, (1 - theta) / theta)
    descent = np.concatenate([U, V]) - eta * theta / 2 * np.concatenate([gU, gV])
    np.testing.assert_allclose(expected, descent, atol=1e-11 * (1 + np.abs(descent).max()))


def test_a_step_over_any_batch_axes_is_the_step_of_each_and_changes_no_argument():
    rng = np.random.default_rng(0)
    U, V = (torch.tensor(rng.standard_normal((2, 3, d, 4))) for d in (6, 5))
    x, y = (torch.tensor(rng.standard_normal((2, 3, d))) for d in (5, 6))
    mask = torch.tensor(rng.integers(0, 2, (2, 3, 4))).double()
    kept = U.clone(), V.clone()
    new_U, new_V = sgd_step(U, V, x, y, mask, 0.1, keep=0.5)
    assert torch.equal(U, kept[0])
    assert torch.equal(V, kept[1])
    for i in np.ndindex(2, 3):
        one_U, one_V = sgd_step(U[i], V[i], x[i], y[i], mask[i], 0.1, keep=0.5)
        torch.testing.assert_close(new_U[i], one_U, rtol=1e-13, atol=1e-13)
        torch.testing.assert_close(new_V[i], one_V, rtol=1e-13, atol=1e-13)


def start(runs=3, d2=6, d0=5, r=4, seed=0, dtype=torch.float64):
    """Generator, target and starting factors of some training runs."""
    g = torch.Generator().manual_seed(seed)
    U, V = (torch.randn(runs, d, r, generator=g, dtype=dtype) / math.sqrt(d) for d in (d2, d0))
    M = torch.randn(d2, d0, generator=g, dtype=dtype) / 3
    return g, M.numpy(), U, V


@pytest.mark.parametrize("source", ["normal", "inputs"])
def test_batched_training_agrees_with_a_plain_loop_on_the_same_randomness(source):
    theta, steps, eta = 0.6, 300, cosine_schedule(0.05, 300)  # 300 is no multiple of the chunk
    g, M, U0, V0 = start()
    inputs = isotropic_law(5) if source == "inputs" else None
    state = g.get_state()
    trained = train_linear(
        M, U0, V0, keep=theta, steps=steps, step_size=eta, generator=g, inputs=inputs
    )
    g.set_state(state)
    tensor = None if inputs is None else torch.tensor(inputs)
    draws = list(training._draws(torch.tensor(M), theta, U0, steps, g, tensor))
    assert len(draws) == steps
    for run in range(len(U0)):
        U, V = U0[run].numpy(), V0[run].numpy()
        for t, draw in enumerate(draws):
            x, y, b = (a[run, 0].numpy() for a in draw)
            np.testing.assert_allclose(y, M @ x, atol=1e-14)
            e = U @ np.diag(b) @ V.T @ x / theta - y
            gU, gV = np.outer(e, x) @ V @ np.diag(b), np.outer(x, e) @ U @ np.diag(b)
            U, V = U - eta(t) * gU, V - eta(t) * gV
        np.testing.assert_allclose(trained.U[run], U, atol=1e-12)
        np.testing.assert_allclose(trained.V[run], V, atol=1e-12)
    assert not np.allclose(trained.U, U0, atol=1e-2)


def test_draws_have_the_law_that_is_asked_for():
    g, M, U, _ = start(runs=50)
    x, _, mask = (torch.cat(t) for t in zip(*training._draws(torch.tensor(M), 0.3, U, 1000, g)))  # noqa: B905
    n = 50 * 1000  # 5 standard errors each
    assert (x.mean(0).abs() < 5 / math.sqrt(n)).all()
    assert (x.var(0) - 1).abs().max() < 5 * math.sqrt(2 / n)
    assert (mask.mean(0) - 0.3).abs().max() < 5 * math.sqrt(0.21 / n)
    law = torch.tensor(isotropic_law(5))
    drawn = torch.cat([x for x, _, _ in training._draws(torch.tensor(M), 0.3, U, 1000, g, law)])
    atoms, counts = drawn.reshape(-1, 5).unique(dim=0, return_counts=True)
    assert torch.equal(atoms, law.unique(dim=0))
    assert (counts / n - 0.1).abs().max() < 5 * math.sqrt(0.09 / n)


def test_observing_changes_nothing_and_reports_the_asked_times():
    lam = 2.0
    g, M, U, V = start()
    state, kept = g.get_state(), (U.clone(), V.clone())
    options = {"steps": 130, "step_size": 0.02, "generator": g}
    plain = train_linear(M, U, V, keep=0.5, **options)
    assert plain.times.size == 0
    assert plain.observed == {}
    assert torch.equal(U, kept[0])  # the start is left alone
    assert torch.equal(V, kept[1])
    g.set_state(state)
    watched = train_linear(M, U, V, keep=0.5, **options, every=50, observe=progress(M, lam))
    assert torch.equal(plain.U, watched.U)
    assert watched.times.tolist() == [0, 50, 100, 130]
    assert [v.shape for v in watched.observed.values()] == [(4, 3)] * 2
    final = watched.U.numpy(), watched.V.numpy()
    np.testing.assert_allclose(watched.observed["objective"][-1], objective(*final, M, lam))
    scores = np.linalg.norm(final[0], axis=1) * np.linalg.norm(final[1], axis=1)
    np.testing.assert_allclose(watched.observed["score_variance"][-1], scores.var(axis=1))
    raw = train_linear(M, U, V, keep=0.5, **options, every=[7, 50], observe=lambda U, V: {"U": U})
    assert raw.times.tolist() == [0, 7, 50, 130]
    assert torch.equal(torch.tensor(raw.observed["U"][0]), U)  # a copy, not a view of the last U
    assert not torch.equal(raw.U, plain.U)  # the generator went on


def test_progress_of_diverging_runs_is_recorded():
    g, M, U, V = start()
    trained = train_linear(
        M, U, V, keep=0.5, steps=200, step_size=10.0, generator=g, every=1, observe=progress(M, 1.0)
    )
    assert trained.observed["objective"].shape == (201, 3)
    assert np.isfinite(trained.observed["objective"][0]).all()
    assert not np.isfinite(trained.observed["objective"][-1]).any()


# ---------------------------------------------------------------- bad arguments

G = torch.Generator()
U, V = np.ones((2, 3)), np.ones((4, 3))
TU, TV, TM = torch.ones(5, 2, 3), torch.ones(5, 4, 3), np.ones((2, 4))


def train(M=TM, theta=0.5, U=TU, V=TV, **changed):
    given = {"steps": 2, "step_size": 0.1, "generator": G}
    return train_linear(M, U, V, keep=theta, **{**given, **changed})


test_bad_arguments_are_named = refusals(
    (lambda: _sample_masks((2,), 0, G), "keep"),
    (lambda: _sample_masks((2,), 0.5, 7), "generator"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(2), np.ones(3), 0.1, keep=-0.1), "keep"),
    (lambda: sgd_step(U, V, np.ones(5), np.ones(2), np.ones(3), 0.1, keep=0.5), "x must"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(1), np.ones(3), 0.1, keep=0.5), "y must"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(2), np.ones(1), 0.1, keep=0.5), "mask must"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(2), [1, 0, 2], 0.1, keep=0.5), "mask must"),
    (lambda: sgd_step(U, V, np.full(4, np.nan), np.ones(2), np.ones(3), 0.1, keep=0.5), "x must"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(2) * 1j, np.ones(3), 0.1, keep=0.5), "y must"),
    (lambda: sgd_step(U, V, ["1"] * 4, np.ones(2), np.ones(3), 0.1, keep=0.5), "x must"),
    (lambda: sgd_step(U, V, np.ones(4), np.ones(2), np.ones(3), 0, keep=0.5), "step_size"),
    (lambda: progress(TM, -1.0), "lam must be a number that is at least 0"),
    (lambda: train(step_size=lambda t: 0.1 - t), "step_size must be finite .* at 1 it was -0.9"),
    (lambda: train(observe=lambda *_: None), "observe must return a dict .* it gave None"),
    (lambda: train(steps=0), "steps"),
    (lambda: train(every=[5, 0.5]), "every"),
    (lambda: train(generator=None), "generator"),
    (lambda: train(M=TM.T), "M"),
    (lambda: train(V=TV.double()), "dtype"),
    (lambda: train(V=TV[..., :2]), "columns"),
    (lambda: train(U=TU.numpy()), "U must be a tensor"),
    (lambda: train(V=TV * math.inf), "V must be a tensor"),
    (lambda: train(inputs=np.ones((3, 5))), "inputs"),
)
