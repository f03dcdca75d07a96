"""The induced regularizer and the optima of deep dropout, each by routes that share no code."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from helpers.instances import ARCHITECTURES
from runproofs.linalg import nuclear_norm, psd_sqrt, with_spectrum
from runproofs.linear import deep
from runproofs.linear.deep import induced, optima

examples = settings(max_examples=30)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def programs(draw):
    """sigma, widths, lam for the convex program, of very different sizes."""
    r = draw(st.integers(1, 4))
    widths = draw(st.lists(st.integers(r, 12), min_size=1, max_size=5))
    sigma = np.exp(draw(st.lists(st.floats(-8, 2), min_size=r, max_size=r)))
    return sigma, widths, np.exp(draw(st.floats(-8, 6)))


def slsqp_minimum(sigma, widths, lam):
    """The convex program by a general solver, in the variables x themselves."""
    sigma, widths = np.array(sigma, dtype=float), np.array(widths, dtype=float)
    shape = (widths.size, sigma.size)

    def f(z):
        x = z.reshape(shape)
        t = sigma**2 * np.prod(1 + lam / x, axis=0)
        return t.sum() - (sigma**2).sum(), (-t * lam / (x * (x + lam))).ravel()

    sums = {"type": "eq", "fun": lambda z: z.reshape(shape).sum(axis=1) - widths}
    start = np.repeat(widths / sigma.size, sigma.size)
    bounds = [(1e-6, None)] * start.size
    options = {"ftol": 1e-15, "maxiter": 500}
    solved = minimize(f, start, jac=True, bounds=bounds, constraints=sums, options=options)
    return solved.fun


@pytest.mark.parametrize(("sigma", "widths", "lam"), ARCHITECTURES)
def test_theorem_a_by_free_search_convex_program_and_construction(sigma, widths, lam):
    rng = np.random.default_rng(0)
    r = len(sigma)
    theory = deep.induced_regularizer(sigma, widths, lam)
    searched = deep.search_implementation(with_spectrum(r, r, sigma, rng), widths, lam, 4, rng)
    assert searched.values.min() == pytest.approx(theory.value, rel=1e-8)
    assert slsqp_minimum(sigma, widths, lam) == pytest.approx(theory.value, rel=1e-8)
    A = rng.standard_normal((5, 5))
    C = A @ A.T + 0.1 * np.eye(5)
    M = with_spectrum(4, 5, sigma, rng) @ np.linalg.inv(psd_sqrt(C))
    weights = deep.optimal_implementation(M, widths, lam, C)
    assert [len(W) for W in weights[:-1]] == list(widths)
    np.testing.assert_allclose(deep.network_map(weights), M, rtol=0, atol=1e-12)
    assert deep.regularizer(weights, lam, C) == pytest.approx(theory.value, rel=1e-10)


@examples
@given(programs())
def test_the_allocation_satisfies_the_optimality_conditions(program):
    sigma, widths, lam = program
    value, x = deep.induced_regularizer(sigma, widths, lam)
    np.testing.assert_allclose(x.sum(axis=1), widths, rtol=1e-13)
    assert x.min() > 0
    prices = sigma**2 * np.prod(1 + lam / x, axis=0) * lam / (x * (x + lam))
    assert (np.ptp(prices, axis=1) <= 1e-9 * prices.max(axis=1)).all()
    assert value >= deep.effective_regularization(widths, lam) * sigma.sum() ** 2 * (1 - 1e-12)


@examples
@given(programs())
def test_implementation_costs_what_its_allocation_says(program):
    sigma, widths, lam = program
    sigma = np.sort(sigma)[::-1]
    x = (
        np.array(widths)[:, None]
        * np.linspace(1, 2, sigma.size)
        / np.linspace(1, 2, sigma.size).sum()
    )
    M = with_spectrum(sigma.size, 4, sigma, 0)
    weights = deep.implementation(M, widths, x, lam)
    expected = sigma**2 @ (np.prod(1 + lam / x, axis=0) - 1)
    np.testing.assert_allclose(deep.network_map(weights), M, atol=1e-11 * sigma[0])
    got = deep.regularizer(weights, lam)
    assert got == pytest.approx(expected, rel=1e-7)
    assert got >= deep.induced_regularizer(sigma, widths, lam).value * (1 - 1e-10)


def test_closed_forms():
    for widths, lam in (((3, 4), 0.8), ((5,), 2.0), ((2, 3, 4), 1e-10)):
        d = np.array(widths)
        isometry = 2 * 9 * np.expm1(np.log1p(lam * 2 / d).sum())
        value, x = deep.induced_regularizer([3, 0, 3], widths, lam)
        assert value == pytest.approx(isometry, rel=1e-13)
        np.testing.assert_allclose(x, np.outer(d, [0.5, 0, 0.5]), rtol=1e-12)
    assert deep.induced_regularizer([2, 1, 0.5], [4], 0.7).value == pytest.approx(
        0.7 / 4 * 3.5**2, rel=1e-13
    )
    sigma = np.array([2, 1, 0.1])
    path = (sigma ** (2 / 3)).sum() ** 3 / 12
    limit = deep.induced_regularizer(sigma, [3, 4], 1e7).value / 1e14
    assert limit == pytest.approx(path, rel=1e-5)
    assert deep.induced_regularizer([0.0], [2], 1.0).value == 0
    assert [W.shape for W in deep.optimal_implementation(np.zeros((2, 3)), [4], 1.0)] == [
        (4, 3),
        (2, 4),
    ]


def exact_nu(widths, lam):
    """prod (1 + lam / d_j) - 1 in fractions."""
    return prod(1 + Fraction(lam) / d for d in widths) - 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lam", [1e-290, 1e-150, 1e-20, 1e-3, 0.5, 30.0, 1e20, 1e100, 1e150])
def test_singular_values_of_very_different_sizes(lam):
    widths = (3, 2)
    isometry, x = deep.induced_regularizer([3, 3], widths, lam)
    expected = 18 * exact_nu([1.5, 1], lam)
    assert isometry == pytest.approx(float(expected), rel=1e-14)
    np.testing.assert_allclose(x, [[1.5, 1.5], [1, 1]], rtol=1e-14)
    value, x = deep.induced_regularizer([1e-200, 1.0], widths, lam)
    assert value == pytest.approx(float(exact_nu(widths, lam)), rel=1e-14)
    log_prices = np.log([1e-200, 1]) * 2 + np.log1p(lam / x).sum(axis=0) - np.log(x)
    assert np.ptp(log_prices - np.log1p(x / lam), axis=1).max() < 1e-10
    np.testing.assert_allclose(x.sum(axis=1), widths, rtol=1e-14)


@examples
@given(st.integers(1, 7), st.integers(2, 4), seeds, st.floats(-290, 30))
def test_the_program_is_solved_in_few_steps_at_all_scales(k, r, seed, power):
    rng, lam = np.random.default_rng(seed), 10.0**power
    sigma, widths = 10.0 ** -rng.uniform(0, 270, r), rng.integers(r, 12, k)
    _, x = deep.induced_regularizer(sigma, widths, lam)
    log_prices = 2 * np.log(sigma) + np.log1p(lam / x).sum(axis=0) - np.log(x) - np.log1p(x / lam)
    assert np.ptp(log_prices, axis=1).max() < 1e-9
    steps, route = [], induced._newton_step

    def counted(*args):
        steps.append(args)
        return route(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(induced, "_newton_step", counted)
        deep.induced_regularizer(sigma, widths, lam)
    assert len(steps) < 30


@pytest.mark.parametrize("widths", [[10**15, 8], [10**18, 8], [10**18, 8, 10**19]])
def test_layers_of_immense_width_count_for_nothing(widths):
    """What is left is one hidden layer, whose regularizer is lam / d ||M||_*^2."""
    value, x = deep.induced_regularizer([7, 6, 5, 4, 3, 2, 1], widths, 1e5)
    assert value == pytest.approx(1e5 / 8 * 28**2, rel=1e-9)
    np.testing.assert_allclose(x[1], 8 * np.arange(7, 0, -1) / 28, rtol=1e-8)


def test_ratios_of_singular_values_end_at_1e_280():
    for least in (1e-290, 1e-320):
        _, x = deep.induced_regularizer([1.0, least], [4], 0.5)
        np.testing.assert_allclose(x, [[4, 4e-280]], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-140, 1e-12, 1e-7, 1e6, 1e140])
@pytest.mark.parametrize("square", [None, 1e-9, 1e12])
def test_the_rank_of_a_map_does_not_depend_on_its_scale(scale, square):
    """A 4 x 5 map of rank 2 stays one when it is multiplied by a number, and so when C is."""
    M = with_spectrum(4, 5, [2.0, 0.3], 3)
    C = None if square is None else square * np.eye(5)
    expected = deep.induced_regularizer([2.0, 0.3], (3, 2), 0.7).value * (square or 1)
    weights = deep.optimal_implementation(scale * M, (3, 2), 0.7, C)
    found = deep.implementation(scale * M, (3, 2), [[2.0, 1.0], [1.2, 0.8]], 0.7, C)
    for network in (weights, found):
        np.testing.assert_allclose(deep.network_map(network), scale * M, atol=1e-13 * scale)
    assert deep.regularizer(weights, 0.7, C) / scale**2 == pytest.approx(expected, rel=1e-11)
    with pytest.raises(ValueError, match="rank of the map, 2"):
        deep.optimal_implementation(scale * M, (3, 1), 0.7, C)


def test_singular_values_are_kept_down_to_rounding():
    sigma = [1.0, 1e-12]
    M = with_spectrum(2, 2, sigma, 1)
    found = deep.regularizer(deep.optimal_implementation(M, (2,), 3.0), 3.0)
    assert found == pytest.approx(1.5 * (1 + 1e-12) ** 2, rel=1e-13)
    with pytest.raises(ValueError, match="rank"):
        deep.optimal_implementation(M, (1,), 3.0)
    deep.optimal_implementation(with_spectrum(2, 2, [1.0, 1e-17], 1), (1,), 3.0)


# ------------------------------------------------------------------------------------------ optima


@examples
@given(seeds, st.integers(1, 5), st.floats(0.001, 10))
def test_envelope_optimum_against_all_supports(seed, r, nu):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((4, 4))
    C, Cyx = A @ A.T + 0.1 * np.eye(4), rng.standard_normal((5, 4))
    found = deep.envelope_optimum(Cyx, nu, r, C)
    mapped = found.map @ psd_sqrt(C)
    s = np.linalg.svd(mapped, compute_uv=False)
    assert found.rank == np.count_nonzero(s > 1e-9) <= r
    np.testing.assert_allclose(s[: found.rank], found.spectrum, rtol=1e-9)
    m = np.linalg.svd(Cyx @ np.linalg.inv(psd_sqrt(C)), compute_uv=False)
    value = np.trace(found.map @ C @ found.map.T) - 2 * (found.map * Cyx).sum()
    value += nu * nuclear_norm(mapped) ** 2
    assert found.value == pytest.approx(value, rel=1e-9)
    best = 0.0
    for q in range(1, min(r, 4) + 1):  # on each support of largest m: a linear system
        s = np.linalg.solve(np.eye(q) + nu, m[:q])
        if s.min() > 0:
            best = min(best, -m[:q] @ s)
    assert found.value == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("m", "widths", "lam", "rank"),
    [
        ((2.0, 1.7, 1.4), (3, 3), 0.2, 3),
        ((2.0, 1.5, 0.5), (3, 4), 0.6, 2),
        ((1.0, 0.9), (2, 3, 2), 0.3, 2),
        ((1.0, 0.4), (2, 5), 1.0, 1),
        ((1.0, 0.8, 0.7), (4,), 0.5, 3),
    ],
)
def test_theorem_d_against_training(m, widths, lam, rank):
    optimum = deep.global_optimum(m, widths, lam)
    assert optimum.rank == rank
    trained = deep.search_optimum(np.diag(m), widths, lam, 12, 1)
    assert trained.values.min() == pytest.approx(optimum.value, rel=1e-6)
    # the map at the optimum, implemented at least cost, has the value that is claimed
    s = optimum.spectrum
    value = (s**2 - 2 * np.array(m[:rank]) * s).sum()
    value += deep.induced_regularizer(s, widths, lam).value
    assert value == pytest.approx(optimum.value, rel=1e-12)


@examples
@given(seeds, st.integers(1, 4), st.integers(1, 6), st.floats(0.05, 4))
def test_no_division_on_a_grid_beats_the_global_optimum(seed, k, d, lam):
    rng = np.random.default_rng(seed)
    m = np.sort(np.exp(rng.uniform(-1.5, 0.5, rng.integers(1, 5))))[::-1]
    g = (np.arange(121) / (np.arange(121) + 120 * lam / d)) ** k  # one budget, in units of d / 120
    best = np.zeros(121)
    for i in range(min(d, m.size)):
        best = np.array([(best[b::-1] + m[i] ** 2 * g[: b + 1]).max() for b in range(121)])
    optimum = deep.global_optimum(m, [d] * k, lam)
    assert best[-1] <= -optimum.value * (1 + 1e-12)
    assert best[-1] >= -optimum.value * (1 - 5e-3)


@settings(examples, max_examples=12)
@given(seeds, st.floats(0.08, 2.5))
def test_no_search_beats_the_global_optimum_for_unequal_widths(seed, lam):
    rng = np.random.default_rng(seed)
    widths = rng.integers(2, 9, size=rng.integers(2, 4))
    r = int(min(widths.min(), 4))
    m = np.sort(np.exp(rng.uniform(-1.2, 0.3, r)))[::-1]

    def f(z):
        z = z.reshape(widths.size, r)
        x = np.exp(z - z.max(axis=1, keepdims=True))
        x = x / x.sum(axis=1, keepdims=True) * widths[:, None] + 1e-300
        return -(m**2 @ np.prod(x / (x + lam), axis=0))

    found = deep.global_optimum(m, widths, lam).value
    for scale in (0.1, 0.1, 1, 1, 3):
        searched = minimize(f, scale * rng.standard_normal(widths.size * r), method="L-BFGS-B").fun
        assert searched >= found * (1 + 1e-9)


def test_one_hidden_layer_has_the_convex_optimum():
    m, lam = np.array([2.0, 1.2, 0.9, 0.1]), 0.7
    optimum = deep.global_optimum(m, [3], lam)
    envelope = deep.envelope_optimum(np.diag(m), deep.effective_regularization([3], lam), 3)
    assert optimum.value == pytest.approx(envelope.value, rel=1e-13)
    np.testing.assert_allclose(optimum.spectrum, envelope.spectrum, rtol=1e-12)
    assert optimum.rank == envelope.rank


@examples
@given(seeds, st.integers(1, 5), st.floats(-12, 20))
def test_one_hidden_layer_at_all_rates(seed, r, power):
    """The closed form for k = 1, of which no step of the envelope's is a part."""
    rng, lam = np.random.default_rng(seed), 10.0**power
    m = np.sort(np.exp(rng.normal(size=r) * rng.choice([0, 1e-9, 1])))[::-1]
    found = deep.global_optimum(rng.permutation(m), [r], lam)
    F, best = [Fraction(float(x)) for x in m], (0, 0)
    nu = Fraction(lam) / r
    for q in range(1, r + 1):  # (1 + nu q) s_i = m_i + nu sum_j (m_i - m_j), a linear system
        s = [(F[i] + nu * sum(F[i] - F[j] for j in range(q))) / (1 + nu * q) for i in range(q)]
        if min(s) > 0:
            best = max(best, (sum(F[i] * s[i] for i in range(q)), q))
    assert found.value == pytest.approx(-float(best[0]), rel=1e-13)
    assert found.rank == best[1]
    np.testing.assert_allclose(found.allocation.sum(axis=1), [r], rtol=1e-13)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("widths", [(3, 2), (3, 3), (3,)])
