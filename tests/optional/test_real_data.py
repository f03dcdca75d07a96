"""The real MNIST and MovieLens: with HEURISTICS_DATA set, or a network."""

import os
from pathlib import Path

import numpy as np
import pytest

from runproofs import data, published


@pytest.mark.parametrize(("split", "n"), [("train", 60_000), ("test", 10_000)])
def test_mnist(split, n):
    pixels, labels = data.mnist(split)
    assert pixels.shape == (n, 28, 28)
    assert (pixels.min(), pixels.max()) == (0, 1)
    assert labels.shape == (n,)
    assert set(labels.tolist()) == set(range(10))
    nearest_mean = np.stack([pixels[labels == k].mean(axis=0) for k in range(10)]).reshape(10, -1)
    x = pixels.reshape(n, -1)
    distance = (nearest_mean**2).sum(axis=1) - 2 * x @ nearest_mean.T
    assert (distance.argmin(axis=1) == labels).mean() > 0.75  # images and labels belong together


def test_the_published_network_reads_mnist():
    folder = os.environ.get("HEURISTICS_DATA")
    if folder and not Path(folder, published.SOURCES[0].path).exists():
        pytest.skip(f"{published.SOURCES[0].path} is not in {folder}")
    W1, b1, W2, b2 = published.certified()
    pixels, labels = data.mnist("test")
    logits = np.maximum(pixels.reshape(-1, 784) @ W1 + b1, 0) @ W2 + b2
    assert (logits.argmax(1) == labels).sum() == 9582  # as those who published it say


def test_movielens_100k():
    ratings = data.movielens("100k")
    assert ratings.rating.shape == (100_000,)
    assert len(np.unique(ratings.user)) == ratings.user.max() == 943
    assert len(np.unique(ratings.item)) == ratings.item.max() == 1682
    assert np.bincount(ratings.user)[1:].min() >= 20  # as its readme says
    pairs = np.stack([ratings.user, ratings.item], axis=1)
    assert len(np.unique(pairs, axis=0)) == 100_000


@pytest.mark.parametrize(
    ("name", "n", "users", "films", "stars"),
    [
        ("1m", 1_000_209, 6040, 3706, {1, 2, 3, 4, 5}),
        ("10m", 10_000_054, 69_878, 10_677, {k / 2 for k in range(1, 11)}),
    ],
)
def test_movielens_archives(name, n, users, films, stars):
    source, _ = data.MOVIELENS[name]
    folder = os.environ.get("HEURISTICS_DATA")
    if folder and not Path(folder, source.path).exists():
        pytest.skip(f"{source.path} is not in {folder}")
    ratings = data.movielens(name)
    assert ratings.rating.shape == (n,)
    assert len(np.unique(ratings.user)) == users
    assert len(np.unique(ratings.item)) == films
    assert set(np.unique(ratings.rating).tolist()) == stars
    assert np.bincount(ratings.user)[np.unique(ratings.user)].min() >= 20  # as the readmes say
