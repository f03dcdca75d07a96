"""Figure 2 of Helmbold and Long: its samples, its steps by another loop, what it measures."""

import numpy as np
import pytest

from runproofs.experiments import surprises
from runproofs.networks import multilayer
from runproofs.networks.multilayer import MultilayerNetwork

SHORT = {**surprises.ASKED, "scales": (0.5, 2.0), "sets": 3, "times": (10, 600)}


def one(network, b):
    return MultilayerNetwork([W[b] for W in network.weights], [a[b] for a in network.biases])


def numbers(network):
    return np.concatenate([a.ravel() for a in network.weights + network.biases])


def of_numbers(z, like):
    """The network with these numbers, of the shapes of another one."""
    shapes = [a.shape for a in like.weights + like.biases]
    parts = np.split(z, np.cumsum([np.prod(s) for s in shapes])[:-1])
    arrays = [part.reshape(s) for part, s in zip(parts, shapes, strict=True)]
    return MultilayerNetwork(arrays[:2], arrays[2:])


def gradient(network, loss, step=1e-6):
    """By central differences."""
    z = numbers(network)

    def at(z):
        return loss(of_numbers(z, network))

    return np.array([(at(z + e) - at(z - e)) / (2 * step) for e in step * np.eye(len(z))])


def test_steps_are_those_of_a_loop_over_networks():
    """Momentum, dampening, step size, masks and penalty, each other for each network."""
    rng = np.random.default_rng(1)
    K, n, N, B, steps = 3, 2, 4, 4, 7
    start = surprises.start(n, K, rng, B)
    X, y = rng.normal(size=(B, N, K)), rng.normal(size=(B, N))
    p, lam = np.array([0.6, 1, 0.3, 1]), np.array([0, 0.7, 0, 0.2])
    bias_lam = np.array([0, 0, 0, 0.4])
    how = {"momentum": 0.4, "dampening": 0.3, "step_size": lambda t: 0.1 / (1 + t)}
    run = surprises.train(start, X, y, p, lam, bias_lam, steps=steps, rng=5, **how)
    columns = X.transpose(1, 2, 0), y.T, p
    draws = [
        tuple(a.copy() for a in draw)
        for draw in surprises._draws(*columns, n, steps, np.random.default_rng(5))
    ]
    for b in range(B):
        network, v = one(start, b), 0
        for t, (x, label, kept) in enumerate(draws):
            mask = kept[:, b] * p[b]  # zeros and ones

            def loss(net, x=x[:, b], label=label[b], mask=mask, b=b):
                D = multilayer.dropout_output(net, x * p[b], [1, mask], keep=p[b])
                of_biases = sum((bias**2).sum() for bias in net.biases)
                decay = lam[b] * multilayer.squared_norm(net) + bias_lam[b] * of_biases
                return (D - label) ** 2 + decay / 2

            g = gradient(network, loss)
            v = how["momentum"] * v + (1 - how["dampening"]) * g if t else g
            network = of_numbers(numbers(network) - how["step_size"](t) * v, network)
        np.testing.assert_allclose(numbers(one(run.network, b)), numbers(network), atol=1e-7)


def test_draws_keep_a_share_p_and_are_independent(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2))  # N, K, B
    p, steps = np.array([0.3, 1.0]), 20_000
    draws = list(surprises._draws(X, y, p, 2, steps, np.random.default_rng(3)))
    assert len(draws) == steps
    x, label, kept = (np.array(part) for part in zip(*draws, strict=True))
    assert set(np.unique(kept[..., 0])) == {0, 1 / 0.3}
    assert (kept[..., 1] == 1).all()
    which = (label[:, None] == y).argmax(1)  # (steps, B)
    assert np.abs(np.bincount(which[:, 0]) / steps - 1 / 3).max() < 0.017  # 5 standard errors
    assert np.mean(which[:, 0] == which[:, 1]) == pytest.approx(1 / 3, abs=0.017)
    original = np.stack([X[which[:, b], :, b] for b in range(2)], axis=-1)
    np.testing.assert_array_equal(x[..., 1], original[..., 1])
    on = np.concatenate([x[..., 0] / original[..., 0], kept[..., 0]], axis=1) > 0
    np.testing.assert_allclose(x[..., 0], original[..., 0] * on[:, :2] / 0.3)
    patterns = np.bincount(on @ [1, 2, 4, 8], minlength=16) / steps
    share = [0.3 ** bin(k).count("1") * 0.7 ** (4 - bin(k).count("1")) for k in range(16)]
    np.testing.assert_allclose(patterns, share, atol=0.017)
    following = np.mean(on[1:] & on[:-1], axis=0)
    np.testing.assert_allclose(following, 0.09, atol=0.011)
    again = list(surprises._draws(X, y, p, 2, 700, np.random.default_rng(3)))
    assert len(again) == 700
    np.testing.assert_array_equal(again[-1][0], draws[699][0])  # a prefix, whatever the length


def test_samples_and_starts():
    X, y = surprises.samples(500, 5, np.random.default_rng(4), 7)
    assert X.shape == (7, 500, 5)
    assert -1 <= X.min() < -0.99 < 0.99 < X.max() <= 1
    np.testing.assert_array_equal(y, np.sign(X).prod(-1))
    network = surprises.start(400, 5, np.random.default_rng(5), 3)
    arrays = network.weights + network.biases
    assert [a.shape for a in arrays] == [(3, 400, 5), (3, 1, 400), (3, 400), (3, 1)]
    for a, fan in zip(arrays, (5, 400, 5, 400), strict=True):
        assert np.abs(a).max() <= fan**-0.5
        assert a.size < 100 or np.abs(np.quantile(a, [0.01, 0.99])).min() > 0.95 * fan**-0.5


def test_outputs_are_those_of_the_network():
    network = surprises.start(4, 3, np.random.default_rng(6), 5)
    X = np.random.default_rng(7).normal(size=(5, 6, 3))
    expected = [one(network, b)(X[b]) for b in range(5)]
    np.testing.assert_allclose(surprises.outputs(network, X), expected, rtol=1e-12)


@pytest.mark.parametrize("dampening", [0.0, 0.5])
def test_at_all_scales(dampening):
    found = surprises.at_all_scales(**SHORT, dampening=dampening, seed=8)
    assert {k: a.shape for k, a in found.items()} == {
        "times": (3,), "loss": (3, 4, 2, 3), "norm": (3, 4, 2, 3)
    }  # fmt: skip
    assert found["times"].tolist() == [0, 10, 600]
    start = found["norm"][0]
    np.testing.assert_array_equal(start, np.broadcast_to(start[:1, :1], start.shape))
    rng = np.random.default_rng(8)
    X, y = surprises.samples(10, 5, rng, 3)
    network = surprises.start(5, 5, rng, 3)
    for s, scale in enumerate((0.5, 2.0)):
        loss = ((surprises.outputs(network, scale * X) - y) ** 2).mean(-1)
        np.testing.assert_allclose(found["loss"][0, :, s], [loss] * 4, rtol=1e-12)
    dropout, _, none, _ = found["loss"][-1]
    assert none.mean() < dropout.mean()
    assert found["norm"][-1, [1, 3]].max() < found["norm"][-1, 2].min()
    assert (found["loss"][-1, 1] != found["loss"][-1, 3]).all()
