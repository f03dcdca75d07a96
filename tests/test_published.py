"""The published network: its files are read, by their hashes, and what is missing is said."""

import hashlib
import io

import numpy as np
import pytest

from runproofs import published
from runproofs.data import DataError


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Four invented files where the network's own are looked for."""
    rng, arrays, sources = np.random.default_rng(0), [], []
    for source, shape in zip(published.SOURCES, ((6, 4), (4,), (4, 3), (3,)), strict=True):
        arrays.append(rng.normal(size=shape).astype(np.float32))
        np.save(file := io.BytesIO(), arrays[-1])
        path = tmp_path / source.path
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.getvalue())
        sources.append(source._replace(sha256=hashlib.sha256(file.getvalue()).hexdigest()))
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    monkeypatch.setattr(published, "SOURCES", tuple(sources))
    return arrays, tmp_path


def test_the_files_come_back_in_their_order(parts):
    arrays, _ = parts
    for found, expected in zip(published.certified(), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_file_that_is_missing_or_another_is_named(parts):
    _, folder = parts
    path = folder / "robust-mnist" / "W2.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"is not the known robust-mnist/W2\.npy"):
        published.certified()
    path.unlink()
    with pytest.raises(DataError, match=r"robust-mnist/W2\.npy does not exist"):
        published.certified()
