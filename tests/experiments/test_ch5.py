"""The experiment of Section 5.5: its samples, its steps, and what it measures, by other routes."""

import numpy as np
import pytest
import torch
from torch import nn

from runproofs import data
from runproofs.experiments import ch5
from runproofs.networks import subnetworks


def modules(network, side):
    """The same network from torch's parts, up to the wide layer's ReLU, and its output layer."""
    padding = 1 if side == 8 else 0
    kernel, width = network.body[0].shape[-1], len(network.wide[0])
    convolutions = [nn.Conv2d(k, m, kernel, padding=padding) for k, m in ((1, 6), (6, 16))]
    dense = [nn.Linear(network.body[4].shape[1], 64), nn.Linear(64, width)]
    out = nn.Linear(width, 10)
    tensors = *network.body, *network.wide[:2], network.wide[2].T, network.beta
    layers = *convolutions, *dense, out
    for layer, W, b in zip(layers, tensors[::2], tensors[1::2], strict=True):
        layer.weight.data, layer.bias.data = W.detach().clone(), b.detach().clone()
    parts = [part for layer in convolutions for part in (layer, nn.ReLU(), nn.MaxPool2d(2))]
    parts += [nn.Flatten(), *(part for layer in dense for part in (layer, nn.ReLU()))]
    return nn.Sequential(*parts), out


def test_every_fourth_digit_is_held_out():
    (_, Y), (x, y) = ch5.samples("digits")
    digits = data.digits()
    assert (len(Y), len(y)) == (1348, 449)
    np.testing.assert_array_equal(x.flatten(1), digits.pixels[3::4].astype(np.float32))
    np.testing.assert_array_equal(y, digits.labels[3::4])
    assert sorted(torch.cat([Y, y]).tolist()) == sorted(digits.labels.tolist())
    few = ch5.samples("digits", 100)[1]
    assert torch.equal(few[0], x[::4])
    assert torch.equal(few[1], y[::4])


