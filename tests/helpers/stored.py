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
    chaotic: what other processors may change, as a share of the largest entry of an array.
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
        # of sub-networks, which are as good as tied at the start, other kernels move a few images
        atol = 0.01 if "gaussian" in expected and key not in ("loss", "times") else 1e-8
        atol = max(min(atol, 1e-5 * np.abs(array).max()), chaotic * np.abs(array).max())
        np.testing.assert_allclose(found[key], array, rtol=1e-5, atol=atol, err_msg=f"{name} {key}")
    return sum(array.size for array in expected.values())
