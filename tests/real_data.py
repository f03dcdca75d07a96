"""The real MNIST and MovieLens 100K: `make test-data`, with HEURISTICS_DATA set or a network."""

import numpy as np
import pytest

from runproofs import data


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


def test_movielens_100k():
    ratings = data.movielens_100k()
    assert ratings.rating.shape == (100_000,)
    assert len(np.unique(ratings.user)) == ratings.user.max() == 943
    assert len(np.unique(ratings.item)) == ratings.item.max() == 1682
    assert np.bincount(ratings.user)[1:].min() >= 20  # as its readme says
    pairs = np.stack([ratings.user, ratings.item], axis=1)
    assert len(np.unique(pairs, axis=0)) == 100_000
