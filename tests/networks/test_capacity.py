"""Suprema over neurons against dense directions, each other, enumeration and closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from helpers.refusals import refusals
from runproofs.networks import capacity
from runproofs.networks.capacity import (
    complexity,
    expected_complexity,
    retentiveness,
    second_moment,
    supremum,
    supremum_by_cells,
)

seeds = st.integers(0, 2**32 - 1)
CROSS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])


def random_law(rng, m, d, degenerate=False):
    """Atoms and masses; degenerate ones are small integers, often 0, equal or opposite."""
    atoms = rng.integers(-2, 3, (m, d)) if degenerate else rng.standard_normal((m, d))
    atoms[0, 0] = 1
    return atoms.astype(float), rng.dirichlet(np.ones(m))


def triangle(delta):
    """The law of the thesis' Proposition 2."""
    side = np.sqrt(1 - 2 * delta)
    atoms = np.array([[1 - delta, 0], [-delta, side], [-delta, -side]]) / (1 - delta)
    return atoms, [delta, (1 - delta) / 2, (1 - delta) / 2]


def value_at(v, weights, points, atoms, masses):
    """The ratio of a neuron, written out; -inf where it has no moment."""
    moment = sum(p * max(v @ x, 0) ** 2 for x, p in zip(atoms, masses, strict=True)) ** 0.5
    total = sum(w * max(v @ x, 0) for x, w in zip(points, weights, strict=True))
    return total / moment if moment > 1e-9 else -np.inf


# ----------------------------------------------------------------------------------- suprema


@given(seeds, st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_sweep_and_cells_agree_and_their_neurons_attain_the_value(seed, m, n, degenerate):
    rng = np.random.default_rng(seed)
    atoms, masses = random_law(rng, m, 2, degenerate)
    points = rng.integers(-2, 3, (n, 2)).astype(float)
    problem = rng.standard_normal((2, 3, n)), points, atoms, masses
    swept, certified = supremum(*problem), supremum_by_cells(*problem)
    assert swept.value.shape == certified.value.shape == certified.bound.shape == (2, 3)
    np.testing.assert_allclose(swept.value, certified.value, rtol=1e-9, atol=1e-9)
    finite = np.isfinite(swept.value)
    np.testing.assert_allclose(
        certified.bound[finite], certified.value[finite], rtol=1e-10, atol=1e-10
    )
    for found in (swept, certified):
        np.testing.assert_allclose(np.linalg.norm(found.direction, axis=-1), 1, atol=1e-12)
        for index in np.ndindex(2, 3):
            v, w = found.direction[index], problem[0][index]
            if finite[index]:
                assert value_at(v, w, *problem[1:]) == pytest.approx(
                    found.value[index], rel=1e-7, abs=1e-9
                )
            else:
                assert second_moment(v, atoms, masses) < 1e-18
                assert np.maximum(points @ v, 0) @ w > 1e-9


@settings(max_examples=20)
@given(seeds, st.booleans())
def test_cells_in_dimension_three_are_never_beaten_and_certified(seed, degenerate):
    rng = np.random.default_rng(seed)
    atoms, masses = random_law(rng, 5, 3, degenerate)
    points = atoms[rng.integers(0, 5, 4)]
    weights = rng.choice([-1.0, 1], 4)
    found = supremum_by_cells(weights, points, atoms, masses)
    assert found.bound == pytest.approx(found.value, rel=1e-10)
    assert value_at(found.direction, weights, points, atoms, masses) == pytest.approx(found.value)
    v = np.concatenate([rng.standard_normal((5000, 3)), found.direction + 1e-3 * np.eye(3)])
    moment = np.sqrt(second_moment(v, atoms, masses))
    sums = np.maximum(v @ points.T, 0) @ weights
    assert (sums <= found.value * moment + 1e-9).all()


def test_a_law_in_a_plane_of_space_is_a_law_of_the_plane():
    rng = np.random.default_rng(1)
    atoms, masses = random_law(rng, 4, 2)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0][:2]
    signs = rng.choice([-1.0, 1], (5, 3))
    flat = supremum(signs, atoms[:3], atoms, masses)
    for solve in (supremum, supremum_by_cells):
        lifted = solve(signs, atoms[:3] @ turn, atoms @ turn, masses)
        np.testing.assert_allclose(lifted.value, flat.value, rtol=1e-12)
        for v, w, value in zip(lifted.direction, signs, lifted.value, strict=True):
            assert value_at(v, w, atoms[:3] @ turn, atoms @ turn, masses) == pytest.approx(value)


