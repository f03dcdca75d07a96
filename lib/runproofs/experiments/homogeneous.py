"""The experiments of the slides on homogeneous networks: dropout finds the closed form.

Dropout here looks at the whole matrix: a step is -(step size / 2) times the gradient of
``||Y - (1/theta) U diag(z) V^T||_F^2`` with one mask z. The slides state the sizes, and of the
first experiment the number of iterations; data, rates, starts and step sizes are ours.
"""

import numpy as np

from runproofs import linalg
from runproofs.experiments.base import experiment
from runproofs.linear.equalize import importance_scores
from runproofs.linear.shallow import closed_form_objective, optimal_spectrum

METHODS = ("expected", "dropout", "half", "frozen", "none")
RETAINED = (0.9, 0.5, 0.2, 0.1)
SIZES = (10, 20, 40, 80, 160)


def factorize(Y, lam, U, V, method, *, steps, eta, decay, rng, times=(), observe=None):
    """Train factors U (m, r), V (n, r) of Y (m, n) on the dropout objective; arrays stay.

    lam: (1 - theta) / theta, at least 0. method: "expected" descends on the expected loss
    ``||Y - U V^T||^2 + lam sum_i ||u_i||^2 ||v_i||^2``, "dropout" on the loss of a new mask in each
    step. Three controls: "half" is dropout at half of lam, "frozen" has one mask for ever, "none"
    keeps all columns. The step size is eta theta / (1 + t / decay); rng is a NumPy generator.
    Returns U, V, and the list of observe(U, V) after each of the numbers of steps in `times`.
    Nothing is checked. Cost: O(m n r) a step, with a mask O(m n) times the columns that it keeps.
    """
    U, V, seen, times = U.copy(), V.copy(), [], set(times)
    theta = 1 / (1 + (lam / 2 if method == "half" else lam))
    frozen = rng.random(U.shape[1]) < theta
    for t in range(steps + 1):
        if t in times:
            seen.append(observe(U, V))
        if t == steps:
            return U, V, seen
        size = eta * theta / (1 + t / decay)
        if method == "expected":
            error = Y - U @ V.T
            penalty = lam * (U * U).sum(0), lam * (V * V).sum(0)
            step = error @ V - U * penalty[1], error.T @ U - V * penalty[0]
            U += size * step[0]
            V += size * step[1]
        elif method == "none":
            error = size * (Y - U @ V.T)
            U, V = U + error @ V, V + error.T @ U
        else:
            mask = frozen if method == "frozen" else rng.random(U.shape[1]) < theta
            kept = np.flatnonzero(mask)
            u, v = U[:, kept], V[:, kept]
            error = (size / theta) * (Y - u @ v.T / theta)
            U[:, kept], V[:, kept] = u + error @ v, v + error.T @ u


def watched(steps, count=60):
    """0, and about `count` numbers of steps, evenly spread on a logarithmic scale."""
    return [0, *np.unique(np.geomspace(1, steps, count).astype(int)).tolist()]


def gaussian_product(size, r, deviation, rng):
    """A target (size, size) of the first experiment: A B^T, Gaussian entries of this deviation."""
    A, B = deviation * rng.standard_normal((2, size, r))
    return A @ B.T


@experiment(
    "slides-fixed-size", over=("theta", "seed"),
    quick={
        "theta": RETAINED, "seed": (0,), "methods": METHODS, "size": 20, "r": 32,
        "deviation": 0.2, "steps": 2500, "eta": 0.1, "decay": 250,
    },
    paper={
        "theta": RETAINED, "seed": (0, 1, 2), "methods": METHODS, "size": 100, "r": 160,
        "deviation": 0.1, "steps": 10_000, "eta": 0.1, "decay": 2000,
    },
)  # fmt: skip
def fixed_size(theta, methods, size, r, deviation, steps, eta, decay, seed=0):
    """A Gaussian product of width r, factorized with r columns by each of the methods.

    Target and start have entries of the same deviation. Returns "objective" (methods, k), the
    expected loss at rate theta over its minimum, at "times" (k,), whichever rate was trained.
    """
    rng = np.random.default_rng(seed)
    Y = gaussian_product(size, r, deviation, rng)
    start = deviation * rng.standard_normal((2, size, r))
    lam, times = (1 - theta) / theta, watched(steps)
    minimum = optimal_spectrum(np.linalg.svd(Y, compute_uv=False), r, lam).value

    def excess(U, V):
        return closed_form_objective(U, V, Y, lam) / minimum

    how = {"steps": steps, "eta": eta, "decay": decay, "times": times, "observe": excess}
    found = [
        factorize(Y, lam, *start, method, **how, rng=np.random.default_rng((seed, 1)))[2]
        for method in methods
    ]
    return {"times": times, "objective": found}


