"""Checks of torch's tensors and generators, for training; `_arguments` has those of arrays."""

import numpy as np
import torch

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
