"""Instances for the checks of Chapters 1 and 2: small classes, masked networks, critical points."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from scipy.linalg import null_space

from runproofs.bounds.rademacher import all_samples, expected_complexity
from runproofs.linalg import with_spectrum
from runproofs.linear import landscape
from runproofs.linear.shallow import balance, gradient, tied_objective
from runproofs.masks import all_masks, all_signs


def deviations(table, law, n):
    """E sup_f (mean - sample mean), and the same with |.|, over all samples; a row is an f."""
    samples, p = all_samples(law, n)
    moved = np.asarray(table @ law)[:, None] - table[:, samples].sum(-1) * Fraction(1, n)
    return p @ moved.max(0), p @ np.abs(moved).max(0)


def centered_complexity(table, law, n):
    """The expected Rademacher complexity of all f - E f."""
    return expected_complexity(table - np.asarray(table @ law)[:, None], law, n)


def with_signs(table, law, n):
    """The same for the functions s f(x) of a point and a fair sign: their mean deviation is R_n."""
    return np.hstack([table, -table]), np.hstack([law, law]) * Fraction(1, 2), n


def massart_bound(values):
    """Massart's bound for a finite class; row f of the values (M, n) has f(x_1), ..., f(x_n)."""
    M, n = np.shape(values)
    return np.linalg.norm(values, axis=1).max() / n * np.sqrt(2 * np.log(M))


def small_classes(rng):
    """(table, law, n) in fractions: three random; all bits of ten points; two of three; 0 and 1."""
    third, sixth = Fraction(1, 3), Fraction(1, 6)
    law = np.array([1, 2, 3]) * sixth
    laws = [np.roll(law, k) for k in range(3)]
    classes = [(rng.integers(-6, 7, (5, 3)).astype(object) * sixth, law, 4) for law in laws]
    bits = (all_signs(10) > 0).astype(int).astype(object) * Fraction(1)
    classes.append((bits, np.full(10, Fraction(1, 10)), 1))
    either = np.array([[1, 0, 0], [0, 1, 1]], dtype=object) * Fraction(1)
    constants = np.array([[0, 0], [1, 1]], dtype=object) * Fraction(1)
    return [*classes, (either, np.full(3, third), 3), (constants, np.full(2, Fraction(1, 2)), 1)]


def masked_relu_states(W, masks, x):
    """The hidden states of a ReLU network, each layer multiplied by its mask; x comes first."""
    states = [x]
    for weights, mask in zip(W, masks, strict=False):
        z = weights @ states[-1]
        states.append(mask[:, None] * z * (np.real(z) > 0))  # also for a complex step
    return states


def masked_relu_loss(W, masks, x, y):
    """The mean squared error of a ReLU network whose hidden layers have these masks."""
    return ((W[-1] @ masked_relu_states(W, masks, x)[-1] - y) ** 2).mean()


def masked_relu_gradient(W, masks, x, y):
    """Its gradient by backpropagation, layer by layer from the top."""
    states = masked_relu_states(W, masks, x)
    delta, gradients = 2 * (W[-1] @ states[-1] - y) / y.size, []
    for weights, state in zip(W[::-1], states[::-1], strict=True):
        gradients.append(delta @ state.T)
        delta = (weights.T @ delta) * (state != 0)
    return gradients[::-1]


def path_products(weights):
    """The products of the weights along all paths of a network, one by one."""
    ends = [weights[0].shape[1], *(len(W) for W in weights)]
    for path in np.ndindex(*ends):
        yield np.prod([W[path[i + 1], path[i]] for i, W in enumerate(weights)])


def padded(weights, d):
    """The same network with zero units, so that each hidden layer has width d."""
    new = [weights[0].shape[1], *[d] * (len(weights) - 1), len(weights[-1])]
    pairs = zip(weights, pairwise(new), strict=True)
    return [np.pad(W, ((0, b - len(W)), (0, a - W.shape[1]))) for W, (a, b) in pairs]


