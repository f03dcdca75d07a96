"""Section 5.5: a small convolutional network whose last hidden layer is wide and has dropout.

The thesis fixes two convolutions with max-pooling, three dense layers, ReLU, cross-entropy, plain
SGD with step 0.01, batches of 64, 25 epochs, and the widths m of the last hidden layer. Here: 6 and
16 channels, a dense layer of 64 units below the wide one, uniform starts in +-fan_in^(-1/2), and
one mask an iteration, for all examples of its batch, as Algorithm 4 has it: that is what "the
subnetwork visited" means, and a step computes and moves only the units that it keeps.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import conv2d, cross_entropy, linear, max_pool2d

from runproofs import data
from runproofs.experiments.base import experiment
from runproofs.networks import subnetworks
from runproofs.training import Recorder

RECENT = 20  # masks of the last iterations that are remembered
MEMORY = 2**25  # activations of the wide layer at once


class Network(NamedTuple):
    """A convolutional network with one wide layer.

    Attributes
    ----------
    body : tuple of Tensor
        Weights and biases of the two convolutions and of the first dense layer.
    wide : tuple of Tensor
        W (m, 64), b (m,) and the output weights ``A^T`` (m, 10): a row of each belongs to a unit.
    beta : (10,) Tensor
        Biases of the output.
    """

    body: tuple
    wide: tuple
    beta: torch.Tensor


class Trained(NamedTuple):
    """What `train` returns.

    Attributes
    ----------
    network : Network
        The network after the last step.
    times : (T,) ndarray
        Numbers of steps after which observe was called.
    observed : dict of ndarray
        Its results by name, each with a leading axis of length T.
    """

    network: Network
    times: np.ndarray
    observed: dict[str, np.ndarray]


def samples(images, tested=None):
    """Training and test sample: tensors X (n, 1, side, side) in [0, 1], and labels (n,).

    images: "mnist", or "digits", of which every fourth is held out. tested: how many test images to
    take, equally spaced, or None for all.
    """
    if images == "mnist":
        parts = [data.mnist("train"), data.mnist("test")]
    else:
        digits = data.digits()
        held_out = np.arange(len(digits.labels)) % 4 == 3
        parts = [data.Images(*(a[part] for a in digits)) for part in (~held_out, held_out)]
    side = 28 if images == "mnist" else 8
    train, (x, y) = (
        (torch.as_tensor(X, dtype=torch.float32).reshape(-1, 1, side, side), torch.as_tensor(Y))
        for X, Y in parts
    )
    every = len(y) // (tested or len(y))
    return train, (x[::every], y[::every])


def start(side, width, generator):
    """A network for images of 8 x 8 (kernels 3 x 3, padded) or 28 x 28 (kernels 5 x 5)."""
    kernel, features = (3, 64) if side == 8 else (5, 256)
    shapes = (6, 1, kernel, kernel), (16, 6, kernel, kernel), (64, features), (width, 64)

    def uniform(shape, fan_in):
        return (2 * torch.rand(shape, generator=generator) - 1) / fan_in**0.5

    layers = [uniform(s, np.prod(t[1:])) for t in shapes for s in (t, t[:1])]
    body = tuple(tensor.requires_grad_() for tensor in layers[:6])
    out = uniform((width, 10), width)
    return Network(body, (*layers[6:], out), uniform((10,), width).requires_grad_())


def below(body, x):
    """What enters the wide layer, (n, 64)."""
    for W, b in (body[:2], body[2:4]):
        x = max_pool2d(conv2d(x, W, b, padding="same" if W.shape[-1] == 3 else 0), 2).relu()
    return linear(x.flatten(1), *body[4:]).relu()


@torch.no_grad()
def activations(network, x):
    """The wide layer of a network as the library has it: H (n, m), A (10, m), beta, in NumPy."""
    W, b, out = network.wide
    H = linear(below(network.body, x), W, b).relu()
    return H.numpy(), out.T.numpy(), network.beta.detach().numpy()


def train(network, X, Y, rate, *, epochs, batch, step_size, generator, every=None, observe=None):
    """Plain SGD on the cross-entropy, one mask an iteration; changes the network in place.

    X: (n, 1, side, side), Y: (n,). rate: to drop a unit, in [0, 1). observe(network, recent,
    coming) is called as by `training.Recorder`; recent: the masks of the last iterations, each the
    numbers of the units it kept; coming: that of the next one, which the network has not seen.
    Returns a `Trained`. Cost of a step: O(batch (1 - rate) m 64) and the body.
    """
    q, recent = 1 - rate, deque(maxlen=RECENT)
    record = Recorder(observe, every, epochs * -(-len(X) // batch))
    small = [*network.body, network.beta]
    width = len(network.wide[1])
    for t, (chosen, kept) in enumerate(_draws(len(X), width, q, epochs, batch, generator)):
        record(t, network, recent, kept)
        rows = [tensor[kept].requires_grad_() for tensor in network.wide]
        H = linear(below(network.body, X[chosen]), *rows[:2]).relu()
        loss = cross_entropy(H @ rows[2] / q + network.beta, Y[chosen])
        gradients = torch.autograd.grad(loss, small + rows)
        with torch.no_grad():
            torch._foreach_add_(small, gradients[: len(small)], alpha=-step_size)
            for tensor, gradient in zip(network.wide, gradients[len(small) :], strict=True):
                tensor.index_add_(0, kept, gradient, alpha=-step_size)
        recent.append(kept)
    record(t + 1, network, recent, _mask(width, q, generator))
    return Trained(network, *record.results())


def _draws(n, width, q, epochs, batch, generator):
    """Yield the examples (b,) of each batch and the units that its mask keeps."""
    for _ in range(epochs):
        for chosen in torch.randperm(n, generator=generator).split(batch):
            yield chosen, _mask(width, q, generator)


def _mask(width, q, generator):
    """The numbers of the units that a random mask keeps."""
    return (torch.rand(width, generator=generator) < q).nonzero()[:, 0]


def _layers(network, x, y):
    """The wide layer and the labels, in NumPy, of as many images at a time as memory allows."""
    count = -(-len(x) * len(network.wide[1]) // MEMORY)
    for part in np.array_split(np.arange(len(x)), count):
        yield activations(network, x[part]), y[part].numpy()


def measure(network, x, y, masks, q, rng):
    """Test accuracy: of the full network, of subnetworks (K,), and the Gaussian prediction.

    masks: (K, m) Boolean. Returns a dict "full", "loss", "masked" (K,) and "gaussian".
    """
    totals = []
    for layer, labels in _layers(network, x, y):
        mean, covariance = subnetworks.moments(*layer, keep=q)
        masked = subnetworks.logits(*layer, masks, keep=q).argmax(-1) == labels
        guessed = subnetworks.predicted_accuracy(mean, covariance, labels, rng)
        loss = cross_entropy(torch.as_tensor(mean), torch.as_tensor(labels), reduction="sum")
        right = (mean.argmax(-1) == labels).sum()
        totals.append((right, loss.item(), masked.sum(-1), guessed.sum()))
    names = "full", "loss", "masked", "gaussian"
    return {k: sum(t) / len(x) for k, t in zip(names, zip(*totals, strict=True), strict=True)}


def curves(images, width, rate, trained, epochs, batch, step_size, tested, times, masks, seed=0):
    """One network against its subnetworks, at 0 and at `times` numbers of steps, log-spaced.

    rate: of the masks that are tested; trained: the rate in training, None for the same. masks: how
    many fixed masks training never saw. Returns "times"; test accuracies "full" (T,), "fixed" of
    these subnetworks (T, masks), "recent" (T, RECENT) of the masks of the last iterations, NaN
    where there were none, "gaussian" (T,), predicted without a mask; the full network's "loss"; and
    at the end, "half": with as many masks that keep half as much.
    """
    (X, Y), test = samples(images, tested)
    q = 1 - rate
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    fixed, half = (rng.random((masks, width), dtype=np.float32) < keep for keep in (q, q / 2))
    network = start(X.shape[-1], width, generator)

    def observe(network, recent, _):
        visited = np.zeros((RECENT, width), bool)
        for k, kept in enumerate(recent):
            visited[k, kept] = True
        found = measure(network, *test, np.concatenate([fixed, visited]), q, rng)
        found["fixed"], found["recent"] = np.split(found.pop("masked"), [masks])
        found["recent"][len(recent) :] = np.nan
        return found

    steps = epochs * -(-len(X) // batch)
    run = train(
        network, X, Y, rate if trained is None else trained, epochs=epochs, batch=batch,
        step_size=step_size, generator=generator, observe=observe,
        every=sorted(set(np.geomspace(16, steps, times).astype(int).tolist())),
    )  # fmt: skip
    at_the_end = measure(network, *test, half, q / 2, rng)["masked"]
    return {"times": run.times, **run.observed, "half": at_the_end}


def visits(images, width, rate, epochs, batch, step_size, tested, looks, masks, seed=0):
    """A network against the subnetwork that it visits next: Figure 5-2.

    At t = 0, at `looks` numbers of steps, log-spaced up to four fifths of training, and at `looks`
    evenly spaced ones after that. Returns "times" (T,), and the test accuracies "full" (T,),
    "visited" (T,) of the mask of step t before that step, and "fresh" (T, masks) of masks that are
    drawn only for this look.
    """
    (X, Y), (x, y) = samples(images, tested)
    q, steps = 1 - rate, epochs * -(-len(X) // batch)
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)

    def observe(network, _, coming):
        drawn = rng.random((1 + masks, width), dtype=np.float32) < q
        drawn[0] = np.isin(np.arange(width), coming)
        right = np.zeros(2 + masks)
        for (H, A, beta), labels in _layers(network, x, y):
            z = [H @ A.T + beta, *subnetworks.logits(H, A, beta, drawn, keep=q)]
            right += (np.argmax(z, -1) == labels).sum(-1)
        full, visited, *fresh = right / len(x)
        return {"full": full, "visited": visited, "fresh": fresh}

    early = np.geomspace(16, 0.8 * steps, looks).astype(int)
    late = np.linspace(0.8 * steps, steps, looks + 1)[1:].astype(int)
    run = train(
        start(X.shape[-1], width, generator), X, Y, rate, epochs=epochs, batch=batch,
        step_size=step_size, generator=generator, observe=observe, every=[*early, *late],
    )  # fmt: skip
    return {"times": run.times, **run.observed}


DIGITS = {"images": "digits", "epochs": 40, "batch": 32, "step_size": 0.05, "tested": None}
MNIST = {"images": "mnist", "epochs": 25, "batch": 64, "step_size": 0.01, "tested": 2000}
ASKED = {"trained": None, "rate": 0.8, "times": 12, "masks": 100}

figure_5_3 = experiment(
    "figure-5-3", over=("width", "seed"),
    quick={**ASKED, **DIGITS, "times": 6, "width": (100, 300, 1000), "seed": range(1)},
    paper={**ASKED, **MNIST, "width": (100, 1000, 10_000), "seed": range(3)},
)(curves)  # fmt: skip
figure_5_3_wide = experiment(  # fewer epochs: a step takes up to twelve times as long
    "figure-5-3-wide", over=("width",),
    quick={**ASKED, **DIGITS, "times": 6, "width": (3000,)},
    paper={**ASKED, **MNIST, "width": (50_000, 100_000, 250_000), "epochs": 1, "tested": 500,
           "times": 5},
)(curves)  # fmt: skip
VISITS = {"masks": 20, "rate": (0.1, 0.5, 0.7)}
figure_5_2 = experiment(
    "figure-5-2", over=("rate", "seed"),
    quick={**VISITS, **DIGITS, "looks": 12, "width": 100, "rate": (0.7,), "seed": range(1)},
    paper={**VISITS, **MNIST, "looks": 6, "width": 1000, "epochs": 5, "tested": None,
           "seed": range(3)},
)(visits)  # fmt: skip
figure_5_2_digits = experiment(
    "figure-5-2-digits", over=("width", "rate", "seed"),
    quick={**VISITS, **DIGITS, "looks": 60, "width": (100,), "rate": (0.7,), "seed": range(1)},
    paper={**VISITS, **DIGITS, "looks": 12, "width": (100, 300, 1000), "seed": range(4)},
)(visits)  # fmt: skip
digits_sweep = experiment(  # the gaps of both figures, and their control, on the digits
    "figure-5-3-digits", over=("trained", "width", "rate", "seed"),
    quick={**ASKED, **DIGITS, "times": 6, "trained": (None, 0.0), "width": (100, 1000),
           "rate": (0.8,), "seed": range(1)},
    paper={**ASKED, **DIGITS, "times": 6, "trained": (None, 0.0), "seed": range(4),
           "width": (50, 100, 300, 1000, 3000), "rate": (0.1, 0.5, 0.8, 0.9)},
)(curves)  # fmt: skip
