"""Completion: objectives from triples, exact alternating steps, the complexity by enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linear.completion import (
    als,
    empirical_regularizer,
    expected_regularizer,
    frequencies,
    loss,
    objective,
    rate,
    trace_norm_complexity,
)
from runproofs.masks import expectation

seeds = st.integers(0, 2**32 - 1)


def test_fractions_stay_exact():
    one = np.array([[Fraction(1)]])
    value = objective(one, one, ([0], [0], one[0] / 3), Fraction(1, 2))  # (1/3 - 1)^2 + 1/2
    assert isinstance(value, Fraction)
    assert value == Fraction(17, 18)


def problem(seed, n=40, d2=7, d0=5, d1=3, scale=1.0):
    """Ratings with repeated pairs and unrated rows and columns, factors, and a law."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, d2 - 1, n), rng.integers(1, d0, n), rng.normal(size=n)
    factors = rng.normal(size=(d2, d1)), scale * rng.normal(size=(d0, d1))
    return *factors, ratings, (rng.dirichlet(np.ones(d2)), rng.dirichlet(np.ones(d0)))


@given(seeds)
def test_the_objective_is_the_mean_loss_under_dropout(seed):
    U, V, ratings, _ = problem(seed)

    def dropped(b):
        return loss(U * b / 0.7, V, ratings)

    value = expectation(dropped, 3, keep=0.7)
    assert objective(U, V, ratings, rate(drop=0.3)) == pytest.approx(value, rel=1e-12)


@given(seeds)
def test_the_regularizers_are_means_over_the_pairs(seed):
    U, V, (r, c, y), (p, q) = problem(seed)
    penalty = (U * U) @ (V * V).T
    assert empirical_regularizer(U, V, (r, c, y)) == pytest.approx(penalty[r, c].mean())
    assert expected_regularizer(U, V, (p, q)) == pytest.approx(p @ penalty @ q)
    value = loss(U, V, (r, c, y)) + 0.3 * p @ penalty @ q
    assert objective(U, V, (r, c, y), 0.3, (p, q)) == pytest.approx(value)
    assert loss(U, V, (r, c, y)) == pytest.approx(((y - (U @ V.T)[r, c]) ** 2).mean())


@given(seeds, st.sampled_from([0.0, 1e-12, 0.4, 30.0]), st.booleans(), st.sampled_from([1, 1e5]))
def test_a_row_is_what_a_generic_solver_finds(seed, lam, expected, scale):
    """The last step replaces V; its rows minimize augmented least-squares problems."""
    U, V, (r, c, y), (p, q) = problem(seed, n=25, scale=scale)
    law = (p, q) if expected else None
    step = als(U, V, (r, c, y), lam, sweeps=1, law=law)
    n = len(y)
    for j in range(len(V)):
        mine = c == j
        rated = step.U[r[mine]]
        w = n * q[j] * (p @ step.U**2) if expected else (rated**2).sum(0)
        design = np.concatenate([rated, np.diag(np.sqrt(lam * w))])
        target = np.append(y[mine], np.zeros(3))
        best = np.linalg.lstsq(design * scale, target, rcond=None)[0] * scale
        ours, least = (((design @ v - target) ** 2).sum() for v in (step.V[j], best))
        assert ours <= least + 1e-9 * (target @ target)
        if lam > 0.1 and mine.any():
            np.testing.assert_allclose(step.V[j], best, rtol=1e-6, atol=1e-9 * np.abs(best).max())


@pytest.mark.parametrize("expected", [False, True])
def test_the_objective_never_grows(expected):
    U, V, ratings, law = problem(5)
    law = law if expected else None

    def observe(U, V):
        return {"value": objective(U, V, ratings, 0.7, law)}

    run = als(U, V, ratings, 0.7, sweeps=6, law=law, observe=observe)
    assert run.times.tolist() == list(range(7))
    values = run.observed["value"]
    assert (np.diff(values) <= 1e-12 * values[0]).all()


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_rows_and_columns_without_ratings_become_zero_and_zero_factors_stay(lam):
    U, V, ratings, law = problem(1)
    V[:, 1] = 0
    for given_law in (None, law):
        step = als(U, V, ratings, lam, sweeps=2, law=given_law)
        assert (step.U[-1] == 0).all()
        assert (step.V[0] == 0).all()
        assert (step.U[:, 1] == 0).all()
        assert (step.V[:, 1] == 0).all()
        assert (step.U[:-1] != 0).any(axis=1).all()


