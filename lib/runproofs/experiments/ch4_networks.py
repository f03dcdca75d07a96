"""Figure 4-2 of Chapter 4: two-layer networks with dropout on the digits 4 and 7.

The thesis fixes the digits, their labels -1 and 1, the dropout rates, the step size 0.001 and 30
epochs, and names SGD in passing. It does not fix the batch, the widths, the start, or the loss
behind the generalization gap. Here: Adam, and SGD; batches of 128, PyTorch's default start, no
biases.
"""

import numpy as np
import torch

from runproofs import data
from runproofs.experiments.base import experiment
from runproofs.networks import relu_dropout

RATES = (0.0, 0.25, 0.5, 0.75)
ARMS = ("raw", "symmetrized")
SAMPLES = ("training", "held out", "held out, negated")
LAWS = ("training", "held out", "held out, symmetrized")


def fours_and_sevens(images):
    """Training and test sample: X (n, d0) float64 in [0, 1], Y (n, 1), -1 for a 4 and 1 for a 7.

    images: "mnist", or "digits", whose images of even index train and those of odd index test.
    """
    if images == "mnist":
        parts = [data.mnist("train"), data.mnist("test")]
    else:
        digits = data.digits()
        parts = [data.Images(*(a[k::2] for a in digits)) for k in (0, 1)]
    samples = []
    for pixels, labels in parts:
        chosen = np.isin(labels, (4, 7))
        X = pixels[chosen].reshape(chosen.sum(), -1).astype(float)
        samples.append((X, np.where(labels[chosen] == 7, 1.0, -1.0)[:, None]))
    return samples


def start(runs, d0, width, generator):
    """The same U (runs, 1, width) and V (runs, d0, width) for all, uniform in +-fan_in^(-1/2)."""
    V, U = (
        (2 * torch.rand(shape, generator=generator) - 1) / fan_in**0.5
        for shape, fan_in in (((d0, width), d0), ((1, width), width))
    )
    return U.repeat(runs, 1, 1), V.repeat(runs, 1, 1)


def measure(U, V, training, test):
    """How networks (runs, ...) of one output do on SAMPLES, and their flows under LAWS.

    training, test: pairs of tensors X (n, d0) and Y (n, 1). Returns arrays (runs, 3): "risk", the
    mean squared error; "clipped", the same with the output clipped to [-1, 1]; "accuracy"; "alpha",
    the sum of the flows; and "phi", the co-adaptation.
    """
    x, y = test
    found = {name: [] for name in ("risk", "clipped", "accuracy")}
    moments = []
    for X, Y in (training, test, (-x, y)):
        moments.append([])
        errors = []
        for u, v in zip(U, V, strict=True):  # one by one: the activations fill the memory
            active = torch.relu(X @ v)
            f = active @ u.mT
            moments[-1].append(active.square().mean(0).double())
            error = (Y - f).square(), (Y - f.clamp(-1, 1)).square(), (Y * f > 0)
            errors.append([e.double().mean().item() for e in error])
        for name, values in zip(found, np.transpose(errors), strict=True):
            found[name].append(values)
    train, held_out, negated = (torch.stack(m) for m in moments)
    size = torch.linalg.vector_norm(U, dim=1).double()
    laws = (train, held_out, (held_out + negated) / 2)
    flows = [(size * a2.sqrt()).numpy() for a2 in laws]
    found["alpha"] = [psi.sum(-1) for psi in flows]
    found["phi"] = [relu_dropout.coadaptation(psi) for psi in flows]
    return {name: np.stack(values, axis=-1) for name, values in found.items()}


PROTOCOL = {"rates": RATES, "epochs": 30, "step_size": 0.001}


def one_width(optimizer, images, share, width, rates, epochs, batch, step_size, seed):
    """One width, all rates, without and with symmetrization, on 1 / share of the training images.

    The seed chooses the images, the start, which all rates and both ARMS have in common, and the
    order and masks, which both ARMS have in common. Returns, at "times", numbers of steps, what
    `measure` finds, arrays (ARMS, times, rates, 3), and the size "n" of the training sample.
    """
    (X, Y), test = fours_and_sevens(images)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(X))[: len(X) // share]
    Y = Y[chosen]
    test = [torch.as_tensor(t, dtype=torch.float32) for t in test]
    steps = epochs * -(-len(Y) // batch)
    arms = []
    for inputs in (X[chosen], relu_dropout.symmetrize(X[chosen], rng)):
        generator = torch.Generator().manual_seed(seed)
        U, V = start(len(rates), X.shape[1], width, generator)
        sample = [torch.as_tensor(t, dtype=torch.float32) for t in (inputs, Y)]
        arms.append(
            relu_dropout.train(
                U, V, inputs, Y, drop=rates, epochs=epochs, batch=batch, step_size=step_size,
                optimizer=optimizer, generator=generator, every=(20, steps // 6, steps // 2),
                observe=lambda U, V, sample=sample: measure(U, V, sample, test),
            )
        )  # fmt: skip
    both = {name: np.stack([arm.observed[name] for arm in arms]) for name in arms[0].observed}
    return {"times": arms[0].times, "n": len(Y), **both}


SMALL = {**PROTOCOL, "images": "digits", "batch": 8, "share": (1,), "width": (16, 64),
         "seed": range(2)}  # fmt: skip


@experiment(
    "figure-4-2", over=("share", "width", "seed"), quick=SMALL,
    paper={**PROTOCOL, "images": "mnist", "batch": 128, "share": (1, 4),
           "width": (16, 64, 256, 1024), "seed": range(5)},
)  # fmt: skip
def figure_4_2(images, share, width, rates, epochs, batch, step_size, seed=0):
    """`one_width` by Adam."""
    return one_width("Adam", images, share, width, rates, epochs, batch, step_size, seed)


@experiment(
    "figure-4-2-sgd", over=("batch", "width"),
    quick={**SMALL, "share": 1, "batch": (8, 32), "seed": 0},
    paper={**PROTOCOL, "images": "mnist", "share": 1, "batch": (8, 128), "width": (16, 64)},
)  # fmt: skip
def figure_4_2_sgd(images, share, width, rates, epochs, batch, step_size, seed=0):
    """`one_width` by SGD."""
    return one_width("SGD", images, share, width, rates, epochs, batch, step_size, seed)
