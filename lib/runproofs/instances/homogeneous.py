"""What the cards of the companion on homogeneous networks are checked against."""

from fractions import Fraction

import numpy as np
from scipy.linalg import hadamard
from scipy.optimize import minimize

from runproofs.exact import reflections
from runproofs.optimize import flatten, unflatten

LEFT, RIGHT = reflections([[1, 1, 1, 3]])[:, :3], reflections([[1, 2, 3]])


def with_values(*sigma):
    """The 4 x 3 matrix LEFT diag(sigma) RIGHT^T, in Fractions: it has these singular values."""
    return LEFT * sigma @ RIGHT.T


def shared_equally(roots, r):
    """Exact factors of with_values(roots^2): r columns, a power of 2, with equal products."""
    signs = hadamard(r, dtype=int).astype(object)[: len(roots)]
    U, V = ((X[:, : len(roots)] * roots) @ signs for X in (LEFT, RIGHT))
    return U, V * Fraction(1, r)


def least_over_patterns(X, y, price, steps):
    """The least ReLU objective over all activation patterns in the plane, one vector in each cone.

    X: (N, 2) inputs. y: (N,) targets. price: of |u||v|. steps: of FISTA with restarts.
    """
    lines = np.arctan2(X[:, 0], -X[:, 1])
    ends = np.sort(np.concatenate([lines, lines + np.pi]) % (2 * np.pi))
    ends = np.append(ends, ends[0] + 2 * np.pi)
    middle = (ends[1:] + ends[:-1]) / 2
    on = X @ [np.cos(middle), np.sin(middle)] > 0
    D = on[:, :, None] * X[:, None]
    D = np.concatenate([D, -D], 1).reshape(len(X), -1)
    edges = np.tile(np.exp(1j * np.array([ends[:-1], ends[1:]])), 2)
    normals = edges * [[1j], [-1j]]

    def shrunk(z, t):
        """Project on the cones, then shorten."""
        z = z.view(complex)
        along = np.maximum((edges.conj() * z).real, 0)
        on_edge = np.where(along[0] > along[1], along[0] * edges[0], along[1] * edges[1])
        z = np.where(((normals.conj() * z).real < 0).any(0), on_edge, z)
        size = abs(z)
        return (z * np.maximum(1 - t / np.where(size, size, 1), 0)).view(float)

    L = np.linalg.norm(D, 2) ** 2
    z = ahead = np.zeros(D.shape[1])
    k = 1
    for _ in range(steps):
        new = shrunk(ahead - D.T @ (D @ ahead - y) / L, price / L)
        k = 1 if (ahead - new) @ (new - z) > 0 else k
        following = (1 + np.sqrt(1 + 4 * k**2)) / 2
        ahead, z, k = new + (k - 1) / following * (new - z), new, following
    return ((y - D @ z) ** 2).sum() / 2 + price * abs(z.view(complex)).sum()


def chained(layers, inputs):
    """What a linear network makes of its inputs (d, N), layer by layer."""
    for W in layers:
        inputs = W @ inputs
    return inputs


def layer_slopes(layers, G):
    """The gradient in each layer of a linear network; G is that of the loss at the product."""
    identity = np.eye(G.shape[1], dtype=int)
    before = [chained(layers[:k], identity) for k in range(len(layers))]
    after = [W.T for W in layers[::-1]]
    return [chained(after[: len(layers) - 1 - k], G) @ P.T for k, P in enumerate(before)]


def least_by_descent(widths, inputs, targets, loss, slope, rng):
    """The loss of a linear network, with hidden layers of these widths, after BFGS."""
    shapes = list(zip((*widths, len(targets)), (len(inputs), *widths), strict=True))

    def value(w):
        layers = unflatten(w, shapes)
        R = targets - chained(layers, inputs)
        return loss(R), flatten(layer_slopes(layers, -slope(R) @ inputs.T))

    start = rng.normal(size=sum(a * b for a, b in shapes))
    options = {"gtol": 1e-9, "maxiter": 5000}
    return minimize(value, start, jac=True, options=options).fun


def central_differences(f, arrays, h, *rest):
    """Central differences of f(*arrays, *rest) in each entry, in a row: exact for quadratics."""
    slopes = []
    for k, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[k][place] += sign * h
                ends.append(f(*moved, *rest))
            slopes.append((ends[0] - ends[1]) / (2 * h))
    return np.array(slopes)


def pairs_beside(U, V, radius, rng):
    """3003 pairs in the ball around the local minimizer (U, V) of Theorem H.E, (b)."""
    best_u, best_v = np.eye(4)[:, 0], np.array([1, 0, -1, 0, 0]) / 2**0.5
    pairs = []
    for k in range(3000):  # the zero column near its best direction, the rest a little
        dU, dV = (10.0 ** -(k % 7) * rng.normal(size=(d, 2)) for d in (4, 5))
        dU[:, 1] += best_u
        dV[:, 1] += best_v
        h = radius * rng.uniform(0.1, 1) / np.hypot(np.linalg.norm(dU), np.linalg.norm(dV))
        pairs.append((U + h * dU, V + h * dV))
    for share in (0.25, 0.5, 0.99):  # column 1 follows, and the off-diagonal blocks stay 0
        kappa = share * radius / np.linalg.norm([U[:, 0], U[:, 0]])
        one, other = U.copy(), V.copy()
        one[:, 1], other[:, 1] = 1e-3 * radius * best_u, 1e-3 * radius * best_v
        one[:2, 0], other[:3, 0] = kappa * one[:2, 1], kappa * other[:3, 1]
        one[2:, 1], other[3:, 1] = -kappa * U[2:, 0], -kappa * V[3:, 0]
        pairs.append((one, other))
    return pairs


def planted_under_outliers(n, lam, gamma, rng):
    """Y (n, n), a pair and n outliers of any size that are optimal for it under Huber's loss.

    But for the signs of the pair, the gradient is 1 at the outliers and (lam - 1) / (n - 1) else.
    """
    signs = np.outer(*rng.choice([-1, 1], size=(2, n)))
    places = np.eye(n)[rng.permutation(n)]
    pair = signs * rng.uniform(0.5, 2)
    outliers = signs * places * rng.uniform(0, 20, size=(n, n))
    residual = signs * np.where(places, 1, (lam - 1) / (n - 1)) / gamma
    return pair + residual + outliers, pair, outliers
