"""The arithmetic of other machines: kernels that this processor runs too, and jitters.

Another machine rounds differently, because it has other kernels (OpenBLAS, ATen, MKL and NumPy
choose theirs by the processor) or other versions. KERNELS imitates the other kernels. A jitter
imitates what is not at hand: each number that NumPy or torch draws, each result of a linear algebra
routine and each start of an optimizer moves by up to two units in the last place.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np

AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
OLDEST = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}
KERNELS = {  # OpenBLAS' name: the environment of a machine with that processor
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell", **AVX2},
    "Zen": {"OPENBLAS_CORETYPE": "Zen", **AVX2},
    "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX", "ATEN_CPU_CAPABILITY": "avx512"},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", "ATEN_CPU_CAPABILITY": "default"},
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3", **OLDEST},
}
NEEDS = {"Haswell": "AVX2", "Zen": "AVX2", "Sandybridge": "AVX", "SkylakeX": "AVX512F"}
DRAWS = [
    *("normal", "standard_normal", "uniform", "random", "exponential", "gamma", "beta", "laplace"),
    *("multivariate_normal", "standard_gamma", "chisquare", "dirichlet", "standard_cauchy"),
    "standard_t",
]
ROUTINES = [
    *("svd", "eigh", "eig", "eigvals", "eigvalsh", "qr", "cholesky", "det", "norm"),
    *("solve", "lstsq", "inv", "pinv"),
]


def runnable() -> list[str]:
    """The names of the KERNELS that this processor can run."""
    from numpy._core._multiarray_umath import __cpu_features__ as has  # nothing public says it

    return [name for name in KERNELS if has.get(NEEDS.get(name, "SSE2"))]


def elsewhere(kernels: str, *command: str) -> Iterator:
    """Yield the lines of JSON that `python -m booktools COMMAND` prints with these kernels."""
    environment = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = os.environ | environment | KERNELS.get(kernels, {})
    with subprocess.Popen(
        [sys.executable, "-m", "booktools", *command],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield from map(json.loads, process.stdout)
    if process.returncode:
        raise SystemExit(f"{kernels}, {command}: stopped with status {process.returncode}.")


def patch(jitter: int) -> None:
    """Let this process round differently from now on; each `jitter` > 0 is another way.

    As on another machine, equal numbers move equally, and whole numbers do not move. Call this
    before importing the library, whose modules import some of these functions by name.
    """
    import scipy.linalg
    import scipy.optimize

    odd = np.uint64(0x9E3779B97F4A7C15 ^ (2 * jitter))

    def units(bits, reach):
        mixed = (bits ^ np.uint64(jitter)) * odd
        mixed ^= mixed >> np.uint64(29)
        return ((mixed * odd) >> np.uint64(40)) % np.uint64(2 * reach + 1) - float(reach)

    def moved(x):
        if isinstance(x, tuple):
            parts = [moved(part) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        if type(x) is float:
            return float(moved(np.float64(x)))
        dtype = getattr(x, "dtype", None)
        if not isinstance(x, np.ndarray | np.generic) or dtype not in (np.float64, np.float32):
            return x
        shape, x = np.shape(x), np.array(x, ndmin=1)  # NumPy reports the overflow of a scalar
        bits = x.view(np.uint64 if dtype == np.float64 else np.uint32).astype(np.uint64)
        step = units(bits, 2 if dtype == np.float64 else 1).astype(dtype) * np.finfo(dtype).eps
        with np.errstate(all="ignore"):
            x = np.where(np.isfinite(x) & (x != np.round(x)), x * (1 + step), x)
        return x.reshape(shape)[()]

    def moving(function):
        return lambda *arguments, **options: moved(function(*arguments, **options))

    class Generator(np.random.Generator):
        pass

    for name in DRAWS:
        setattr(Generator, name, moving(getattr(np.random.Generator, name)))
    drawing = np.random.default_rng
    np.random.default_rng = lambda seed=None: (
        seed if isinstance(seed, np.random.Generator) else Generator(drawing(seed).bit_generator)
    )
    for module in (np.linalg, scipy.linalg):
        for name in ROUTINES:
            if hasattr(module, name):
                setattr(module, name, moving(getattr(module, name)))
    minimize = scipy.optimize.minimize
    scipy.optimize.minimize = lambda function, start, *arguments, **options: minimize(
        function, moved(np.asarray(start, float)), *arguments, **options
    )
    _patch_torch(moved)


def _patch_torch(moved) -> None:
    import torch

    def jittered(tensor):
        with torch.no_grad():
            return tensor.copy_(torch.from_numpy(np.array(moved(tensor.detach().cpu().numpy()))))

    def drawing(function):
        def draw(*arguments, **options):
            drawn = function(*arguments, **options)
            return jittered(drawn) if drawn.dtype in (torch.float64, torch.float32) else drawn

        return draw

    for name in ("randn", "rand", "randn_like", "rand_like", "normal"):
        setattr(torch, name, drawing(getattr(torch, name)))
    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, drawing(getattr(torch.Tensor, name)))
