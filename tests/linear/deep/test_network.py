"""Deep linear networks: each formula against a route that does not share its code."""

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusals
from runproofs.linalg import nuclear_norm, psd_sqrt
from runproofs.linear import deep

examples = settings(max_examples=30)
seeds = st.integers(0, 2**32 - 1)
rates = st.floats(0.1, 0.95)
sizes = st.lists(st.integers(1, 3), min_size=3, max_size=5)  # d_0, hidden, d_{k+1}


def network(sizes, seed, *batch):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*batch, b, a)) for a, b in pairwise(sizes)]


def moment(d, seed):
    A = np.random.default_rng([seed, 1]).standard_normal((d, d + 1))
    return A @ A.T


def finite_law(sizes, seed, n=6):
    rng = np.random.default_rng([seed, 2])
    X = rng.standard_normal((n, sizes[0]))
    Y = X[:, :1] ** 2 + rng.standard_normal((n, sizes[-1]))  # not linear in x
    return X, Y, X.T @ X / n, Y.T @ X / n, (Y**2).sum() / n


def enumerated(weights, X, Y, theta):
    """(3.1), mask by mask and sample by sample, without any of the library's code."""
    total, widths = 0.0, [len(W) for W in weights[:-1]]
    for bits in product([0, 1], repeat=sum(widths)):
        masks = np.split(np.array(bits), np.cumsum(widths)[:-1])
        hidden = X.T
        for W, b in zip(weights, masks, strict=False):
            hidden = b[:, None] * (W @ hidden) / theta
        probability = theta ** sum(bits) * (1 - theta) ** (len(bits) - sum(bits))
        total += probability * ((Y.T - weights[-1] @ hidden) ** 2).sum() / len(X)
    return total


# ------------------------------------------------------------------------ objective, regularizers


def test_random_networks_have_the_shapes_and_the_law_that_they_say():
    weights = deep.random_network([3, 4, 2], 7, 5000)
    assert [W.shape for W in weights] == [(5000, 4, 3), (5000, 2, 4)]
    entries = np.concatenate([W.reshape(5000, -1) for W in weights], axis=1)
    assert np.allclose(entries.mean(axis=0), 0, atol=6 / np.sqrt(5000))  # false alarm 4e-8
    assert np.allclose(np.cov(entries.T), np.eye(20), atol=9 / np.sqrt(5000))  # at 6.3 s.e. or more
    again = deep.random_network([3, 4, 2], np.random.default_rng(7), 5000)
    assert all(map(np.array_equal, weights, again))


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_pivot_sets_are_the_sets_of_hidden_layers_without_the_empty_one(k):
    pivots = deep.pivot_sets(k)
    assert len(pivots) == len(set(pivots)) == 2**k - 1
    assert {sum(2 ** (j - 1) for j in J) for J in pivots} == set(range(1, 2**k))
    assert all(tuple(sorted(set(J))) == J for J in pivots)
    assert pivots == sorted(pivots, key=lambda J: (len(J), J))


@examples
@given(sizes, rates, seeds)
def test_objective_is_the_mean_over_masks_and_samples(sizes, theta, seed):
    weights = network(sizes, seed)
    X, Y, C, Cyx, Ey2 = finite_law(sizes, seed)
    expected = pytest.approx(enumerated(weights, X, Y, theta), rel=1e-11)
    assert deep.objective_by_enumeration(weights, X, Y, keep=theta) == expected
    assert deep.objective(weights, Cyx, (1 - theta) / theta, Ey2, C) == expected


@examples
@given(sizes, rates, seeds)
def test_masked_maps_are_unbiased_with_variance_R(sizes, theta, seed):
    weights, C = network(sizes, seed), moment(sizes[0], seed)
    maps, p = deep.masked_maps(weights, keep=theta)
    assert p.sum() == pytest.approx(1, rel=1e-13)
    M = deep.network_map(weights)
    np.testing.assert_allclose(np.tensordot(p, maps, 1), M, rtol=1e-10, atol=1e-12)
    variance = p @ np.einsum("nij,jk,nik->n", maps - M, C, maps - M)
    found = deep.regularizer(weights, (1 - theta) / theta, C)
    assert found == pytest.approx(variance, rel=1e-10)


