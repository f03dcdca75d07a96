"""Dropout in two-layer ReLU networks, Section 4.3 of the thesis: objective, penalty and training.

The network, with a column of U and of V for each unit, is::

    f(x) = U sigma(V^T x),   sigma(z) = max(z, 0),   U (d2, d1), V (d0, d1).

Here p is the probability to DROP a unit, lambda = p / (1 - p), and a unit that stays is multiplied
by 1 / (1 - p). The regularizer never contains lambda. A sample is X (n, d0), one example a row,
with labels Y (n, d2); networks may have leading batch axes. Of Fractions, the enumeration and the
path norm are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.optim.adam import adam

from runproofs import _arguments as arguments
from runproofs._tensors import check_factors, check_generator, tensor
from runproofs.linalg import weighted
from runproofs.masks import all_masks
from runproofs.networks.capacity import second_moment
from runproofs.training import Recorder

# What dropout minimizes --------------------------------------------------------------------------


def flows(U: ArrayLike, V: ArrayLike, X: ArrayLike, masses: ArrayLike | None = None) -> np.ndarray:
    """The flows ``psi_j = ||u_j|| a_j`` of the hidden units, ``a_j^2 = E sigma(v_j^T x)^2``.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Output weights, a column u_j for each unit, with any leading batch axes.
    V : (..., d0, d1) array_like
        Input weights, a column v_j for each unit.
    X : (n, d0) array_like
        Inputs, one a row.
    masses : (n,) array_like, optional
        Probabilities of the inputs, at least 0 with sum 1; equal by default.

    Returns
    -------
    (..., d1) ndarray
        The flow of each unit.

    Notes
    -----
    Cost: ``O(n d0 d1)`` per network.

    References
    ----------
    :claim:`thesis/definition-coadaptation`
    """
    U, V = arguments.factors(U, V)
    X = arguments.matrix("X", X, columns=V.shape[-2])
    return np.linalg.norm(U, axis=-2) * np.sqrt(second_moment(V.mT, X, masses))


def regularizer(
    U: ArrayLike, V: ArrayLike, X: ArrayLike, masses: ArrayLike | None = None
) -> np.ndarray | float:
    """Explicit regularizer ``R = sum_j ||u_j||^2 a_j^2`` of dropout, the sum of the squared flows.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Output weights, a column u_j for each unit, with any leading batch axes.
    V : (..., d0, d1) array_like
        Input weights, a column v_j for each unit.
    X : (n, d0) array_like
        Inputs, one a row.
    masses : (n,) array_like, optional
        Probabilities of the inputs, at least 0 with sum 1; equal by default.

    Returns
    -------
    (...) ndarray
        R for each network, without lambda.

    Notes
    -----
    Cost: ``O(n d0 d1)`` per network.

    References
    ----------
    :claim:`thesis/equation-4.4`

    Examples
    --------
    >>> float(regularizer([[1, 2]], [[1, -1]], [[3], [-1]]))
    6.5
    """
    return (flows(U, V, X, masses) ** 2).sum(-1)


def objective(
    U: ArrayLike, V: ArrayLike, X: ArrayLike, Y: ArrayLike, *, drop: ArrayLike
) -> np.ndarray | float:
    """The dropout objective in closed form, mean of ``||y - f(x)||^2`` plus lambda R.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Output weights, a column u_j for each unit, with any leading batch axes.
    V : (..., d0, d1) array_like
        Input weights, a column v_j for each unit.
    X : (n, d0) array_like
        Inputs, one a row.
    Y : (n, d2) array_like
        Their labels y.
    drop : float or (...) array_like
        Probability p of dropping a unit, in [0, 1): a number, or one for each network.

    Returns
    -------
    (...) ndarray
        The objective of each network.

    Notes
    -----
    Cost: ``O(n (d0 + d2) d1)`` per network.

    References
    ----------
    :claim:`thesis/equation-4.3`, :claim:`thesis/proposition-5`
    """
    U, V, X, Y = _problem(U, V, X, Y)
    drop = arguments.numbers("drop", drop, batch=U.shape[:-2], least=0, below=1)
    error = Y - _activations(V, X) @ U.mT
    return (error**2).sum(-1).mean(-1) + weighted(drop / (1 - drop), regularizer(U, V, X))


def objective_by_enumeration(
    U: ArrayLike, V: ArrayLike, X: ArrayLike, Y: ArrayLike, *, drop: float | Fraction
) -> float | Fraction:
    """The dropout objective by its definition, over all masks of one network.

    Parameters
    ----------
    U : (d2, d1) array_like
        Output weights of at most 20 units.
    V : (d0, d1) array_like
        Input weights.
    X : (n, d0) array_like
        Inputs, one a row.
    Y : (n, d2) array_like
        Their labels y.
    drop : float
        Probability p of dropping a unit, in [0, 1).

    Returns
    -------
    float
        The objective.

    See Also
    --------
    objective : The same in closed form.

    Notes
    -----
    Cost: ``O(2^d1 n d1 d2)``.

    References
    ----------
    :claim:`thesis/equation-4.3`
    """
    U, V, X, Y = _problem(U, V, X, Y)
    if U.ndim > 2:
        raise ValueError(f"U must be one matrix, but it has {U.ndim} axes.")
    keep = 1 - arguments.drop_probability(drop, exact=U.dtype == object)
    masks, probabilities = all_masks(U.shape[1], keep=keep)
    errors = Y - (masks[:, None] / keep * _activations(V, X)) @ U.T
    mean = probabilities @ (errors**2).sum(-1).mean(-1)
    return mean if isinstance(mean, Fraction) else float(mean)


# Co-adaptation, and paths ------------------------------------------------------------------------


def coadaptation(psi: ArrayLike) -> np.ndarray | float:
    """Co-adaptation ``phi = ||psi||_1 / (sqrt(d1) ||psi||_2)``, which is 1 if all flows are equal.

    Parameters
    ----------
    psi : (..., d1) array_like
        Flows, at least 0, not all 0.

    Returns
    -------
    (...) ndarray
        The measure phi, from ``d1^{-1/2}``, where only one flow is not 0, to 1.

    References
    ----------
    :claim:`thesis/definition-coadaptation`

    Examples
    --------
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


