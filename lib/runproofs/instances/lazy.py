"""Instances for the checks of Chapter 5."""

import numpy as np

from runproofs.bounds import lazy as bounds
from runproofs.masks import all_masks
from runproofs.networks import lazy
from runproofs.networks.two_layer import TwoLayerNetwork

SLOPE = 1.167  # of E5, in the proof of Theorem 5.J


def step_grid(*axes):
    """All combinations, as flat arrays; the last two axes are eta T and eta, with T >= 1."""
    flat = [v.ravel() for v in np.meshgrid(*axes, indexing="ij")]
    return [v[flat[-2] >= flat[-1]] for v in flat]


def bad_event(cases, d, factor=1):
    """lambda and m of Theorem 5.I, and the bad event times 2 eta T; delta_0 times `factor`."""
    gamma, wider, eta_T, eta = cases
    T, radius = eta_T / eta, np.sqrt(d) + 1
    m = wider * bounds.theorem_14_width(gamma, eta, T, d, projection=False)
    lam = bounds.theorem_14_lambda(gamma, eta, T, m, radius)
    delta = factor * bounds.delta_0(eta, T, m, radius)
    length = np.sqrt(m * d) + np.sqrt(2 * np.log(1 / delta)) + lam
    return lam, m, delta * (1 + length / np.log(2)) * 2 * eta_T


def mask_aware_loads(gamma, q, d, wider, eta_T, eta):
    """Each line of the proof of Theorem 5.J at `wider` times its width, over its bound."""
    T = eta_T / eta
    m = wider * bounds.mask_aware_width(gamma, eta, T, d, keep=q)
    lam, L, Lambda, _ = bounds.mask_aware(gamma, eta, T, d, m, keep=q)
    root, delta = np.sqrt(m), bounds.delta_0(eta, T, m, np.sqrt(d) + 1)
    D, log = 4.3 * Lambda / root, np.log(8 * T / delta)
    kappa_0 = (np.sqrt(2 * L) + D) / root
    norm_W = np.sqrt(m * d) + np.sqrt(2 * np.log(1 / delta)) + lam
    rare = np.exp(-m * q * gamma**2 / 71) + np.exp(-q * m * D / 17000)
    return {
        "flips on W_1": 0.81 * root * D**2 / (lam * gamma / 2),
        "loss of U": rival_load(log, np.log(2 * eta_T)),
        "displacement": row_displacement(lam / gamma, L, kappa_0) / (4.3 * Lambda),
        "logs": np.log(8 * m / delta) / L,
        "D": D / (0.08 * gamma),
        "bad event": delta * (1 + norm_W / np.log(2)) * 2 * eta_T,
        "lambda": 24 / lam,
        "flips on V": 0.81 * D / (gamma / 7),
        "events": 1 / 8 + T / delta * (rare + m * np.exp(-L)) + 1 / 8,
        "size": 3e5 * log / (q * m * D),
        "kappa_0": kappa_0 / 0.001,
        "root m": 5000 / root,
        "E3": 17000 * np.log(4 * T / delta) / (q * m * D),
        "E2": 71 * np.log(4 * T / delta) / (m * q * gamma**2),
    }


def rival_load(log, log_T, five=5, forty_four=44, thirty_two=32):
    """What the loss of U asks of 3/14 lambda q gamma_1, over it; log: ln(8 T / delta_0)."""
    has = five * log_T + np.sqrt(forty_four * (log + np.log(thirty_two / 32)))
    return (np.sqrt(2 * log) + log_T) / (3 / 14 * has)


def row_displacement(first, L, kappa_0):
    """sqrt(m) times the displacement of a row, as the proof of 5.J bounds it."""
    of_lam = SLOPE * np.exp(2 * kappa_0) * 7 / 5 * (1 + np.sqrt(2)) * first
    return of_lam + 10 / 3 * np.exp(kappa_0) * L


def masked_sum_failure(q, level):
    """P{b_1 + ... + b_t > 1.167 q t + 10/3 ln(1/level) for some t <= 150 / q}, b_k Bernoulli(q)."""
    count, failed = np.arange(200), 0.0
    law = np.where(count == 0, 1.0, 0.0)
    for t in range(1, round(150 / q) + 1):
        law = (1 - q) * law + q * np.append(0, law[:-1])
        high = count > SLOPE * q * t + 10 / 3 * np.log(1 / level)
        failed += law[high].sum()
        law[high] = 0
    return failed


def one_neuron(keep, flip, steps, level):
    """One neuron, x = 1, labels flipped at a rate: all histories of its training, from weight 1.

    P{the certificate from mistakes, that from Q fails at some t}, and the means of the sums of
    mistakes, E_B R, Q and its conditional mean.
    """
    W, law, total = np.ones(1), np.ones(1), np.zeros((4, 1))
    failed = np.zeros((2, 1), dtype=bool)
    branches = (0, 1, 1 - keep), (1, 1, keep * (1 - flip)), (1, -1, keep * flip)
    for t in range(1, steps + 1):
        net, out = TwoLayerNetwork(W[:, None, None], [1.0], 0), np.maximum(W, 0)
        risk = np.where(W > 0, 1 - keep + keep * flip, 1.0)
        foreseen = sum(p * lazy.negative_derivative(y * b * out) for b, y, p in branches)
        parts = []
        for b, y, p in branches:
            z = y * b * out
            new = total + np.array([z <= 0, risk, lazy.negative_derivative(z), foreseen])
            bound = (
                bounds.mistake_certificate(new[0], t, level),
                bounds.certificate(new[2], t, level),
            )
            after = lazy.update(net, [1.0], y, [b], step_size=1).W[:, 0, 0]
            parts.append((after, law * p, new, failed | (new[1] / t > bound)))
        W, law, total, failed = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    return failed @ law, total @ law


def all_runs(network, X, Y, q, eta):
    """Every run of Algorithm 4: the laws of a mask and of the runs, and the losses (n, ..., n, T).

    One axis for the mask of each step. Losses of the whole network at q W_t; of the subnetwork.
    """
    masks, law = all_masks(len(network.a), keep=q)
    choice = np.indices((len(masks),) * len(X))
    net, whole, sub = network, [], []
    for x, y, b in zip(X, Y, masks[choice], strict=True):
        rescaled = TwoLayerNetwork(q * net.W, net.a, 0)
        whole.append(lazy.loss(y * rescaled(x)) + np.zeros(b.shape[:-1]))
        sub.append(lazy.loss(y * net[b](x)))
        net = lazy.update(net, x, y, b, step_size=eta)
    return law, law[choice].prod(0), np.stack(whole, -1), np.stack(sub, -1)


def exact_lambda(gamma, step_size, T, delta):
    """The lambda of Lemma 13 as a SymPy number."""
    import sympy

    length = 5 * sympy.log(2 * step_size * T) + sympy.sqrt(44 * sympy.log(6 * T / delta))
    return length / gamma


def exact_delta_0(step_size, T, m, d):
    """The delta_0 of Theorem 14 as a SymPy number, with the radius of the thesis."""
    import sympy

    c = 1 + sympy.sqrt(d) + 2 * sympy.sqrt(sympy.log(m))
    return 1 / (4 * step_size * c * sympy.sqrt(m) * T)