def test_rates_of_any_size(widths):
    """Little noise keeps every direction, much of it only the largest."""
    m = [2.0, 1.0]
    for lam in (1e-290, 1e-150, 1e-50, 1e-20):
        found = deep.global_optimum(m, widths, lam)
        assert found.rank == 2
        assert found.value == pytest.approx(-5, rel=1e-14)
        np.testing.assert_allclose(found.allocation, np.outer(widths, [2 / 3, 1 / 3]), rtol=1e-12)
    for lam in (1e5, 1e20, 1e100, 1e150, 1e200, 1e308):
        found = deep.global_optimum(m, widths, lam)
        kept = float(1 / (1 + exact_nu(widths, lam)))
        assert found.rank == 1
        assert found.value == pytest.approx(-4 * kept, rel=1e-13)
        np.testing.assert_allclose(found.spectrum, [2 * kept], rtol=1e-13)
    assert deep.global_optimum([1, 1], widths, 1e20).rank == (2 if widths == (3,) else 1)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e12, 1e150])
@pytest.mark.parametrize("widths", [(3, 4, 3), (4, 4), (3,)])
def test_optima_scale_with_the_teacher(widths, scale):
    m = np.array([2.0, 1.5, 0.4])
    one, other = (deep.global_optimum(s * m, widths, 0.3) for s in (1, scale))
    assert other.value / scale**2 == pytest.approx(one.value, rel=1e-13)
    assert other.rank == one.rank
    np.testing.assert_allclose(other.spectrum / scale, one.spectrum, rtol=1e-13)
    np.testing.assert_allclose(other.allocation, one.allocation, rtol=1e-12)


