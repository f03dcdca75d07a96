"""How far other arithmetic takes stored runs: what is measured, written down, and tolerated."""

import numpy as np
import pytest

from booktools import spread, values
from helpers import stored
from helpers.stored import PREFIXES, STORED, TIMES, apart, spreads, tolerance

# Of whole settings: an ill-conditioned method, and networks trained by attacks, which other
# rounding leaves elsewhere. Their other arrays and their prefixes are compared more closely.
LARGE = {("movielens-least-squares", "expected")} | {
    ("table-6-1", key) for key in ("error", "flipped", "gradient", "points")
}


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.arange(9, 440, 7) / 449, 449),
        (np.float32(np.arange(3, 895, 5) / 898), 898),
        (np.concatenate([np.arange(5, 80) / 2010, np.sqrt(np.arange(2, 90)) / 10]), 2010),
        (np.sqrt(np.arange(2, 90)) / 10, None),
        (np.array([0.5, 1.5]), None),
        (np.array([1e-5, 2.3e-5]), None),
    ],
)
def test_what_an_array_has_shares_of(array, expected):
    assert spread.unit(array) == expected


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


def off(entry, total=0.0, mean=0.0):
    return {"entry": entry, "total": total, "mean": mean}


def test_a_spread_is_the_largest_in_units_that_fit():
    assert spread.of_array([(off(1 / 449), 449, 1), (off(2 / 449), 449, 1)]) == "2/449"
    assert spread.of_array([(off(2), 1, 700), (off(0), 1, 700)]) == "2/1"
    assert spread.of_array([(off(3e-9), None, 1), (off(1.23e-8), None, 1)]) == 1.2e-8
    chaotic = [(off(0.3, 0.02, 0.01), 449, 1), (off(0.1, 0.03, 0.001), 449, 1)]
    assert spread.of_array(chaotic) == {"total": 0.03, "mean": 0.01}
    runs = [["72.1 ± 1.4", "5"], ["72.1 ± 2.1", "5"], ["73.9 ± 1.4", "6"]]
    assert spread.of_tables(runs) == {"numbers": 0.024, "errors": 0.33}


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
    pages = {path.relative_to(spread.BOOK).with_suffix("").as_posix() for path in spread.TABLES}
    assert set(spreads()["tables"]) == pages
    assert all(set(of) == set(values.EXACT) for of in spreads()["tables"].values())
