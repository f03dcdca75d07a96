"""Adversarial training of leaky-ReLU networks, Algorithm 6 of the thesis, batched over runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from runproofs import _arguments as arguments
from runproofs.adversarial.margin_attacks import algorithm_5
from runproofs.bounds.attack_guarantees import visits_at_level
from runproofs.networks.two_layer import TwoLayerNetwork, lipschitz, margin, weight_gradient
from runproofs.training import Recorder


class AdversarialTraining(NamedTuple):
    """What `adversarial_training` and `mistake_driven_training` return.

    Attributes
    ----------
    weights : (k, runs, m, d) ndarray
        Weights that are kept, W_1 first.
    margins : (rounds, runs) ndarray
        Margins at the attacked points, before the step.
    indices : (rounds, runs) ndarray
        Indices of the samples.
    times : (k,) ndarray
        Numbers of rounds after which the weights are kept.
    """

    weights: np.ndarray
    margins: np.ndarray
    indices: np.ndarray
    times: np.ndarray

    def networks(self, network: TwoLayerNetwork) -> TwoLayerNetwork:
        """The kept iterates as one batch of networks.

        Parameters
        ----------
        network : TwoLayerNetwork
            The start of the training, which has the top layer and the slope.

        Returns
        -------
        TwoLayerNetwork
            The networks, of batch shape (k, runs).
        """
        return TwoLayerNetwork(self.weights, network.a, network.alpha)


def adversarial_training(
    network: TwoLayerNetwork,
    X: ArrayLike,
    Y: ArrayLike,
    eps: float,
    *,
    rounds: int,
    step_size: ArrayLike,
    attack: Callable,
    sample: np.random.Generator | int | Callable,
    every: int | Sequence[int] | None = 1,
) -> AdversarialTraining:
    """Algorithm 6: each round attacks one sample and takes a gradient step on its logistic loss.

    ``W_{t+1} = W_t + step_size sigmoid(-z_t) y_t (a * sigma'(W_t u_t)) u_t^T``, with z_t the margin
    at the attacked point u_t, which counts as a constant.

    Parameters
    ----------
    network : TwoLayerNetwork
        Start W_1, one or a batch (runs,), with its fixed a and alpha.
    X : (n, d) array_like
        Inputs of the samples, n >= 1.
    Y : (n,) array_like
        Their labels, -1 and 1.
    eps : float
        Radius of the attack, at least 0.
    rounds : int
        Number of rounds, at least 1.
    step_size : float or (runs,) array_like
        Factor of the gradient, at least 0.
    attack : callable
        Called as ``attack(network, x, y, eps)``, with networks (runs, m, d), x (runs, d) and y
        (runs,); returns an Attack. For example ``worst_case``, ``clean`` or `attack_of_theorem_16`.
    sample : numpy.random.Generator, int or callable
        Draws samples independently, or is the seed of what does; or a function of the current
        networks that returns indices (runs,) of samples.
    every : int, list of int or None, optional
        Rounds between two weights that are kept, or their numbers of rounds; the first and the last
        weights are always kept, and None keeps no others.

    Returns
    -------
    AdversarialTraining
        Weights, margins, samples and times.

    Notes
    -----
    Cost: ``O(m d)`` and one attack a round and run. Memory: 16 bytes for each number that is kept;
    5000 rounds of 3 runs with m = 1000 and d = 20 take 5 GB, and 12 MB with every = 500.

    References
    ----------
    :claim:`thesis/algorithm-6`
    """
    options = rounds, step_size, attack, sample, every
    return _train(network, X, Y, eps, *options, lambda z: expit(-z))


def mistake_driven_training(
    network: TwoLayerNetwork,
    X: ArrayLike,
    Y: ArrayLike,
    eps: float,
    *,
    rounds: int,
    step_size: ArrayLike,
    attack: Callable,
    sample: np.random.Generator | int | Callable,
    every: int | Sequence[int] | None = 1,
) -> AdversarialTraining:
    """Algorithm 6, but steps only when the attack reaches z_t <= 0, and then of weight 1.

    ``W_{t+1} = W_t + step_size y_t (a * sigma'(W_t u_t)) u_t^T``; round t was an update iff
    margins[t] <= 0.

    Parameters
    ----------
    network : TwoLayerNetwork
        Start W_1, one or a batch (runs,), with its fixed a and alpha.
    X : (n, d) array_like
        Inputs of the samples, n >= 1.
    Y : (n,) array_like
        Their labels, -1 and 1.
    eps : float
        Radius of the attack, at least 0.
    rounds : int
        Number of rounds, at least 1.
    step_size : float or (runs,) array_like
        Factor of the gradient, at least 0.
    attack : callable
        Called as ``attack(network, x, y, eps)``, with networks (runs, m, d), x (runs, d) and y
        (runs,); returns an Attack. For example ``worst_case``, ``clean`` or
        `attack_of_half_threshold`.
    sample : numpy.random.Generator, int or callable
        Draws samples independently, or is the seed of what does; or a function of the current
        networks that returns indices (runs,) of samples.
    every : int, list of int or None, optional
        Rounds between two weights that are kept, or their numbers of rounds; the first and the last
        weights are always kept, and None keeps no others.

    Returns
    -------
    AdversarialTraining
        Weights, margins, samples and times.

    Notes
    -----
    Cost: ``O(m d)`` and one attack a round and run. Memory: 16 bytes for each number that is kept.

    References
    ----------
    :claim:`beyond/robust-perceptron`
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


def attack_of_theorem_16(error: float) -> Callable:
    """The attack of Theorem 16: Algorithm 5 with its step size and number of visits.

    ``1 / eta = kappa^2 m ||W||_F^2`` and ``T >= 8 eps^2 / (eta error)``, with
    ``kappa = max |a_r|``.

    Parameters
    ----------
    error : float
        The thesis' epsilon, larger than 0.

    Returns
    -------
    callable
        An attack for `adversarial_training`; in a batch every network gets the visits that the
        largest one needs.

    Notes
    -----
    Cost: ``O(T m d)`` per point.

    References
    ----------
    :claim:`thesis/theorem-16`, :claim:`thesis/lemma-18`
    """
    error = arguments.number("error", error, above=0)

    def attack(network, x, y, eps):
        kappa, m = np.abs(network.a).max(-1), network.W.shape[-2]
        inverse = kappa**2 * m * (network.W**2).sum((-2, -1))
        if not inverse.all():  # a network that is zero has nothing to attack
            inverse = np.where(inverse > 0, inverse, 1)
        visits = max(1, ceil((8 * eps**2 * inverse / error).max()))
        return algorithm_5(network, x, y, eps, step_size=1 / inverse, visits=visits)

    return attack


def attack_of_half_threshold(b0: float) -> Callable:
    """Descent on the margin that finds a flip in every ball whose level exceeds b0.

    Algorithm 5 with ``T = ceil((b0 - 1 + alpha)^-2)`` points and steps ``eps / (L sqrt(T))``.

    Parameters
    ----------
    b0 : float
        Larger than 1 - alpha for the alpha of every network that is attacked.

    Returns
    -------
    callable
        An attack for `adversarial_training`; in a batch alpha is the least one.

    Notes
    -----
    Cost: ``O(T m d)`` per point.

    References
    ----------
    :claim:`beyond/pgd-half-threshold`, :claim:`beyond/end-to-end-cost`
    """
    b0 = arguments.number("b0", b0, above=0)

    def attack(network, x, y, eps):
        visits = visits_at_level(b0, network.alpha.min())
        L = lipschitz(network)
        step_size = eps / np.where(L > 0, L, 1) / visits**0.5
        return algorithm_5(network, x, y, eps, step_size=step_size, visits=visits, loss="margin")

    return attack
