"""Small classifiers in torch, inputs and labels for them."""

import math

import torch
from torch import nn

NORMS = [math.inf, 2]


def linear(*rows):
    """The classifier x -> (v_k^T x)_k."""
    V = torch.tensor(rows, dtype=torch.float64)
    return lambda x: x @ V.T


def mlp(outputs, inputs=12, seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))
    return model.double()


def batch(n, inputs=12, outputs=3, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, inputs, generator=g, dtype=torch.float64)
    if outputs == 1:
        return x, 2.0 * torch.randint(2, (n,), generator=g) - 1
    return x, torch.randint(outputs, (n,), generator=g)


def lengths(delta, norm):
    return torch.linalg.vector_norm(delta.flatten(1), norm, dim=1)