def all_missing_directions(U, t):
    """The curve of Lemma 5, Case 2, at a point on the axes; the print has |t| for t: a corner."""
    r, x = U.shape[1], (U**2).sum(1)  # x: squares of the singular values
    k = np.count_nonzero(x)
    V = np.hstack([U[:k].T / np.sqrt(x[:k]), null_space(U[:k]) if k else np.eye(r)])
    return np.eye(len(U))[:, :r] @ (np.where(x[:r] > 0, np.sqrt(x[:r] + t**2), t)[:, None] * V.T)


def exchange(U, j, m, t):
    """The curve of Lemma 5, Case 3: turn the present w_j = e_j toward the missing e_m."""
    new = U.copy()
    new[j], new[m] = np.sqrt(1 - t**2) * U[j], t * U[j]
    return new


def bend_along(curve, M, lam, step=1e-2):
    """The second derivative of the tied objective along t -> curve(t) at 0, to O(1e-8)."""
    values = tied_objective(np.array([curve(step * k) for k in range(-2, 3)]), M, lam)
    return values @ np.array([-1, 16, -30, 16, -1]) / (12 * step**2)


def plain_sgd(T, U, V, X, B, theta, eta):
    """Algorithm 1 for one network, written as a loop: the weights after the samples X, masks B."""
    U, V = U.copy(), V.copy()
    for x, b in zip(X, B, strict=True):
        e = U @ (b * (V.T @ x)) / theta - T @ x
        dU, dV = np.outer(e, (V.T @ x) * b), np.outer(x, (U.T @ e) * b)
        U -= eta * dU
        V -= eta * dV
    return U, V


def mean_step(u, M, lam):
    """The step of Algorithm 1 at U = V = u with eta = 1 and x = 1, averaged over all masks."""
    masks, probabilities = all_masks(u.size, keep=1 / (1 + lam))
    U, x = np.tile(u, (len(masks), 1, 1)), np.ones((len(masks), 1))
    from runproofs.linear.shallow_training import sgd_step  # loads torch, for this alone

    new_U, _ = sgd_step(U, U, x, M * x, masks, 1.0, keep=1 / (1 + lam))
    return probabilities @ (new_U.numpy()[:, 0] - u)


def listed_critical_points(rng):
    """Balanced critical (U, V, M, lam) of all kinds: four M, widths 1 to 3, four rates."""
    shapes = ((3, 4), [3, 2]), ((3, 3), [3, 2, 0.1]), ((2, 3), [1.5, 1]), ((2, 1), [2])
    points = []
    for (shape, sigma), width, rate in product(shapes, (1, 2, 3), (0.2, 1.0, 3.0, 9.0)):
        M = with_spectrum(*shape, sigma, rng)
        W, s, Yt = np.linalg.svd(M, full_matrices=False)
        pairs = [p[:2] for p in landscape.critical_points(M, width, rate, rng)]
        tied = landscape.all_tied_critical_points(s, width, rate)
        pairs += [(W @ p.U, Yt.T @ p.U) for p in tied]
        points += [(*balance(*pair), M, rate) for pair in pairs]
    return points


def searched_critical_points(rng, count):
    """Balanced (U, V, M, lam) where searches for zeros of the gradient end, from sparse starts."""
    points = []
    for k in range(count):
        d2, d0, r = rng.integers(1, 4, 3)
        M, rate = rng.standard_normal((d2, d0)), (0.05, 0.5, 2.0, 10.0)[k % 4]
        start = [rng.standard_normal((d, r)) * (rng.random((d, r)) < 0.5) for d in (d2, d0)]
        U, V = landscape.find_critical_point(*start, M, rate)
        if max(np.abs(g).max() for g in gradient(U, V, M, rate)) < 1e-9:
            points.append((*balance(U, V), M, rate))
    return points