def path_norm_squared(U: ArrayLike, V: ArrayLike) -> np.ndarray | Fraction | float:
    """The squared l2 path norm: the products of squared weights along all paths, added up.

    Parameters
    ----------
    U : (..., d2, d1) array_like
        Output weights, a column u_j for each unit, with any leading batch axes.
    V : (..., d0, d1) array_like
        Input weights, a column v_j for each unit.

    Returns
    -------
    (...) ndarray
        The squared norm of each network.

    References
    ----------
    :claim:`thesis/remark-path-norm`, :claim:`thesis/equation-4.8`

    Examples
    --------
    >>> float(path_norm_squared([[1, 2]], [[1, 0], [3, 1]]))
    14.0
    """
    U, V = arguments.factors(U, V, exact=True)
    return ((U**2).sum(-2) * (V**2).sum(-2)).sum(-1)


def symmetrize(X: ArrayLike, rng: np.random.Generator | int) -> np.ndarray:
    """The sample with each input multiplied by a sign of its own, a fair coin; labels stay.

    Parameters
    ----------
    X : (n, d0) array_like
        Inputs, one a row.
    rng : numpy.random.Generator or int
        Source of the signs, or a seed.

    Returns
    -------
    (n, d0) ndarray
        The inputs with their signs.

    References
    ----------
    :claim:`thesis/remark-symmetrization`, :claim:`thesis/corollary-3`
    """
    X = arguments.matrix("X", X)
    return X * arguments.generator(rng).choice([-1.0, 1.0], size=(len(X), 1))


# Training ----------------------------------------------------------------------------------------


class ReLUTraining(NamedTuple):
    """Final networks, and what was observed on the way.

    Attributes
    ----------
    U : (runs, d2, d1) Tensor
        Final output weights.
    V : (runs, d0, d1) Tensor
        Final input weights.
    times : (k,) ndarray
        Numbers of steps after which observe was called.
    observed : dict of ndarray
        Its results by name, each with a leading axis of length k.
    """

    U: torch.Tensor
    V: torch.Tensor
    times: np.ndarray
    observed: dict[str, np.ndarray]