@pytest.mark.parametrize(("side", "into"), [(8, (9, 54, 64)), (28, (25, 150, 256))])
def test_the_start_and_the_network(side, into):
    network = ch5.start(side, 30, torch.Generator().manual_seed(0))
    tensors = *network.body, *network.wide, network.beta
    fans = [k for k in (*into, 64) for _ in "Wb"] + [30, 30]
    for tensor, fan_in in zip(tensors, fans, strict=True):
        assert 0.6 < tensor.abs().max().item() * fan_in**0.5 <= 1
    x = torch.rand((5, 1, side, side), generator=torch.Generator().manual_seed(1))
    H, A, beta = ch5.activations(network, x)
    hidden, out = modules(network, side)
    np.testing.assert_allclose(H, hidden(x).detach(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(H @ A.T + beta, out(hidden(x)).detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rate", [0.0, 0.8])
def test_steps_are_those_of_the_masked_network(rate):
    (X, Y), (x, _) = ch5.samples("digits")
    network = ch5.start(8, 40, torch.Generator().manual_seed(2))
    hidden, out = modules(network, 8)
    optimizer = torch.optim.SGD([*hidden.parameters(), *out.parameters()], lr=0.5)
    how = {"epochs": 2, "batch": 24}
    draws = list(ch5._draws(60, 40, 1 - rate, **how, generator=torch.Generator().manual_seed(3)))
    assert [len(chosen) for chosen, _ in draws] == [24, 24, 12] * 2
    for chosen, kept in draws:
        mask = torch.zeros(40)
        mask[kept] = 1 / (1 - rate)
        optimizer.zero_grad()
        nn.functional.cross_entropy(out(hidden(X[chosen]) * mask), Y[chosen]).backward()
        optimizer.step()
    seen, visits = [], []

    def observe(net, recent, coming):
        seen.append([r.tolist() for r in recent])
        visits.append(coming.tolist())
        return {}

    run = ch5.train(
        network, X[:60], Y[:60], rate, **how, step_size=0.5, every=2,
        generator=torch.Generator().manual_seed(3), observe=observe,
    )  # fmt: skip
    assert run.times.tolist() == [0, 2, 4, 6]
    assert seen[1] == [kept.tolist() for _, kept in draws[:2]]
    assert visits[:3] == [kept.tolist() for _, kept in draws[::2]]
    assert (visits[3] in visits[:3]) == (rate == 0)  # one more mask, which no step follows
    H, A, beta = ch5.activations(run.network, x)
    np.testing.assert_allclose(H @ A.T + beta, out(hidden(x)).detach(), rtol=1e-3, atol=1e-5)


def test_draws_are_all_examples_in_new_orders_and_new_masks_that_keep_a_share_q():
    draws = list(ch5._draws(60, 4000, 0.2, 2, 24, torch.Generator().manual_seed(6)))
    epochs = [torch.cat([chosen for chosen, _ in draws[k : k + 3]]).tolist() for k in (0, 3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(60))] * 2
    assert epochs[0] != epochs[1]
    masks = np.array([np.isin(np.arange(4000), kept) for _, kept in draws])
    np.testing.assert_allclose(masks.mean(1), 0.2, atol=0.03)  # 5 standard deviations
    both = (masks[1:] & masks[:-1]).mean(1)
    np.testing.assert_allclose(both, 0.2**2, atol=0.016)


def test_measure_by_a_loop_over_the_masks(monkeypatch):
    _, (x, y) = ch5.samples("digits")
    network = ch5.start(8, 12, torch.Generator().manual_seed(4))
    masks = np.random.default_rng(5).random((6, 12)) < 0.5
    H, A, beta = layer = ch5.activations(network, x)
    z = H @ A.T + beta
    monkeypatch.setattr(ch5, "MEMORY", 1000)  # six parts
    found = ch5.measure(network, x, y, masks, 0.5, np.random.default_rng(0))
    assert found["full"] == pytest.approx((z.argmax(1) == y.numpy()).mean())
    right = [(((H * b) @ A.T / 0.5 + beta).argmax(1) == y.numpy()).mean() for b in masks]
    np.testing.assert_allclose(found["masked"], right, atol=1 / 448)
    log_p = z - np.log(np.exp(z).sum(1, keepdims=True))
    assert found["loss"] == pytest.approx(-log_p[np.arange(len(y)), y].mean(), rel=1e-5)
    p = subnetworks.predicted_accuracy(
        *subnetworks.moments(*layer, keep=0.5), y.numpy(), 1, draws=4000
    )
    assert found["gaussian"] == pytest.approx(p.mean(), abs=0.01)


def test_curves():
    short = {**ch5.DIGITS, "epochs": 3, "times": 3, "masks": 7, "rate": 0.8}
    found = ch5.curves(**short, width=40, trained=None, seed=1)
    assert found["times"].tolist() == [0, 16, 45, 129]
    assert {k: v.shape for k, v in found.items()} == {
        "times": (4,), "full": (4,), "loss": (4,), "gaussian": (4,), "fixed": (4, 7),
        "recent": (4, ch5.RECENT), "half": (7,),
    }  # fmt: skip
    assert np.isnan(found["recent"]).sum(1).tolist() == [20, 4, 0, 0]
    other = ch5.curves(**short, width=40, trained=0.0, seed=1)
    np.testing.assert_array_equal(found["fixed"][0], other["fixed"][0])  # one start, one set
    assert np.abs(found["loss"][1:] - other["loss"][1:]).min() > 1e-4
    same = ch5.curves(**short | {"rate": 0.0}, width=40, trained=None, seed=1)
    np.testing.assert_array_equal(same["fixed"], np.repeat(same["full"][:, None], 7, 1))


def test_the_last_masks_of_the_curves_keep_half_as_much(monkeypatch):
    seen = []

    def measure(network, x, y, masks, q, rng):
        seen.append((masks[:200].mean(), q))
        return {"masked": np.zeros(len(masks))}

    monkeypatch.setattr(ch5, "measure", measure)
    short = {**ch5.DIGITS, "epochs": 1, "times": 1, "masks": 200, "rate": 0.6}
    ch5.curves(**short, width=40, trained=None)
    np.testing.assert_allclose(seen[:-1], 0.4, atol=0.02)
    np.testing.assert_allclose(seen[-1], 0.2, atol=0.02)


def test_visits_are_the_masks_of_the_steps_to_come():
    short = {**ch5.DIGITS, "epochs": 1, "batch": 64, "looks": 2, "masks": 3, "rate": 0.5}
    found = ch5.visits(**short, width=30, seed=2)
    assert found["times"].tolist() == [0, 16, 17, 19, 22]
    assert found["fresh"].shape == (5, 3)
    (X, Y), (x, y) = ch5.samples("digits")
    generator = torch.Generator().manual_seed(2)
    network, visited, full = ch5.start(8, 30, generator), [], []

    def accuracy(network, scale):
        H, A, beta = ch5.activations(network, x)
        return (((H * scale) @ A.T + beta).argmax(1) == y.numpy()).mean()

    def observe(network, _, coming):
        full.append(accuracy(network, 1))
        visited.append(accuracy(network, 2 * np.isin(np.arange(30), coming)))
        return {}

    how = {"epochs": 1, "batch": 64, "step_size": ch5.DIGITS["step_size"]}
    ch5.train(network, X, Y, 0.5, **how, generator=generator, every=1, observe=observe)
    for name, expected in (("full", full), ("visited", visited)):
        expected = np.array(expected)[found["times"]]
        np.testing.assert_allclose(found[name], expected, atol=1 / 448)
    assert np.abs(found["fresh"] - found["visited"][:, None]).max() > 0.02