@examples
@given(sizes, st.floats(0.01, 20), seeds)
def test_subregularizers_are_the_sums_over_pivots(sizes, lam, seed):
    weights, C = network(sizes, seed), moment(sizes[0], seed)
    k = len(sizes) - 2
    R = deep.subregularizers(weights, C)
    np.testing.assert_allclose(R, deep.subregularizers_over_pivots(weights, C), rtol=1e-11)
    by_sets = np.zeros(k)
    for l in range(1, k + 1):
        for pivots in combinations(range(1, k + 1), l):
            products = deep.pivot_products(weights, pivots, C)
            assert products.shape == tuple(sizes[j] for j in pivots)
            by_sets[l - 1] += (products**2).sum()
    np.testing.assert_allclose(R, by_sets, rtol=1e-11)
    total = R @ lam ** np.arange(1, k + 1)
    assert deep.regularizer(weights, lam, C) == pytest.approx(total, rel=1e-12)


def test_small_rates_cost_no_accuracy():
    weights = network([3, 4, 3, 2], 2)
    R1, R2 = deep.subregularizers(weights)
    assert deep.regularizer(weights, 1e-13) == pytest.approx(1e-13 * (R1 + 1e-13 * R2), rel=1e-13)


@examples
@given(sizes, st.floats(0, 20), seeds)
def test_gradient_is_that_of_automatic_differentiation(sizes, lam, seed):
    weights = network(sizes, seed)
    _, _, C, Cyx, Ey2 = finite_law(sizes, seed)
    tensors = [torch.tensor(W, requires_grad=True) for W in weights]
    S, M = torch.tensor(C), torch.eye(sizes[0], dtype=torch.float64)
    for i, W in enumerate(tensors):
        masked = S + lam * torch.diag(torch.diag(S)) if i else S
        S, M = W @ masked @ W.T, W @ M
    value = Ey2 - 2 * (M * torch.tensor(Cyx)).sum() + torch.trace(S)
    assert deep.objective(weights, Cyx, lam, Ey2, C) == pytest.approx(value.item(), rel=1e-11)
    expected = [g.numpy() for g in torch.autograd.grad(value, tensors)]
    for g, e in zip(deep.gradient(weights, Cyx, lam, C), expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-10, atol=1e-10 * np.abs(e).max())


@pytest.mark.parametrize("samples", [3, 300, 20_000])
def test_enumeration_of_many_masks_in_chunks(samples):
    weights, rng = network([3, 5, 4, 2], 4), np.random.default_rng(4)
    X = rng.standard_normal((samples, 3))
    Y = X[:, :2] ** 2 + rng.standard_normal((samples, 2))
    C, Cyx, Ey2 = X.T @ X / samples, Y.T @ X / samples, (Y**2).sum() / samples
    expected = deep.objective(weights, Cyx, 0.25, Ey2, C)
    assert deep.objective_by_enumeration(weights, X, Y, keep=0.8) == pytest.approx(
        expected, rel=1e-12
    )


def test_masked_maps_kill_the_nodes_that_their_masks_drop():
    """Masks are read as binary numbers, the first node of the first layer as the lowest bit."""
    weights = network([2, 2, 1, 2], 5)
    maps, p = deep.masked_maps(weights, keep=0.7)
    assert maps.shape == (8, 2, 2)
    for i in range(8):
        first, second = np.diag([i & 1, i >> 1 & 1]), np.array([[i >> 2]])
        expected = weights[2] @ second @ weights[1] @ first @ weights[0] / 0.49
        np.testing.assert_allclose(maps[i], expected, rtol=1e-14, atol=1e-15)
        kept = int(np.trace(first) + second.sum())
        assert p[i] == pytest.approx(0.7**kept * 0.3 ** (3 - kept), rel=1e-14)


def test_masked_maps_are_floats_for_a_fraction_as_well():
    maps, p = deep.masked_maps([np.eye(1), np.full((1, 1), 3.0)], keep=Fraction(1, 4))
    assert maps.dtype == p.dtype == np.float64
    assert (maps.ravel().tolist(), p.tolist()) == ([0, 12], [0.75, 0.25])


