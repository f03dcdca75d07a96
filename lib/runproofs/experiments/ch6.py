"""Table 6-I of Chapter 6: five training rules against eight attacks on the digits 0 and 1.

The thesis fixes the network, the epochs, the rates and the radii. It does not fix the number of
inner steps, the reduction of the loss over a batch, the clipping of pixels, or which iterate an
attack returns; what stands here is our choice. It is the one that comes closest to the print.
"""

import math
from functools import partial

import numpy as np
import torch
from torch.nn.functional import softplus

from runproofs import data
from runproofs.adversarial import attacks
from runproofs.bounds.attack_guarantees import flow_time
from runproofs.experiments.base import experiment
from runproofs.training import step_decay

# With an asterisk: each sample ascends its own gradient, without a box of pixels.
RULES = ("Standard", "PGD-∞", "R-PGD-∞", "PGD-2", "R-PGD-2", "PGD-2*", "R-PGD-2*")
COLUMNS = ("FGSM", "R-FGSM", "PGD-∞", "R-PGD-∞", "BIM", "R-BIM", "PGD-2", "R-PGD-2")
EXTRA = ("PGD-2*", "R-PGD-2*", "unit PGD-2", "R-unit PGD-2")  # unit: gradients of length 1
PRINTED = np.array(
    [
        [0.236, 0.236, 0.033, 0.286, 0.286, 0.286, 0.003, 0.256],
        [0.004, 0.004, 0.005, 0.005, 0.005, 0.005, 0.003, 0.050],
        [0.003, 0.003, 0.004, 0.004, 0.004, 0.004, 0.002, 0.042],
        [0.013, 0.013, 0.022, 0.024, 0.024, 0.024, 0.002, 0.034],
        [0.004, 0.004, 0.005, 0.006, 0.006, 0.006, 0.000, 0.008],
    ]
)  # Table 6-I of the thesis: the first five RULES against COLUMNS
EDGES = tuple(range(-2, 33))  # of the bins of clean margins; what is outside joins the last bins

DIGITS = {
    "images": "digits", "hidden": 100, "epochs": 20, "batch": 8, "rate": 0.3,
    "eps": (0.2, 1), "step": (10 / 64, 10 / 64), "inner": 20,
}  # fmt: skip
MNIST = {
    "images": "mnist", "hidden": 100, "epochs": 20, "batch": 64, "rate": 1,
    "eps": (0.1, 2), "step": (10, 10 / 64), "inner": 40,
}  # fmt: skip


def zeros_and_ones(images):
    """((X, Y), (X, Y)) for training and test: float32 pixels (n, d), labels 1 for a 1, -1 for a 0.

    images: "mnist", or "digits", whose images of even index train and those of odd index test.
    """
    if images == "mnist":
        splits = [data.mnist("train"), data.mnist("test")]
        chosen = [split.labels < 2 for split in splits]
        pairs = [(s.pixels[c], s.labels[c]) for s, c in zip(splits, chosen, strict=True)]
    else:
        pixels, labels = data.digits()
        pixels, labels = pixels[labels < 2], labels[labels < 2]
        pairs = [(pixels[k::2], labels[k::2]) for k in (0, 1)]
    return [
        (torch.tensor(X, dtype=torch.float32).flatten(1), torch.tensor(2.0 * Y - 1).float())
        for X, Y in pairs
    ]


def attack(name, model, x, y, eps, step, inner):
    """The attacked inputs; what `name` of COLUMNS or EXTRA means in numbers.

    eps: radii for the norms inf and 2. step: first step with a sample's own gradient, and first
    step with the gradient of the batch mean, as a multiple of the own one. It falls to a fifth
    every 10 of the `inner` steps, and the visited point of least margin is returned.
    """
    kind = name.removeprefix("R-")
    loss = "ce" if kind == name else "reflected"
    own, mean = (step_decay(first, 0.2, 10) for first in step)
    options = {"loss": loss, "steps": inner, "best_iterate": True}
    if kind == "FGSM":
        return attacks.fgsm(model, x, y, eps=eps[0], loss=loss, clip=None)
    if kind == "BIM":
        return attacks.bim(model, x, y, eps=eps[0], step_size=own, clip=None, **options)
    if kind == "PGD-∞":
        options |= {"norm": math.inf, "eps": eps[0], "step_size": own, "clip": None}
    elif kind == "PGD-2":
        options |= {"norm": 2, "eps": eps[1], "step_size": mean, "clip": (0, 1)}
    else:
        unit = kind == "unit PGD-2"
        options |= {"norm": 2, "eps": eps[1], "step_size": own, "clip": None, "normalize": unit}
    return attacks.pgd(model, x, y, **options)


def initial(d, m, generators):
    """Weights and biases of one network for each generator, uniform as torch's layers have them."""
    draws = [
        (2 * torch.rand(m * d + 2 * m + 1, generator=generator) - 1).split((m * d, m, m, 1))
        for generator in generators
    ]
    W, b, a, c = (torch.stack(parts) for parts in zip(*draws, strict=True))
    first, second = d**-0.5, m**-0.5
    return [
        first * W.reshape(-1, m, d),
        first * b[:, None],
        second * a[:, :, None],
        second * c[:, None],
    ]


