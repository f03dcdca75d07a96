"""Attacks on torch models against closed forms and plain loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from helpers.classifiers import NORMS, batch, lengths, linear, mlp
from runproofs.adversarial import attacks
from runproofs.training import step_decay


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=5), st.integers(0, 4))
def test_losses_are_their_definitions(logits, y):
    y %= len(logits)
    f = torch.tensor([logits], dtype=torch.float64)
    p = np.exp(logits) / np.exp(logits).sum()
    wrong = [k for k in range(len(logits)) if k != y]
    z = logits[y] - max(logits[k] for k in wrong)
    k = max(wrong, key=lambda k: logits[k])
    expected = {
        "ce": -np.log(p[y]),
        "reflected": -np.logaddexp(0, z),
        "greedy": np.log(p[k]),
        "margin": -z,
    }
    for name, value in expected.items():
        found = attacks.LOSSES[name](f, torch.tensor([y])).item()
        assert found == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert attacks.margin(f, torch.tensor([y])).item() == pytest.approx(z, abs=1e-12)


@given(st.floats(-20, 20), st.sampled_from([-1, 1]))
def test_one_logit_and_two_logits_have_the_same_losses(f, y):
    one, two = torch.tensor([f]), torch.tensor([[0.0, f]])
    label = torch.tensor([y], dtype=one.dtype)
    index = torch.tensor([(y + 1) // 2])
    for loss in attacks.LOSSES.values():
        assert loss(one, label).item() == pytest.approx(loss(two, index).item(), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("loss", attacks.LOSSES)
def test_gradients_of_the_losses_are_those_of_finite_differences(loss):
    f = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    f.requires_grad_()
    y = torch.tensor([0, 1, 2, 0])
    assert torch.autograd.gradcheck(lambda f: attacks.LOSSES[loss](f, y), f)


def test_fgsm_is_one_step_of_the_sign():
    model, (x, y) = mlp(3), batch(7)
    u = x.clone().requires_grad_()
    nn.functional.cross_entropy(model(u), y).backward()
    expected = (x + 0.1 * u.grad.sign()).clamp(0, 1)
    torch.testing.assert_close(attacks.fgsm(model, x, y, eps=0.1), expected, rtol=0, atol=1e-15)
    assert torch.equal(attacks.fgsm(model, x, y, eps=0), x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", attacks.LOSSES)
def test_steepest_steps_are_optimal_on_linear_classifiers(norm, loss):
    """With one logit, y w^T u over the ball has the least value y w^T x - eps ||w||_*."""
    x, y = batch(9, outputs=1)
    w = torch.linspace(-1, 1, 12, dtype=torch.float64)
    u = attacks.pgd(
        linear(w.tolist()), x, y, norm=norm, eps=0.3, step_size=0.1, steps=40, loss=loss,
        normalize=True, clip=None,
    )  # fmt: skip
    dual = w.abs().sum() if norm == math.inf else w.norm()
    torch.testing.assert_close(y * (u @ w), y * (x @ w) - 0.3 * dual, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("loss", attacks.LOSSES)
def test_pgd_is_the_plain_loop_sample_by_sample(norm, reduction, loss):
    model, (x, y) = mlp(3), batch(5)
    schedule = step_decay(3, 0.2, 2)
    options = {"norm": norm, "eps": 0.4, "loss": loss}
    together = attacks.pgd(model, x, y, step_size=schedule, steps=5, reduction=reduction, **options)
    for i in range(5):
        u = x[i : i + 1].clone()
        for t in range(5):
            u = u.detach().requires_grad_()
            (g,) = torch.autograd.grad(attacks.LOSSES[loss](model(u), y[i : i + 1]).sum(), u)
            eta = 3 * 0.2 ** (t // 2) / (5 if reduction == "mean" else 1)
            delta = u.detach() + eta * g - x[i : i + 1]
            if norm == 2:
                delta = delta * min(1, 0.4 / delta.norm().item())
            else:
                delta = delta.clamp(-0.4, 0.4)
            u = (x[i : i + 1] + delta).clamp(0, 1)
        torch.testing.assert_close(together[i], u[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("random_start", [False, True])
def test_attacks_stay_in_the_ball_and_in_the_box(norm, normalize, random_start):
    model, (x, y) = mlp(3), batch(30)
    x = x.round(decimals=1).reshape(30, 3, 4)  # many pixels at the end of the box
    flat = nn.Sequential(nn.Flatten(), model)
    options = {"norm": norm, "eps": 0.25, "step_size": 5, "normalize": normalize}
    for steps in (1, 2, 9):
        u = attacks.pgd(
            flat, x, y, steps=steps, random_start=random_start,
            generator=torch.Generator().manual_seed(steps), **options,
        )  # fmt: skip
        assert u.shape == x.shape
        assert lengths(u - x, norm).max() <= 0.25 + 1e-12
        assert (u.min(), u.max()) >= (0, 0)
        assert u.max() <= 1
        assert (lengths(u - x, norm) > 0.1).all()


def test_random_starts_are_uniform_in_the_ball_and_repeat():
    x, y = torch.full((4000, 3), 0.5, dtype=torch.float64), torch.zeros(4000, dtype=torch.long)
    model = linear([1, 0, 0], [1, 0, 0])  # no gradient: the start is the result
    for norm in NORMS:
        options = {"norm": norm, "eps": 0.4, "step_size": 1, "steps": 1, "random_start": True}
        u, again, other = (
            attacks.pgd(model, x, y, generator=torch.Generator().manual_seed(s), **options)
            for s in (0, 0, 1)
        )
        assert torch.equal(u, again)
        assert not torch.equal(u, other)
        radii = lengths(u - x, norm) / 0.4
        assert radii.max() <= 1
        assert (radii < 0.5).double().mean().item() == pytest.approx(1 / 8, abs=0.025)
        assert (u - x).mean(0).abs().max() < 0.02


def test_best_iterate_is_the_best_of_the_start_and_the_visited_points():
    """Of `all_targets`: along both losses f_j - f_y, j = y + shift modulo 3."""
    model, (x, y) = mlp(3), batch(200)
    rows = torch.arange(200)
    options = {"norm": 2, "eps": 0.5, "step_size": 400, "steps": 6}

    def least(attack=attacks.pgd, **change):
        return attacks.margin(model(attack(model, x, y, **options | change)), y)

    def visited(loss):
        start = attacks.margin(model(x), y)
        after = [least(steps=steps, loss=loss) for steps in range(1, 7)]
        return torch.stack([start, *after]).amin(0)

    best = least(best_iterate=True)
    torch.testing.assert_close(best, visited("ce"))
    assert (best < least() - 1e-3).any()
    targets = [
        visited(lambda f, y, shift=shift: f[rows, (y + shift) % 3] - f[rows, y]) for shift in (1, 2)
    ]
    torch.testing.assert_close(least(attacks.all_targets), torch.minimum(*targets))