@pytest.mark.parametrize("widths", [(3, 2, 4), (3, 3)])
@pytest.mark.parametrize("small", [1e-7, 1e-12, 1e-40])
def test_a_direction_far_weaker_than_noise_of_others_has_its_optimum(widths, small):
    """Where lam is smaller still, the shares are those of the nuclear norm."""
    found = deep.local_optimum([1.0, small], widths, small * 1e-6, 2)
    shares = np.array([1, small]) / (1 + small)
    np.testing.assert_allclose(found.allocation, np.outer(widths, shares), rtol=1e-4)
    assert deep.local_optimum([1.0, small], widths, small * 1e2, 2) is None
    assert deep.local_optimum([1.0, 1e-200], widths, small, 2) is None


def test_envelope_with_a_heavy_penalty_and_a_bound_beyond_the_sizes():
    for nu in (1e-300, 0.3, 1e20, 1e150, 1e300):
        found = deep.envelope_optimum(np.diag([3.0, 0, 3]), nu, 100)
        assert found.rank == 2
        assert found.value == pytest.approx(-18 / (1 + 2 * nu), rel=1e-14)
        assert found.threshold == pytest.approx(6 * nu / (1 + 2 * nu), rel=1e-14)
        np.testing.assert_allclose(found.map, np.diag([3, 0, 3]) / (1 + 2 * nu), rtol=1e-14)