def test_fractions_stay_exact():
    net = [Fraction(1, 3) * np.round(4 * W).astype(int) for W in network([4, 3, 2, 2], 6)]
    theta = Fraction(2, 3)
    X, lam = np.arange(16).reshape(4, 4) % 5 - Fraction(2), (1 - theta) / theta
    C, Y = X.T @ X / 4, X[:, :2] + 1
    masks = deep.objective_by_enumeration(net, X, Y, keep=theta)
    model = Y.T @ X / 4, lam, np.sum(Y**2) / 4, C
    assert masks == deep.objective(net, *model)
    one = np.arange(net[1].size).reshape(net[1].shape) == 0  # in an entry it is quadratic
    up, down = (deep.objective([net[0], net[1] + s * one, net[2]], *model) for s in (1, -1))
    assert deep.gradient(net, *model[:2], C)[1][0, 0] == (up - down) / 2
    R, whitened = deep.regularizer(net, lam, C), [net[0] @ X.T / 2, *net[1:]]
    for parts in (deep.subregularizers, deep.subregularizers_over_pivots):
        assert R == deep.regularizer(whitened, lam) == parts(whitened) @ [lam, lam**2]
    maps, p = deep.masked_maps(net, keep=theta)
    assert (np.tensordot(p, maps, 1) == deep.network_map(net)).all()
    with pytest.raises(ValueError, match="C must be positive semidefinite"):
        deep.regularizer(net, lam, -C)
    with pytest.raises(ValueError, match="all have floats or all have Fractions"):
        deep.network_map([*net[:-1], np.ones((2, 2))])


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda W, C: deep.objective(W, np.ones((2, 3)), 0.1, 1.0, C), 1),
        (lambda W, C: deep.gradient(W, np.ones((2, 3)), 0.1, C), 1),
        (lambda W, C: deep.regularizer(W, 0.1, C), 1),
        (deep.subregularizers, 1),
        (lambda W, C: deep.equalization_gaps(W, 0.1, C), 1),
        (deep.equalization_defect, 1),
        (lambda W, C: deep.optimal_implementation(np.ones((2, 3)), [3], 0.1, C), 1),
        (lambda W, C: deep.envelope_optimum(np.ones((2, 3)), 0.1, None, C), 1),
    ],
)
def test_the_second_moment_is_decomposed_once_a_call(monkeypatch, call, times):
    C, calls = moment(3, 0), []
    for name in ("eigh", "eigvalsh"):
        route = getattr(np.linalg, name)
        monkeypatch.setattr(np.linalg, name, counted(route, lambda A: np.allclose(A, C), calls))
    monkeypatch.setattr(np.linalg, "inv", None)
    call(network([3, 4, 2], 0), C)
    assert len(calls) == times


def counted(function, which, calls):
    def wrapper(A, *args):
        if A.shape == (3, 3) and which(A):
            calls.append(function)
        return function(A, *args)

    return wrapper


def test_rates_may_have_more_axes_than_the_weights():
    weights, lam = network([3, 4, 3, 2], 6), np.array([[0.0, 0.3, 2.0], [1.0, 7.0, 0.1]])
    R1, R2 = deep.subregularizers(weights)
    np.testing.assert_allclose(deep.regularizer(weights, lam), lam * R1 + lam**2 * R2, rtol=1e-13)
    risk = ((deep.network_map(weights) - 1) ** 2).sum()
    found = deep.objective(weights, np.ones((2, 3)), lam, 6.0)  # y = (1, 1) (x_1 + x_2 + x_3)
    np.testing.assert_allclose(found, risk + lam * R1 + lam**2 * R2, rtol=1e-13)


def test_batches_agree_with_single_networks():
    sizes, lam = [3, 2, 4, 2], np.array([0.2, 3.0])
    weights, C = network(sizes, 3, 2), moment(3, 3)
    Cyx = np.ones((2, 3))
    gaps = deep.equalization_gaps(weights, lam, C)
    for i in range(2):
        one = [W[i] for W in weights]
        expected = deep.objective(one, Cyx, lam[i], 5.0, C)
        assert deep.objective(weights, Cyx, lam, 5.0, C)[i] == pytest.approx(expected, rel=1e-13)
        for g, e in zip(
            deep.gradient(weights, Cyx, lam, C), deep.gradient(one, Cyx, lam[i], C), strict=True
        ):
            np.testing.assert_allclose(g[i], e, rtol=1e-11, atol=1e-11)
        single = deep.equalization_gaps(one, lam[i], C)
        np.testing.assert_allclose(gaps.parts[i], single.parts, rtol=1e-11)
        assert gaps.total[i] == pytest.approx(single.total, rel=1e-11)


