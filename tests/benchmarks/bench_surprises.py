"""Benchmark of Figure 2 of Helmbold and Long: all networks of a batch trained at once."""

from functools import partial

import numpy as np
from timing import in_turn, ratio

from runproofs.experiments import surprises

SIZES = {"K": 5, "n": 5, "N": 10}


def problem(count):
    """Networks, points, labels, keep probabilities and penalties: a third of each method."""
    rng = np.random.default_rng(0)
    X, y = surprises.samples(SIZES["N"], SIZES["K"], rng, count)
    start = surprises.start(SIZES["n"], SIZES["K"], rng, count)
    third = np.arange(count) * 3 // count
    return start, X, y, np.where(third == 0, 0.5, 1), np.where(third == 1, 0.5, 0)


def rate(t):
    return 0.01 / (1 + 1e-5 * t)


def together(start, X, y, p, lam, steps):
    how = {"step_size": rate, "momentum": 0.5, "dampening": 0.5, "rng": 1}
    return surprises.train(start, X, y, p, lam, steps=steps, **how).network


def one_by_one(start, X, y, p, lam, steps):
    """A step of each network, then the next: the same draws and the same arithmetic."""
    arrays = [[a[b].copy() for a in start.weights + start.biases] for b in range(len(p))]
    speeds = [[np.zeros_like(a) for a in network] for network in arrays]
    rng = np.random.default_rng(1)
    columns = X.transpose(1, 2, 0), y.T, p, SIZES["n"]
    for t, (x, label, kept) in enumerate(surprises._draws(*columns, steps, rng)):
        for k, ((W, w, a, b), speed) in enumerate(zip(arrays, speeds, strict=True)):
            h, mask = W @ x[:, k] + a, kept[:, k]
            slope = mask * (h > 0)
            miss = 2 * (w[0] @ (h * slope) + b - label[k])
            back = miss * w[0] * slope
            gradient = (
                np.outer(back, x[:, k]) + lam[k] * W, miss * (h * slope)[None] + lam[k] * w,
                back, miss,
            )  # fmt: skip
            for z, v, g in zip((W, w, a, b), speed, gradient, strict=True):
                v *= 0.5
                v += 0.5 * g if t else g
                z -= rate(t) * v
    return arrays


def batches():
    """Figure 2: 1,000 steps of SGD with dropout, weight decay or neither, milliseconds

    The loop is measured on fewer steps, 30,000 networks times steps, and ends where the batch does,
    to 1e-12.
    """
    yield f"{'networks':>10}{'one by one':>13}{'together':>11}{'ratio':>9}"
    for count in (3, 15, 150, 1500):
        given, steps = problem(count), max(30_000 // count, 20)
        ends = one_by_one(*given, steps)
        found = together(*given, steps)
        for part, array in enumerate(found.weights + found.biases):
            other = np.array([network[part] for network in ends])
            assert np.abs(array - other).max() <= 1e-12
        calls = partial(one_by_one, *given, steps), partial(together, *given, 1000)
        slow, fast = in_turn(calls, 0.1, rounds=3)
        slow *= 1000 / steps
        faster = ratio(f"surprises.train, {count} networks", "one by one", slow, fast)
        yield f"{count:10,}{1e3 * slow:13,.0f}{1e3 * fast:11,.0f}{faster:9.0f}"


TABLES = [batches]
