"""Settings of stored runs, computed again, and how far from the stored ones they may end.

Other processors round otherwise. How far that takes a run, its first steps and whole settings, was
measured and lies beside the runs, in SPREADS, which `booktools spread` writes; a test tolerates
TIMES as much.
"""

import builtins
import os
import random
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import yaml

from booktools.revalidate import ELSEWHERE
from runproofs.experiments import ch5, discover, homogeneous, provenance, surprises
from runproofs.experiments.base import RESULTS
from runproofs.linear import ratings, shallow_training
from runproofs.linear.deep import deep_training
from runproofs.networks import relu_dropout

known = discover()
STORED = [name for name, one in known.items() if not one.not_run and name not in ELSEWHERE]
SPREADS = RESULTS / "spread.yml"
TIMES = 4
ZERO = 1e-9  # what is smaller is compared with it: so small it is rounding, or as good as zero
# What a run may do whose whole settings take too long to be measured: less than twice what other
# kernels did to 138 arrays of such runs, .102 and .028.
UNMEASURED = {"total": 0.2, "mean": 0.05}

LAMBDAS = (0.1, 0.5, 1.0)
PREFIXES = {  # the settings that are run again, and after how many steps they stop
    "figure-2-2": ([{"lam": lam} for lam in LAMBDAS], None),
    "figure-2-3": ([{"r": r, "lam": lam} for r in (20, 80) for lam in LAMBDAS], 640),
    "figure-2-3-constant-step": ([{"r": 20, "lam": lam} for lam in (0.1, 1.0)], 640),
    "figure-3-2": ([{"run": 0}], 1000),
    "figure-3-2-exact": ([{"run": 0}, {"run": 40}], 2000),
    "figure-3-3": ([{"run": 0}, {"run": 30}], 1000),
    "figure-3-3-exact": ([{"run": 0}, {"run": 30}], 1000),
    "figure-4-2": (
        [{"share": 4, "width": 16, "seed": 0}, {"share": 1, "width": 64, "seed": 4}],
        20,
    ),
    "figure-4-2-sgd": ([{"batch": batch, "width": 16} for batch in (8, 128)], 20),
    "figure-5-2": ([{"rate": 0.7, "seed": 2}], 16),
    "figure-5-2-digits": (
        [{"width": 100, "rate": 0.5, "seed": 0}, {"width": 1000, "rate": 0.1, "seed": 3}],
        60,
    ),
    "figure-5-3": ([{"width": 1000, "seed": 0}], 16),
    "figure-5-3-digits": (
        [{"trained": t, "width": 100, "rate": 0.8, "seed": 2} for t in (None, 0.0)],
        16,
    ),
    "figure-5-3-wide": ([{"width": 50_000}], 16),
    "movielens-least-squares": (
        [{"method": "expected", "seed": 1}, {"method": "dropout", "seed": 2}],
        None,
    ),
    "published-network": ([{"attack": "reflected", "scale": 1}], None),
    "published-network-targets": ([{"thousand": 3}], None),
    # the first, large steps are chaotic: from 350 steps on processors differ in the fifth digit
    "slides-equalization": (
        [{"r": 20, "lam": lam, "seed": seed} for lam in (0.1, 0.5) for seed in range(3)],
        200,
    ),
    "slides-fixed-size": ([{"theta": 0.1, "seed": 1}], None),
    "slides-variable-size": ([{"rule": "fixed", "r": 20, "seed": 1}], None),
    "surprises-figure-2": ([{"dampening": d, "seed": s} for d, s in ((0.5, 0), (0.0, 3))], 1000),
    "table-4-1": ([{"p": p, "width": 30, "seed": 1} for p in (0.0, 0.3)], 2),  # epochs
    "table-4-1-steps": ([{"step": 40.0, "width": 30, "p": p} for p in (0.0, 0.4)], 2),
    "table-6-1": ([{"rule": "Standard", "seed": 0}], None),
    "table-6-1-data": ([{}], None),
    "table-6-2-digits": (
        [{"loss": loss, "eps": 0.1, "steps": 2, "seed": 3} for loss in ("ce", "greedy")],
        None,
    ),
}


def demand_data(name):
    """Skip the test where the data that a run reads are not at hand."""
    read = provenance.data_read(known[name].scales["paper"])
    folder = os.environ.get("HEURISTICS_DATA")
    if read and not (folder and all(Path(folder, path).expanduser().exists() for path in read)):
        pytest.skip(f"HEURISTICS_DATA must name a folder that holds {', '.join(read)}")


