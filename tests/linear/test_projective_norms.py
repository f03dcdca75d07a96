"""Projective tensor norms: closed forms between a factorization and a certificate."""

import itertools

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.linear import projective_norms as pn

INF = np.inf
CLOSED = [(1, 1), (1, 2), (1, INF), (2, 1), (INF, 1), (2, 2)]
SHAPES = [(1, 1), (1, 4), (3, 2), (4, 5)]


@pytest.mark.parametrize("uv", CLOSED)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-12, 1, 1e6])
def test_factors_above_and_a_certificate_below(uv, shape, scale):
    drawn = np.random.default_rng(0).normal(size=shape) * scale
    for X in (drawn, np.vstack([0 * drawn[0], drawn])):  # with a zero row, too
        norm = pn.projective_norm(X, *uv)
        U, V = pn.factors(X, *uv)
        np.testing.assert_allclose(U @ V.T, X, atol=1e-12 * scale)
        assert pn.product_norms(U, V, *uv) == pytest.approx(norm, rel=1e-12)
        Z = pn.certificate(X, *uv)
        assert pn.polar(Z, *uv) <= 1 + 1e-12
        assert (Z * X).sum() == pytest.approx(norm, rel=1e-12)


def extreme_points(rng, size, norm):
    """20,000 random extreme points of the unit ball."""
    if norm == 1:
        return np.eye(size)[rng.integers(size, size=20000)]
    if norm == INF:
        return rng.choice([-1, 1], (20000, size))
    points = rng.normal(size=(20000, size))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("uv", list(itertools.product([1, 2, INF], repeat=2)))
def test_the_polar_bounds_every_rank_one_matrix_and_is_reached(uv):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(4, 3))
    a, b = (extreme_points(rng, size, norm) for size, norm in zip(Z.shape, uv, strict=True))
    values = np.abs(np.einsum("ki,ij,kj->k", a, Z, b))
    polar = pn.polar(Z, *uv)
    assert 0.9 * polar <= values.max() <= polar * (1 + 1e-12)
    assert pn.polar(Z.T, *uv[::-1]) == pytest.approx(polar, rel=1e-12)


def test_instances():
    X = [[3, 4], [0, 0]]
    values = [pn.projective_norm(X, *uv) for uv in CLOSED]
    np.testing.assert_allclose(values, [7, 5, 4, 7, 7, 5], rtol=1e-15)
    assert pn.projective_norm(np.diag([2, 1]), 2, 2) == 3
    # only the shorter side is enumerated
    assert pn.polar(np.ones((2, 20)), INF, INF) == pn.polar(np.ones((20, 2)), INF, INF) == 40


def test_alternation_reaches_the_polar_from_some_start():
    rng = np.random.default_rng(0)
    for _ in range(5):
        Z = rng.integers(-9, 10, (6, 5))
        best = max(np.abs(s @ Z).sum() for s in itertools.product([-1, 1], repeat=6))
        assert pn.polar(Z, INF, INF) == best
        assert pn.alternate(Z, pn.sign_vectors(6)).max() == best


def test_a_zero_has_the_sign_plus():
    assert pn.alternate([[1], [1]], [[1, -1]]).tolist() == [2]
    assert pn.alternate([[-2, -1], [-1, -1]], [[1, -1]]).tolist() == [5]  # in a, too


def test_alternation_ends_where_nobody_alone_improves():
    rng = np.random.default_rng(2)
    rounds = []
    for _ in range(10):
        Z = rng.normal(size=(7, 6))
        starts = pn.sign_vectors(7)
        for start, value in zip(starts, pn.alternate(Z, starts), strict=True):
            a, best = start, [-INF]
            while (score := np.abs(a @ Z).sum()) > best[-1] + 1e-12:
                best.append(score)
                a = np.sign(Z @ np.sign(a @ Z))
            assert value == pytest.approx(best[-1], rel=1e-12)
            rounds.append(len(best))
    assert max(rounds) > 3


test_bad_arguments = refusals(
    (lambda: pn.polar(np.eye(2), 3, 1), "must be 1, 2 or inf"),
    (lambda: pn.polar(np.eye(17), INF, INF), "signs"),
    (lambda: pn.alternate(np.eye(2), [[1, 1, 1]]), "columns"),
    (lambda: pn.alternate(np.eye(2), [[1, 0.5]]), "labels"),
    (lambda: pn.projective_norm(np.eye(2), 2, INF), "closed form"),
    (lambda: pn.factors(np.eye(2), INF, INF), "closed form"),
    (lambda: pn.certificate(np.eye(2), INF, 2), "closed form"),
)


def test_an_alternation_that_does_not_end_is_an_error():
    with pytest.raises(RuntimeError, match="still grow"):
        pn.alternate(np.eye(2), [[1, 1]], most=1)