def test_the_rank_jumps_at_the_root_of_two():
    def difference(lam):
        one, two = (deep.local_optimum([1, 1], (2, 2), lam, rank).value for rank in (1, 2))
        return one - two

    assert brentq(difference, 1.3, 1.5, xtol=1e-15) == pytest.approx(np.sqrt(2), abs=1e-12)
    assert deep.global_optimum([1, 1], (2, 2), np.sqrt(2) - 1e-9).rank == 2
    assert deep.global_optimum([1, 1], (2, 2), np.sqrt(2) + 1e-9).rank == 1
    assert deep.global_optimum([1, 1], (2, 2), 1.0).value == pytest.approx(-0.5, rel=1e-14)


def test_local_optima_are_maxima_of_phi_and_some_ranks_have_none():
    m, widths, lam = np.array([2.0, 1.6, 1.1]), np.array([4, 6]), 0.4

    def phi(x):
        return m[: x.shape[1]] ** 2 @ np.prod(x / (x + lam), axis=0)

    for rank in (1, 2, 3):
        found = deep.local_optimum(m, widths, lam, rank)
        x = found.allocation
        np.testing.assert_allclose(x.sum(axis=1), widths, rtol=1e-13)
        assert found.value == pytest.approx(-phi(x), rel=1e-13)
        rng = np.random.default_rng(rank)
        for _ in range(20):
            z = rng.standard_normal(x.shape)
            z -= z.mean(axis=1, keepdims=True)
            assert phi(x + 1e-3 * z) <= phi(x) * (1 + 1e-14)
    assert deep.local_optimum([1, 1], (2, 2), 3.0, 2) is None  # equal shares are a saddle of Phi
    assert deep.local_optimum([1, 0.1], (2, 3), 5.0, 2) is None
    nothing = deep.global_optimum([0.0, 0.0], (2, 3), 5.0)
    assert (nothing.value, nothing.rank) == (0, 0)
    assert (nothing.spectrum.shape, nothing.allocation.shape) == ((0,), (2, 0))


def test_two_searches_find_the_same_local_maximum():
    """With equal widths one unknown is left; the general climb finds its maximum from far."""
    for m, k, rate in (([2.0, 1.6, 1.1], 2, 0.4 / 6), ([2.0, 1.3], 3, 0.05)):
        m, rates = np.array(m), np.full((k, 1), rate)
        (shares,) = optima._equal_width_shares(np.log(m), k, rate)
        prices = m**2 * shares ** (k - 1) / (shares + rate) ** (k + 1)
        np.testing.assert_allclose(prices, prices[0], rtol=1e-11)
        for start in (np.full(m.size, 1 / m.size), shares**4 / (shares**4).sum()):
            climbed = optima._climb(np.log(m / m[0]), np.tile(start, (k, 1)), rates)
            np.testing.assert_allclose(climbed, np.tile(shares, (k, 1)), rtol=1e-9)
