"""Benchmarks of Chapter 2: equalizers, and SGD with dropout."""

from functools import partial
from time import process_time

import numpy as np
import torch

from runproofs.linalg import with_spectrum
from runproofs.linear.equalize import (
    equalize_fft,
    equalizer,
    equalizer_as_printed,
    equalizer_fft,
    plane_rotations,
    rotate,
)
from runproofs.linear.training import train_linear
from runproofs.training import cosine_schedule

torch.set_num_threads(1)


def seconds(f, budget=0.3):
    """Least processor time of a call of f, after one that warms up, within about the budget."""
    f()  # the first one also pays for memory that the next ones find ready
    best, spent = np.inf, 0.0
    while spent < budget:
        start = process_time()
        f()
        elapsed = process_time() - start
        best, spent = min(best, elapsed), spent + elapsed
    return best


def spread(X):
    """Relative spread of the squared column norms."""
    squares = (X * X).sum(axis=0)
    return np.ptp(squares) / squares.mean()


# name: function of U (256, r) and a Gram diagonal (r,), largest r it is measured at
EQUALIZERS = {
    "Algorithm 2 as printed": (lambda U, gram: equalizer_as_printed(U), 512),
    "plane rotations, angles": (lambda U, gram: plane_rotations(U), 4096),
    "plane rotations, U Q": (lambda U, gram: rotate(U, plane_rotations(U)), 4096),
    "plane rotations, Q": (lambda U, gram: equalizer(U), 4096),
    "Fourier, U Q": (equalize_fft, 4096),
    "Fourier, Q": (lambda U, gram: equalizer_fft(gram), 4096),
}


def equalizers():
    """Equalizers of 256 x r matrices (Fourier: with orthogonal columns)"""
    rng = np.random.default_rng(0)
    sizes = [64, 128, 256, 512, 1024, 2048, 4096]
    header = "".join(f"{r:>9}" for r in sizes)
    yield f"{'milliseconds at r =':24}{header}   growth    ratio at r = 256"
    for name, (f, largest) in EQUALIZERS.items():
        tried = [r for r in sizes if r <= largest]
        problems = [(rng.standard_normal((256, r)), np.exp(-4 * rng.random(r))) for r in tried]
        times = [seconds(partial(f, U, gram)) for U, gram in problems]
        at_256 = times[sizes.index(256)]
        if name.endswith("printed"):
            printed = at_256
        exponent = np.polyfit(np.log(tried[-4:]), np.log(times[-4:]), 1)[0]
        cells = "".join(f"{1e3 * t:9.2f}" for t in times) + f"{'-':>9}" * (7 - len(tried))
        yield f"{name:24}{cells}   r^{exponent:.1f}  {printed / at_256:12.0f}"
    yield "Growth: fitted over the four largest r. As printed, r = 1024 would take about a minute."
    U, gram = problems[-1]
    yield (
        f"Relative spread of squared norms at r = 4096: rotations {spread(U @ equalizer(U)):.0e}, "
        f"Fourier {spread(np.sqrt(gram)[:, None] * equalizer_fft(gram)):.0e}."
    )


def plain_loop(M, theta, U, V, steps, step_size, generator):
    """Algorithm 1 for one run, as one would write it down."""
    for t in range(steps):
        x = torch.randn(len(V), generator=generator, dtype=U.dtype)
        b = (torch.rand(U.shape[1], generator=generator) < theta).to(U.dtype)
        hidden = b * (V.T @ x)
        error = U @ hidden / theta - M @ x
        back = b * (U.T @ error)
        U -= step_size(t) * torch.outer(error, hidden)
        V -= step_size(t) * torch.outer(x, back)


def algorithm_1():
    """Algorithm 1 for 120 x 80, 50 runs: microseconds a run and step"""
    runs, d2, d0, theta, steps = 50, 120, 80, 0.5, 512
    M = with_spectrum(d2, d0, np.exp(-0.1 * np.arange(d0)), np.random.default_rng(0))
    yield f"{'':24}{'plain':>9}{'batched':>9}{'ratio':>9}"
    minutes = 0
    for dtype in (torch.float32, torch.float64):
        for r in (20, 80):
            g = torch.Generator().manual_seed(0)
            U, V = (torch.randn(runs, d, r, generator=g, dtype=dtype) / d**0.5 for d in (d2, d0))
            options = {"steps": steps, "step_size": cosine_schedule(0.01, 10**5), "generator": g}
            target = torch.as_tensor(M, dtype=dtype)
            plain = partial(plain_loop, target, theta, U[0].clone(), V[0].clone(), **options)
            batched = partial(train_linear, M, theta, U, V, **options)
            # in turn, so that both meet the same load
            pairs = [(seconds(plain, 0.01), seconds(batched, 0.01)) for _ in range(5)]
            a, b = np.min(pairs, axis=0) / [steps, steps * runs]
            name = f"{str(dtype).removeprefix('torch.')}, r = {r}"
            yield f"{name:24}{1e6 * a:9.2f}{1e6 * b:9.2f}{a / b:9.1f}"
            if dtype == torch.float32:
                minutes += 3 * runs * 10**5 * b / 60
    yield f"The six panels of Figure 2-3 at full scale, in float32: {minutes:.1f} minutes."


TABLES = [equalizers, algorithm_1]
