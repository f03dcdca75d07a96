"""SGD with dropout in shallow linear networks, Algorithm 1 of the thesis, batched over runs.

A network ``x -> U V^T x`` with U (d2, r) and V (d0, r) is trained on
``(1/theta) U diag(b) V^T x``, whose mask b keeps each of the r hidden units with probability theta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs._tensors import check_factors, check_generator, tensor
from runproofs.linalg import column_norms
from runproofs.linear.shallow import closed_form_objective
from runproofs.training import Recorder, _step_sizes


def _sample_masks(shape, theta, generator, dtype=torch.float64):
    """Random masks: a tensor of independent ones (probability theta) and zeros."""
    theta = arguments.keep_probability(theta)
    check_generator(generator)
    return (torch.rand(shape, generator=generator, device=generator.device) < theta).to(dtype)


def sgd_step(
    U: torch.Tensor | ArrayLike,
    V: torch.Tensor | ArrayLike,
    x: torch.Tensor | ArrayLike,
    y: torch.Tensor | ArrayLike,
    mask: torch.Tensor | ArrayLike,
    step_size: float,
    *,
    keep: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step of Algorithm 1, ``-step_size theta / 2`` times the gradient of the sampled loss.

    Parameters
    ----------
    U : (..., d2, r) Tensor or array_like
        Output weights, with any leading batch axes (runs).
    V : (..., d0, r) Tensor or array_like
        Input weights.
    x : (..., d0) Tensor or array_like
        Input of each run.
    y : (..., d2) Tensor or array_like
        Its target.
    mask : (..., r) Tensor or array_like
        Its mask, of ones and zeros.
    step_size : float
        Length of the step, above 0.
    keep : float
        Probability theta of keeping a unit, in (0, 1].

    Returns
    -------
    U : (..., d2, r) Tensor
        New output weights.
    V : (..., d0, r) Tensor
        New input weights, of the dtype of U.

    References
    ----------
    :claim:`thesis/algorithm-1`
    """
    keep = arguments.keep_probability(keep)
    step_size = arguments.number("step_size", step_size, above=0)
    U = tensor("U", U)
    V, x, y, mask = (
        tensor(name, t, U.dtype, U.device)
        for name, t in (("V", V), ("x", x), ("y", y), ("mask", mask))
    )
    check_factors(U, V)
    *batch, d2, r = U.shape
    for name, t, size in (("x", x, V.shape[-2]), ("y", y, d2), ("mask", mask, r)):
        if list(t.shape) != [*batch, size]:
            raise ValueError(f"{name} must be {(*batch, size)}, but its shape is {tuple(t.shape)}.")
        if not t.isfinite().all():
            raise ValueError(f"{name} must have finite entries, but it contains NaN or infinity.")
    if not ((mask == 0) | (mask == 1)).all():
        raise ValueError("mask must consist of zeros and ones.")
    new_U, new_V = (t.clone().reshape(-1, *t.shape[-2:]) for t in (U, V))
    x, y, mask = (t.reshape(-1, 1, t.shape[-1]) for t in (x, y, mask))
    _sgd_step_(new_U, new_V, x, y, mask, keep, step_size)
    return new_U.reshape(U.shape), new_V.reshape(V.shape)


def _sgd_step_(U, V, x, y, mask, theta, step_size):
    """The step in place, for one batch axis; x, y and mask are rows (runs, 1, ...)."""
    # Rows times matrices and `addcmul_` are several times faster in torch than the equivalent
    # matrices times columns and rank-one `baddbmm_`.
    hidden = torch.bmm(x, V).mul_(mask)
    error = torch.baddbmm(y, hidden, U.mT, beta=-1, alpha=1 / theta)
    back = torch.bmm(error, U).mul_(mask)  # before U changes: both factors step from the old pair
    U.addcmul_(error.mT, hidden, value=-step_size)
    V.addcmul_(x.mT, back, value=-step_size)


class LinearTraining(NamedTuple):
    """Weights at the end of `train_linear`, and what was observed on the way.

    Attributes
    ----------
    U : (runs, d2, r) Tensor
        Output weights.
    V : (runs, d0, r) Tensor
        Input weights.
    times : (k,) ndarray
        Numbers of steps after which ``observe`` was called.
    observed : dict of (k, ...) ndarray
        Its results, each stacked along a leading axis.
    """

    U: torch.Tensor
    V: torch.Tensor
    times: np.ndarray
    observed: dict[str, np.ndarray]