def logits(parameters, u):
    """Outputs (runs n,) of the networks at u (runs n, d): each network has its own n inputs."""
    W, b, a, c = parameters  # (runs, m, d), (runs, 1, m), (runs, m, 1), (runs, 1, 1)
    hidden = torch.baddbmm(b, u.reshape(len(W), -1, W.shape[-1]), W.mT).relu()
    return torch.baddbmm(c, hidden, a).flatten()


def train(rule, X, Y, hidden, epochs, batch, rate, attacked, generators):
    """Parameters after adversarial training of one network for each generator, side by side.

    The rate falls to a fifth every 5 epochs. attacked: `attack` with its numbers.
    """
    parameters, runs = initial(X.shape[1], hidden, generators), len(generators)
    for epoch in range(epochs):
        order = torch.stack([torch.randperm(len(X), generator=g) for g in generators])
        for chosen in order.split(batch, dim=1):
            u, y = X[chosen].flatten(0, 1), Y[chosen].flatten()
            if rule != "Standard":
                u = attacked(rule, partial(logits, parameters), u, y)
            weights = [p.requires_grad_() for p in parameters]
            loss = softplus(-y * logits(weights, u)).reshape(runs, -1).mean(1).sum()
            steps = torch.autograd.grad(loss, weights)
            eta = rate * 0.2 ** (epoch // 5)
            parameters = [(p - eta * g).detach() for p, g in zip(weights, steps, strict=True)]
    return parameters


def clean_margins(model, x, y):
    """Margin z and squared length of its gradient at each input, (n,) and (n,)."""
    x = x.clone().requires_grad_()
    z = y * model(x)
    (g,) = torch.autograd.grad(z.sum(), x)
    return z.detach(), g.square().sum(1)


@experiment(
    "table-6-1", over=("rule", "seed"),
    quick={**DIGITS, "rule": RULES[:5], "seed": (0,), "runs": 5},
    paper={**MNIST, "rule": RULES, "seed": tuple(range(10)), "runs": 1},
)  # fmt: skip
def table_6_1(rule, images, hidden, epochs, batch, rate, eps, step, inner, runs, seed=0):
    """Train `runs` networks from the seeds seed, seed + 1, ... and attack each on the test set.

    Returns "clean" (runs,) and "error" (runs, attacks): shares of test images that are
    misclassified, at once and under COLUMNS + EXTRA; "points" (runs, bins) and "flipped"
    (runs, attacks, bins): how many test images have their clean margin between two EDGES, and how
    many of them each attack misclassifies; "law" (runs, 2): the error under PGD-2* that the law of
    the total step predicts from margin and gradient at the clean image, and the share of images
    for which it is mistaken; "gradient" (runs,): the median squared length of that gradient.
    """
    (X, Y), (x, y) = zeros_and_ones(images)

    def attacked(name, model, x, y):
        return attack(name, model, x, y, eps, step, inner)

    generators = [torch.Generator().manual_seed(seed + k) for k in range(runs)]
    parameters = train(rule, X, Y, hidden, epochs, batch, rate, attacked, generators)
    x, y = x.repeat(runs, 1), y.repeat(runs)
    model = partial(logits, parameters)
    names = COLUMNS + EXTRA
    wrong = torch.stack([y * model(attacked(name, model, x, y)) <= 0 for name in names])
    wrong = wrong.reshape(len(names), runs, -1).swapaxes(0, 1)  # (runs, attacks, n)
    z, g = (v.reshape(runs, -1) for v in clean_margins(model, x, y))
    schedule = step_decay(step[0], 0.2, 10)
    reach = sum(schedule(t) for t in range(inner)) * g
    within = z < eps[1] * g.sqrt()
    predicted = (torch.as_tensor(flow_time(z, 1)) <= reach) & within
    bins = torch.bucketize(z.clamp(EDGES[0], EDGES[-1] - 1e-4), torch.tensor(EDGES), right=True) - 1
    member = torch.nn.functional.one_hot(bins, len(EDGES) - 1)  # (runs, n, bins)
    mistaken = predicted != wrong[:, names.index("PGD-2*")]
    return {
        "clean": (z <= 0).float().mean(1),
        "error": wrong.float().mean(2),
        "points": member.sum(1).short(),
        "flipped": (wrong.long() @ member).short(),
        "law": torch.stack([predicted, mistaken], 1).float().mean(2),
        "gradient": g.median(1).values,
    }


def errors(result):
    """Robust errors (rules, networks, attacks) of a run of Table 6-I."""
    error = result["error"]
    return error.reshape(len(error), -1, error.shape[-1])


@experiment("table-6-1-data", quick={"images": "digits"}, paper={"images": "mnist"})
def table_6_1_data(images, seed=0):
    """Returns "counts" (2, 2): zeros and ones (columns) among training and test images (rows)."""
    return {"counts": [[(Y < 0).sum(), (Y > 0).sum()] for _, Y in zeros_and_ones(images)]}
