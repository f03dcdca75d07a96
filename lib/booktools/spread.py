"""How far does other arithmetic take the stored runs? `make spread` measures it and writes it down.

Each run's prefix and some whole settings (helpers.stored) are computed with all KERNELS that this
processor runs and with jitters (tools.rounding), the settings other ones each time. How far each
array ends from the stored one, at most, goes into book/results/spread.yml: what tests tolerate is
a multiple of it. So does, for `make reproduce`, what changes in the tables of pages (TABLES).
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
import yaml
from tqdm import tqdm

from booktools import outputs as reproduce
from booktools.children import Running, in_children
from booktools.rounding import KERNELS, patch, runnable
from booktools.sweep import first_and_last
from helpers import stored
from helpers.stored import PREFIXES, SPREADS, STORED, TIMES, known
from runproofs.book import figures
from runproofs.book.pages import cells
from runproofs.book.register import BOOK

HEAD = """\
# How far other arithmetic takes the stored runs, their prefixes and so many whole settings, and the
# tables of pages. `make spread` writes it; tests/helpers/stored.py says what it means. 2/449: two
# images of 449; 2/1: two of what is counted; else relative. Where single entries say little: what
# all entries differ by (total), and what their sum does (mean).
"""
LITTLE = 0.02  # what TIMES a spread must be below, for single entries to be compared
LARGEST = 20_000  # count whose shares an array may have
MOST = 12  # settings of a run, with each arithmetic
TABLES = [path for path in sorted(BOOK.rglob("*.md")) if "measured=" in path.read_text("utf-8")]


def shares_of(array: np.ndarray) -> int | None:
    """Of how many things the array has shares, if it has: at least of a third of its values."""
    values = np.unique(array[np.isfinite(array)].astype(float))
    inner = values[(values > 1e-6) & (values < 1)]
    if not len(inner) or values[0] < 0 or values[-1] > 1:
        return None
    of_all = np.arange(2, LARGEST)[:, None] * inner[:: max(1, len(inner) // 300)]
    whole = np.round(of_all)
    hits = ((whole > 0) & (np.abs(of_all - whole) < 1e-3)).mean(1)
    return int(np.argmax(hits >= 0.9 * hits.max())) + 2 if hits.max() > 1 / 3 else None


def unit(array: np.ndarray) -> int | None:
    """What the smallest change of an array's entries is one of, if there is one."""
    return 1 if array.dtype.kind in "iu" else shares_of(array)


def inside(names: list[str], jitter: int, seconds: float) -> None:
    """Print a line of JSON for each setting: how far each array is from the stored one."""
    if jitter:
        patch(jitter)
    for name in names:
        if name == "tables":
            for (path,), texts, _ in in_children(tables, [(path,) for path in TABLES], 1):
                page = path.relative_to(BOOK).with_suffix("").as_posix()
                print(json.dumps([page, "tables", texts]), flush=True)
            continue
        run = known[name].paper()
        units = {key: unit(array) for key, array in run.items()}
        sizes = {key: float(np.abs(array).max()) for key, array in run.items()}
        settings, stopped = PREFIXES[name]
        few = min(int(seconds / stored.seconds(name)), MOST)
        wholes = [stored.drawn(name, f"{jitter} {k}") for k in range(few)]
        for part, setting in [("prefix", s) for s in settings] + [("setting", s) for s in wholes]:
            with pytest.MonkeyPatch.context() as patched:
                if part == "prefix" and stopped:
                    stored.stop_after(stopped, patched)
                pairs = stored.again(name, setting, run, stopped if part == "prefix" else None)
            found = {key: stored.apart(*pair, bool(units[key])) for key, pair in pairs.items()}
            print(json.dumps([name, part, {k: (f, units[k], sizes[k]) for k, f in found.items()}]))
            sys.stdout.flush()


def tables(path) -> list[str]:
    """What was measured in a page's tables, as texts."""
    texts, table = [], figures.table

    def noted(*arguments, **options):
        made = table(*arguments, **options)
        values = filter(reproduce.in_table, reproduce.MEASURED.finditer(made.data))
        texts.extend(reproduce.VARYING.sub("TIME", found["value"]) for found in values)
        return made

    figures.table, running = noted, Running(path, first_and_last)
    for cell in cells(path.read_text("utf-8")):
        running.run(cell.code, path.name)
    return texts


def measured(names: list[str], kernels: str, jitter: int, seconds: float):
    """What `inside` says with these kernels and that jitter."""
    command = [sys.executable, "-m", "booktools.spread", *names, "--inside", str(jitter)]
    environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    environment |= os.environ | KERNELS.get(kernels, {})
    with subprocess.Popen(
        [*command, "--seconds", str(seconds)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        yield from map(json.loads, process.stdout)
    if process.returncode:
        raise SystemExit(f"{kernels}, jitter {jitter}: stopped with status {process.returncode}.")


def of_array(found: list) -> str | float | dict:
    """The spread of an array as the file has it, from how far it was in several settings."""
    (_, count, size), offs = found[0], [off for off, *_ in found]
    entry, total, mean = (max(off[how] for off in offs) for how in ("entry", "total", "mean"))
    if TIMES * entry > LITTLE * (size if count == 1 else 1):
        return {"total": float(f"{total:.1e}"), "mean": float(f"{mean:.1e}")}
    return f"{round(entry * count)}/{count}" if count else float(f"{entry:.1e}")


def of_tables(runs: list[list[str]]) -> dict[str, float]:
    """The spread of a page's tables: the largest relative differences from the first run."""
    spread = dict.fromkeys(reproduce.EXACT, 0.0)
    for one in runs[1:]:
        for pair in zip(runs[0], one, strict=True):
            for kind, a, b in reproduce.numbers(*pair):
                spread[kind] = max(spread[kind], float(f"{reproduce.apart(a, b):.1e}"))
    return spread


def written(spreads: dict) -> str:
    return yaml.safe_dump(spreads, default_flow_style=None, width=96)


def main(arguments: list[str] | None = None) -> int:
    """Measure how far other arithmetic takes stored runs and tables; write it beside the runs."""
    parser = argparse.ArgumentParser("python -m booktools.spread", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help='of a run, or "tables"')
    parser.add_argument(
        "--seconds", type=float, default=20, help="of whole settings, for each run and arithmetic"
    )
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    names = options.names or [*STORED, "tables"]
    if options.inside is not None:
        inside(names, options.inside, options.seconds)
        return 0
    if stale := [name for name in set(names) & set(STORED) if known[name].stale()]:
        parser.error(f"{stale} are of other code, whose spread would be taken for rounding.")
    machines = [("as found", k) for k in range(3)]
    machines += [(name, len(machines) + k) for k, name in enumerate(runnable())]
    found = defaultdict(lambda: defaultdict(list))
    for arithmetic in tqdm(machines, disable=None):
        for name, part, what in measured(names, *arithmetic, options.seconds):
            found[name][part].append(what)
    spreads = yaml.safe_load(SPREADS.read_text("utf-8"))
    for name, parts in found.items():
        for part, runs in parts.items():
            if part == "tables":
                spreads["tables"][name] = of_tables(runs)
                continue
            spread = {key: of_array([run[key] for run in runs]) for key in runs[0]}
            of = spreads["runs"].setdefault(name, {})
            of[part] = {"settings": len(runs), "spread": spread}
    SPREADS.write_text(HEAD + written(spreads), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