@torch.no_grad()
def train_linear(
    M: ArrayLike,
    U: torch.Tensor,
    V: torch.Tensor,
    *,
    keep: float,
    steps: int,
    step_size: float | Callable,
    generator: torch.Generator,
    inputs: ArrayLike | None = None,
    every: int | Sequence[int] | None = None,
    observe: Callable | None = None,
) -> LinearTraining:
    """Algorithm 1 on samples ``y = M x``: SGD with dropout, in many independent runs at once.

    Parameters
    ----------
    M : (d2, d0) array_like
        The map that gives the targets.
    U : (runs, d2, r) Tensor
        Output weights at the start, whose dtype and device decide the arithmetic; not changed.
    V : (runs, d0, r) Tensor
        Input weights at the start, not changed.
    keep : float
        Probability theta of keeping a unit, in (0, 1].
    steps : int
        Number of steps, at least 1.
    step_size : float or callable
        Length of a step, above 0, or a function of t = 0, ..., steps - 1, at least 0.
    generator : torch.Generator
        Source of all randomness, on the device of U.
    inputs : (n, d0) array_like, optional
        Inputs, of which rows are drawn with replacement; ``x ~ N(0, I)`` by default.
    every : int or list of int, optional
        Number of steps between two observations, or the times of observations; by default there
        are only those at the start and at the end.
    observe : callable, optional
        Called as ``observe(U, V)``; returns a dict of arrays or CPU tensors.

    Returns
    -------
    LinearTraining
        Weights, and what was observed; a run that diverges ends in infinities or NaN.

    Notes
    -----
    Cost: ``O((d2 + d0) r + d2 d0)`` per step and run.

    References
    ----------
    :claim:`thesis/algorithm-1`
    """
    keep = arguments.keep_probability(keep)
    steps = arguments.positive_integer("steps", steps)
    step_size = _step_sizes(step_size)
    record = Recorder(observe, every, steps)
    check_factors(U, V, ndim=3)
    check_generator(generator, U.device)
    M = arguments.matrix("M", M, rows=U.shape[1], columns=V.shape[1])
    M = tensor("M", M, U.dtype, U.device)
    if inputs is not None:
        inputs = arguments.matrix("inputs", inputs, columns=V.shape[1])
        inputs = tensor("inputs", inputs, U.dtype, U.device)

    U, V = U.clone(), V.clone()
    record(0, U, V)
    draws = _draws(M, keep, U, steps, generator, inputs)
    for t, (x, y, mask) in enumerate(draws):
        _sgd_step_(U, V, x, y, mask, keep, step_size(t))
        record(t + 1, U, V)
    return LinearTraining(U, V, *record.results())


def _draws(M, theta, U, steps, generator, inputs=None, chunk=64):
    """Yield x (runs, 1, d0), y (runs, 1, d2) and mask (runs, 1, r) for each step."""
    # Random numbers are drawn for 64 steps at once: fewer calls, still small enough for a cache.
    runs, _, r = U.shape
    kind = {"generator": generator, "device": U.device}
    for start in range(0, steps, chunk):
        shape = (min(chunk, steps - start), runs, 1)
        if inputs is None:
            x = torch.randn((*shape, M.shape[1]), dtype=U.dtype, **kind)
        else:
            x = inputs[torch.randint(len(inputs), shape, **kind)]
        mask = _sample_masks((*shape, r), theta, generator, U.dtype)
        yield from zip(x, x @ M.mT, mask, strict=True)


def progress(M: ArrayLike, lam: float) -> Callable:
    """An ``observe`` for `train_linear` that records, in float64, how far each run has come.

    Parameters
    ----------
    M : (d2, d0) array_like
        The map that gives the targets.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    callable
        Takes U and V; returns "objective" (runs,), that of Problem (2.6), and "score_variance"
        (runs,), the variance over i of ``||u_i|| ||v_i||``.

    Notes
    -----
    Cost: ``O(d2 d0 r)`` per run and call. Runs that diverge give infinities or NaN.

    References
    ----------
    :claim:`thesis/equation-2.6`
    """
    M, lam = arguments.matrix("M", M), arguments.number("lam", lam, least=0)

    @np.errstate(over="ignore", invalid="ignore")
    def observe(U, V):
        U, V = (t.cpu().double().numpy() for t in (U, V))
        return {
            "objective": closed_form_objective(U, V, M, lam),
            "score_variance": (column_norms(U) * column_norms(V)).var(axis=-1),
        }

    return observe
