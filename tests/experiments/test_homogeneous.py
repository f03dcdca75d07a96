"""The experiments of the slides: what is trained, where it starts, and what is reported."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import brentq

from runproofs.experiments import homogeneous
from runproofs.linear.shallow import closed_form_objective, gradient, optimal_spectrum

rng = np.random.default_rng(7)
Y = rng.normal(size=(4, 5))
START = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
LAM = 3 / 7  # theta = 0.7
HOW = {"steps": 1, "eta": 0.02, "decay": 10}


class OneMask:
    def __init__(self, mask):
        self.mask = np.array(mask)

    def random(self, size):
        assert size == len(self.mask)
        return np.where(self.mask, 0.0, 1.0)


def step(method, mask=(1, 1, 1), lam=LAM):
    """One step of size eta theta, over it and times -2: the gradient that was followed."""
    theta = 1 / (1 + (lam / 2 if method == "half" else lam))
    ends = homogeneous.factorize(Y, lam, *START, method, rng=OneMask(mask), **HOW)[:2]
    return [-2 * (b - a) / (0.02 * theta) for a, b in zip(START, ends, strict=True)]


def averaged(method, theta):
    """The average of `step` over all masks, with their probabilities under theta."""
    total = [np.zeros_like(A) for A in START]
    for mask in product((0, 1), repeat=3):
        weight = theta ** sum(mask) * (1 - theta) ** (3 - sum(mask))
        total = [a + weight * b for a, b in zip(total, step(method, mask), strict=True)]
    return total


@pytest.mark.parametrize(
    ("found", "lam"),
    [
        (lambda: step("expected"), LAM),
        (lambda: averaged("dropout", 0.7), LAM),
        (lambda: averaged("frozen", 0.7), LAM),
        (lambda: averaged("half", 1 / (1 + LAM / 2)), LAM / 2),
        (lambda: step("none"), 0),
    ],
)
def test_each_method_follows_the_gradient_of_its_loss(found, lam):
    for slope, wanted in zip(found(), gradient(*START, Y, lam), strict=True):
        np.testing.assert_allclose(slope, wanted, rtol=1e-10, atol=1e-10)


def test_dropped_columns_rest_and_the_arrays_are_not_changed():
    before = [A.copy() for A in START]
    for slope, A, old in zip(step("dropout", (1, 0, 1)), START, before, strict=True):
        assert (slope[:, 1] == 0).all()
        assert (slope[:, [0, 2]] != 0).all()
        np.testing.assert_array_equal(A, old)


def test_steps_shrink_and_a_frozen_mask_stays():
    sizes = []

    def observe(U, V):
        sizes.append((U.copy(), V.copy()))

    how = {"steps": 20, "eta": 1e-8, "decay": 10, "times": range(21), "observe": observe}
    *_, seen = homogeneous.factorize(Y, LAM, *START, "frozen", rng=np.random.default_rng(1), **how)
    assert len(seen) == 21
    moves = np.array([b[0] - a[0] for a, b in pairwise(sizes)])
    kept = moves[0].any(axis=0)
    assert 0 < kept.sum() < 3
    assert (moves.any(axis=1) == kept).all()
    lengths = np.linalg.norm(moves, axis=(1, 2))
    np.testing.assert_allclose(lengths / lengths[0], 1 / (1 + np.arange(20) / 10), rtol=1e-4)


def test_the_adaptive_rate_and_the_fixed_one_agree_at_the_true_rank():
    assert homogeneous.rate("adaptive", 40, 10, 0.5) == 20
    assert homogeneous.rate("fixed", 40, 10, 0.5) == 5
    assert homogeneous.rate("adaptive", 10, 10, 0.5) == homogeneous.rate("fixed", 10, 10, 0.5)


def test_the_targets_are_what_they_are_said_to_be():
    rng = np.random.default_rng(1)
    noisy, clean = homogeneous.low_rank_and_noise(200, 4, 0.03, rng)
    assert np.linalg.matrix_rank(clean) == 4
    assert np.linalg.norm(clean) == pytest.approx(4, rel=0.1)
    assert (noisy - clean).std() == pytest.approx(0.03, rel=0.02)
    target = homogeneous.gaussian_product(100, 160, 0.1, rng)
    assert target.std() == pytest.approx(0.01 * 160**0.5, rel=0.05)


def test_equalization_starts_at_the_singular_value_decomposition_and_rests_without_dropout():
    run = homogeneous.equalization(shape=(6, 5), r=(2, 5), lam=(0.0, 1.0), steps=2000)
    sigma = np.exp(-0.25 * np.arange(5))
    for i, r in enumerate((2, 5)):
        np.testing.assert_allclose(run["variance"][i, :, 0, 0], sigma[:r].var())
        spread = sigma[:r].std() / sigma[:r].mean()
        np.testing.assert_allclose(run["variation"][i, :, 0, 0], spread)
        np.testing.assert_allclose(run["variation"][i, 0, 0], spread)
        rest = (sigma[r:] ** 2).sum()
        np.testing.assert_allclose(run["objective"][i, 0, 0], rest / (sigma**2).sum(), atol=1e-15)


def minimizer_of_the_squared_nuclear_norm(Y, weight):
    """Of ||Y - X||^2 + weight ||X||_*^2, by the root t of weight sum (s - t)_+ = t."""
    W, s, Zt = np.linalg.svd(Y, full_matrices=False)
    t = brentq(lambda t: weight * np.maximum(s - t, 0).sum() - t, 0, s[0])
    return (W * np.maximum(s - t, 0)) @ Zt


@pytest.mark.parametrize(("rule", "lam"), [("adaptive", 0.8), ("fixed", 1.2)])
def test_variable_size_runs_dropout_and_measures_from_the_closed_form_and_the_clean_matrix(
    rule, lam
):
    how = {"steps": 60, "eta": 0.1, "decay": 20}
    settings = {"rule": (rule,), "r": (2,), "lambda_1": 0.4, "size": 8, "rank": 3, "noise": 0.1}
    run = homogeneous.variable_size(**settings, deviation=0.2, seed=(2,), **how)
    rng = np.random.default_rng(2)
    target, clean = homogeneous.low_rank_and_noise(8, 3, 0.1, rng)
    start = 0.2 * rng.standard_normal((2, 8, 2))
    masks = np.random.default_rng((2, 1))
    U, V, _ = homogeneous.factorize(target, lam, *start, "dropout", rng=masks, **how)
    X = U @ V.T
    best = minimizer_of_the_squared_nuclear_norm(target, 0.4)
    sigma = np.linalg.svd(target, compute_uv=False)
    wanted = {
        "found": np.linalg.svd(X, compute_uv=False),
        "closed": np.linalg.svd(best, compute_uv=False),
        "to_closed": np.linalg.norm(X - best) / np.linalg.norm(best),
        "to_clean": np.linalg.norm(X - clean) / np.linalg.norm(clean),
        "objective": closed_form_objective(U, V, target, lam)
        / optimal_spectrum(sigma, 2, lam).value,
    }
    for name, value in wanted.items():
        np.testing.assert_allclose(run[name][0, 0, 0], value, rtol=1e-8, atol=1e-12, err_msg=name)


def test_fixed_size_trains_by_the_methods_that_it_names():
    how = {"steps": 40, "eta": 0.1, "decay": 20}
    methods = ("none", "dropout", "half", "expected", "frozen")
    settings = {"theta": (0.4,), "methods": methods, "size": 4, "r": 6, "deviation": 0.5}
    found = homogeneous.fixed_size(**settings, seed=(3,), **how)["objective"][0, 0, :, -1]
    rng = np.random.default_rng(3)
    target = homogeneous.gaussian_product(4, 6, 0.5, rng)
    start = 0.5 * rng.standard_normal((2, 4, 6))
    least = optimal_spectrum(np.linalg.svd(target, compute_uv=False), 6, 1.5).value
    for method, value in zip(methods, found, strict=True):
        masks = np.random.default_rng((3, 1))
        U, V, _ = homogeneous.factorize(target, 1.5, *start, method, rng=masks, **how)
        assert value == pytest.approx(closed_form_objective(U, V, target, 1.5) / least)
