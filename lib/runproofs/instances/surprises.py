"""What the checks of the pages on surprises of dropout (Helmbold and Long) compute."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from scipy.optimize import minimize, nnls

from runproofs.networks import multilayer, or_networks
from runproofs.networks.multilayer import MultilayerNetwork
from runproofs.optimize import unflatten


def first_steps(train, copies, rng):
    """One step of `train` from a random 2-2-1 network, `copies` with dropout and one with decay.

    Returns the moves (copies + 1, 9) on one example, and minus the gradients of J_D at p = 2/3 and
    of J_2 at lam = 0.7, with 0.2 times the squared biases, by central differences.
    """
    z, example = rng.uniform(0.2, 1, 9), [(1, np.array([1.0, 0.5]), 3.0)]
    shapes, decays = [(2, 2), (1, 2), (2,), (1,)], np.arange(copies + 1) == copies

    def downhill(f):
        ends = [unflatten(z + e, shapes) for e in 1e-5 * np.vstack([-np.eye(9), np.eye(9)])]
        values = np.array([f(MultilayerNetwork(parts[:2], parts[2:])) for parts in ends])
        return (values[:9] - values[9:]) / 2e-5

    start = [np.array([part] * (copies + 1)) for part in unflatten(z, shapes)]
    end = train(
        MultilayerNetwork(start[:2], start[2:]), np.array([[example[0][1]]] * (copies + 1)),
        np.full((copies + 1, 1), 3.0), np.where(decays, 1, 2 / 3), 0.7 * decays, 0.4 * decays,
        steps=1, step_size=lambda t: 1.0, momentum=0, dampening=0, rng=rng,
    ).network  # fmt: skip
    moves = np.hstack([part.reshape(copies + 1, -1) for part in end.weights + end.biases]) - z
    return moves, (
        downhill(lambda f: multilayer.criterion(f, example, keep=2 / 3)),
        downhill(
            lambda f: (
                multilayer.penalised_risk(f, example, 0.7)
                + 0.2 * sum((b**2).sum() for b in f.biases)
            )
        ),
    )


def descended(law, n, low, starts, rng):
    """The least J_D, p = 1/2, that L-BFGS finds for n equal hidden nodes, weights from `low` on.

    law: triples (mass, x, y), x (K,). The mean output has the noise of the inputs; masks of n equal
    nodes add the square of their sum, over n.
    """
    K = len(law[0][1])
    kept = 2 * np.array(list(product((0, 1), repeat=K)))
    law = [(float(mass), np.array(x, float), float(y)) for mass, x, y in law]

    def J(z):
        *v, top, a, b = z
        nodes = [top * np.maximum(kept * x @ np.array(v) + a, 0) for _, x, _ in law]
        return sum(
            mass * np.mean((b + node - y) ** 2 + node**2 / n)
            for (mass, _, y), node in zip(law, nodes, strict=True)
        )

    bounds, ends = [(low, None)] * (K + 1) + [(None, None)] * 2, []
    for start in rng.normal(size=(starts, K + 3)):
        start[: K + 1] = np.maximum(start[: K + 1], low)
        ends.append(minimize(J, start, bounds=bounds).fun)
    return min(ends)


def least_ratio(m, p):
    """The least E phi^2 / (E phi)^2, phi >= 0 on {0,1}^m of increasing differences, phi(0) = 0.

    It is |P 1|^-2, P the projection on the cone of these phi, by nonnegative least squares.
    """
    vertices = list(product((0, 1), repeat=m))
    at = {u: k for k, u in enumerate(vertices)}
    rows = [-np.eye(2**m)[0], *np.eye(2**m)]  # phi(0) <= 0, phi >= 0
    for u, i, j in product(vertices, range(m), range(m)):
        if i < j and u[i] == u[j] == 0:
            ui, uj, uij = (
                tuple(max(c, k in on) for k, c in enumerate(u)) for on in ((i,), (j,), (i, j))
            )
            rows.append(np.zeros(2**m))
            rows[-1][[at[u], at[uij]]], rows[-1][[at[ui], at[uj]]] = 1, -1
    root = np.sqrt([p ** sum(u) * (1 - p) ** (m - sum(u)) for u in vertices])
    return nnls(-(np.array(rows) / root).T, root)[1] ** -2  # the residual is the projection


def least_bound(K, kappa, p):
    """The least Phi of Theorem S.D, over B and convex F on 0, ..., K with F(0) >= 0."""
    count, both = np.arange(K + 1), np.array([1, -1])
    chances = np.sqrt([comb(K, k) * p**k * (1 - p) ** (K - k) for k in range(K + 1)])
    hinges = [np.maximum(count - j, 0) for j in range(1, K)]
    G = np.stack([count**0, count, -count, *hinges], axis=1)  # generates the convex F
    mean = np.hstack([np.tile(both, (K + 1, 1)), G])  # B + F
    alone = np.sqrt(kappa) * np.hstack([0 * mean[:, :2], G])
    rows = [mean[:1], alone[:1], chances[:, None] * mean, chances[:, None] * alone]
    target = np.concatenate([[0, 0], chances, 0 * chances])
    return nnls(np.vstack(rows), target)[1] ** 2


def sd_bound(network, p):
    """Phi of Theorem S.D at a network: B its mean output without the first hidden layer."""
    rest, psi = (
        MultilayerNetwork(network.weights[1:], network.biases[1:]),
        or_networks.profile(network, keep=p),
    )
    silent = multilayer.output_law(rest, [0] * network.sizes[1], keep=p)
    B = sum(value * chance for value, chance in silent.items())
    F, kappa = psi - B, or_networks.kappa(network.sizes[1], len(network.sizes), keep=p)
    K = network.sizes[0]
    chances = [comb(K, k) * p**k * (1 - p) ** (K - k) for k in range(K + 1)]
    return psi[0] ** 2 + kappa * F[0] ** 2 + chances @ ((psi - 1) ** 2 + kappa * F**2)


def beside(network, step, rng):
    """The network with each weight times 1 + t step, each bias plus t step, integers |t| <= 2."""
    weights = [W * (1 + step * rng.integers(-2, 3, W.shape)) for W in network.weights]
    biases = [b + step * rng.integers(-2, 3, b.shape) for b in network.biases]
    return MultilayerNetwork(weights, biases)


def two_input_bound(cones):
    """An exact lower bound of J_D, K = 2, p = 1/2, d = 2, where node i has its profile in cones[i].

    A cone: the profiles (4,), at 00, 10, 01 and 11 kept, that generate it. 8 J_D is a sum of
    squares, five rows for the mean answer and five for each node; a rational point of the dual cone
    bounds it.
    """
    n = len(cones)

    def rows(mean, i=None):
        table = np.zeros((n + 1, 5), dtype=object)
        table[[0] if i is None else [0, i + 1]] = np.array([2, 1, 1, 1, 1]) * mean
        return table.ravel()

    target = rows(np.array([0, 1, 1, 1, 1]))
    columns = [rows(g[[0, 0, 1, 2, 3]], i) for i, cone in enumerate(cones) for g in cone]
    A = np.stack([rows(1), -rows(1), *columns], 1)
    r = target - A @ nnls(A.astype(float), target.astype(float))[0]
    r = np.array([Fraction(float(v)).limit_denominator(10**4) for v in r])
    assert max(r @ A) <= 0 < r @ target
    return (r @ target) ** 2 / (r @ r) / 8