@examples
@given(sizes, seeds)
def test_invariance_under_rescaling_of_nodes(sizes, seed):
    weights, C = network(sizes, seed), moment(sizes[0], seed)
    rng = np.random.default_rng(seed)
    D = [np.exp(rng.normal(size=d)) * rng.choice([-1, 1], d) for d in sizes[1:-1]]
    D = [np.ones(sizes[0]), *D, np.ones(sizes[-1])]
    scaled = [W * D[i + 1][:, None] / D[i] for i, W in enumerate(weights)]
    R = deep.subregularizers(weights, C)
    np.testing.assert_allclose(deep.subregularizers(scaled, C), R, rtol=1e-10)
    doubled = [2 * weights[0], *weights[1:]]
    np.testing.assert_allclose(deep.subregularizers(doubled, C), 4 * R, rtol=1e-12)
    whitened = [weights[0] @ psd_sqrt(C), *weights[1:]]
    np.testing.assert_allclose(deep.subregularizers(whitened), R, rtol=1e-9)


# ----------------------------------------------------------------------- bounds, equalized networks


@examples
@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.floats(1e-13, 100))
def test_effective_regularization_is_the_sum_over_subsets(widths, lam):
    k = len(widths)
    e = [sum(1 / prod(s) for s in combinations(widths, l)) for l in range(1, k + 1)]
    np.testing.assert_allclose(deep.effective_regularization_parts(widths), e, rtol=1e-13)
    expected = sum(lam ** (l + 1) * x for l, x in enumerate(e))
    assert deep.effective_regularization(widths, lam) == pytest.approx(expected, rel=1e-13)


@examples
@given(sizes, st.floats(0.01, 20), seeds)
def test_lower_bounds(sizes, lam, seed):
    weights, C = network(sizes, seed), moment(sizes[0], seed)
    norm = nuclear_norm(deep.network_map(weights) @ psd_sqrt(C))
    widths = sizes[1:-1]
    gaps = deep.equalization_gaps(weights, lam, C)
    R = deep.subregularizers_over_pivots(weights, C)
    for l, (r, gap) in enumerate(zip(R, gaps.parts, strict=True), 1):
        bound = norm**2 * sum(1 / prod(s) for s in combinations(widths, l))
        assert gap == pytest.approx(r / bound - 1, rel=1e-9, abs=1e-11)
        assert gap > -1e-12
    bound = norm**2 * (prod(1 + lam / d for d in widths) - 1)
    expected = deep.regularizer(weights, lam, C) / bound - 1
    assert gaps.total == pytest.approx(expected, rel=1e-9, abs=1e-10)


@examples
@given(sizes, seeds)
def test_equalization_defect_is_the_largest_deviation(sizes, seed):
    weights, C = network(sizes, seed), moment(sizes[0], seed)
    widths, worst = sizes[1:-1], 0.0
    norm = nuclear_norm(deep.network_map(weights) @ psd_sqrt(C))
    for l in range(1, len(widths) + 1):
        for pivots in combinations(range(1, len(widths) + 1), l):
            products = np.abs(deep.pivot_products(weights, pivots, C))
            ratio = products * prod(sizes[j] for j in pivots) / norm
            worst = max(worst, np.abs(ratio - 1).max())
    assert deep.equalization_defect(weights, C) == pytest.approx(worst, rel=1e-10, abs=1e-13)


@examples
@given(sizes, seeds)
def test_rank_one_implementation_is_equalized(sizes, seed):
    rng = np.random.default_rng(seed)
    u, v, C = rng.normal(size=sizes[-1]), rng.normal(size=sizes[0]), moment(sizes[0], seed)
    weights = deep.rank_one_implementation(u, v, sizes[1:-1])
    np.testing.assert_allclose(deep.network_map(weights), np.outer(u, v), rtol=1e-12, atol=1e-13)
    assert deep.is_equalized(weights, C)
    gaps = deep.equalization_gaps(weights, 0.3, C)
    np.testing.assert_allclose([*gaps.parts, gaps.total], 0, atol=1e-11)
    weights[0] = weights[0] * np.linspace(1, 1.01, sizes[1])[:, None]
    assert sizes[1] == 1 or not deep.is_equalized(weights, C)


