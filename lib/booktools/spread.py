"""Measure and record how far other arithmetic moves the stored runs.

Each run's prefix and some whole settings (helpers.stored) are computed with all KERNELS that this
processor runs and with jitters (arithmetic.py), each time with other settings. The largest distance
of each array from the stored one goes into book/results/spread.yml; tests tolerate a multiple of
it. The changes in the tables of pages (TABLES) go there, too, for check-outputs.
"""

import argparse
import json
from collections import defaultdict

import numpy as np
import pytest
import yaml
from tqdm import tqdm

from helpers import stored
from helpers.stored import PREFIXES, SPREADS, STORED, TIMES, known
from runproofs import figures
from runproofs.claims.registry import BOOK

from . import values
from .arithmetic import elsewhere, patch, runnable

HEAD = """\
# How far other arithmetic takes the stored runs, their prefixes and so many whole settings, and the
# tables of pages. `booktools spread` writes it; tests/helpers/stored.py says what it means. 2/449:
# two images of 449; 2/1: two of what is counted; else relative. Where single entries say little:
# what all entries differ by (total), and what their sum does (mean).
"""
LITTLE = 0.02  # what TIMES a spread must be below, for single entries to be compared
LARGEST = 20_000  # count whose shares an array may have
MOST = 12  # settings of a run, with each arithmetic
TABLES = [path for path in sorted(BOOK.rglob("*.md")) if "measured=" in path.read_text("utf-8")]


def unit(array: np.ndarray) -> int | None:
    """What the smallest change of an array's entries is one of, if there is one: 1 for integers.

    Of an array of shares it is the count of which at least a third of the values are shares.
    """
    if array.dtype.kind in "iu":
        return 1
    found = np.unique(array[np.isfinite(array)].astype(float))
    inner = found[(found > 1e-6) & (found < 1)]
    if not len(inner) or found[0] < 0 or found[-1] > 1:
        return None
    of_all = np.arange(2, LARGEST)[:, None] * inner[:: max(1, len(inner) // 300)]
    whole = np.round(of_all)
    hits = ((whole > 0) & (np.abs(of_all - whole) < 1e-3)).mean(1)
    return int(np.argmax(hits >= 0.9 * hits.max())) + 2 if hits.max() > 1 / 3 else None


def tables(path) -> list[str]:
    """What is measured in a page's tables, as texts. Use a child process."""
    from .running import Page

    texts, table = [], figures.table

    def noted(*arguments, **options):
        made = table(*arguments, **options)
        found = filter(values.in_table, values.MEASURED.finditer(made.data))
        texts.extend(values.VARYING.sub("TIME", one["value"]) for one in found)
        return made

    figures.table = noted
    Page(path).run_all()
    return texts


def measured(name: str, jitter: int, seconds: float):
    """How far each array of a run is from the stored one, of settings: [name, part, by array]."""
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
        yield name, part, {key: (off, units[key], sizes[key]) for key, off in found.items()}


def inside(names: list[str], jitter: int, seconds: float) -> None:
    """Print, as a line of JSON each, what this process' arithmetic gives."""
    from .children import in_child, name_of

    if jitter:
        patch(jitter)
    for name in names:
        if name == "tables":
            found = ((name_of(p), "tables", in_child(lambda p=p: tables(p))) for p in TABLES)
        else:
            found = measured(name, jitter, seconds)
        for line in found:
            print(json.dumps(line), flush=True)


def of_array(found: list) -> str | float | dict:
    """The spread of an array as the file has it, from how far it was in several settings."""
    (_, count, size), offs = found[0], [off for off, *_ in found]
    entry, total, mean = (max(off[how] for off in offs) for how in ("entry", "total", "mean"))
    if TIMES * entry > LITTLE * (size if count == 1 else 1):
        return {"total": float(f"{total:.1e}"), "mean": float(f"{mean:.1e}")}
    return f"{round(entry * count)}/{count}" if count else float(f"{entry:.1e}")


def of_tables(runs: list[list[str]]) -> dict[str, float]:
    """The spread of a page's tables: the largest relative differences from the first run."""
    spread = dict.fromkeys(values.EXACT, 0.0)
    for one in runs[1:]:
        for pair in zip(runs[0], one, strict=True):
            for kind, a, b in values.numbers(*pair):
                spread[kind] = max(spread[kind], float(f"{values.apart(a, b):.1e}"))
    return spread


def main(arguments: list[str]) -> int:
    """Measure how far other arithmetic moves stored runs and tables; write it beside the runs."""
    parser = argparse.ArgumentParser("python -m booktools spread", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help='of a run, or "tables"')
    parser.add_argument("--seconds", type=float, default=20, help="of whole settings, for each run")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    names = options.names or [*STORED, "tables"]
    if options.inside is not None:
        inside(names, options.inside, options.seconds)
        return 0
    if stale := [name for name in set(names) & set(STORED) if known[name].stale()]:
        parser.error(f"{stale} are of other code, whose spread would be taken for rounding.")
    found = defaultdict(lambda: defaultdict(list))
    for jitter, kernels in enumerate(tqdm([*["as found"] * 3, *runnable()], disable=None)):
        how = ["--inside", str(jitter), "--seconds", str(options.seconds)]
        for name, part, what in elsewhere(kernels, "spread", *names, *how):
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
    text = yaml.safe_dump(spreads, default_flow_style=None, width=96)
    SPREADS.write_text(HEAD + text, "utf-8")
    return 0
