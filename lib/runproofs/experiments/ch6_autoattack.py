"""How strong is an attack on every wrong class? Beside it AutoAttack, on the digits of Table 6-II.

AutoAttack, of Croce and Hein, is an ensemble of four attacks, the measure of the field.
It runs as torchattacks has it, of the extra `agreement`; the page reads a stored run.
"""

import numpy as np
import torch

from runproofs.adversarial import attacks
from runproofs.experiments import ch6_cifar
from runproofs.experiments.base import experiment

NETWORK = {"width": 64, "epochs": 10, "batch": 128, "rate": 0.2}


@experiment(
    "autoattack-digits", over=("seed",), quick={**NETWORK, "eps": 0.1, "seed": (0,)},
    paper={**NETWORK, "eps": 0.1, "seed": tuple(range(10))},
)  # fmt: skip
def autoattack_digits(width, epochs, batch, rate, eps, seed=0):
    """One network trained by PGD on the digits, then attacked in three ways.

    Returns accuracies: "clean"; "protocol", under PGD with 50 steps and 10 restarts; "targets",
    under 30 steps against each wrong class; "autoattack". Raises ModuleNotFoundError without
    torchattacks.
    """
    import torchattacks

    (X, Y), (x, y) = ch6_cifar.split_images("digits", seed)
    torch.manual_seed(seed)
    net = ch6_cifar.SideBySide(1, width)
    how = {"loss": "ce", "eps": eps, "steps": 4, "epochs": epochs, "batch": batch, "rate": rate}
    ch6_cifar.train(net, X, Y, **how, augment=False, seed=seed)
    found = ch6_cifar.accuracies(net, x, y, eps=eps, steps=50, restarts=10, seed=seed)
    signs = {"norm": np.inf, "eps": eps, "step_size": eps / 12, "normalize": True}
    targets = attacks.all_targets(net, x, y, steps=30, **signs)
    ensemble = torchattacks.AutoAttack(net, "Linf", eps, n_classes=10, seed=seed)
    images = ensemble(x.reshape(-1, 1, 8, 8), y).reshape(x.shape)
    assert (images - x).abs().max() <= eps + 1e-6
    assert images.min() >= 0
    assert images.max() <= 1

    def accuracy(u):
        with torch.no_grad():
            return (net(u).argmax(1) == y).double().mean().item()

    return {
        "clean": found["clean"].item(), "protocol": found["robust"].item(),
        "targets": accuracy(targets), "autoattack": accuracy(images),
    }  # fmt: skip