def sampled_loss(
    U: torch.Tensor, V: torch.Tensor, x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """The loss of masked networks, mean over the examples of ``||y - U (mask * sigma(V^T x))||^2``.

    Parameters
    ----------
    U : (..., d2, d1) Tensor
        Output weights.
    V : (..., d0, d1) Tensor
        Input weights.
    x : (..., b, d0) Tensor
        Inputs of a batch, one a row.
    y : (..., b, d2) Tensor
        Their labels.
    mask : (..., b, d1) or (..., 1, d1) Tensor
        0 for a unit that is dropped, 1 / (1 - p) for one that stays; for each example, or for all.

    Returns
    -------
    (...) Tensor
        The loss of each network.

    Notes
    -----
    All axes (...) broadcast. Cost: ``O(b (d0 + d2) d1)`` per network. Nothing is checked.

    References
    ----------
    :claim:`thesis/equation-4.3`
    """
    hidden = torch.relu(x @ V) * mask
    return (y - hidden @ U.mT).square().sum(-1).mean(-1)


def train(
    U: torch.Tensor,
    V: torch.Tensor,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    drop: ArrayLike,
    epochs: int,
    batch: int,
    step_size: float,
    generator: torch.Generator,
    every: int | Sequence[int] | None = None,
    observe: Callable | None = None,
    optimizer: Literal["Adam", "SGD"] = "Adam",
) -> ReLUTraining:
    """Train a stack of networks at once with dropout, on the same batches.

    Each example of each batch has a mask of its own, in each network.

    Parameters
    ----------
    U : (runs, d2, d1) Tensor
        Output weights to start from, which stay; their dtype decides the arithmetic.
    V : (runs, d0, d1) Tensor
        Input weights to start from, which stay.
    X : (n, d0) array_like
        Inputs, one a row.
    Y : (n, d2) array_like
        Their labels.
    drop : float or (runs,) array_like
        Probability p of dropping a unit, in [0, 1): a number, or one for each network.
    epochs : int
        Number of epochs, at least 1; each visits all examples, in a new order.
    batch : int
        Number of examples in a batch, at least 1; the last batch of an epoch is the rest.
    step_size : float
        Length of the steps, larger than 0.
    generator : torch.Generator
        Source of batches and masks, which determines the result.
    every : int or list of int, optional
        Number of steps between two calls of observe, or the steps after which it is called.
    observe : callable, optional
        Takes U and V, at the start, by every, and at the end; returns a dict of arrays or CPU
        tensors.
    optimizer : {"Adam", "SGD"}, optional
        Method, SGD being without momentum.

    Returns
    -------
    ReLUTraining
        The final networks, and what was observed.

    Notes
    -----
    Cost: ``O(b (d0 + d2) d1)`` per step and run, and 2 (d0 + d2) d1 numbers per run that Adam
    remembers.

    References
    ----------
    Section 4.6 of the thesis, which names SGD in passing
    """
    check_factors(U, V, ndim=3)
    check_generator(generator)
    _, _, *sample = _problem(U.detach(), V.detach(), X, Y)
    X, Y = (tensor(name, t, U.dtype) for name, t in zip("XY", sample, strict=True))
    epochs = arguments.positive_integer("epochs", epochs)
    batch = arguments.positive_integer("batch", batch)
    step_size = arguments.number("step_size", step_size, above=0)
    drop = arguments.numbers("drop", drop, batch=U.shape[:1], least=0, below=1)
    keep = tensor("drop", 1 - drop, U.dtype).reshape(-1, 1, 1)
    record = Recorder(observe, every, epochs * -(-len(X) // batch))
    arguments.choice("optimizer", optimizer, ("Adam", "SGD"))

    U, V = (t.detach().clone() for t in (U, V))
    step = _adam([U, V], step_size) if optimizer == "Adam" else _descent([U, V], step_size)
    record(0, U, V)
    for t, (chosen, mask) in enumerate(_draws(len(X), U, keep, epochs, batch, generator)):
        step(_slopes(U, V, X[chosen], Y[chosen], mask))
        record(t + 1, U, V)
    return ReLUTraining(U, V, *record.results())


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
    """Network and sample as arrays of floats, or of Fractions, checked against each other."""
    U, V = arguments.factors(U, V, exact=True)
    X = arguments.matrix("X", X, columns=V.shape[-2], exact=True)
    return U, V, X, arguments.matrix("Y", Y, rows=len(X), columns=U.shape[-2], exact=True)
