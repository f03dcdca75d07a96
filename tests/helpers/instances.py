"""Random instances that several test files share."""

import numpy as np
import torch
from torch.nn.functional import leaky_relu

from runproofs.networks.two_layer import TwoLayerNetwork


def linear_problem(seed, d2, d0, r):
    """U (d2, r), V (d0, r), M (d2, d0), and the generator that drew them."""
    rng = np.random.default_rng(seed)
    shapes = (d2, r), (d0, r), (d2, d0)
    return *(rng.standard_normal(shape) for shape in shapes), rng


def leaky_problem(seed, *batch, m=3, d=4):
    """A network, or a batch of them, with one labeled point for each."""
    rng = np.random.default_rng(seed)
    net = TwoLayerNetwork(
        rng.standard_normal((*batch, m, d)),
        rng.standard_normal((*batch, m)),
        rng.random(batch),
    )
    return net, rng.standard_normal((*batch, d)), rng.choice([-1.0, 1.0], batch)


def torch_margin(net, u, y, bias=0.0, offset=0.0, W=None):
    """The margin of a single network, by another library."""
    W = torch.tensor(net.W) if W is None else W
    hidden = leaky_relu(u @ W.T + torch.as_tensor(bias), float(net.alpha))
    return torch.as_tensor(y) * (hidden @ torch.tensor(net.a) + offset)


# Deep linear networks: the singular values of the target, the widths, the strength of dropout.
ARCHITECTURES = [
    ((2.0, 1.0), (3, 4), 0.8),
    ((2.0, 1.0, 0.4), (3, 3), 0.5),
    ((1.5, 1.0), (4,), 1.3),
    ((1.0, 0.6), (2, 3, 2), 0.7),
    ((1.0, 0.9), (2, 2), 4.0),
    ((1.2,), (2, 3), 0.5),
    ((1.0, 0.7, 0.3), (4, 3, 5), 0.2),
]
