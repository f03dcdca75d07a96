"""For the pages of Chapter 6: balls with their worst points, a counterexample to Theorem 16."""

from itertools import product
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from runproofs.adversarial.margin_attacks import Attack, algorithm_5, clean, pgd_path
from runproofs.adversarial.robust_training import (
    adversarial_training,
    attack_of_half_threshold,
    mistake_driven_training,
)
from runproofs.adversarial.worst_case import worst_case
from runproofs.bounds.attack_guarantees import beta_threshold
from runproofs.bounds.robust import Setting, rounds_theorem_16
from runproofs.networks.two_layer import TwoLayerNetwork, lipschitz, margin, trap


def every_sign(*shape):
    """All arrays of that shape of -1 and 1, along a new first axis, the one of ones first.

    every_sign(m, 1) * W are networks that have x on all 2^m sides of their units, each once. So a
    polynomial identity at one random W on every side proves it for all W; its degree counts 2^m
    times, since W is random on one side.
    """
    return np.array(list(product((1, -1), repeat=prod(shape)))).reshape(-1, *shape)


class SolvedBalls(NamedTuple):
    """Balls of one radius about x, a network each, with their worst points."""

    radius: float
    net: TwoLayerNetwork
    x: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    clean: np.ndarray  # (n,), the margin at x
    point: np.ndarray  # (n, d), a worst point
    worst: np.ndarray  # (n,), its margin
    L: np.ndarray  # (n,), the norm of a times the spectral norm of W
    G: np.ndarray  # (n,), kappa sqrt(m) ||W||_F, where kappa is the largest |a_r|

    @property
    def level(self):
        """The depth of each ball in units of radius times L."""
        return -self.worst / (self.radius * self.L)

    @property
    def effective(self):
        """Whether the worst point is as deep as Lemma 18 asks for."""
        return -self.worst >= beta_threshold(self.radius, self.net.alpha, self.G)

    def part(self, chosen):
        """The chosen balls: a mask or a slice."""
        net = TwoLayerNetwork(self.net.W[chosen], self.net.a[chosen], self.net.alpha[chosen])
        return SolvedBalls(self.radius, net, *(array[chosen] for array in self[2:]))

    def scaled(self, factor):
        """The same balls where the top layers are multiplied by factor (n,)."""
        net = TwoLayerNetwork(self.net.W, factor[:, None] * self.net.a, self.net.alpha)
        sizes = (factor * size for size in (self.worst, self.L, self.G))
        return SolvedBalls(
            self.radius, net, self.x, self.y, factor * self.clean, self.point, *sizes
        )

    def attacked(self, step_size, T, loss="reflected"):
        """The least margins that PGD finds in T visits; T (k, n) or (k, 1), or (n,) or a number."""
        all_T = np.atleast_2d(T) + np.zeros(len(self.x), int)
        options = {"step_size": step_size, "visits": all_T.max(), "loss": loss}
        path = pgd_path(self.net, self.x, self.y, self.radius, **options)
        found = np.take_along_axis(np.minimum.accumulate(path.margin), all_T - 1, 0)
        return found if np.ndim(T) == 2 else found[0]

    def first_flips(self, step_size, visits):
        """First visits (n,) at which descent on the margin finds z < 0; 10^6 where none does."""
        options = {"step_size": step_size, "visits": visits, "loss": "margin"}
        flips = pgd_path(self.net, self.x, self.y, self.radius, **options).margin < 0
        return np.where(flips.any(0), flips.argmax(0) + 1, 10**6)


def solved(net, x, y, radius):
    """The balls of that radius about x (n, d) with labels y (n,), one network each."""
    kappa, frobenius = np.abs(net.a).max(-1), np.linalg.norm(net.W, axis=(-2, -1))
    sizes = lipschitz(net), kappa * np.sqrt(net.W.shape[-2]) * frobenius
    return SolvedBalls(radius, net, x, y, margin(net, x, y), *worst_case(net, x, y, radius), *sizes)


def one_ball(W, a, alpha, x):
    """The ball of radius 1 about x (d,) with label 1, for one network."""
    net = TwoLayerNetwork(np.array(W)[None], np.array(a)[None], np.array([alpha]))
    return solved(net, np.array(x)[None], np.ones(1), 1.0)


