"""Adversarial training of leaky-ReLU networks, Algorithm 6 of the thesis, batched over runs."""

from math import ceil
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.adversarial.margin_attacks import pgd
from runproofs.bounds.attack_guarantees import visits_at_level
from runproofs.networks.two_layer import TwoLayerNetwork, lipschitz, margin, weight_gradient
from runproofs.training import Recorder


class AdversarialTraining(NamedTuple):
    """What `adversarial_training` and `mistake_driven_training` return."""

    weights: np.ndarray  # (k, runs, m, d), after `times` rounds; W_1 first
    margins: np.ndarray  # (rounds, runs), at the attacked points, before the step
    indices: np.ndarray  # (rounds, runs), of the samples
    times: np.ndarray  # (k,), numbers of rounds; 0, ..., rounds unless `every` says otherwise

    def networks(self, network):
        """The kept iterates as one batch of networks, with the top layer and slope of `network`."""
        return TwoLayerNetwork(self.weights, network.a, network.alpha)


def adversarial_training(network, X, Y, eps, *, rounds, step_size, attack, sample, every=1):
    """Algorithm 6: each round attacks one sample and takes a gradient step on its logistic loss.

    W_{t+1} = W_t + step_size sigmoid(-z_t) y_t (a * sigma'(W_t u_t)) u_t^T, with z_t the margin at
    the attacked point u_t, which counts as a constant.
    network: the start W_1, one network or a batch (runs,) of them, with its fixed a and alpha.
    X: (n, d), n at least 1. Y: (n,), labels -1 and 1. eps: at least 0. rounds: at least 1.
    step_size: at least 0, a number or (runs,).
    attack: called as attack(network, x, y, eps), with networks (runs, m, d), x (runs, d) and
    y (runs,), returns an `Attack`; for example `worst_case`, `clean` or `attack_of_theorem_16`.
    sample: a NumPy Generator, or a seed of one, which draws samples independently and determines
    the result, or a function of the current networks that returns indices (runs,) of samples.
    every: the weights are kept before the first round, after each `every` rounds (or after the
    numbers of rounds that `every` lists), and after the last; None for the first and the last only.
    Returns an `AdversarialTraining`. Raises ValueError for bad arguments.
    Cost: O(m d) and one attack a round and run. Memory: 16 bytes for each number that is kept;
    5000 rounds of 3 runs with m = 1000 and d = 20 take 5 GB, and 12 MB with every = 500.
    Source: thesis, Algorithm 6.
    """
    options = rounds, step_size, attack, sample, every
    return _train(network, X, Y, eps, *options, lambda z: expit(-z))


def mistake_driven_training(network, X, Y, eps, *, rounds, step_size, attack, sample, every=1):
    """Algorithm 6, but steps only when the attack reaches z_t <= 0, and then of weight 1.

    W_{t+1} = W_t + step_size y_t (a * sigma'(W_t u_t)) u_t^T. Arguments, result, errors and cost as
    in `adversarial_training`. Round t was an update iff margins[t] <= 0.
    Source: beyond the thesis, Theorem 6.I.
    """
    options = rounds, step_size, attack, sample, every
    return _train(network, X, Y, eps, *options, lambda z: z <= 0)


def _train(network, X, Y, eps, rounds, step_size, attack, sample, every, weight):
    X = arguments.matrix("X", X, columns=network.W.shape[-1])
    Y = arguments.signs("Y", arguments.points("Y", Y, len(X), axes=1))
    eps = arguments.number("eps", eps, least=0)
    rounds = arguments.positive_integer("rounds", rounds)
    W = _runs(network)
    runs = len(W)
    step_size = arguments.numbers("step_size", step_size, batch=(runs,), least=0)
    draw, record = _sampler(sample, len(X), runs), Recorder(lambda W: {"W": W}, every, rounds)
    margins, indices = np.empty((rounds, runs)), np.empty((rounds, runs), dtype=int)
    record(0, W)
    for t in range(rounds):
        current = TwoLayerNetwork(W, network.a, network.alpha)
        indices[t] = draw(current)
        x, y = X[indices[t]], Y[indices[t]]
        u = attack(current, x, y, eps).point
        margins[t] = margin(current, u, y)
        scale = step_size * weight(margins[t])
        W = W + scale[..., None, None] * weight_gradient(current, u, y)
        record(t + 1, W)
    times, kept = record.results()
    return AdversarialTraining(kept["W"], margins, indices, times)


def _runs(network):
    """The weights (runs, m, d) of a network or of a batch of them."""
    batch = np.broadcast_shapes(network.W.shape[:-2], network.a.shape[:-1], network.alpha.shape)
    if len(batch) > 1:
        raise ValueError(f"network must have at most one batch axis, but it has {len(batch)}.")
    return np.broadcast_to(network.W, (*(batch or (1,)), *network.W.shape[-2:]))


def _sampler(sample, n, runs):
    """A function of the current networks that returns checked indices (runs,) of n samples."""
    if callable(sample):

        def draw(network):
            return arguments.integers("sample(network)", sample(network), size=runs, below=n)

        return draw
    if not isinstance(sample, np.random.Generator):
        if not isinstance(sample, Integral) or isinstance(sample, bool) or sample < 0:
            raise ValueError(
                "sample must be a function, a NumPy Generator or a seed that is at least 0, "
                f"but it was {sample!r}."
            )
        sample = np.random.default_rng(sample)
    return lambda network: sample.integers(n, size=runs)


# ---------------------------------------------------------------- attacks with the proved settings


def attack_of_theorem_16(error):
    """The attack of Theorem 16: Algorithm 5 with 1/eta = kappa^2 m ||W||_F^2 and
    T >= 8 eps^2 / (eta error).

    error: the thesis' epsilon, larger than 0. Returns an attack for `adversarial_training`; kappa
    is max |a_r|. In a batch every network gets the number of visits that the largest one needs.
    Raises ValueError for another error. Cost: O(visits m d) a point.
    """
    error = arguments.number("error", error, above=0)

    def attack(network, x, y, eps):
        kappa, m = np.abs(network.a).max(-1), network.W.shape[-2]
        inverse = kappa**2 * m * (network.W**2).sum((-2, -1))
        if not inverse.all():  # a network that is zero has nothing to attack
            inverse = np.where(inverse > 0, inverse, 1)
        visits = max(1, ceil((8 * eps**2 * inverse / error).max()))
        return pgd(network, x, y, eps, step_size=1 / inverse, visits=visits)

    return attack


def attack_of_half_threshold(b0):
    """The attack of Theorem 6.J beyond the thesis: descent on the margin, T = ceil((b0-1+alpha)^-2)
    points, step eps / (L sqrt(T)); it finds a flip in every ball whose level exceeds b0.

    b0: larger than 1 - alpha. In a batch alpha is the least one. Returns an attack for
    `adversarial_training`, which raises ValueError for a smaller b0. Cost: T gradients a point.
    """
    b0 = arguments.number("b0", b0, above=0)

    def attack(network, x, y, eps):
        visits = visits_at_level(b0, network.alpha.min())
        L = lipschitz(network)
        step_size = eps / np.where(L > 0, L, 1) / visits**0.5
        return pgd(network, x, y, eps, step_size=step_size, visits=visits, loss="margin")

    return attack
