"""Settings of stored runs, computed again."""

import os

import numpy as np
import pytest

from runproofs.book import provenance
from runproofs.reproductions import discover

known = discover()


def demand_data(name):
    """Skip the test where the data that a run reads are not at hand."""
    read = provenance.data_read(known[name].scales["paper"])
    if read and "HEURISTICS_DATA" not in os.environ:
        pytest.skip(f"HEURISTICS_DATA must name a folder that holds {', '.join(read)}")


def agree(name, setting, stored, stopped=None, chaotic=0):
    """Compare one setting of a stored run with today's; how many numbers that was.

    stopped: only its first steps were run.
    chaotic: another processor's rounding grows until single numbers say little. What it leaves, of
    138 arrays that other kernels computed, is each one's mean, to 2.8 %, and most entries: they
    differ by at most 10.2 % of their sum. So this is the share by which a mean may move, and a
    quarter of what all entries together may.
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
    for key, array in expected.items():
        assert found[key].shape == array.shape, f"{name} {key}"
        if chaotic:
            off = found[key] - array
            assert np.array_equal(np.isnan(found[key]), np.isnan(array)), f"{name} {key}"
            assert np.nansum(np.abs(off)) <= 4 * chaotic * np.nansum(np.abs(array)), f"{name} {key}"
            assert np.abs(np.nansum(off)) <= chaotic * np.abs(np.nansum(array)), f"{name} {key}"
            continue
        # of some 10^5 Gaussian draws, other processors move a few: four (measured)
        atol = 1e-4 if key == "gaussian" else min(1e-8, 1e-5 * np.nanmax(np.abs(array)))
        np.testing.assert_allclose(found[key], array, rtol=1e-5, atol=atol, err_msg=f"{name} {key}")
    return sum(array.size for array in expected.values())
