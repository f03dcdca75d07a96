"""Figure 2 of Helmbold and Long: dropout, weight decay and neither, at five scales of the inputs.

Ten data sets of ten points, uniform in [-1, 1]^5, with the labels prod_i sign(x_i); five hidden
nodes; stochastic gradient with momentum, one example a step. The paper starts from the default of
Torch, where weights and biases are uniform in +-fan_in^(-1/2), and takes the momentum of Torch,
which also multiplies each new gradient by 1 - dampening, 1/2 if nobody changed it. The paper frees
the biases of weight decay, Torch's optimizer does not: there is an arm for each reading.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from runproofs.experiments.base import experiment
from runproofs.networks.multilayer import MultilayerNetwork, squared_norm
from runproofs.training import Recorder

BLOCK = 500  # steps whose random numbers are drawn at once
METHODS = ("dropout", "weight decay", "none", "weight decay, biases too")


class Trained(NamedTuple):
    """What `train` returns.

    Attributes
    ----------
    network : MultilayerNetwork
        The batch, after the last step.
    times : (T,) ndarray
        Numbers of steps after which observe was called.
    observed : dict of ndarray
        Its results by name, each with a leading axis of length T.
    """

    network: MultilayerNetwork
    times: np.ndarray
    observed: dict[str, np.ndarray]


def samples(N, K, rng, count):
    """`count` data sets: points (count, N, K), uniform in [-1, 1]^K, and the products of signs."""
    X = rng.uniform(-1, 1, (count, N, K))
    return X, np.sign(X).prod(-1)


def start(n, K, rng, count):
    """`count` networks with n hidden nodes, uniform in +-fan_in^(-1/2)."""
    fans = ((n, K), K), ((1, n), n), ((n,), K), ((1,), n)
    arrays = [rng.uniform(-1, 1, (count, *shape)) / fan**0.5 for shape, fan in fans]
    return MultilayerNetwork(arrays[:2], arrays[2:])


def outputs(network, X):
    """W(x) of a batch of networks of depth 2, each at points of its own, X (..., N, K)."""
    (W, w), (a, b) = network.weights, network.biases
    return (np.maximum(X @ W.mT + a[..., None, :], 0) @ w.mT)[..., 0] + b


def train(
    start, X, y, p, lam, bias_lam=0, *, steps, step_size, momentum, dampening, rng, every=None,
    observe=None,
):  # fmt: skip
    """SGD on ``(D(W, x, R) - y)^2 + lam / 2 |W|^2 + bias_lam / 2 |b|^2``, networks of depth 2.

    start: the batch, with weights (..., n, K) and (..., 1, n) in float64. Each network has points
    X (..., N, K), labels y (..., N), a keep probability p (...) and penalties lam (...) of its
    weights and bias_lam (...) of its biases b, and draws an example, with replacement, and a
    dropout pattern a step. step_size: a function of the step 0, 1, ... The velocity v becomes
    momentum v + (1 - dampening) g, at the first step g. observe(network) is called as by
    `training.Recorder`. Nothing is checked. Returns a `Trained`.
    Cost: O(n K) a network and step; a step of the whole batch takes some 20 calls of NumPy.
    """
    *batch, n, K = start.weights[0].shape
    B, record = prod(batch), Recorder(observe, every, steps)
    X = X.reshape(B, -1, K).transpose(1, 2, 0).copy()
    y, p = y.reshape(B, -1).T.copy(), p.ravel()

    z = _columns(start, B)
    g, v, terms = np.empty_like(z), np.zeros_like(z), np.empty((n, K, B))
    h, slope, miss = np.empty((n, B)), np.empty((n, B)), np.empty(B)
    (W, w, a, b), (dW, dw, da, db) = _parts(z, n, K), _parts(g, n, K)
    lams = [np.broadcast_to(each, batch).ravel() for each in (lam, bias_lam)]
    decay = np.repeat(lams, [n * K + n, n + 1], axis=0)  # of each number of each network
    decayed = np.flatnonzero(decay.any(0))
    decayed = slice(decayed[0], decayed[-1] + 1) if decayed.size else slice(0)
    decay, numbers, shrink = decay[:, decayed], z[:, decayed], g[:, decayed]

    record(0, start)
    for t, (x, label, kept) in enumerate(_draws(X, y, p, n, steps, np.random.default_rng(rng))):
        np.add.reduce(np.multiply(W, x, out=terms), axis=1, out=h)
        np.greater(np.add(h, a, out=h), 0, out=slope, casting="unsafe")
        np.multiply(slope, kept, out=slope)  # of what the output node receives
        np.multiply(h, slope, out=h)
        np.add.reduce(np.multiply(w, h, out=dw), axis=0, out=miss)
        np.subtract(np.add(miss, b, out=miss), label, out=miss)
        np.multiply(miss, 2, out=db)
        np.multiply(h, db, out=dw)
        np.multiply(np.multiply(w, db, out=da), slope, out=da)
        np.multiply(da[:, None], x, out=dW)
        shrink += decay * numbers
        if t:  # v is the velocity divided by 1 - dampening
            np.add(np.multiply(v, momentum, out=v), g, out=v)
        else:
            np.divide(g, 1 - dampening, out=v)
        z -= np.multiply(v, step_size(t) * (1 - dampening), out=g)
        if t + 1 in record.watched:
            record(t + 1, _network(z, n, K, batch))
    return Trained(_network(z, n, K, batch), *record.results())


def _draws(X, y, p, n, steps, rng):
    """Yield masked inputs (K, B), labels (B,), and masks of the hidden nodes (n, B), each step."""
    N, K, B = X.shape
    dropped, columns = np.flatnonzero(p < 1), np.arange(B)
    masks, keep = np.ones((BLOCK, K + n, B)), p[dropped]
    for done in range(0, steps, BLOCK):
        chosen = rng.integers(N, size=(BLOCK, B))
        masks[..., dropped] = (rng.random((BLOCK, K + n, len(dropped))) < keep) / keep
        x = X[chosen[:, None], np.arange(K)[:, None], columns] * masks[:, :K]
        yield from zip(x[: steps - done], y[chosen, columns], masks[:, K:], strict=False)


def _columns(network, B):
    """All numbers of a batch, a network in a column: W, w, hidden biases, output bias."""
    return np.concatenate([a.reshape(B, -1).T for a in network.weights + network.biases])


def _parts(z, n, K):
    """W (n, K, B), w (n, B), hidden biases (n, B) and output bias (B,), views of the columns."""
    W, w, a, b = np.split(z, np.cumsum([n * K, n, n]))
    return W.reshape(n, K, -1), w, a, b[0]


def _network(z, n, K, batch):
    """The batch whose numbers are these columns."""
    W, w, a, b = (np.moveaxis(part, -1, 0).copy() for part in _parts(z, n, K))
    weights = W.reshape(*batch, n, K), w.reshape(*batch, 1, n)
    return MultilayerNetwork(weights, (a.reshape(*batch, n), b.reshape(*batch, 1)))


def at_all_scales(scales, sets, n, K, N, p, lam, times, rate, decay, momentum, dampening, seed=0):
    """Every method at every scale on every data set, all from one start for each data set.

    p: dropout's keep probability. lam: of weight decay. rate / (1 + decay t): the step size. times:
    after how many steps the networks are measured, the last at the end. Returns "times" (T,), and
    (T, methods, scales, sets): "loss", the mean of (W(x) - y)^2 over the training set without
    dropout, and "norm", the squared norm of the weights.
    """
    rng = np.random.default_rng(seed)
    X, y = samples(N, K, rng, sets)
    one = start(n, K, rng, sets)
    batch = len(METHODS), len(scales), sets

    def spread(array):
        return np.broadcast_to(array, batch + array.shape[1:])

    X, y = np.broadcast_to(np.multiply.outer(scales, X), (*batch, N, K)), spread(y)
    keep, penalty, of_biases = np.ones(batch), np.zeros(batch), np.zeros(batch)
    keep[METHODS.index("dropout")], penalty[METHODS.index("weight decay")] = p, lam
    too = METHODS.index("weight decay, biases too")
    penalty[too] = of_biases[too] = lam

    def observe(network):
        loss = ((outputs(network, X) - y) ** 2).mean(-1)
        return {"loss": loss, "norm": squared_norm(network)}

    run = train(
        MultilayerNetwork([*map(spread, one.weights)], [*map(spread, one.biases)]),
        X, y, keep, penalty, of_biases, steps=times[-1], step_size=lambda t: rate / (1 + decay * t),
        momentum=momentum, dampening=dampening, rng=rng, every=list(times), observe=observe,
    )  # fmt: skip
    return {"times": run.times, **run.observed}


ASKED = {
    "scales": (0.5, 0.75, 1.0, 1.25, 1.5), "sets": 10, "n": 5, "K": 5, "N": 10, "p": 0.5,
    "lam": 0.5, "rate": 0.01, "decay": 1e-5, "momentum": 0.5,
}  # fmt: skip
TIMES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)

figure_2 = experiment(
    "surprises-figure-2", over=("dampening", "seed"),
    quick={**ASKED, "times": TIMES[:-1], "dampening": (0.5,), "seed": range(1)},
    paper={**ASKED, "times": TIMES, "dampening": (0.5, 0.0), "seed": range(4)},
)(at_all_scales)  # fmt: skip