def random_balls(rng, radius, n, m, d, leak):
    """n random problems in d dimensions, of m units with leaks from `leak` to 1, solved exactly."""
    a, alpha = rng.uniform(-1, 1, (n, m)), rng.uniform(leak, 1, n)
    x = radius * rng.uniform(0.2, 3, (n, 1)) * rng.normal(size=(n, d))
    net = TwoLayerNetwork(rng.normal(size=(n, m, d)), a, alpha)
    return solved(net, x, rng.choice([-1.0, 1.0], n), radius)


def counterexample_to_theorem_16():
    """Iterates, margins, points and labels of three runs: right; a = 10^-4; with a tiny step."""
    setting = Setting(R=1, gamma=0.9, eps=0.1, alpha=1)
    ends = np.array([[1.0, 0], [-1, 0]]), np.array([1.0, -1])

    def attack(network, x, y, eps):
        squares = (network.W**2).sum((-2, -1))
        visits = ceil((8 * eps**2 * squares / 0.4).max())
        return algorithm_5(network, x, y, eps, step_size=1 / squares, visits=visits)

    rows = np.tile([[-1 / setting.gamma, 0]], (3, 1, 1))
    start = TwoLayerNetwork(rows, [[1.0], [1e-4], [1.0]], 1.0)
    steps = setting.largest_step * np.array([1, 1, 1e-5])
    rounds = ceil(rounds_theorem_16(setting, 0.4, 1 / setting.gamma))
    options = {"rounds": rounds, "step_size": steps, "attack": attack, "sample": 0}
    run = adversarial_training(start, *ends, setting.eps, **options)
    return run.networks(start), run.margins, ends


def in_vain(method, seed):
    """Margins of training where nobody can win: two points within eps of the border."""
    net = TwoLayerNetwork([[[1.0, 0]]], [1.0], 1.0)
    data = np.array([[0.5, 0], [-0.5, 0]]), np.array([1.0, -1]), 0.6
    options = {"step_size": 0.8, "sample": np.random.default_rng(seed)}
    return method(net, *data, rounds=300, attack=worst_case, **options).margins


def on_the_axes(method, setting, start, rounds, attack=clean):
    """Training of a linear unit on gamma^-2 orthonormal points in turn, from -start V_*."""
    n = round(setting.gamma**-2)
    net = TwoLayerNetwork(np.full((1, 1, n), -start / n**0.5), [1.0], 1.0)
    turn = iter(range(rounds))
    options = {"step_size": setting.largest_step, "sample": lambda _: [next(turn) % n]}
    data = np.eye(n), np.ones(n), setting.eps
    return method(net, *data, rounds=rounds, attack=attack, **options)


def on_the_leak(method, setting, start, rounds):
    """Training of a unit on the point 1, moved down by eps, from -start: each gain is eta c."""

    def down(network, x, y, eps):
        return Attack(x - eps, margin(network, x - eps, y))

    net = TwoLayerNetwork([[[-start]]], [setting.A], setting.alpha)
    options = {"step_size": setting.largest_step, "attack": down, "sample": 0}
    return method(net, [[1.0]], [1], setting.eps, rounds=rounds, **options)


def trapped_training(sample):
    """Algorithm 6, and training on mistakes, from 1, 10, 100, 1000 times a trap, on one point."""
    home, x = trap(0.5, 0.3), np.array([[0.1, 2.0]])
    W = np.multiply.outer([1.0, 10, 100, 1000], home.W)
    net, R = TwoLayerNetwork(W, home.a, 0.5), np.linalg.norm(x)
    setting = Setting(R, R, 1.0, 0.5, np.linalg.norm(home.a))
    options = {"step_size": setting.largest_step, "attack": attack_of_half_threshold(0.85)}
    run = adversarial_training(net, x, [1.0], 1.0, rounds=400, sample=sample, **options)
    driven = mistake_driven_training(net, x, [1.0], 1.0, rounds=3, sample=sample, **options)
    return net, setting, W, run, driven
