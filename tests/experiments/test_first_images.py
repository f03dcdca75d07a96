"""The first images of CIFAR-10: a made-up file, the archive in its place, and the file itself."""

import hashlib
import os

import numpy as np
import pytest

from runproofs import data
from runproofs.experiments import first_images as first
from runproofs.experiments.ch6_cifar import SCALES


def test_the_file_is_read_if_it_is_the_known_one(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
    path = tmp_path / first.FIRST.path
    path.parent.mkdir()
    np.savez_compressed(path, pixels=pixels, labels=np.uint8([7, 0, 9, 3, 3, 1]))
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match="SHA-256"):
        first.first_images()
    known = first.FIRST._replace(sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(first, "FIRST", known)
    found = first.first_images()
    assert found.labels.tolist() == [7, 0, 9, 3, 3, 1]
    assert found.pixels.shape == (6, 3, 32, 32)
    assert found.pixels[1, 2, 5, 6] == np.float32(pixels[1, 5, 6, 2]) / np.float32(255)


@pytest.mark.parametrize("folder", [None, "empty"])
def test_without_the_file_they_come_from_the_archive(monkeypatch, tmp_path, folder):
    whole = data.Images(np.arange(5000.0), np.arange(5000) % 10)
    monkeypatch.setattr(data, "cifar10", {"train": whole}.get)
    monkeypatch.delenv("HEURISTICS_DATA", raising=False)
    if folder:
        monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    pixels, labels = first.first_images()
    assert pixels.tolist() == list(range(4000))
    assert len(labels) == 4000


def test_the_images_have_the_colors_of_cifar_10():
    if "HEURISTICS_DATA" not in os.environ:
        pytest.skip(f"HEURISTICS_DATA must name a folder that holds {first.FIRST.path}")
    pixels, labels = first.first_images()
    assert labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]  # as everyone finds them
    assert (255 * pixels[0, :, 0, 0]).round().tolist() == [59, 62, 63]
    np.testing.assert_allclose(pixels.mean((0, 2, 3)), SCALES["mean"], atol=0.01)
    np.testing.assert_allclose(pixels.std((0, 2, 3)), SCALES["std"], atol=0.01)