def test_equalized_networks_may_have_any_scales():
    """Neither the scales of the layers nor those of single nodes matter, in squares or not."""
    even = deep.rank_one_implementation([1.0, -2.0], [0.5, 3.0, 1.0], (2, 4))
    odd = [W * np.linspace(1, 1.2, W.shape[1]) for W in even]
    for weights in (even, odd):
        defect, gaps = deep.equalization_defect(weights), deep.equalization_gaps(weights, 0.3)
        assert deep.is_equalized(weights) == (weights is even)
        D = [np.ones(3), np.array([1e-80, 1e60]), 10.0 ** np.array([-60, 0, 40, 80]), np.ones(2)]
        unlike = [W * D[i + 1][:, None] / D[i] for i, W in enumerate(weights)]
        large = [s * W for s, W in zip((1e200, 1e180, 1e-290), weights, strict=True)]
        small = [s * W for s, W in zip((1e-200, 1e-250, 1e-220), weights, strict=True)]
        for scaled in (unlike, large, small):
            assert deep.is_equalized(scaled) == (weights is even)
            assert deep.equalization_defect(scaled) == pytest.approx(defect, rel=1e-12, abs=1e-14)
            found = deep.equalization_gaps(scaled, 0.3)
            np.testing.assert_allclose(found.parts, gaps.parts, rtol=1e-10, atol=1e-14)
            assert found.total == pytest.approx(gaps.total, rel=1e-10, abs=1e-14)


def test_one_layer_of_very_unlike_nodes_is_equalized():
    assert deep.is_equalized([[[1e-80], [1e80]], [[1e80, 1e-80]]])
    assert deep.equalization_defect([[[1e-80], [1e80]], [[1e80, 3e-80]]]) == pytest.approx(0.5)


def test_tolerance_of_equalized_is_a_bound_on_the_defect():
    weights = network([2, 3, 2], 7)
    defect = deep.equalization_defect(weights)
    assert deep.is_equalized(weights, tol=defect)
    assert not deep.is_equalized(weights, tol=defect * (1 - 1e-9))
    slightly = [np.array([[1.0], [1.0 + 1e-8]]), np.ones((1, 2))]
    assert not deep.is_equalized(slightly)
    assert deep.is_equalized([slightly[0] ** 0.05, slightly[1]])


def test_a_zero_node_does_not_hide_the_others():
    weights = [np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 9.0, 1.0]])]
    norm = np.hypot(2, 2)
    assert deep.equalization_defect(weights) == pytest.approx(max(3 * 2 / norm - 1, 1), rel=1e-12)
    total = deep.equalization_gaps(weights, 0.6).total
    assert total == pytest.approx(0.6 * 8 / (0.2 * norm**2) - 1, rel=1e-12)


def test_equal_norms_do_not_suffice():
    weights = [np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]])]
    assert deep.equalization_defect(weights) == pytest.approx(1)
    assert deep.equalization_gaps(weights, 1.0).total == pytest.approx(1)


# ------------------------------------------------------------------------------------ bad arguments

W = network([3, 2, 2, 2], 0)
I3 = np.eye(3)


