"""Benchmarks of Chapter 2: equalizers, objectives, descents, and SGD with dropout."""

from functools import cache, partial

import numpy as np
import torch
from scipy.optimize import minimize
from timing import in_turn, ratio, seconds

from runproofs.linalg import isotropic_law, psd_sqrt, with_spectrum
from runproofs.linear import landscape, shallow
from runproofs.linear.equalize import (
    equalize_fft,
    equalizer,
    equalizer_as_printed,
    equalizer_fft,
    plane_rotations,
    rotate,
)
from runproofs.linear.shallow_training import train_linear
from runproofs.masks import expectation
from runproofs.training import cosine_schedule

torch.set_num_threads(1)


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
    "one product U Q": (lambda U, gram: U @ some_matrix(gram.size), 4096),
}


@cache
def some_matrix(r):
    return np.random.default_rng(1).standard_normal((r, r))


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
        if name.startswith(("plane", "Fourier")):  # the product is the floor, no rival
            ratio(f"{name}, r = 256", "Algorithm 2 as printed", printed, at_256)
        exponent = np.polyfit(np.log(tried[-4:]), np.log(times[-4:]), 1)[0]
        cells = "".join(f"{1e3 * t:9.2f}" for t in times) + f"{'-':>9}" * (7 - len(tried))
        yield f"{name:24}{cells}   r^{exponent:.1f}  {printed / at_256:12.0f}"
    yield "Growth: fitted over the four largest r. As printed, r = 1024 would take about a minute."
    U, gram = problems[-1]
    yield (
        f"Relative spread of squared norms at r = 4096: rotations {spread(U @ equalizer(U)):.0e}, "
        f"Fourier {spread(np.sqrt(gram)[:, None] * equalizer_fft(gram)):.0e}."
    )


def formula(U, V, M, lam, C):
    """The objective as one would write it down."""
    residual = M - U @ V.T
    loss = (residual @ C * residual).sum()
    return loss + lam * ((U * U).sum(axis=0) * (V * (C @ V)).sum(axis=0)).sum()


def objectives():
    """The objective with a second moment C, beside its formula"""
    yield f"{'milliseconds at d0 =':24}" + "".join(f"{d0:>9}" for d0 in (64, 200, 400, 800))
    rows = {"formula": [], "checked": [], "with psd_sqrt(C)": []}
    for d0 in (64, 200, 400, 800):
        rng = np.random.default_rng(0)
        U, V, M = (rng.standard_normal(shape) for shape in ((10, 10), (d0, 10), (10, d0)))
        A = rng.standard_normal((d0, d0))
        given = U, V, M, 0.5, A @ A.T
        rows["formula"].append(seconds(partial(formula, *given)))
        rows["checked"].append(seconds(partial(shallow.objective, *given)))
        rows["with psd_sqrt(C)"].append(seconds(partial(psd_sqrt, given[-1])))
    for name, times in rows.items():
        yield f"{name:24}" + "".join(f"{1e3 * t:9.2f}" for t in times)
    for d0, peer, ours in zip((64, 200, 400, 800), rows["formula"], rows["checked"], strict=True):
        ratio(f"shallow.objective with checks, d0 = {d0}", "the bare formula", peer, ours)
    ratios = np.divide(rows["checked"], rows["formula"])
    yield f"{'checked / formula':24}" + "".join(f"{ratio:9.1f}" for ratio in ratios)


def plain_descent(M, r, lam, starts, rng):
    """L-BFGS on the public functions, which check their arguments each time."""

    def value_and_gradient(z):
        U, V = z[: len(M) * r].reshape(-1, r), z[len(M) * r :].reshape(-1, r)
        gradients = shallow.gradient(U, V, M, lam)
        return shallow.objective(U, V, M, lam), np.concatenate([g.ravel() for g in gradients])

    rng, values = np.random.default_rng(rng), []
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-11}
    for _ in range(starts):
        z, value = rng.standard_normal(sum(M.shape) * r) / np.sqrt(r), np.inf
        while True:  # as in `descend`: balance, and go on while that helps
            before = value
            end = minimize(value_and_gradient, z, jac=True, method="L-BFGS-B", options=options)
            value = end.fun
            if not value < before * (1 - 1e-13):
                break
            U, V = end.x[: len(M) * r].reshape(-1, r), end.x[len(M) * r :].reshape(-1, r)
            z = np.concatenate([X.ravel() for X in shallow.balance(U, V)])
        values.append(value)
    return np.array(values)


def descents():
    """Descents from 5 random starts, with and without checks in the loop"""
    yield f"{'milliseconds':24}{'checked':>9}{'descend':>9}{'ratio':>9}"
    for d, r in ((3, 3), (10, 5), (30, 10)):
        M = with_spectrum(d, d, np.exp(-0.5 * np.arange(d)), 0)
        M /= np.linalg.norm(M, 2)
        plain = partial(plain_descent, M, r, 0.5, 5, 0)
        ours = partial(landscape.descend, M, r, 0.5, 5, 0)
        assert np.allclose(plain().min(), ours().values.min(), rtol=1e-9)
        a, b = in_turn((plain, ours), 0.01, rounds=3)
        faster = ratio(f"descend, {d} x {d}, r = {r}", "with checks in the loop", a, b)
        yield f"{f'{d} x {d}, r = {r}':24}{1e3 * a:9.1f}{1e3 * b:9.1f}{faster:9.1f}"


def mask_by_mask(U, V, X, Y, theta):
    """The loss over all masks, one product for each."""
    hidden = X @ V

    def loss(b):
        return ((Y - (b * hidden) @ U.T / theta) ** 2).sum(axis=1).mean()

    return expectation(loss, U.shape[1], keep=theta)


def enumerations():
    """The loss over all masks, 10 samples: mask by mask, and many masks a product"""
    yield f"{'milliseconds':24}{'loop':>9}{'batched':>9}{'ratio':>9}"
    X = isotropic_law(5, 0)
    for r in (6, 10, 14):
        rng = np.random.default_rng(0)
        U, V, M = (rng.standard_normal(shape) for shape in ((6, r), (5, r), (6, 5)))
        given, keep = (U, V, X, X @ M.T), 0.5
        enumerated = partial(shallow.objective_by_enumeration, *given, keep=keep)
        assert np.isclose(mask_by_mask(*given, keep), enumerated())
        a, b = seconds(partial(mask_by_mask, *given, keep)), seconds(enumerated)
        faster = ratio(f"shallow.objective_by_enumeration, {2**r} masks", "mask by mask", a, b)
        yield f"{f'r = {r}, {2**r} masks':24}{1e3 * a:9.2f}{1e3 * b:9.2f}{faster:9.1f}"


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
            batched = partial(train_linear, M, U, V, keep=theta, **options)
            a, b = in_turn((plain, batched), 0.01) / [steps, steps * runs]
            name = f"{str(dtype).removeprefix('torch.')}, r = {r}"
            faster = ratio(f"train_linear, {name}", "a plain loop, one run", a, b)
            yield f"{name:24}{1e6 * a:9.2f}{1e6 * b:9.2f}{faster:9.1f}"
            if dtype == torch.float32:
                minutes += 3 * runs * 10**5 * b / 60
    yield f"The six panels of Figure 2-3 at full scale, in float32: {minutes:.1f} minutes."


TABLES = [equalizers, objectives, descents, enumerations, algorithm_1]
