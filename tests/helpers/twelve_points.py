"""Twelve points of the plane with a known margin, starts that point the wrong way, and runs."""

from math import sqrt

import numpy as np

from runproofs.adversarial.robust_training import adversarial_training
from runproofs.adversarial.worst_case import worst_case
from runproofs.bounds.robust import Setting
from runproofs.networks.two_layer import TwoLayerNetwork

NU, GAMMA, R = 0.15, 0.4, 1.0


def twelve_points():
    """Separable by e_1 with margin exactly GAMMA, inside the disc of radius R."""
    rng = np.random.default_rng(0)
    first = np.concatenate([[GAMMA], rng.uniform(GAMMA, 0.8, 11)])
    second = rng.uniform(-1, 1, 12) * np.sqrt(R**2 - first**2)
    Y = np.where(np.arange(12) % 2, 1.0, -1.0)
    return np.stack([Y * first, second], 1), Y


X, Y = twelve_points()


def start(alpha=0.7, m=5, runs=3, size=1.5, seed=1):
    """Networks that point the wrong way, W_1 = -size V_*, with ||a|| = 1 and |a_r| = kappa."""
    a = np.random.default_rng(seed).choice([-1, 1], (runs, m)) / sqrt(m)
    return TwoLayerNetwork(-size * a[..., None] * np.array([1.0, 0.0]), a, alpha)


def run(net, train=adversarial_training, rounds=150, step_size=None, seed=0, **options):
    options = {"attack": worst_case, "sample": np.random.default_rng(seed)} | options
    step_size = Setting(R, GAMMA, NU, 1).largest_step if step_size is None else step_size
    return train(net, X, Y, NU, rounds=rounds, step_size=step_size, **options)