def test_without_penalty_the_ratings_are_fitted():
    """More factors than ratings in any row: singular normal equations, and no error left."""
    rng = np.random.default_rng(3)
    ratings = np.arange(6) % 3, np.arange(6) % 4, rng.normal(size=6)
    step = als(rng.normal(size=(3, 5)), rng.normal(size=(4, 5)), ratings, 0, sweeps=1)
    assert loss(step.U, step.V, ratings) < 1e-25


def test_a_law_may_ignore_a_row_that_was_rated():
    U, V, ratings, (_, q) = problem(4)
    p = np.zeros(7)
    p[-1] = 1.0
    run = als(U, V, ratings, 0.5, sweeps=3, law=(p, q))
    assert np.isfinite(run.U).all()
    assert (run.U[-1] == 0).all()


def test_rows_and_columns_are_exchanged_with_the_factors():
    """Half a sweep on the transpose: V first."""
    U, V, (r, c, y), (p, q) = problem(6)
    for law, turned in ((None, None), ((p, q), (q, p))):
        one = als(U, V, (r, c, y), 0.5, sweeps=1, law=law)
        other = als(V, one.U, (c, r, y), 0.5, sweeps=1, law=turned)
        np.testing.assert_allclose(one.V, other.U, rtol=1e-9)


def enumerated(p, q, n):
    """Every sample and every choice of signs."""
    cells = np.outer(p, q)
    places = list(np.ndindex(cells.shape))
    total = 0.0
    for sample in product(places, repeat=n):
        weight = np.prod([cells[place] for place in sample])
        for signs in product((-1, 1), repeat=n):
            matrix = np.zeros_like(cells)
            for sign, place in zip(signs, sample, strict=True):
                matrix[place] += sign / np.sqrt(cells[place])
            total += weight * np.linalg.norm(matrix, 2) / 2**n
    return total / n


@pytest.mark.parametrize(
    ("p", "q", "n"),
    [([1], [1], 3), ([0.3, 0.7], [0.4, 0.6], 3), ([0.2, 0.3, 0.5], [0.1, 0.9], 2)],
)
def test_complexity_is_the_mean_over_samples_and_signs(p, q, n):
    p, q = np.array(p, float), np.array(q, float)
    assert trace_norm_complexity(p, q, n) == pytest.approx(enumerated(p, q, n), rel=1e-12)


def test_frequencies_are_the_law_of_the_ratings():
    _, _, ratings, _ = problem(7)
    p, q = frequencies(ratings, (7, 5))
    assert p.sum() == pytest.approx(1)
    assert p[-1] == q[0] == 0
    assert p[2] == (ratings[0] == 2).mean()


U, V, x, law = problem(8)

test_bad_arguments_are_refused = refusals(
    (lambda: rate(drop=1.0), "drop must be a probability"),
    (lambda: loss(U, V[:, :2], x), "agree"),
    (lambda: loss(U, V, x[:2]), "three arrays"),
    (lambda: loss(U, V, (x[0] + 1.0, *x[1:])), "integers .* 40 of them"),
    (lambda: loss(U, V, (x[0][1:], *x[1:])), r"40 of them, but the shape is \(39,\)"),
    (lambda: loss(U, V, (x[0] - 1, *x[1:])), "least 0 and below 7, but one is -1"),
    (lambda: loss(U, V, (x[0], x[1] + 4, x[2])), "columns .* below 5, but one is"),
    (lambda: loss(U, V, (x[0], x[1], x[2] * np.nan)), "NaN"),
    (lambda: loss(U, V, ([], [], [])), "non-empty"),
    (lambda: expected_regularizer(U, V, None), "two arrays"),
    (lambda: expected_regularizer(U, V, law[::-1]), "7 probabilities"),
    (lambda: expected_regularizer(U, V, (2 * law[0], law[1])), "sum 2"),
    (lambda: objective(U, V, x, -1), "lam"),
    (lambda: als(U, V, x, np.inf, sweeps=1), "lam"),
    (lambda: als(U, V, x, 1, sweeps=0), "sweeps"),
    (lambda: frequencies(x, 5), "two whole numbers"),
    (lambda: frequencies(x, (7, 4.5)), "shape must be"),
    (lambda: trace_norm_complexity([0.0, 1.0], [1.0], 2), "every entry of p"),
    (lambda: trace_norm_complexity([1.0], [1.0], 0), "n must"),
    (lambda: trace_norm_complexity(np.ones(20) / 20, law[1], 9), "at most"),
    (lambda: trace_norm_complexity(np.ones(3) / 3, np.ones(3) / 3, 12), "ways"),
)
