"""Planar inputs and labels of several kinds, and what their lazy margin is made of, by hand."""

import numpy as np


def instance(kind, seed, n=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.sign(X[:, 0] * X[:, 1]) if seed % 2 else rng.choice([-1.0, 1.0], n)
    half = (n + 1) // 2
    if kind == "antipodal":
        X[half:] = -X[: n - half]
    elif kind == "repeated":
        X[half:], y[half:] = X[: n - half], y[: n - half]
    elif kind == "collinear":
        X[half:] = X[: n - half] * rng.uniform(0.01, 3, (n - half, 1))
        y[half:] = y[: n - half]
    elif kind == "short":
        X *= 10 ** rng.uniform(-6, 0, (n, 1))
    elif kind == "lattice":
        X = rng.integers(-2, 3, (n, 2)).astype(float)
    return X, y


KINDS = "random", "antipodal", "repeated", "collinear", "short", "lattice"


def by_hand(X):
    """Angles between all lines z^T x = 0, the probabilities of the arcs, and what is active."""
    lines = np.arctan2(X[:, 1], X[:, 0])
    cuts = np.concatenate([lines + np.pi / 2, lines - np.pi / 2, [np.pi]])
    cuts = np.sort((cuts + np.pi) % (2 * np.pi) - np.pi)
    length = np.diff(cuts, append=cuts[0] + 2 * np.pi)
    wide = length > 1e-9
    middle = cuts[wide] + length[wide] / 2
    z = np.stack([np.cos(middle), np.sin(middle)], 1)
    return z, length[wide] / (2 * np.pi), z @ X.T > 0