def test_a_neuron_without_moment_makes_the_supremum_infinite_only_if_it_sees_the_sample():
    law = [[1, 0], [-1, 0]], [0.5, 0.5]
    for solve in (supremum, supremum_by_cells):
        found = solve([[1], [-1]], [[0, 1]], *law)  # outside of the range of C
        assert found.value.tolist() == [np.inf, 0]
        np.testing.assert_allclose(found.direction[0], [0, 1], atol=1e-15)
        assert solve([1], [[-3, 0]], *law).value == pytest.approx(3 * 2**0.5)
        # inside of the range, outside of the support: only the first law has a neuron that sees it
        assert solve([1], [[-1, 0]], [[1, 0], [0, 1]], [0.5, 0.5]).value == np.inf
        assert solve([1], [[1, -1]], CROSS, [0.25] * 4).value == pytest.approx(8**0.5)


@pytest.mark.parametrize("solve", [supremum, supremum_by_cells])
def test_a_sum_that_is_zero_but_for_rounding_is_not_made_infinite(solve):
    # e_2 has no moment, and the sum 0.1 + 0.2 - 0.3 there
    points, law = [[1, 0.1], [1, 0.2], [0, 0.3]], ([[1, 0], [-1, 0]], [0.5, 0.5])
    for angle in np.linspace(0, 6, 31):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        value = solve([1, 1, -1], points @ turn, law[0] @ turn, law[1]).value
        assert value == pytest.approx(8**0.5)


@pytest.mark.parametrize("solve", [supremum, supremum_by_cells])
@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_atoms_that_nearly_coincide(solve, angle):
    # z = (v^T x_1, v^T x_2) takes all values: (z_1 + z_2 / 5) / (|z|^2 / 2)^{1/2} at z = (1, 1/5)
    atoms = np.array([[1, 0], [1, angle]])
    assert solve([1, 0.2], atoms, atoms, [0.5, 0.5]).value == pytest.approx(2.08**0.5, rel=1e-12)


@pytest.mark.parametrize("solve", [supremum, supremum_by_cells])
@pytest.mark.parametrize("mass", [1e-3, 1e-11])
def test_a_mass_that_nearly_vanishes(solve, mass):
    masses = 1 - mass, mass  # on e_1 and e_2: z = v, and the supremum is (sum of 1 / p_k)^{1/2}
    exact = (1 / masses[0] + 1 / masses[1]) ** 0.5
    found = solve([1, 1], np.eye(2), np.eye(2), masses)
    assert found.value == pytest.approx(exact, rel=1e-14)
    if solve is supremum_by_cells:
        assert found.bound == pytest.approx(exact, rel=1e-12)


def test_a_supremum_without_absolute_value_may_be_negative():
    for solve in (supremum, supremum_by_cells):  # every neuron with a moment is active at the point
        assert solve([-1], [[2.0]], [[2.0]], [1.0]).value == pytest.approx(-1)
        found = solve([-1], [[1, 1]], [[2, 2], [1, 1]], [0.75, 0.25]).value
        assert found == pytest.approx(-1 / 3.25**0.5)


# -------------------------------------------------------------------------------- complexity


def test_complexities_of_small_cases_in_closed_form():
    assert complexity([[1]], [[1], [-1]], [0.5, 0.5]) == pytest.approx(2**0.5)
    assert complexity([[1], [1]], [[1]], [1]) == pytest.approx(0.5)  # E|z1 + z2| / 2
    assert complexity([[1, 0]], CROSS, [0.25] * 4) == pytest.approx(2)
    assert complexity([[-1]], [[1], [-1]], [0.999, 0.001]) == pytest.approx(1000**0.5)
    assert complexity([[-1, 0]], [[1, 0], [0, 1]], [0.5, 0.5]) == np.inf


@pytest.mark.parametrize("n", [1, 2, 3])
def test_expected_complexity_is_the_mean_over_all_samples(n):
    atoms, masses = triangle(0.2)
    mean = sum(
        np.prod([masses[k] for k in sample]) * complexity(atoms[list(sample)], atoms, masses)
        for sample in product(range(3), repeat=n)
    )
    assert expected_complexity(n, atoms, masses) == pytest.approx(mean, rel=1e-12)


