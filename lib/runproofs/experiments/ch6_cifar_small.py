"""Table 6-II on real images, as far as one processor gets: a narrow network, few images.

Network, training and attacks are those of `ch6_cifar`.
"""

import torch

from runproofs.experiments import ch6_cifar
from runproofs.experiments.base import experiment
from runproofs.experiments.first_images import first_images


def split_images(images, trained, seed):
    """((X, Y), (X, Y)) for training and test: of the first images, the first `trained` train.

    images: "cifar-10-first", or "noise" for a test of the code.
    """
    if images == "noise":
        return ch6_cifar.split_images("noise", seed)
    pixels, labels = map(torch.from_numpy, first_images())
    return (pixels[:trained], labels[:trained]), (pixels[trained:], labels[trained:])


def network(width, stride):
    """A PreActResNet-18 whose first convolution goes by `stride`, in the thesis by 1."""
    # not in the faster format channels_last, whose gradients crash torch 2.13 without AVX-512
    model = ch6_cifar.preact_resnet18(width)
    model[1].stride = stride, stride
    return model


@experiment(
    "table-6-2-small", over=("seed", "loss", "eps"),
    quick={
        "seed": (0,), "loss": ch6_cifar.LOSSES, "eps": (8 / 255,), "steps": 2, "images": "noise",
        "trained": 32, "width": 4, "stride": 2, "epochs": 1, "batch": 16, "rate": 0.2,
        "test": (8 / 255, 2, 1),
    },
    paper={
        "seed": (0, 1, 2, 3), "loss": ch6_cifar.LOSSES, "eps": (8 / 255, 16 / 255), "steps": 2,
        "images": "cifar-10-first", "trained": 3000, "width": 8, "stride": 2, "epochs": 10,
        "batch": 64, "rate": 0.2, "test": (8 / 255, 10, 1),
    },
)  # fmt: skip
def table_6_2_small(
    loss, eps, steps, images, trained, width, stride, epochs, batch, rate, test, seed=0
):
    """Accuracy (1,), "clean" and "robust", of a narrow network on the images that do not train."""
    (X, Y), (x, y) = split_images(images, trained, seed)
    torch.manual_seed(seed)  # of the initial weights
    model = network(width, stride)
    how = {"epochs": epochs, "batch": batch, "rate": rate, "augment": True, "seed": seed}
    ch6_cifar.train(model, X, Y, loss=loss, eps=eps, steps=steps, **how)
    size, count, restarts = test
    attack = {"eps": size, "steps": count, "restarts": restarts, "seed": seed}
    return ch6_cifar.accuracies(model, x, y, **attack, batch=100)
