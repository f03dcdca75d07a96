"""Which rows of the book hang on the last bits? `make rounding` runs pages as other machines would.

Another machine rounds otherwise: it has other kernels (OpenBLAS, ATen, MKL and NumPy choose theirs
by the processor), or other versions. KERNELS stand for the first, as far as this processor runs
them; jitters for what is not at hand: each number that NumPy or torch draws, each result of a
linear algebra routine and each start of an optimizer moves by up to two units in the last place.

A row's *room* is how far the number that it judges is from its limit. Its *margin* is the least
room over all these runs, divided by the room's standard deviation. A row that is red in some run
is printed, and so is a *fragile* one, whose margin is below 3. A row that judges a truth value has
no room: that it is green in each run is all that is known.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import stdev

MARGIN = 3
SECONDS = 900  # for one run of a page
OLDEST = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}
KERNELS = {  # OpenBLAS' name: the environment of a machine with that processor
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2"},
    "Zen": {"OPENBLAS_CORETYPE": "Zen", "ATEN_CPU_CAPABILITY": "avx2"},
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
    """The names of the KERNELS that this processor has the instructions for."""
    from numpy._core._multiarray_umath import __cpu_features__ as has  # nothing public says it

    return [name for name in KERNELS if has.get(NEEDS.get(name, "SSE2"))]


# Jitter ------------------------------------------------------------------------------------------


def patch(jitter: int) -> None:
    """From here on this process rounds otherwise, for each `jitter` > 0 in another way.

    The same number moves in the same way always, and whole numbers stay, as on another machine.
    """
    import numpy as np
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
        shape, x = np.shape(x), np.array(x, ndmin=1)  # of a scalar NumPy would report the overflow
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
    patch_torch(moved)


def patch_torch(moved) -> None:
    import numpy as np
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


# One arithmetic ----------------------------------------------------------------------------------


def run(path: Path) -> dict:
    """What a page's cells do in this process: its red cells, its rows with their room, seconds."""
    from booktools.children import Running, limit
    from booktools.sweep import first_and_last
    from runproofs.book import claims
    from runproofs.book.pages import cells

    rows, red, seconds, leave = [], [], {}, claims.Check.__exit__

    def note(check, *error):
        verdicts = [(row.text, row.verdict) for row in check.rows if row.verdict]
        rows.extend((check.claim.id, text, *v[:3], v.room) for text, v in verdicts)
        return leave(check, *error)

    claims.Check.__exit__ = note
    limit(SECONDS)
    running = Running(path, first_and_last)
    for cell in cells(path.read_text("utf-8")):
        start = time.process_time()
        if failure := running.run(cell.code, f"{path.name}:{cell.line}"):
            red.append((cell.line, failure))
        seconds[cell.line] = round(time.process_time() - start, 3)
    return {"page": str(path), "red": red, "rows": rows, "seconds": seconds}


def run_all(jitter: int, jobs: int, paths: list[Path]) -> None:
    """Print, as a line of JSON each, what the pages do in this process' arithmetic."""
    if jitter:
        patch(jitter)
    import torch

    from booktools.children import in_children
    from runproofs.reproductions import discover

    discover()  # most modules of the library, which the children inherit
    torch.set_num_threads(1)
    for _, found, _ in in_children(run, [(path,) for path in paths], jobs):
        print(json.dumps(found), flush=True)


# All of them -------------------------------------------------------------------------------------


def measured(arithmetic: tuple[str, int], jobs: int, paths: list[Path]) -> Iterable[dict]:
    """The pages' runs, each a dictionary, with those kernels and that jitter, as they end."""
    kernels, jitter = arithmetic
    command = [sys.executable, __file__, "--inside", str(jitter), "--jobs", str(jobs)]
    environment = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = os.environ | environment | KERNELS.get(kernels, {})
    with subprocess.Popen(
        [*command, *map(str, paths)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            yield json.loads(line) | {"kernels": kernels, "jitter": jitter}
    if process.returncode:
        raise SystemExit(f"{kernels}, jitter {jitter}: stopped with status {process.returncode}.")


def margins(runs: list[dict]) -> dict[tuple, tuple[float, list[float]]]:
    """For each row that has room: its margin, and the room of the number that decides it.

    The key is the page, the claim, which of the claim's cards it is on, and the sentence.
    """
    found = defaultdict(list)
    for one in runs:
        seen = defaultdict(int)
        for claim, text, *_, room in one["rows"]:
            seen[claim, text] += 1
            for which, value in enumerate(room):
                found[one["page"], claim, text, seen[claim, text], which].append(value)
    least = {}
    for (*row, _), rooms in found.items():
        room = min(rooms) if max(rooms) > 0 else -max(rooms)  # a row may be shown to fail
        spread = stdev(rooms) if len(rooms) > 1 else 0
        margin = room / spread if spread else float("inf")
        least[tuple(row)] = min(least.get(tuple(row), (margin, rooms)), (margin, rooms))
    return least


def main(arguments: list[str] | None = None) -> int:
    """Run pages with other rounding; 1 if a cell is red or a row is fragile."""
    parser = argparse.ArgumentParser("python -m booktools.rounding", description=main.__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--jitter", type=int, nargs="*", default=[], help="numbers from 1 on")
    parser.add_argument(
        "--kernels", nargs="*", default=[], help="all, or some of " + str([*KERNELS])
    )
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part of the pages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="a file for each run, a line of JSON each")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside is not None:
        run_all(options.inside, options.jobs, options.pages)
        return 0

    from booktools.children import tenth
    from booktools.sweep import pages

    paths = tenth([path.resolve() for path in options.pages] or pages(), options.tenth)
    kernels = runnable() if options.kernels == ["all"] else options.kernels
    if missing := set(kernels) - set(runnable()):
        parser.error(f"this processor does not run the kernels {sorted(missing)}.")
    machines = [(name, 0) for name in kernels] + [("as found", j) for j in options.jitter]
    runs = []
    for arithmetic in [("as found", 0), *machines]:
        for one in measured(arithmetic, options.jobs, paths):
            runs.append(one)
            for line, failure in one["red"]:
                where = f"{Path(one['page']).stem}:{line}, {arithmetic[0]}, jitter {arithmetic[1]}"
                print(f"{where}: {failure}", flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    return concluded(runs)


def concluded(runs: list[dict]) -> int:
    """Print the fragile rows and what was run; returns 1 if there is one, or a red cell."""
    least = margins(runs)
    fragile = {row: at for row, at in least.items() if at[0] < MARGIN}
    for (page, claim, text, _), (margin, rooms) in sorted(fragile.items(), key=lambda at: at[1][0]):
        ends = f"room {min(rooms):.3g} to {max(rooms):.3g}"
        print(f"fragile: {Path(page).stem}, {claim}: {text} [{ends}, margin {margin:.2g}]")
    red = sum(len(one["red"]) for one in runs)
    rows = {(one["page"], *row[:2]) for one in runs for row in one["rows"]}
    print(
        f"{len(runs)} runs of pages: {red} red cells; {len(fragile)} of {len(least)} rows with "
        f"room are fragile, and {len(rows) - len(least)} rows judge a truth value."
    )
    return int(bool(red or fragile))


if __name__ == "__main__":
    sys.exit(main())