test_bad_arguments_get_one_clear_sentence = refusals(
    (lambda: deep.regularizer([], 0.1), "weights"),
    (lambda: deep.regularizer([W[0]], 0.1), "weights"),
    (lambda: deep.regularizer([W[0], np.eye(3), W[2]], 0.1), "W_2"),
    (lambda: deep.regularizer([W[0], W[1] * np.nan, W[2]], 0.1), "W_2"),
    (lambda: deep.regularizer([W[0][None], *W[1:]], 0.1), "batch"),
    (lambda: deep.regularizer(W, -0.1), "lam"),
    (lambda: deep.regularizer(network([2, 2, 2], 0, 3), [0.1, 0.2]), "lam must broadcast"),
    (lambda: deep.gradient(W, np.ones((2, 3)), [0.1, 0.2]), "lam must broadcast"),
    (lambda: deep.gradient(network([2, 2, 2], 0, 3), I3[:2, :2], [0.1, 0.2]), "lam must"),
    (lambda: deep.objective(W, np.ones((2, 3)), [], 1.0), "lam must"),
    (lambda: deep.regularizer(W, 0.1, np.triu(np.ones((3, 3)))), "C must be symmetric"),
    (lambda: deep.regularizer(W, 0.1, -I3), "C must be positive"),
    (lambda: deep.subregularizers(W, np.eye(2)), "C"),
    (lambda: deep.objective(W, np.ones((3, 2)), 0.1, 1.0, I3), "Cyx"),
    (lambda: deep.objective(W, np.ones((2, 3)), 0.1, -1.0, I3), "Ey2"),
    (lambda: deep.objective_by_enumeration(W, np.ones((1, 3)), np.ones((1, 2)), keep=0), "keep"),
    (lambda: deep.masked_maps(network([1, 11, 10, 1], 0), keep=0.5), "20 hidden"),
    (lambda: deep.masked_maps([X[None] for X in W], keep=0.5), "W_1"),
    (lambda: deep.pivot_products([X[None] for X in W], [1]), "W_1"),
    (lambda: deep.subregularizers_over_pivots([X[None] for X in W]), "W_1"),
    (lambda: deep.equalization_defect([X[None] for X in W]), "W_1"),
    (lambda: deep.pivot_products(W, [2, 1]), "pivots"),
    (lambda: deep.pivot_products(W, [3]), "pivots"),
    (lambda: deep.pivot_sets(0), "k must"),
    (lambda: deep.random_network([3, 2], 0), "sizes"),
    (lambda: deep.random_network([3, 0, 2], 0), "every size"),
    (lambda: deep.random_network([3, 2, 2], None), "rng"),
    (lambda: deep.effective_regularization([], 0.1), "widths"),
    (lambda: deep.effective_regularization(3, 0.1), "widths"),
    (lambda: deep.effective_regularization([2.0], 0.1), "width"),
    (lambda: deep.equalization_gaps(W, 0.0), "lam"),
    (lambda: deep.equalization_gaps([0 * X for X in W], 0.1), "nonzero map"),
    (lambda: deep.is_equalized([0 * X for X in W]), "nonzero map"),
    (lambda: deep.is_equalized(W, tol=-1), "tol"),
    (lambda: deep.rank_one_implementation([1.0], [], [2]), "v"),
    (lambda: deep.envelope_optimum(np.ones((2, 3)), 0.1, C=np.diag([1.0, 1, 0])), "C"),
    (lambda: deep.envelope_optimum(np.ones((2, 3)), 0.1, r=0, C=I3), "r must"),
    (
        lambda: deep.envelope_optimum(np.eye(2), 1e308, r=100),
        "nu must be a number that is at least 0 and at most 1e.300",
    ),
    (lambda: deep.induced_regularizer([2, 1, 1], [3, 2], 0.1), "rank"),
    (lambda: deep.induced_regularizer([2, -1], [3, 2], 0.1), "sigma"),
    (lambda: deep.induced_regularizer([2, 1], [3, 2], 0), "lam"),
    (lambda: deep.optimal_implementation(I3, [3, 2], 0.1), "rank"),
    (lambda: deep.optimal_implementation(I3, [3, 3], 0.1, np.diag([1.0, 1, 0])), "C"),
    (lambda: deep.implementation(np.eye(2), [2], [[1.5, 0.4]], 0.1), "allocation"),
    (lambda: deep.implementation(np.eye(2), [9, 2], [[4, 5], [1, 1.1]], 0.1), "allocation"),
    (lambda: deep.implementation(np.eye(2), [2], [[1, 1 + 1e-8]], 0.1), "allocation"),
    (lambda: deep.implementation(np.eye(2), [2], [[2, 0]], 0.1), "allocation"),
    (lambda: deep.induced_regularizer([2, 1], [3, 2], 1e200), "too large"),
    (lambda: deep.induced_regularizer([1e200, 1], [3, 2], 1), "sigma"),
    (lambda: deep.global_optimum([1e200], [3, 2], 1), "m must"),
    (lambda: deep.local_optimum([1, 1], [3, 3], 0.1, 3), "rank"),
    (lambda: deep.global_optimum([1, 1], [3, 3], -1), "lam"),
)
