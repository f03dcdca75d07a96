"""Attacks on a network that others trained and certified, with its logits made larger.

A factor of the logits changes no label, and so none that an attack could change.
"""

from functools import cache, partial

import numpy as np
import torch
from torch.nn.functional import relu

from runproofs import data, published
from runproofs.adversarial import attacks
from runproofs.experiments import ch6_cifar
from runproofs.experiments.base import experiment

ATTACKS = {  # what is ascended, and whether along signs
    "ce": ("ce", True),
    "greedy": ("greedy", True),
    "reflected": ("reflected", True),
    "raw ce": ("ce", False),
    "raw reflected": ("reflected", False),
}


@cache
def problem(network, seed):
    """A network, and the images that it is tested on: (model, x, y).

    network: "certified", or "digits", with 64 units, trained for 5 epochs without attack.
    """
    if network == "certified":
        W1, b1, W2, b2 = map(torch.tensor, published.certified())
        x, y = map(torch.tensor, data.mnist("test"))
        return lambda u: relu(u @ W1 + b1) @ W2 + b2, x.flatten(1), y
    (X, Y), (x, y) = ch6_cifar.split_images("digits", seed)
    torch.manual_seed(seed)
    model = ch6_cifar.SideBySide(1, 64)
    plain = {"loss": "ce", "eps": 0.0, "steps": 1, "epochs": 5, "batch": 128, "rate": 0.2}
    ch6_cifar.train(model, X, Y, **plain, augment=False, seed=seed)
    return model, x, y


def found(attack, model, x, y, scale):
    """What an attack on scale times the logits finds, which returns the attacked images.

    Returns "errors" and "clean", how many images are wrong after it and before; "margin", the
    median of those that it sees; and "moved", how far a pixel went at most.
    """

    def scaled(u):
        return scale * model(u)

    with torch.no_grad():
        u = attack(scaled, x, y)
        before, after = (attacks.margin(model(v), y) for v in (x, u))
    assert 0 <= u.min() <= u.max() <= 1
    return {
        "errors": (after < 0).sum().item(), "clean": (before < 0).sum().item(),
        "margin": scale * before.median().item(), "moved": (u - x).abs().max().item(),
    }  # fmt: skip


SIGNS = {"eps": 0.1, "steps": 40, "step": 0.01}


@experiment(
    "published-network", over=("attack", "scale"),
    quick={
        "attack": tuple(ATTACKS), "scale": (0.1, 1, 1000), "network": "digits", **SIGNS,
        "raw": 0.3,
    },
    paper={
        "attack": tuple(ATTACKS), "scale": (1, 3, 10, 30, 100, 300), "network": "certified",
        **SIGNS, "raw": 0.3,
    },
)  # fmt: skip
def published_network(attack, scale, network, eps, steps, step, raw, seed=0):
    """l_inf PGD from the image, the worst point visited: steps of a length, or raw gradients.

    step: length of a step along signs; raw: factor of a raw gradient.
    """
    loss, signs = ATTACKS[attack]
    ascend = partial(
        attacks.pgd, norm=np.inf, eps=eps, steps=steps, loss=loss, best_iterate=True,
        normalize=signs, step_size=step if signs else raw,
    )  # fmt: skip
    return found(ascend, *problem(network, seed), scale)


@experiment(
    "published-network-targets", over=("thousand",),
    quick={"thousand": (0,), "network": "digits", **SIGNS},
    paper={"thousand": tuple(range(10)), "network": "certified", **SIGNS, "steps": 20},
)  # fmt: skip
def published_network_targets(thousand, network, eps, steps, step, seed=0):
    """One attack for each wrong class, along signs: for these the factor does not matter.

    thousand: of the images, in their order.
    """
    model, *images = problem(network, seed)
    x, y = (part[1000 * thousand : 1000 * (thousand + 1)] for part in images)
    ascend = partial(
        attacks.all_targets, norm=np.inf, eps=eps, steps=steps, normalize=True, step_size=step
    )
    return found(ascend, model, x, y, 1)
