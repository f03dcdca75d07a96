"""Benchmarks of sweeps in the plane: exact worst cases."""

from functools import partial

import numpy as np
from timing import in_turn, ratio

from runproofs.adversarial.worst_case import worst_case
from runproofs.networks.two_layer import TwoLayerNetwork


def plain(W, a, alpha, x, y, eps):
    """The same candidates, each sector's gradient and each margin by itself: O(m^2) a disc."""
    normal = np.arctan2(W[..., 1], W[..., 0])
    unit = np.stack([np.cos(normal), np.sin(normal)], -1)
    along = np.stack([-unit[..., 1], unit[..., 0]], -1)
    distance = (unit * x[:, None]).sum(-1, keepdims=True)
    rest = eps**2 - distance**2
    foot, reach = x[:, None] - distance * unit, np.sqrt(np.maximum(rest, 0)) * along
    crossings = [np.where(rest >= 0, foot + sign * reach, x[:, None]) for sign in (-1, 1)]
    rays = np.sort(np.concatenate([normal + np.pi / 2, normal - np.pi / 2], -1) % (2 * np.pi), -1)
    middle = (rays + np.concatenate([rays[:, 1:], rays[:, :1] + 2 * np.pi], -1)) / 2
    slopes = np.where(
        np.stack([np.cos(middle), np.sin(middle)], -1) @ W.mT > 0, 1, alpha[:, None, None]
    )
    g = y[:, None, None] * (slopes * a[:, None]) @ W
    sectors = x[:, None] - eps * g / np.linalg.norm(g, axis=-1, keepdims=True)
    origin = np.where(np.linalg.norm(x, axis=-1, keepdims=True) <= eps, 0, x)[:, None]
    u = np.concatenate([x[:, None], origin, *crossings, sectors], 1)
    hidden = u @ W.mT
    margins = (a[:, None] * np.maximum(alpha[:, None, None] * hidden, hidden)).sum(-1)
    return (y[:, None] * margins).min(-1)


def worst_cases():
    """Worst cases in the plane: a sweep against each sector by itself, microseconds a disc"""
    rng = np.random.default_rng(0)
    yield f"{'':10}{'discs':>7}{'plain':>10}{'sweep':>9}{'ratio':>8}{'difference':>13}"
    for m in (5, 20, 100, 400):
        n = 4000 // m
        net = TwoLayerNetwork(
            rng.standard_normal((n, m, 2)), rng.uniform(-1, 1, (n, m)), rng.random(n)
        )
        x, y = rng.standard_normal((n, 2)), rng.choice([-1.0, 1.0], n)
        each = partial(plain, net.W, net.a, net.alpha, x, y, 0.8)
        sweep = partial(worst_case, net, x, y, 0.8)
        a, b = 1e6 * in_turn((each, sweep), 0.05, rounds=7) / n
        faster = ratio(f"worst_case, m = {m}", "each sector by itself", a, b)
        largest = np.abs(each() - sweep().margin).max()
        yield f"m = {m:4}  {n:7}{a:10.1f}{b:9.1f}{faster:8.1f}{largest:13.0e}"


TABLES = [worst_cases]