def seconds(name):
    """What a setting of the stored run took on average."""
    one = known[name]
    count = np.prod([len(one.scales["paper"][axis]) for axis in one.over])
    return one.paper().provenance["seconds"] / count


def drawn(name, seed):
    """A setting of the run, the same for the same seed."""
    rng, one = random.Random(f"{seed} {name}"), known[name]
    return {axis: rng.choice(list(one.scales["paper"][axis])) for axis in one.over}


def stop_after(steps, monkeypatch):
    """Trainers that draw samples or masks take that many steps, on ratings: epochs."""

    def fewer(draws):
        return lambda *a, **k: islice(draws(*a, **k), steps)

    for trainer in (shallow_training, relu_dropout, ch5, surprises):
        monkeypatch.setattr(trainer, "_draws", fewer(trainer._draws))
    monkeypatch.setattr(
        deep_training, "range", lambda n: builtins.range(min(n, steps)), raising=False
    )
    watched = homogeneous.watched
    monkeypatch.setattr(homogeneous, "watched", lambda n: [t for t in watched(n) if t <= steps])
    train = ratings.train
    monkeypatch.setattr(
        ratings, "train", lambda *a, epochs, **k: train(*a, epochs=min(epochs, steps), **k)
    )


def again(name, setting, stored, stopped=None):
    """Pairs of arrays by name: a setting as today's code makes it, and as it is stored.

    stopped: only its first steps were run.
    """
    one = known[name]
    at = tuple(list(one.scales["paper"][axis]).index(setting[axis]) for axis in one.over)
    found = {key: np.asarray(a) for key, a in one.function(**one.scales["paper"] | setting).items()}
    expected = {key: array[at] for key, array in stored.items()}
    assert found.keys() == expected.keys()
    if stopped:  # arrays with an axis of times, up to the last one; what is final is not there yet
        count, total = len(found["times"]), len(expected["times"])
        axes = {key: a.shape.index(total) for key, a in expected.items() if total in a.shape}
        expected = {key: expected[key].take(range(count), axis) for key, axis in axes.items()}
        assert count > 1, "only the start was compared"
    return {key: (found[key], array) for key, array in expected.items()}


def apart(found, expected, whole=False):
    """How far an array is from the expected one: by entry, in total and in the mean.

    entry: the largest difference; of floats that are not `whole` numbers, or shares of a count,
    relative to the entry, or to a thousandth of the largest one if that is more. total, mean: what
    all entries differ by, and what their sum does, relative to the sum of all. Infinite where
    another entry is finite, or the shape is another one.
    """
    finite = np.isfinite(expected)
    if found.shape != expected.shape or not np.array_equal(
        found[~finite], expected[~finite], equal_nan=True
    ):
        return dict.fromkeys(("entry", "total", "mean"), np.inf)
    off, sizes = (a[finite].astype(float) for a in (found, expected))
    off, sizes = off - sizes, np.abs(sizes)
    scale = 1 if whole else np.maximum(sizes, max(sizes.max(initial=0) / 1000, ZERO))
    of_all = max(sizes.sum(), ZERO)
    return {
        "entry": np.abs(off / scale).max(initial=0),
        "total": np.abs(off).sum() / of_all,
        "mean": abs(off.sum()) / of_all,
    }


@cache
def spreads():
    return yaml.safe_load(SPREADS.read_text("utf-8"))


def tolerance(name, of, key, dtype):
    """By how much an array may be `apart`, in what; and whether its entries are counted.

    Whatever was measured, an image may be otherwise, and a float by a few units of rounding.
    """
    measured = spreads()["runs"][name]
    if of not in measured:
        return ({"entry": 0} if key == "times" else UNMEASURED), False
    match measured[of]["spread"][key]:
        case dict(spread):
            return {how: TIMES * size for how, size in spread.items()}, False
        case str(spread):
            moved, count = map(int, spread.split("/"))
            most = max(TIMES * moved, int(count > 1)) / count
            return {"entry": 1.0001 * most}, True  # of shares in float32
        case spread:
            return {"entry": max(TIMES * spread, 16 * np.finfo(dtype).eps)}, False


def agree(name, setting, stored, of="setting", stopped=None):
    """Compare one setting of a stored run with today's; how many numbers that was.

    of: whose spread is tolerated, that of a whole "setting" or of the "prefix".
    """
    compared = 0
    for key, (found, array) in again(name, setting, stored, stopped).items():
        allowed, whole = tolerance(name, of, key, array.dtype)
        off = apart(found, array, whole)
        for how, most in allowed.items():
            assert off[how] <= most, f"{name} {key}: {how} off by {off[how]:.2g}, not {most:.2g}"
        compared += array.size
    return compared
