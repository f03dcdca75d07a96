"""Dropout in two-layer ReLU networks, Section 4.3 of the thesis: its objective, what it penalizes,
and training a stack of networks with it.

    f(x) = U sigma(V^T x),   sigma(z) = max(z, 0),   U (d2, d1), V (d0, d1), a column a unit.

Here p is the probability to DROP a unit, lambda = p / (1 - p), and a unit that stays is multiplied
by 1 / (1 - p). The regularizer never contains lambda. A sample is X (n, d0), one example a row,
with labels Y (n, d2); networks may have leading batch axes.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.optim.adam import adam

from runproofs import _arguments as arguments
from runproofs._tensors import check_factors, check_generator, tensor
from runproofs.linalg import weighted
from runproofs.masks import all_masks
from runproofs.networks.capacity import second_moment
from runproofs.training import Recorder

# What dropout minimizes --------------------------------------------------------------------------


def flows(U, V, X, masses=None):
    """The flows psi_j = ||u_j|| a_j of the hidden units, a_j^2 = E sigma(v_j^T x)^2.

    U: (..., d2, d1). V: (..., d0, d1). X: (n, d0). masses: None for a sample, or the probabilities
    (n,) of a law, at least 0, of sum 1. Returns (..., d1). Raises ValueError for bad arguments.
    Cost: O(n d0 d1). Source: thesis, Section 4.6.
    """
    U, V = arguments.factors(U, V)
    X = arguments.matrix("X", X, columns=V.shape[-2])
    return np.linalg.norm(U, axis=-2) * np.sqrt(second_moment(V.mT, X, masses))


def regularizer(U, V, X, masses=None):
    """R = sum_j ||u_j||^2 a_j^2, without lambda: the sum of the squared flows.

    Arguments, errors and cost as in `flows`. Returns the batch shape. Source: thesis, (4.4).

    >>> float(regularizer([[1, 2]], [[1, -1]], [[3], [-1]]))
    6.5
    """
    return (flows(U, V, X, masses) ** 2).sum(-1)


def objective(U, V, X, Y, p):
    """The dropout objective, closed form: mean ||y - f(x)||^2 + lambda R.

    U: (..., d2, d1). V: (..., d0, d1). X: (n, d0). Y: (n, d2). p: in [0, 1), a number, or one for
    each network. Returns the batch shape. Raises ValueError for bad arguments.
    Cost: O(n (d0 + d2) d1). Source: thesis, (4.3) and Proposition 5.
    """
    U, V, X, Y = _problem(U, V, X, Y)
    p = arguments.numbers("p", p, batch=U.shape[:-2], least=0, below=1)
    error = Y - _activations(V, X) @ U.mT
    return (error**2).sum(-1).mean(-1) + weighted(p / (1 - p), regularizer(U, V, X))


def objective_by_enumeration(U, V, X, Y, p):
    """The dropout objective (4.3) by its definition, over all 2^d1 masks of one network.

    Arguments and errors as in `objective`, without batch axes; d1 at most 20. Returns a float.
    Cost: O(2^d1 n d1 d2). Source: thesis, (4.3).
    """
    U, V, X, Y = _problem(U, V, X, Y)
    if U.ndim > 2:
        raise ValueError(f"U must be one matrix, but it has {U.ndim} axes.")
    keep = 1 - arguments.drop_probability(p)
    masks, probabilities = all_masks(U.shape[1], keep)
    errors = Y - (masks[:, None] / keep * _activations(V, X)) @ U.T
    return float(probabilities @ (errors**2).sum(-1).mean(-1))


# Co-adaptation, and paths ------------------------------------------------------------------------


def coadaptation(psi):
    """phi = ||psi||_1 / (sqrt(d1) ||psi||_2), which is 1 if all flows are equal.

    psi: (..., d1), flows, at least 0, not all 0. Returns the batch shape, from d1^{-1/2}, where
    only one flow is not 0, to 1. Raises ValueError for bad arguments. Cost: O(d1).
    Source: thesis, Section 4.6.

    >>> float(round(coadaptation([3, 4]) ** 2, 12))
    0.98
    """
    psi = arguments.numbers("psi", psi, least=0)
    if psi.ndim < 1 or not psi.size:
        raise ValueError(f"psi must have a last axis, of flows, but its shape is {psi.shape}.")
    largest = psi.max(
        -1, keepdims=True
    )  # divided by it, so that squares neither over- nor underflow
    if not largest.all():
        raise ValueError("psi must contain a flow that is not 0: a dead network has no phi.")
    psi = psi / largest
    return psi.sum(-1) / np.sqrt(psi.shape[-1] * (psi**2).sum(-1))


def path_norm_squared(U, V):
    """The squared l2 path norm: the products of squared weights along all paths, added up.

    U: (..., d2, d1). V: (..., d0, d1). Returns the batch shape: a product of the layers, their
    entries squared. Raises ValueError for bad arguments. Cost: O((d0 + d2) d1).
    Source: thesis, Section 4.3 and (4.8).

    >>> float(path_norm_squared([[1, 2]], [[1, 0], [3, 1]]))
    14.0
    """
    U, V = arguments.factors(U, V)
    return ((U**2).sum(-2) * (V**2).sum(-2)).sum(-1)


def symmetrize(X, rng):
    """The sample with each example multiplied by a sign of its own, a fair coin; labels stay.

    X: (n, d0). rng: NumPy Generator, or a seed. Returns (n, d0). Raises ValueError for bad
    arguments. Cost: O(n d0). Source: thesis, Corollary 3.
    """
    X = arguments.matrix("X", X)
    return X * arguments.generator(rng).choice([-1.0, 1.0], size=(len(X), 1))


# Training ----------------------------------------------------------------------------------------


class Training(NamedTuple):
    """What `train` returns."""

    U: torch.Tensor  # (runs, d2, d1), final
    V: torch.Tensor  # (runs, d0, d1), final
    times: np.ndarray  # (k,), the numbers of steps after which `observe` was called
    observed: dict[str, np.ndarray]  # its results, each with a leading axis of length k


def sampled_loss(U, V, x, y, mask):
    """The loss of masked networks, mean over the examples of ||y - U (mask * sigma(V^T x))||^2.

    Tensors U (..., d2, d1), V (..., d0, d1), x (..., b, d0), y (..., b, d2) and mask (..., b, d1),
    or (..., 1, d1) if all examples share one; they broadcast, and nothing is checked. A unit that
    stays has 1 / (1 - p) in the mask. Returns the batch shape. Cost: O(b (d0 + d2) d1).
    Source: thesis, (4.3).
    """
    hidden = torch.relu(x @ V) * mask
    return (y - hidden @ U.mT).square().sum(-1).mean(-1)


def train(
    U, V, X, Y, p, *, epochs, batch, step_size, generator, every=None, observe=None,
    optimizer="Adam",
):  # fmt: skip
    """Train a stack of networks at once with dropout, on the same batches.

    Each example of each batch has a mask of its own, in each network.
    U: (runs, d2, d1), V: (runs, d0, d1), tensors whose dtype decides the arithmetic; they are not
    changed. X: (n, d0). Y: (n, d2). p: in [0, 1), a number or (runs,). epochs, batch: at least 1;
    an epoch visits all examples, in a new order, its last batch being the rest. step_size: larger
    than 0. generator: torch.Generator, which determines the result. observe: called as
    observe(U, V) before the first step, after each `every` steps (or after the numbers of steps
    that `every` lists), and after the last; returns a dict of arrays or CPU tensors.
    optimizer: "Adam", or "SGD", without momentum.
    Returns a `Training`. Raises ValueError for bad arguments.
    Cost: O(b (d0 + d2) d1) a step and run, and 2 (d0 + d2) d1 numbers a run that Adam remembers.
    Source: thesis, Section 4.6, which names SGD in passing.
    """
    check_factors(U, V, ndim=3)
    check_generator(generator)
    _, _, *sample = _problem(U.detach(), V.detach(), X, Y)
    X, Y = (tensor(name, t, U.dtype) for name, t in zip("XY", sample, strict=True))
    epochs = arguments.positive_integer("epochs", epochs)
    batch = arguments.positive_integer("batch", batch)
    step_size = arguments.number("step_size", step_size, above=0)
    p = arguments.numbers("p", p, batch=U.shape[:1], least=0, below=1)
    keep = tensor("p", 1 - p, U.dtype).reshape(-1, 1, 1)
    record = Recorder(observe, every, epochs * -(-len(X) // batch))
    arguments.choice("optimizer", optimizer, ("Adam", "SGD"))

    U, V = (t.detach().clone() for t in (U, V))
    step = _adam([U, V], step_size) if optimizer == "Adam" else _descent([U, V], step_size)
    record(0, U, V)
    for t, (chosen, mask) in enumerate(_draws(len(X), U, keep, epochs, batch, generator)):
        step(_slopes(U, V, X[chosen], Y[chosen], mask))
        record(t + 1, U, V)
    return Training(U, V, *record.results())


def _slopes(U, V, x, y, mask):
    """The gradient of `sampled_loss` in U and in V, for each network."""
    z = x @ V
    hidden = z.relu() * mask
    error = (hidden @ U.mT - y) * (2 / len(x))
    return [error.mT @ hidden, x.T @ ((error @ U) * mask * (z > 0))]


def _descent(tensors, step_size):
    return lambda slopes: torch._foreach_add_(tensors, slopes, alpha=-step_size)


def _adam(tensors, step_size):
    """Adam as torch.optim has it; the class would import torch's compiler, for a second."""
    first, second = ([torch.zeros_like(t) for t in tensors] for _ in range(2))
    steps = [torch.zeros(()) for _ in tensors]
    return lambda slopes: adam(
        tensors, slopes, first, second, [], steps, fused=True, lr=step_size, beta1=0.9, beta2=0.999,
        eps=1e-8, weight_decay=0, amsgrad=False, maximize=False,
    )  # fmt: skip


def _draws(n, U, keep, epochs, batch, generator):
    """Yield the examples (b,) of each batch and their masks (runs, b, d1)."""
    runs, _, d1 = U.shape
    for _ in range(epochs):
        for chosen in torch.randperm(n, generator=generator).split(batch):
            coin = torch.rand((runs, len(chosen), d1), generator=generator, dtype=U.dtype)
            yield chosen, (coin < keep) / keep


# Helpers -----------------------------------------------------------------------------------------


def _activations(V, X):
    """sigma(V^T x), (..., n, d1); nothing is checked."""
    return np.maximum(X @ V, 0)


def _problem(U, V, X, Y):
    """Network and sample as float64 arrays, checked against each other."""
    U, V = arguments.factors(U, V)
    X = arguments.matrix("X", X, columns=V.shape[-2])
    return U, V, X, arguments.matrix("Y", Y, rows=len(X), columns=U.shape[-2])
