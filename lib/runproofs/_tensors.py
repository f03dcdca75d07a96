"""Checks of torch's tensors, generators and modules; `_arguments` has those of arrays."""

from contextlib import contextmanager

import numpy as np
import torch
from torch.nn.parameter import is_lazy

from runproofs import _arguments as arguments


def tensor(name, x, dtype=None, device=None):
    """x, a tensor or what NumPy takes for an array of real numbers, as a tensor.

    An array is copied: torch knows no negative strides, and warns of memory that is read-only.
    """
    if not isinstance(x, torch.Tensor):
        x = arguments.array(name, x)
        if x.dtype.kind not in "biuf":
            raise ValueError(f"{name} must be an array of real numbers, but it has others.")
        x = torch.from_numpy(np.array(x, order="C"))
    if x.is_complex():
        raise ValueError(f"{name} must be an array of real numbers, but it has others.")
    return x.to(device, dtype or x.dtype)


def check_factors(U, V, ndim=None):
    """U (..., d2, r) and V (..., d0, r) must be finite, of the same batch axes, r, and kind."""
    for name, t in (("U", U), ("V", V)):
        if not (isinstance(t, torch.Tensor) and t.is_floating_point() and t.isfinite().all()):
            raise ValueError(f"{name} must be a tensor of finite floating-point numbers.")
        if t.ndim < 2 or (ndim and t.ndim != ndim) or 0 in t.shape:
            axes = f"{ndim} axes" if ndim else "at least 2 axes"
            raise ValueError(
                f"{name} must have {axes}, none empty, but its shape is {tuple(t.shape)}."
            )
    alike = U.shape[:-2] == V.shape[:-2] and U.shape[-1] == V.shape[-1]
    if not alike or U.dtype != V.dtype or U.device != V.device:
        raise ValueError(
            "U and V must agree in their batch axes, number of columns, dtype and device, but they "
            f"are {tuple(U.shape)} {U.dtype} on {U.device} and {tuple(V.shape)} {V.dtype} "
            f"on {V.device}."
        )


def check_generator(generator, device=None):
    """It must be a torch.Generator, on a device of this type unless None."""
    if not isinstance(generator, torch.Generator):
        raise ValueError(f"generator must be a torch.Generator, but it was {generator!r}.")
    if device is not None and generator.device.type != device.type:
        raise ValueError(
            f"generator must be on {device} like the weights, but it is on {generator.device}."
        )


def check_module(model, x):
    """model must be a torch.nn.Module; x as a tensor, an array in the precision of the model."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"model must be a torch.nn.Module, but it was a {type(model).__name__}.")
    if any(map(is_lazy, model.parameters())):
        raise ValueError("model must have its weights: call it on a batch first.")
    inputs = tensor("x", x)
    if not inputs.ndim or not len(inputs):
        raise ValueError(f"x must be a non-empty batch, but its shape is {tuple(inputs.shape)}.")
    weights = [w for w in model.parameters() if w.is_floating_point()]
    if weights and inputs.is_floating_point() and not isinstance(x, torch.Tensor):
        inputs = inputs.to(weights[0].device, weights[0].dtype)
    return without_graph(inputs)


def without_graph(x):
    """x for other graphs, also where it was made in inference mode."""
    with torch.inference_mode(False):
        return x.clone() if x.is_inference() else x.detach()


@contextmanager
def evaluation(model, seed):
    """model in evaluation mode, with the random numbers of seed; then all is as it was found.

    That is the mode of each part, the buffers, and the random numbers on CPU and CUDA.
    """
    modes = [(part, part.training) for part in model.modules()]
    buffers = [
        (part, name, buffer, buffer.clone())
        for part, _ in modes
        for name, buffer in part._buffers.items()
        if buffer is not None
    ]
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        with (
            torch.inference_mode(False),
            torch.no_grad(),
            torch.random.fork_rng(range(torch.cuda.device_count())),
        ):
            torch.manual_seed(seed)
            torch.backends.mha.set_fastpath_enabled(False)  # which skips the layers inside
            for part, _ in modes:
                part.training = False
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for part, mode in modes:
            part.training = mode
        for part, name, buffer, found in buffers:
            part._buffers[name] = buffer
            if not torch.equal(buffer, found):  # another's graph may need it untouched
                with torch.no_grad():
                    buffer.copy_(found)


def passes_differ(model, x, training=()):
    """Whether two passes differ by their random numbers, with these parts in training mode."""
    outputs = []
    for seed in (1, 2):
        with evaluation(model, seed):
            for part in training:
                part.training = True
            outputs.append(model(x.clone()))
    # some models give more in training: the outputs, then those of other heads
    one, two = (found[0] if isinstance(found, tuple) else found for found in outputs)
    size = torch.maximum(one.abs(), two.abs()).max()
    return bool((one - two).abs().max() > 1000 * torch.finfo(one.dtype).eps * size)
