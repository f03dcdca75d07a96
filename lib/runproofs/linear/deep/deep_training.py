"""Training of deep linear networks with dropout, in many runs and at many rates at once.

Sampled: SGD on minibatches with a fresh mask for every sample. Exact: gradient descent on the
closed form of its expectation. In both, every run has its own start, common to all rates; sampled,
the rates of a run share the random numbers, so that results differ between rates by the rate alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs._tensors import check_generator, tensor
from runproofs.linear.deep.network import _gradient
from runproofs.training import Recorder, _step_sizes


class DeepTraining(NamedTuple):
    """What the trainers return.

    Attributes
    ----------
    weights : list of (rates, runs, d_i, d_{i-1}) Tensor
        Final weights.
    times : (n,) ndarray
        Numbers of steps after which observe was called.
    observed : dict of (n, ...) ndarray
        Its results, by name.
    """

    weights: list[torch.Tensor]
    times: np.ndarray
    observed: dict[str, np.ndarray]


@torch.no_grad()
def train_sampled(
    target: ArrayLike,
    weights: Sequence[torch.Tensor],
    *,
    keep: ArrayLike,
    steps: int,
    step_size: float | Callable,
    batch: int,
    generator: torch.Generator,
    every: int | Sequence[int] | None = None,
    observe: Callable | None = None,
) -> DeepTraining:
    """SGD with dropout on minibatches of samples y = target x with x standard normal.

    A step is -step_size times the gradient of the mean of ``||y - W x||^2`` over the batch. A run
    that diverges ends in infinities or NaN.

    Parameters
    ----------
    target : (d_{k+1}, d_0) array_like
        Map that is learned.
    weights : list of (runs, d_i, d_{i-1}) Tensor
        Starts; their common dtype and device decide the arithmetic. They are not changed.
    keep : (rates,) array_like
        Probabilities theta of keeping a unit, in (0, 1].
    steps : int
        Number of steps, at least 1.
    step_size : float or callable
        Larger than 0, or a function of t = 0, ..., steps - 1 whose values are at least 0.
    batch : int
        Number of samples per step, at least 1.
    generator : torch.Generator
        On the device of the weights.
    every : int or list of int, optional
        Steps between two calls of observe, or the times of its calls.
    observe : callable, optional
        Called with the list of weights (rates, runs, d_i, d_{i-1}) before the first step, as every
        says, and after the last step; returns a dict of arrays or CPU tensors.

    Returns
    -------
    DeepTraining
        Final weights, and what was observed.

    Notes
    -----
    Cost: ``O(rates runs batch k d^2)`` per step, and ``O(rates runs batch k d)`` memory: on a CPU,
    few runs a call fit its cache.

    References
    ----------
    :claim:`thesis/algorithm-1`, :claim:`thesis/ch3-experiment-setup`
    """
    weights, keep, step_size, record = _start(weights, keep, step_size, steps, every, observe)
    batch = arguments.positive_integer("batch", batch)
    like = weights[0]
    check_generator(generator, like.device)
    target = tensor("target", _target("target", target, weights), like.dtype, like.device)
    rates, runs = like.shape[:2]
    kind = {"generator": generator, "dtype": like.dtype, "device": like.device}
    keep = tensor("keep", keep, like.dtype, like.device).view(-1, 1, 1, 1)
    masks = [like.new_empty(rates, runs, batch, W.shape[2]) for W in weights[:-1]]
    record(0, weights)
    for t in range(steps):
        x = torch.randn(runs, batch, like.shape[3], **kind)
        for mask in masks:
            torch.lt(torch.rand(mask.shape[1:], **kind), keep, out=mask)
        gradients = _sampled_gradient(weights, x, x @ target.mT, masks, keep)
        for W, g in zip(weights, gradients, strict=True):
            W.sub_(g, alpha=step_size(t))
        record(t + 1, weights)
    return DeepTraining(weights, *record.results())


def _sampled_gradient(weights, x, y, masks, keep):
    """Gradient of the mean of ||y - W x||^2 over a batch, with rows as samples.

    1 / theta goes with the small matrices, so that masks are zeros and ones.
    """
    inputs = [x.expand(len(weights[0]), *x.shape)]
    for W, mask in zip(weights, masks, strict=False):
        inputs.append((inputs[-1] @ (W / keep).mT).mul_(mask))
    back = (inputs[-1] @ weights[-1].mT).sub_(y).mul_(2 / x.shape[-2])
    gradients = [back.mT @ inputs[-1]]
    for j in reversed(range(len(masks))):
        back = (back @ (weights[j + 1] / keep)).mul_(masks[j])
        gradients.append(back.mT @ inputs[j])
    return gradients[::-1]


@torch.no_grad()
def train_exact(
    Cyx: ArrayLike,
    weights: Sequence[torch.Tensor],
    *,
    keep: ArrayLike,
    steps: int,
    step_size: float | Callable,
    C: ArrayLike | None = None,
    every: int | Sequence[int] | None = None,
    observe: Callable | None = None,
) -> DeepTraining:
    """Gradient descent on the expected objective of dropout, in closed form.

    Parameters
    ----------
    Cyx : (d_{k+1}, d_0) array_like
        Second moment ``E y x^T``, the target where C = I.
    weights : list of (runs, d_i, d_{i-1}) Tensor
        Starts; their common dtype and device decide the arithmetic. They are not changed.
    keep : (rates,) array_like
        Probabilities theta of keeping a unit, in (0, 1].
    steps : int
        Number of steps, at least 1.
    step_size : float or callable
        Factor of the gradient: larger than 0, or a function of t = 0, ..., steps - 1 whose values
        are at least 0.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.
    every : int or list of int, optional
        Steps between two calls of observe, or the times of its calls.
    observe : callable, optional
        Called with the list of weights (rates, runs, d_i, d_{i-1}) before the first step, as every
        says, and after the last step; returns a dict of arrays or CPU tensors.

    Returns
    -------
    DeepTraining
        Final weights, and what was observed.

    See Also
    --------
    train_sampled : SGD, whose gradients have these means for C = I.

    Notes
    -----
    Cost: ``O(rates runs k d^3)`` per step.

    References
    ----------
    :claim:`thesis/equation-3.1`, :claim:`thesis/proposition-8`
    """
    weights, keep, step_size, record = _start(weights, keep, step_size, steps, every, observe)
    like = {"dtype": weights[0].dtype, "device": weights[0].device}
    Cyx = tensor("Cyx", _target("Cyx", Cyx, weights), **like)
    d0 = Cyx.shape[1]
    C = np.eye(d0) if C is None else arguments.positive_semidefinite("C", C, size=d0)
    C = tensor("C", C, **like)
    lam = tensor("lam", (1 - keep) / keep, **like).view(-1, 1, 1, 1)
    gains = [1 + lam * torch.eye(W.shape[2], **like) for W in weights[:-1]]
    record(0, weights)
    layers = weights
    if like["device"].type == "cpu" and like["dtype"] in (torch.float32, torch.float64):
        # the same memory; a call on small matrices costs NumPy a third of what it costs torch
        layers, gains = ([t.numpy() for t in tensors] for tensors in (weights, gains))
        C, Cyx = C.numpy(), Cyx.numpy()
    for t in range(steps):
        for W, g in zip(layers, _gradient(layers, gains, C, Cyx), strict=True):
            W -= step_size(t) * g
        record(t + 1, weights)
    return DeepTraining(weights, *record.results())


def _start(weights, theta, step_size, steps, every, observe):
    """Checked arguments; the weights copied for every rate."""
    if not isinstance(weights, (list, tuple)) or not all(
        isinstance(W, torch.Tensor) and W.is_floating_point() and W.ndim == 3 for W in weights
    ):
        raise ValueError("weights must be a list of floating-point tensors (runs, d_i, d_{i-1}).")
    if len({(W.dtype, W.device) for W in weights}) > 1:
        kinds = ", ".join(f"{W.dtype} on {W.device}" for W in weights)
        raise ValueError(f"weights must agree in dtype and device, but they are {kinds}.")
    weights = [W.detach() for W in weights]
    arguments.layers([W.double().cpu().numpy() for W in weights])
    theta = np.array([arguments.keep_probability(t) for t in arguments.vector("keep", theta)])
    weights = [W.expand(len(theta), *W.shape).clone() for W in weights]
    steps = arguments.positive_integer("steps", steps)
    return weights, theta, _step_sizes(step_size), Recorder(observe, every, steps)


def _target(name, target, weights):
    rows, columns = weights[-1].shape[-2], weights[0].shape[-1]
    return arguments.matrix(name, target, rows=rows, columns=columns)
