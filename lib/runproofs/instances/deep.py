"""Instances for the pages on deep linear networks, and on what dropout controls."""

from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.stats import binom, multinomial

from runproofs import linalg
from runproofs.bounds import rademacher
from runproofs.linear.equalize import equalizer


def outputs_on_a_law(n, d, alpha, rng):
    """Values (600, n) of random members of F_alpha, and their negatives, on a sample of a law.

    Networks of width 3; the law is uniform on 8 random points with mean 0 in dimension d.
    """
    atoms = rng.normal(size=(8, d))
    atoms[0] = -atoms[1:].sum(0)  # so that no neuron is silent
    V, u = rng.normal(size=(300, 3, d)), rng.normal(size=(300, 3))
    on_atoms = np.maximum(V @ atoms.T, 0)
    u /= (np.abs(u) * np.sqrt((on_atoms**2).mean(-1))).sum(1, keepdims=True)
    networks = alpha * (u[:, None] @ on_atoms)[:, 0]
    return np.concatenate([networks, -networks])[:, rng.integers(0, 8, n)]


def basis_complexities(m, rho):
    """R(F_alpha), and a lower bound of R(L_alpha), on e_1, ..., e_m with label 1.

    The inputs are uniform on the +-e_i, and alpha = rho / sqrt(2 m).
    """
    k = np.arange(m + 1)
    k, chance = k[1:-1], binom.pmf(k, m, 0.5)[1:-1]  # k = 0, m: see below
    losses = k * (1 + np.minimum(rho / np.sqrt(k), 1)) ** 2 - (m - k)
    others = k - (m - k) * (1 - np.minimum(rho / np.sqrt(m - k), 1)) ** 2
    root = min(rho / np.sqrt(m), 1)
    ends = m * (1 + root) ** 2, -m * (1 - root) ** 2
    of_class = chance @ np.sqrt(np.maximum(k, m - k)) + 2 * np.sqrt(m) * 0.5**m
    of_losses = chance @ np.maximum(losses, others) + sum(ends) * 0.5**m
    return rho * of_class / m, of_losses / m


def diamond(x, law, alpha):
    """Values (M, N) at the numbers x (N,) of members of F_alpha; first its 4 extreme points."""
    parts = np.maximum([x, np.negative(x)], 0)
    activity = np.sqrt(parts**2 @ law)
    s, t = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2)).reshape(2, -1)
    inside = np.abs(s) + np.abs(t) <= 1 + 1e-12
    extremes = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    shares = np.concatenate([extremes, np.stack([s, t], -1)[inside]])
    size = np.divide(alpha, activity, out=np.zeros(2), where=activity > 0)
    return shares * size @ parts


def worst_gap(x, y, law, alpha, n, cut):
    """E sup (L - L_hat) over F_alpha, cut, and R_n(F_alpha); over all samples of n numbers x."""
    values = diamond(x, law, alpha)
    loss = (y - cut(values)) ** 2
    samples, chance = rademacher.all_samples(law, n)
    gaps = (loss @ law)[:, None] - loss[:, samples].mean(-1)
    return gaps.max(0) @ chance, rademacher.expected_complexity(values[:4], law, n)


def chance_of_violation(n, pi, alpha, cut, bound):
    """Probability that a risk exceeds the empirical one by more than the bound, in all samples.

    x = y is 1, 0, -1 with masses pi / 2, 1 - pi, pi / 2; cut is applied to the outputs of
    F_alpha; bound is a function of ||X||. Samples with more than 7 of either sign count as failed.
    """
    x, law = np.array([1.0, 0, -1]), np.array([pi / 2, 1 - pi, pi / 2])
    loss = (x - cut(diamond(x, law, alpha))) ** 2
    seen = np.stack(np.meshgrid(range(8), range(8)), -1).reshape(-1, 2)
    counts = np.stack([seen[:, 0], n - seen.sum(1), seen[:, 1]], -1)
    gap = ((loss @ law)[:, None] - loss @ counts.T / n).max(0)
    kept = gap <= bound(np.sqrt(seen.sum(1) / pi))  # C = pi
    return max(0, 1 - multinomial.pmf(counts, n, law) @ kept)