def low_rank_and_noise(size, rank, noise, rng):
    """Y and its clean part, whose rank singular values are about rank^(1/2); noise: deviation."""
    A, B = rng.standard_normal((2, size, rank))
    clean = A @ B.T * (rank**0.5 / size)
    return clean + noise * rng.standard_normal((size, size)), clean


def rate(rule, r, rank, lambda_1):
    """lam of a factorization with r columns: r lambda_1, or fixed, that of the true rank."""
    return lambda_1 * (r if rule == "adaptive" else rank)


@experiment(
    "slides-variable-size", over=("rule", "r", "seed"),
    quick={
        "rule": ("adaptive", "fixed"), "r": SIZES, "seed": (0,), "lambda_1": 0.03, "size": 100,
        "rank": 10, "noise": 0.02, "deviation": 0.1, "steps": 1500, "eta": 0.1, "decay": 200,
    },
    paper={
        "rule": ("adaptive", "fixed"), "r": SIZES, "seed": (0, 1, 2), "lambda_1": 0.03, "size": 100,
        "rank": 10, "noise": 0.02, "deviation": 0.1, "steps": 10_000, "eta": 0.1, "decay": 500,
    },
)  # fmt: skip
def variable_size(rule, r, lambda_1, size, rank, noise, deviation, steps, eta, decay, seed=0):
    """Dropout with r columns on a matrix of low rank plus noise, at a fixed or the adaptive rate.

    Returns the singular values of the product, "found" (size,); those of the minimizer of
    ``||Y - X||^2 + lambda_1 ||X||_*^2``, "closed" (size,); the relative distances of the product
    "to_closed" and "to_clean"; and "objective", over its minimum at that rate and size.
    """
    rng = np.random.default_rng(seed)
    Y, clean = low_rank_and_noise(size, rank, noise, rng)
    W, sigma, Zt = np.linalg.svd(Y)
    closed = optimal_spectrum(sigma, size, size * lambda_1).spectrum
    lam, start = rate(rule, r, rank, lambda_1), deviation * rng.standard_normal((2, size, r))
    how = {"steps": steps, "eta": eta, "decay": decay}
    U, V, _ = factorize(Y, lam, *start, "dropout", **how, rng=np.random.default_rng((seed, 1)))
    product, target = U @ V.T, (W * closed) @ Zt
    return {
        "found": np.linalg.svd(product, compute_uv=False),
        "closed": closed,
        "to_closed": np.linalg.norm(product - target) / np.linalg.norm(target),
        "to_clean": np.linalg.norm(product - clean) / np.linalg.norm(clean),
        "objective": closed_form_objective(U, V, Y, lam) / optimal_spectrum(sigma, r, lam).value,
    }


@experiment(
    "slides-equalization", over=("r", "lam", "seed"),
    quick={
        "r": (6, 20), "lam": (0.0, 0.5, 1.0), "seed": (0,), "shape": (30, 20), "decay_rate": 0.25,
        "steps": 3000, "eta": 1.0, "decay": 300,
    },
    paper={
        "r": (20, 80), "lam": (0.0, 0.1, 0.5, 1.0), "seed": (0, 1, 2), "shape": (120, 80),
        "decay_rate": 0.1, "steps": 20_000, "eta": 1.0, "decay": 1000,
    },
)  # fmt: skip
def equalization(r, lam, shape, decay_rate, steps, eta, decay, seed=0):
    """Dropout on a teacher with singular values exp(-decay_rate i), from its own SVD factors.

    This start fits as well as r columns can, and is far from equalized. Returns, at "times" (k,),
    the "objective" (k,) over its minimum (over ``||Y||^2`` if lam = 0), and of the products
    ``||u_i|| ||v_i||`` the "variance" (k,) and the coefficient of "variation" (k,).
    """
    sigma = np.exp(-decay_rate * np.arange(min(shape)))
    Y = linalg.with_spectrum(*shape, sigma, seed)
    W, _, Zt = np.linalg.svd(Y, full_matrices=False)
    start = W[:, :r] * np.sqrt(sigma[:r]), Zt[:r].T * np.sqrt(sigma[:r])
    scale = optimal_spectrum(sigma, r, lam).value if lam else np.sum(sigma**2)

    def state(U, V):
        scores = importance_scores(U, V)
        objective = closed_form_objective(U, V, Y, lam) / scale
        return objective, scores.var(), scores.std() / scores.mean()

    how = {"steps": steps, "eta": eta, "decay": decay, "times": watched(steps), "observe": state}
    rng = np.random.default_rng((seed, 1))
    *_, seen = factorize(Y, lam, *start, "dropout", **how, rng=rng)
    names = ("objective", "variance", "variation")
    return {"times": watched(steps), **dict(zip(names, np.transpose(seen), strict=True))}
