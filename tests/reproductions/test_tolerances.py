"""How far stored runs may end from today's: what was measured, and what is tolerated."""

import numpy as np
import pytest

from helpers import stored
from helpers.stored import PREFIXES, STORED, TIMES, apart, spreads, tolerance

# Of whole settings: an ill-conditioned method, and networks trained by attacks, which other
# rounding leaves elsewhere. Their other arrays and their prefixes are compared more closely.
LARGE = {("movielens-least-squares", "expected")} | {
    ("table-6-1", key) for key in ("error", "flipped", "gradient", "points")
}


def test_how_far_arrays_are_apart():
    array = np.array([100.0, 1, 0.01, np.nan, np.inf])
    found = array + np.array([1, -0.5, 0, 0, 0])
    off = apart(found, array)
    assert off["entry"] == pytest.approx(0.5)
    assert off["total"] == pytest.approx(1.5 / 101.01)
    assert off["mean"] == pytest.approx(0.5 / 101.01)
    small = array + np.array([0, 0, 1e-3, 0, 0])
    assert apart(small, array)["entry"] == pytest.approx(1e-2)  # of .1
    assert apart(found, array, whole=True)["entry"] == 1
    assert apart(found[:4], array)["entry"] == np.inf
    assert apart(np.nan_to_num(found), array)["entry"] == np.inf
    assert apart(np.array([2e-15]), np.array([1e-15]))["entry"] < 2e-6  # rounding about zero


def test_what_is_tolerated(monkeypatch):
    measured = {"a": "2/449", "b": "0/449", "c": "0/1", "d": 1e-6, "e": 0.0, "f": {"mean": 0.01}}
    of = {"runs": {"run": {"prefix": {"settings": 3, "spread": measured}}}}
    monkeypatch.setattr(stored, "spreads", lambda: of)
    most = {key: tolerance("run", "prefix", key, np.dtype(float))[0] for key in measured}
    assert most["a"]["entry"] * 449 == pytest.approx(TIMES * 2, rel=1e-3)
    assert most["b"]["entry"] * 449 == pytest.approx(1, rel=1e-3)
    assert most["c"] == {"entry": 0}
    assert most["d"] == {"entry": TIMES * 1e-6}
    assert 0 < most["e"]["entry"] < 1e-14
    assert most["f"] == {"mean": TIMES * 0.01}
    assert tolerance("run", "setting", "times", np.dtype(int)) == ({"entry": 0}, False)


def test_no_tolerance_is_as_large_as_the_answer():
    """A tenth at most, of entries or of what is stable in them, but for LARGE."""
    large = set()
    for name, parts in spreads()["runs"].items():
        for what, part in parts.items():
            for key, of in part["spread"].items():
                match of:
                    case dict():
                        relative = max(of["mean"], of["total"] / 2)
                    case str():
                        moved, count = map(int, of.split("/"))
                        relative = moved / count if count > 1 else 0
                    case _:
                        relative = of
                if TIMES * relative > 0.1:
                    large.add((name, what, key))
    assert large == {(name, "setting", key) for name, key in LARGE}


def test_the_prefix_of_every_run_was_measured():
    assert set(spreads()["runs"]) == set(STORED) == set(PREFIXES)
    assert all("prefix" in parts for parts in spreads()["runs"].values())