# ----------------------------------------------------------------------------- retentiveness


def test_pieces_make_no_difference(monkeypatch):
    whole = expected_complexity(4, *triangle(0.3))
    monkeypatch.setattr(capacity, "CHUNK", 100)
    assert expected_complexity(4, *triangle(0.3)) == pytest.approx(whole, rel=1e-14)


def ratio(v, atoms, masses):
    """a(v)^2 / v^T C v."""
    products = v @ np.transpose(atoms)
    return np.maximum(products, 0) ** 2 @ masses / (products**2 @ masses)


@given(seeds, st.integers(1, 6), st.sampled_from([1, 2, 3]), st.booleans())
@settings(max_examples=40)
def test_no_direction_is_below_beta_and_one_attains_it(seed, m, d, degenerate):
    rng = np.random.default_rng(seed)
    atoms, masses = random_law(rng, m, d, degenerate)
    found = retentiveness(atoms, masses)
    assert 0 <= found.beta <= 0.5  # in floats, too
    assert ratio(found.direction, atoms, masses) == pytest.approx(found.beta, abs=1e-12)
    v = rng.standard_normal((3000, d))
    assert ratio(v, atoms, masses).min() >= found.beta - 1e-12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [2, 3])
def test_a_search_from_many_starts_finds_beta(seed, d):
    rng = np.random.default_rng(seed)
    atoms, masses = random_law(rng, 8, d)
    v = rng.standard_normal((20000, d))
    start = v[ratio(v, atoms, masses).argsort()[:5]]
    options = {"method": "BFGS", "options": {"gtol": 1e-9}}
    found = min(minimize(ratio, v, (atoms, masses), **options).fun for v in start)
    assert retentiveness(atoms, masses).beta == pytest.approx(found, rel=1e-8)


def test_retentiveness_of_simple_laws():
    assert retentiveness([[2], [-0.5]], [0.2, 0.8]).beta == pytest.approx(1 / 5)
    assert retentiveness(CROSS, [0.25] * 4).beta == pytest.approx(1 / 2)
    assert retentiveness([*np.eye(3), *-np.eye(3)], [1 / 6] * 6).beta == pytest.approx(0.5)
    rational = retentiveness([[1, 0], [-0.8, 0.6], [-0.8, -0.6]], [4 / 9, 5 / 18, 5 / 18])
    assert rational.beta == pytest.approx(5 / 18)
    for delta in (0.4, 1 / 3, 0.1, 1e-6):
        assert retentiveness(*triangle(delta)).beta == pytest.approx(min(delta, (1 - delta) / 2))
    assert retentiveness([[1, 2], [3, 1], [0, 1]], [0.5, 0.3, 0.2]).beta == 0
    assert retentiveness(np.eye(3) + 1, [0.2, 0.3, 0.5]).beta == 0


# ------------------------------------------------------------------------------------ errors


MANY = np.random.default_rng(1).standard_normal((90, 3))

test_bad_arguments = refusals(
    (lambda: second_moment([1, 2], [[1, 0]], [0.5]), "masses must be 1 probabilities of sum 1"),
    (lambda: retentiveness([[1, 0], [0, 1]], [1, 0]), "masses must be larger than 0"),
    (lambda: second_moment([1, 2, 3], [[1, 0]], [1]), "v must have a last axis of length 2"),
    (lambda: retentiveness([[0, 0]], [1]), "atoms must not all be 0"),
    (lambda: supremum([1], [[1, 2, 3]], [[1, 0]], [1]), "points must have 2 columns"),
    (lambda: supremum([1, 2], [[1, 2]], [[1, 0]], [1]), "weights must have a last axis"),
    (lambda: supremum([1] * 3, np.eye(3), np.eye(3), [1 / 3] * 3), "they span 3 dimensions"),
    (lambda: complexity(np.ones((15, 1)), [[1]], [1]), "sample must allow at most 14"),
    (lambda: expected_complexity(0, [[1]], [1]), "n must be an integer"),
    (lambda: expected_complexity(40, *triangle(0.3)), "n must allow at most 262144"),
    (lambda: retentiveness(MANY, [1 / 90] * 90), "atoms must allow at most 3000 subsets"),
)
