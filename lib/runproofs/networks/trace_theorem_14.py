"""The proof of Theorem 14 along a run: both sides of each of its inequalities, at every step.

With U = W_1 + lam V, Q = -loss' and ``L_k(U) = loss(y_k <grad g_k(W_k), U>)``, `trace` measures
what the proof speaks of at each step of a run of Algorithm 4, for one run or a batch (...) at once.
Then `always` has the inequalities that no run can violate, `events` the three random ones on which
the proof rests, and `promised` its conclusions, which need a huge width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.networks import lazy
from runproofs.networks.two_layer import preactivations

if TYPE_CHECKING:
    from runproofs.networks.lazy import Step
    from runproofs.networks.two_layer import TwoLayerNetwork


class Inequality(NamedTuple):
    """An inequality left <= right at each step.

    Attributes
    ----------
    left : (T, ...) ndarray
        Its left-hand side.
    right : (T, ...) ndarray
        Its right-hand side.
    """

    left: np.ndarray
    right: np.ndarray

    @property
    def ratio(self):
        """Ratio left / right, larger than 1 just where the inequality is violated.

        Where right <= 0 there is none to speak of: 0 if the inequality holds up to rounding,
        infinity if not.
        """
        violated = self.left > self.right + 1e-12 * np.maximum(1, np.abs(self.right))
        positive = self.right > 0
        quotient = self.left / np.where(positive, self.right, 1)
        return np.where(positive, quotient, np.where(violated, np.inf, 0))


class Trace(NamedTuple):
    """What the proof speaks of at steps t = 1, ..., T.

    W_h is the half step ``W_{t+1/2}``, before the projection, and w_r a row.

    Attributes
    ----------
    initial : (T, ...) ndarray
        ``y_t <grad g_t(W_1), W_1> = y_t g_t(W_1)``, the first term of (5.4).
    drift : (T, ...) ndarray
        ``y_t <grad g_t(W_t) - grad g_t(W_1), W_1>``, the second.
    initial_margin : (T, ...) ndarray
        ``y_t <grad g_t(W_1), V>``, the third without lam.
    margin_drift : (T, ...) ndarray
        ``y_t <grad g_t(W_t) - grad g_t(W_1), V>``, the fourth without lam.
    margin : (T, ...) ndarray
        ``y_t <grad g_t(W_t), V>``.
    competitor : (T, ...) ndarray
        ``y_t <grad g_t(W_t), U>``.
    flipped : (T, ...) ndarray
        Number of units whose activation on x_t differs between W_t and W_1.
    flipped_kept : (T, ...) ndarray
        Number of those that the mask keeps.
    moved : (T, ...) ndarray
        ``max_r |w_{r,t} - w_{r,1}|``.
    moved_next : (T, ...) ndarray
        ``max_r |w_{r,t+1} - w_{r,1}|``.
    longest_half : (T, ...) ndarray
        ``max_r |w_{r,t+1/2}|``.
    projected : (T, ...) ndarray
        ``max_r |w_{r,t+1} - w_{r,t+1/2}|``, 0 where the projection does nothing.
    along : (T, ...) ndarray
        ``<W_h - W_1, V>``.
    distance : (T, ...) ndarray
        ``|W_t - U|^2``.
    distance_half : (T, ...) ndarray
        ``|W_h - U|^2``.
    distance_next : (T, ...) ndarray
        ``|W_{t+1} - U|^2``.
    loss : (T, ...) ndarray
        Loss L_t(W_t).
    Q : (T, ...) ndarray
        Negative derivative Q_t(W_t).
    competitor_loss : (T, ...) ndarray
        Loss L_t(U).
    m : int
        Number of hidden units.
    lam : float
        Factor of V in U.
    step_size : float
        Length of the steps.
    """

    initial: np.ndarray
    drift: np.ndarray
    initial_margin: np.ndarray
    margin_drift: np.ndarray
    margin: np.ndarray
    competitor: np.ndarray
    flipped: np.ndarray
    flipped_kept: np.ndarray
    moved: np.ndarray
    moved_next: np.ndarray
    longest_half: np.ndarray
    projected: np.ndarray
    along: np.ndarray
    distance: np.ndarray
    distance_half: np.ndarray
    distance_next: np.ndarray
    loss: np.ndarray
    Q: np.ndarray
    competitor_loss: np.ndarray
    m: int
    lam: float
    step_size: float


def competitor(network: TwoLayerNetwork, psi: Callable) -> np.ndarray:
    """V with rows ``v_r = m^{-1/2} a_r psi(w_r)``, W the start, so that U = W_1 + lam V.

    Parameters
    ----------
    network : TwoLayerNetwork
        Network of weights W (..., m, d) at the start, with top layer a / sqrt(m).
    psi : callable
        Takes W; returns as many points, of norm at most 1.

    Returns
    -------
    (..., m, d) ndarray
        The matrix V, of Frobenius norm at most 1 if the entries of a are signs.

    References
    ----------
    :claim:`thesis/definition-5.4-competitor`

    Examples
    --------
    >>> start = lazy.start(4, 2, 0)
    >>> float(np.linalg.norm(competitor(start, lambda z: np.sign(z) / 2**0.5)).round(12))
    1.0
    """
    exact = network.W.dtype == object
    values = arguments.points("psi(W)", psi(network.W), network.W.shape[-1], exact=exact)
    if values.shape != network.W.shape:
        raise ValueError(
            f"psi(W) must have the shape of W, {network.W.shape}, but it has {values.shape}."
        )
    return network.a[..., None] * values


def trace(steps: Iterable[Step], T: int, V: ArrayLike, lam: float, *, step_size: float) -> Trace:
    """Measure the first T steps of a run.

    Parameters
    ----------
    steps : iterable of Step
        At least T + 1 steps, those of `lazy.algorithm_4` or any others.
    T : int
        Number of steps to measure, at least 1.
    V : (..., m, d) array_like
        Direction of the competitor, of the shape of W.
    lam : float
        Factor of V in U, at least 0.
    step_size : float
        Length of the steps of the run, larger than 0.

    Returns
    -------
    Trace
        What the proof speaks of at each step.

    Notes
    -----
    Cost: ``O(T m d)`` per run, that of about five runs.

    References
    ----------
    Section 5.4 of the thesis

    Examples
    --------
    >>> net = lazy.start(100, 2, 0)
    >>> V = competitor(net, lambda z: np.sign(z) * [1, -1] / 2**0.5)
    >>> run = lazy.algorithm_4(net, *lazy.xor(), keep=0.5, step_size=0.5, rng=1)
    >>> seen = trace(run, 30, V, 5, step_size=0.5)
    >>> all((one.left <= one.right + 1e-12).all() for one in always(seen).values())
    True
    """
    T, lam = arguments.positive_integer("T", T), arguments.number("lam", lam, least=0)
    step_size = arguments.number("step_size", step_size, above=0)
    V = arguments.matrix("V", V, batched=True)
    rows, W_1 = [], None
    for step, following in pairwise(islice(steps, T + 1)):
        if W_1 is None:
            W_1 = step.network.W
            if V.shape != W_1.shape:
                raise ValueError(
                    f"V must have the shape of W, {W_1.shape}, but its shape is {V.shape}."
                )
        rows.append(_measure(step, following, W_1, V, lam, step_size))
    if len(rows) < T:
        raise ValueError(f"steps must be at least {T + 1}, but there are fewer.")
    columns = (np.array(column) for column in zip(*rows, strict=True))
    return Trace(*columns, V.shape[-2], lam, step_size)


def always(seen: Trace) -> dict[str, Inequality]:
    """The inequalities of the proof that hold along every run.

    Parameters
    ----------
    seen : Trace
        What was measured.

    Returns
    -------
    dict of Inequality
        The inequalities by name.

    Notes
    -----
    They need ``|x| <= 1``, ``|a_r| <= 1``, ``|v_r| <= m^{-1/2}`` and a step size of at most ln 2,
    and nothing else of data, start, width, masks and lam, as long as nothing is projected. Where
    the projection acts, "(5.3), projection" and "(5.12), distance" need the rows of U in its ball,
    "(5.11), triangle" those of W_1, and "(5.11), margin" can fail.

    References
    ----------
    Section 5.4 of the thesis, with its 5 gamma / 7 replaced by the least margin of V so far
    """
    m, eta = seen.m, seen.step_size
    total = eta * np.cumsum(seen.Q, axis=0)
    competitor_total = 2 * eta * np.cumsum(seen.competitor_loss, axis=0)
    both = {
        "(5.6), first term": (
            seen.margin * seen.lam - seen.competitor,
            np.abs(seen.initial) + np.abs(seen.drift),
        ),
        "(5.6), flips on V": (np.abs(seen.margin_drift), seen.flipped / m),
        "(5.7), flips on W_1": (np.abs(seen.drift), seen.flipped / sqrt(m) * seen.moved),
        "(5.8), margin of V": (seen.initial_margin - seen.flipped / m, seen.margin),
        "(5.3), one step": (
            eta * seen.loss,
            seen.distance - seen.distance_half + 2 * eta * seen.competitor_loss,
        ),
        "(5.3), projection": (seen.distance_next, seen.distance_half),
        "(5.11), triangle": (seen.moved_next, total / sqrt(m)),
        "(5.11), margin": (np.minimum.accumulate(seen.margin, axis=0) * total, seen.along),
        "(5.11), Cauchy-Schwarz": (seen.along, np.sqrt(seen.distance_half) + seen.lam),
        "(5.12), distance": (seen.distance_half - seen.distance[0], competitor_total),
    }
    return {name: Inequality(*sides) for name, sides in both.items()}


def events(seen: Trace, gamma: float, delta: float) -> dict[str, Inequality]:
    """Lemmas 14, 15 and 16 along the run, which hold with probability at least 1 - delta.

    Parameters
    ----------
    seen : Trace
        What was measured.
    gamma : float
        Margin of Assumption 2 at the run's keep probability, larger than 0.
    delta : float
        Probability that any of them fails at any step, in (0, 1).

    Returns
    -------
    dict of Inequality
        The inequalities by name.

    Notes
    -----
    They need ``|x| = 1``, signs a_r, and a Gaussian start. Lemma 16 is taken at the measured
    displacement: it holds for all radii D at once, by the one-sided inequality of Dvoretzky, Kiefer
    and Wolfowitz with Massart's constant.

    References
    ----------
    :claim:`thesis/lemma-14`, :claim:`thesis/lemma-15`, :claim:`thesis/lemma-16`
    """
    gamma = arguments.number("gamma", gamma, above=0)
    delta = arguments.number("delta", delta, above=0, below=1)
    third, ones = log(3 * len(seen.loss) / delta), np.ones_like(seen.loss)
    deviation = seen.m * seen.moved + sqrt(seen.m / 2 * third)
    both = {
        "Lemma 14, output": (np.abs(seen.initial), sqrt(2 * (third + log(2))) * ones),
        "Lemma 15, margin": (gamma - seen.initial_margin, sqrt(2 * third / seen.m) * ones),
        "Lemma 16, flips": (seen.flipped, deviation),
    }
    return {name: Inequality(*sides) for name, sides in both.items()}


def promised(seen: Trace, gamma: float, radius: float) -> dict[str, Inequality]:
    """What Lemma 13 concludes, for widths beyond its threshold.

    Parameters
    ----------
    seen : Trace
        What was measured at T steps.
    gamma : float
        Margin of Assumption 2 at the run's keep probability, larger than 0.
    radius : float
        Largest norm of a row, larger than 0.

    Returns
    -------
    dict of Inequality
        The inequalities by name.

    Notes
    -----
    At widths that run the threshold is out of reach, and whether a run keeps these is a question
    for it.

    References
    ----------
    :claim:`thesis/equation-5.7`, :claim:`thesis/equation-5.8`, :claim:`thesis/equation-5.10`,
    :claim:`thesis/equation-5.12`, :claim:`thesis/lemma-13`
    """
    gamma = arguments.number("gamma", gamma, above=0)
    radius = arguments.number("radius", radius, above=0)
    lam, eta, T, ones = seen.lam, seen.step_size, len(seen.loss), np.ones_like(seen.loss)
    both = {
        "(5.7), effect of flips": (np.abs(seen.drift), lam * gamma / 2 * ones),
        "(5.8), five sevenths": (5 * gamma / 7 * ones, seen.margin),
        "Lemma 13 (2), loss of U": (seen.competitor_loss, lam**2 / (2 * eta * T) * ones),
        "(5.10), rows in the ball": (seen.longest_half, radius * ones),
        "(5.12), sqrt 2 lambda": (np.sqrt(seen.distance_half), sqrt(2) * lam * ones),
        "Lemma 13 (1), displacement": (
            seen.moved_next,
            7 * lam / (2 * gamma * sqrt(seen.m)) * ones,
        ),
    }
    return {name: Inequality(*sides) for name, sides in both.items()}


# ----------------------------------------------------------------------------------------- helpers


def _measure(step, following, W_1, V, lam, step_size):
    """The columns of `Trace` at one step."""
    network, x, y, mask, z = step
    x, y, W, U = np.asarray(x), np.asarray(y), network.W, W_1 + lam * V
    kept = y[..., None] * network.a * mask
    hidden = preactivations(network, x)
    at_start, of_V, of_U = (np.einsum("...md,...d->...m", M, x) for M in (W_1, V, U))
    active, active_1 = hidden > 0, at_start > 0
    features, features_1 = kept * active, kept * active_1
    change = features - features_1
    initial, drift = (features_1 * at_start).sum(-1), (change * at_start).sum(-1)
    initial_margin, margin_drift = (features_1 * of_V).sum(-1), (change * of_V).sum(-1)
    margin, competitor_margin = (features * of_V).sum(-1), (features * of_U).sum(-1)
    flips = active != active_1
    Q = lazy.negative_derivative(z)
    half = W + (step_size * Q[..., None] * features)[..., None] * x[..., None, :]
    after = following.network.W
    return (
        initial,
        drift,
        initial_margin,
        margin_drift,
        margin,
        competitor_margin,
        flips.sum(-1),
        (flips & (np.asarray(mask) != 0)).sum(-1),
        _longest(W - W_1),
        _longest(after - W_1),
        _longest(half),
        _longest(after - half),
        np.einsum("...md,...md->...", half - W_1, V),
        _square(W - U),
        _square(half - U),
        _square(after - U),
        lazy.loss(z),
        Q,
        lazy.loss(competitor_margin),
    )


def _square(M):
    return np.einsum("...md,...md->...", M, M)


def _longest(M):
    return np.sqrt(np.einsum("...md,...md->...m", M, M).max(-1))
