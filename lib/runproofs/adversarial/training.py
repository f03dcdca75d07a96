"""Adversarial training of leaky-ReLU networks, Algorithm 6 of the thesis, batched over runs."""

from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.adversarial.margin_attacks import pgd
from runproofs.bounds.robust import visits_at_level
from runproofs.networks.two_layer import TwoLayerNetwork, lipschitz, margin, weight_gradient


class AdversarialTraining(NamedTuple):
    """What `adversarial_training` and `mistake_driven_training` return."""

    weights: np.ndarray  # (rounds + 1, runs, m, d): W_1, ..., W_{rounds + 1}
    margins: np.ndarray  # (rounds, runs), at the attacked points, before the step
    indices: np.ndarray  # (rounds, runs), of the samples

    def networks(self, network):
        """All iterates as one batch of networks, with the top layer and slope of `network`."""
        return TwoLayerNetwork(self.weights, network.a, network.alpha)


def adversarial_training(network, X, Y, eps, *, rounds, step_size, attack, sample):
    """Algorithm 6: each round attacks one sample and takes a gradient step on its logistic loss.

    W_{t+1} = W_t + step_size sigmoid(-z_t) y_t (a * sigma'(W_t u_t)) u_t^T, with z_t the margin at
    the attacked point u_t, which counts as a constant.
    network: the start W_1, (m, d) or (runs, m, d), with its fixed a and alpha. X: (n, d), Y: (n,),
    labels -1 and 1. eps: at least 0. rounds: at least 1. step_size: at least 0, a number or
    (runs,).
    attack: called as attack(network, x, y, eps), with networks (runs, m, d), x (runs, d) and
    y (runs,), returns an `Attack`; for example `worst_case`, `clean` or `attack_of_theorem_16`.
    sample: a NumPy Generator, which draws samples independently and determines the result, or a
    function of the current networks that returns indices (runs,) of samples.
    Returns an `AdversarialTraining`. Raises ValueError for bad arguments.
    Cost: O(m d) and one attack a round and run. Source: thesis, Algorithm 6.
    """
    return _train(network, X, Y, eps, rounds, step_size, attack, sample, lambda z: expit(-z))


def mistake_driven_training(network, X, Y, eps, *, rounds, step_size, attack, sample):
    """Algorithm 6, but steps only when the attack reaches z_t <= 0, and then of weight 1.

    W_{t+1} = W_t + step_size y_t (a * sigma'(W_t u_t)) u_t^T. Arguments, result, errors and cost as
    in `adversarial_training`. Round t was an update iff margins[t] <= 0.
    Source: beyond the thesis, Theorem 6.
    """
    return _train(network, X, Y, eps, rounds, step_size, attack, sample, lambda z: z <= 0)


def _train(network, X, Y, eps, rounds, step_size, attack, sample, weight):
    X = arguments.points("X", X, network.W.shape[-1], axes=2)
    Y = arguments.signs("Y", arguments.points("Y", Y, len(X), axes=1))
    eps = arguments.nonnegative("eps", eps)
    rounds = arguments.positive_integer("rounds", rounds)
    step_size = arguments.at_least_zero("step_size", step_size)
    if network.W.ndim > 3:
        raise ValueError(f"network must have at most one batch axis, not {network.W.ndim - 2}.")
    W = network.W if network.W.ndim == 3 else network.W[None]
    runs = len(W)
    weights = np.empty((rounds + 1, *W.shape))
    margins, indices = np.empty((rounds, runs)), np.empty((rounds, runs), dtype=int)
    weights[0] = W
    for t in range(rounds):
        current = TwoLayerNetwork(weights[t], network.a, network.alpha)
        if isinstance(sample, np.random.Generator):
            indices[t] = sample.integers(len(X), size=runs)
        else:
            indices[t] = sample(current)
        x, y = X[indices[t]], Y[indices[t]]
        u = attack(current, x, y, eps).point
        margins[t] = margin(current, u, y)
        scale = step_size * weight(margins[t])
        weights[t + 1] = weights[t] + scale[..., None, None] * weight_gradient(current, u, y)
    return AdversarialTraining(weights, margins, indices)


# ---------------------------------------------------------------- attacks with the proved settings


def attack_of_theorem_16(error):
    """The attack of Theorem 16: Algorithm 5 with 1/eta = kappa^2 m ||W||_F^2 and
    T >= 8 eps^2 / (eta error).

    error: the thesis' epsilon, larger than 0. Returns an attack for `adversarial_training`; kappa
    is max |a_r|. In a batch every network gets the number of visits that the largest one needs.
    """
    error = arguments.positive("error", error)

    def attack(network, x, y, eps):
        kappa, m = np.abs(network.a).max(-1), network.W.shape[-2]
        inverse = kappa**2 * m * (network.W**2).sum((-2, -1))
        if not inverse.all():  # a network that is zero has nothing to attack
            inverse = np.where(inverse > 0, inverse, 1)
        visits = max(1, ceil((8 * eps**2 * inverse / error).max()))
        return pgd(network, x, y, eps, step_size=1 / inverse, visits=visits)

    return attack


def attack_of_half_threshold(b0):
    """The attack of Theorem 5 beyond the thesis: descent on the margin, T = ceil((b0-1+alpha)^-2)
    points, step eps / (L sqrt(T)); it finds a flip in every ball whose level exceeds b0.

    b0: larger than 1 - alpha. Returns an attack for `adversarial_training`, which raises ValueError
    for a smaller b0.
    """
    b0 = arguments.positive("b0", b0)

    def attack(network, x, y, eps):
        visits = visits_at_level(b0, network.alpha.min())
        L = lipschitz(network)
        step_size = eps / np.where(L > 0, L, 1) / visits**0.5
        return pgd(network, x, y, eps, step_size=step_size, visits=visits, loss="margin")

    return attack