def norms_of_all_samples(p, q, n):
    """For each sample of n cells (N^n): its probability, the norms of its signed sums, its cells.

    A cell (r, c) adds e_r e_c^T / sqrt(p_r q_c), with each of the 2^n choices of signs.
    """
    cells = np.outer(p, q).ravel()
    samples = np.indices((len(cells),) * n).reshape(n, -1).T
    signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    one = np.eye(len(cells)) / np.sqrt(cells)
    sums = np.einsum("tn,snm->stm", signs, one[samples])
    sums = sums.reshape(*sums.shape[:2], len(p), len(q))
    return cells[samples].prod(1), np.linalg.norm(sums, 2, axis=(-2, -1)), samples


def norm_of_random_samples(p, q, n, draws, rng):
    """Mean of such a norm over random samples and signs, divided by n; its standard error."""
    cells, m = np.outer(p, q).ravel(), len(p) * len(q)
    drawn = rng.choice(m, (draws, n), p=cells / cells.sum())
    weights = rng.choice([-1, 1], (draws, n)) / np.sqrt(cells[drawn])
    places = (drawn + m * np.arange(draws)[:, None]).ravel()
    sums = np.bincount(places, weights.ravel(), draws * m)
    norms = np.linalg.norm(sums.reshape(draws, len(p), -1), 2, axis=(1, 2)) / n
    return norms.mean(), norms.std() / np.sqrt(draws)


def cheapest_pair(M, p, q, d1, rng):
    """U, V with the product M of rank 2 and the least price, from a random W, scaled at random.

    Entries of M are read with the probabilities p_i q_k; W is the one of Proposition 4 (c).
    """
    X, sigma, Yt = np.linalg.svd(np.sqrt(np.outer(p, q)) * M)
    W = np.eye(2, d1) * np.sqrt(sigma[:2])[:, None] @ linalg.random_orthogonal(d1, rng)
    W, s = W @ equalizer(W), rng.uniform(0.5, 2, d1)
    return X[:, :2] @ W * s / np.sqrt(p)[:, None], Yt[:2].T @ W / s / np.sqrt(q)[:, None]


def least_by_simplex(f, rng, tries=10):
    """The least value that simplex search finds of f (..., 4), for two weights and two angles."""

    def polished(z):
        options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 2000}
        return minimize(f, z, method="Nelder-Mead", options=options).x

    draws = rng.uniform(-np.pi, np.pi, (tries, 3000, 4))
    start = draws[np.arange(tries), f(draws).argmin(1)]  # the best of each batch
    best = min((polished(z) for z in start), key=f)
    for unit in (0, 1, 0, 1):  # one of the two is drawn anew
        others = np.tile(best, (3000, 1))
        others[:, [unit, unit + 2]] = rng.uniform(-np.pi, np.pi, (3000, 2))
        best = min(best, polished(others[f(others).argmin()]), key=f)
    return f(best)


def least_over_networks(f, d, rng, starts=4, h=1e-5):
    """The least f that descents find over networks with widths 3, *d, 3; slopes by differences.

    f takes a stack of networks, and returns one number for each.
    """
    shapes = [(b, a) for a, b in pairwise([3, *d, 3])]
    cuts = np.cumsum([b * a for b, a in shapes])
    moves = h * np.concatenate([np.zeros((1, cuts[-1])), np.eye(cuts[-1]), -np.eye(cuts[-1])])

    def slopes(z):
        parts = zip(np.split(z + moves, cuts[:-1], axis=1), shapes, strict=True)
        values = f([part.reshape(-1, *shape) for part, shape in parts])
        return values[0], np.subtract(*np.split(values[1:], 2)) / (2 * h)

    return min(minimize(slopes, rng.normal(size=cuts[-1]), jac=True).fun for _ in range(starts))
