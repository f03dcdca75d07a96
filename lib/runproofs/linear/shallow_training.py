"""SGD with dropout in shallow linear networks, Algorithm 1 of the thesis, batched over runs.

A network x -> U V^T x with U (d2, r) and V (d0, r) is trained on
(1/theta) U diag(b) V^T x, whose mask b keeps each of the r hidden units with probability theta.
"""

from typing import NamedTuple

import numpy as np
import torch

from runproofs import _arguments as arguments
from runproofs._tensors import check_factors, check_generator, tensor
from runproofs.linalg import column_norms
from runproofs.linear.shallow import closed_form_objective
from runproofs.training import Recorder, _step_sizes


def _sample_masks(shape, theta, generator, dtype=torch.float64):
    """Random masks: a tensor of independent ones (probability theta) and zeros.

    shape: of the result. theta: in (0, 1]. generator: torch.Generator, on whose device the result
    lies. dtype: of the result. Raises ValueError for bad arguments. Cost: one random number each.
    """
    theta = arguments.keep_probability(theta)
    check_generator(generator)
    return (torch.rand(shape, generator=generator, device=generator.device) < theta).to(dtype)


def sgd_step(U, V, x, y, mask, theta, step_size):
    """One step of Algorithm 1, -(step_size theta / 2) times the gradient of the sampled loss.

    Tensors or arrays with any leading batch axes (runs): U (..., d2, r), V (..., d0, r),
    x (..., d0), y (..., d2), mask (..., r). theta: in (0, 1]. step_size: larger than 0. Returns new
    tensors (U, V), of the dtype of U. Raises ValueError for bad arguments.
    Cost: O((d2 + d0) r) a run. Source: thesis, Algorithm 1.
    """
    theta = arguments.keep_probability(theta)
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
    _sgd_step_(new_U, new_V, x, y, mask, theta, step_size)
    return new_U.reshape(U.shape), new_V.reshape(V.shape)


def _sgd_step_(U, V, x, y, mask, theta, step_size):
    """The step in place, for one batch axis; x, y and mask are rows (runs, 1, ...).

    Rows times matrices and `addcmul_` are several times faster in torch than the equivalent
    matrices times columns and rank-one `baddbmm_`.
    """
    hidden = torch.bmm(x, V).mul_(mask)
    error = torch.baddbmm(y, hidden, U.mT, beta=-1, alpha=1 / theta)
    back = torch.bmm(error, U).mul_(mask)  # before U changes: both factors step from the old pair
    U.addcmul_(error.mT, hidden, value=-step_size)
    V.addcmul_(x.mT, back, value=-step_size)


class Training(NamedTuple):
    """What `train_linear` returns."""

    U: torch.Tensor  # (runs, d2, r), final
    V: torch.Tensor  # (runs, d0, r), final
    times: np.ndarray  # (k,), the numbers of steps after which `observe` was called
    observed: dict[str, np.ndarray]  # its results, each with a leading axis of length k


@torch.no_grad()
def train_linear(
    M, theta, U, V, *, steps, step_size, generator, inputs=None, every=None, observe=None
):
    """Algorithm 1 on samples y = M x: SGD with dropout, in many independent runs at once.

    M: (d2, d0). theta: in (0, 1]. U: (runs, d2, r), V: (runs, d0, r), torch tensors whose dtype and
    device decide the arithmetic; they are not changed. steps: at least 1. step_size: a number
    larger than 0, or a function of t = 0, ..., steps - 1, at least 0. generator: torch.Generator on
    the device of U, which determines the result. inputs: None for x ~ N(0, I), or (n, d0), whose
    rows are drawn with replacement. observe: called as observe(U, V) before the first step, after
    each `every` steps (or after the numbers of steps that `every` lists), and after the last;
    returns a dict of arrays or CPU tensors. A run that diverges ends in infinities or NaN.
    Returns a `Training`. Raises ValueError for bad arguments.
    Cost: O((d2 + d0) r + d2 d0) a step and run. Source: thesis, Algorithm 1.
    """
    theta = arguments.keep_probability(theta)
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
    draws = _draws(M, theta, U, steps, generator, inputs)
    for t, (x, y, mask) in enumerate(draws):
        _sgd_step_(U, V, x, y, mask, theta, step_size(t))
        record(t + 1, U, V)
    return Training(U, V, *record.results())


def _draws(M, theta, U, steps, generator, inputs=None, chunk=64):
    """Yield x (runs, 1, d0), y (runs, 1, d2) and mask (runs, 1, r) for each step.

    Random numbers are drawn for 64 steps at once: fewer calls, and still small enough for a cache.
    """
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


def progress(M, lam):
    """An `observe` for `train_linear` that records, in float64, how far each run has come.

    M: (d2, d0). lam: at least 0. The function returned gives "objective" (runs,), Problem (2.6),
    and "score_variance" (runs,), the variance over i of ||u_i|| ||v_i||; infinities or NaN for runs
    that diverge. Raises ValueError for bad arguments. Cost: O(d2 d0 r) a run, each time.
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
