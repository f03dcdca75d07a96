"""Trainers of deep linear networks: their steps against autograd and exact gradients."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from runproofs.linear import deep
from runproofs.linear.deep import deep_training

SIZES = (3, 4, 2, 2)
THETA = (0.5, 0.9, 1.0)


def starts(sizes=SIZES, runs=2, seed=0, dtype=torch.float64, scale=0.7):
    g = torch.Generator().manual_seed(seed)
    return [scale * torch.randn(runs, b, a, generator=g, dtype=dtype) for a, b in pairwise(sizes)]


def plain_step(weights, theta, x, y, uniforms, step_size):
    """A step of SGD with dropout for one network, by automatic differentiation."""
    weights = [W.clone().requires_grad_() for W in weights]
    hidden = x
    for W, u in zip(weights, uniforms, strict=False):
        hidden = torch.where(u < theta, hidden @ W.T / theta, 0.0)
    loss = (y - hidden @ weights[-1].T).square().sum(dim=1).mean()
    gradients = torch.autograd.grad(loss, weights)
    return [W.detach() - step_size * g for W, g in zip(weights, gradients, strict=True)]


def test_a_sampled_step_is_that_of_automatic_differentiation():
    weights, batch = starts(), 7
    target = np.arange(6.0).reshape(2, 3)
    trained = deep_training.train_sampled(
        target,
        weights,
        keep=THETA,
        steps=2,
        step_size=lambda t: 0.1 / (1 + t),
        batch=batch,
        generator=torch.Generator().manual_seed(3),
    )
    g = torch.Generator().manual_seed(3)
    expected = [[[W[run] for W in weights] for run in range(2)] for _ in THETA]
    for t in range(2):
        x = torch.randn(2, batch, 3, generator=g, dtype=torch.float64)
        y = x @ torch.tensor(target).T
        u = [torch.rand(2, batch, d, generator=g, dtype=torch.float64) for d in SIZES[1:-1]]
        for i, theta in enumerate(THETA):
            for run in range(2):
                uniforms = [v[run] for v in u]
                expected[i][run] = plain_step(
                    expected[i][run], theta, x[run], y[run], uniforms, 0.1 / (1 + t)
                )
    for j, W in enumerate(trained.weights):
        for i in range(len(THETA)):
            for run in range(2):
                np.testing.assert_allclose(W[i, run], expected[i][run][j], rtol=1e-11, atol=1e-12)


def test_the_mean_sampled_step_is_the_exact_step():
    weights, target = starts(runs=1), np.eye(2, 3)
    options = {"steps": 1, "step_size": 0.01}
    sampled = deep_training.train_sampled(
        target,
        weights,
        keep=[0.6],
        batch=200_000,
        generator=torch.Generator().manual_seed(0),
        **options,
    )
    exact = deep_training.train_exact(target, weights, keep=[0.6], **options)
    for W, s, e in zip(weights, sampled.weights, exact.weights, strict=True):
        step = (e[0] - W).norm()
        assert (s - e).norm() < 0.02 * step  # an error of about 1 / sqrt(batch)


def test_exact_training_is_gradient_descent():
    weights = starts()
    rng = np.random.default_rng(0)
    A, Cyx = rng.standard_normal((3, 3)), rng.standard_normal((2, 3))
    C = A @ A.T
    trained = deep_training.train_exact(Cyx, weights, keep=THETA, steps=5, step_size=0.003, C=C)
    for i, theta in enumerate(THETA):
        W = [w.numpy() for w in weights]
        for _ in range(5):
            g = deep.gradient(W, Cyx, (1 - theta) / theta, C)
            W = [w - 0.003 * d for w, d in zip(W, g, strict=True)]
        for found, w in zip(trained.weights, W, strict=True):
            np.testing.assert_allclose(found[i], w, rtol=1e-11, atol=1e-12)


def test_observations_and_common_random_numbers():
    weights = starts(runs=1)
    seen = []

    def observe(state):
        seen.append([W.shape for W in state])
        return {"norm": state[0].norm(dim=(2, 3))}

    trained = deep_training.train_sampled(
        np.ones((2, 3)),
        weights,
        keep=[0.5, 0.5],
        steps=5,
        step_size=0.01,
        batch=3,
        generator=torch.Generator().manual_seed(0),
        every=2,
        observe=observe,
    )
    assert trained.times.tolist() == [0, 2, 4, 5]
    assert trained.observed["norm"].shape == (4, 2, 1)
    assert seen[0] == [(2, 1, *W.shape[1:]) for W in weights]
    np.testing.assert_array_equal(trained.weights[0][0], trained.weights[0][1])
    np.testing.assert_array_equal(weights[0], starts(runs=1)[0])
    np.testing.assert_allclose(
        trained.observed["norm"][-1], trained.weights[0].norm(dim=(2, 3)), rtol=1e-14
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"keep": [0.0]}, "keep"),
        ({"keep": 0.5}, "keep"),
        ({"target": np.ones((3, 3))}, "target"),
        ({"weights": [np.ones((1, 2, 2))] * 2}, "weights"),
        ({"weights": [torch.ones(1, 2, 3), torch.ones(1, 2, 3)]}, "W_2"),
        ({"weights": [torch.ones(1, 2, 3), torch.ones(1, 2, 2).double()]}, "weights must agree"),
        ({"weights": [torch.ones(1, 2, 3), torch.ones(1, 2, 2, device="meta")]}, "on meta"),
        ({"weights": [W[0] for W in starts()]}, "weights"),
        ({"steps": 0}, "steps"),
        ({"step_size": 0.0}, "step_size"),
        ({"batch": 0}, "batch"),
        ({"every": 0}, "every"),
        ({"generator": 7}, "generator"),
    ],
)
def test_bad_arguments_get_one_clear_sentence(change, named):
    good = {
        "target": np.ones((2, 3)),
        "keep": [0.5],
        "weights": starts(),
        "steps": 1,
        "step_size": 0.1,
        "batch": 2,
        "generator": torch.Generator(),
    }
    given = {**good, **change}
    with pytest.raises(ValueError, match=named) as error:
        deep_training.train_sampled(**given)
    assert "\n" not in str(error.value)
    if not {"batch", "generator"} & change.keys():
        del given["batch"], given["generator"]
        given["Cyx"] = given.pop("target")
        with pytest.raises(ValueError, match="Cyx" if named == "target" else named):
            deep_training.train_exact(**given)


def test_weights_that_require_gradients_are_trained_as_others():
    weights = starts(dtype=torch.float32)
    options = {"steps": 3, "step_size": 0.01}
    plain = deep_training.train_exact(np.ones((2, 3)), weights, keep=THETA, **options)
    tracked = [W.clone().requires_grad_() for W in weights]
    found = deep_training.train_exact(np.ones((2, 3)), tracked, keep=THETA, **options)
    half = deep_training.train_exact(
        np.ones((2, 3)), [W.bfloat16() for W in weights], keep=THETA, **options
    )
    for W, p, f, h in zip(weights, plain.weights, found.weights, half.weights, strict=True):
        assert not f.requires_grad
        assert (f.dtype, h.dtype) == (torch.float32, torch.bfloat16)
        np.testing.assert_array_equal(f, p)
        np.testing.assert_allclose(h.float(), p, atol=0.1)
        assert (p - W).abs().max() > 1e-3
