"""What is decided without rounding, decided on cases that rounding would hide."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from mpmath import iv
from mpmath.libmp import to_rational

from runproofs.exact import (
    ball,
    enclosed,
    is_positive,
    is_positive_semidefinite,
    ldl,
    points_needed,
    random_point,
    rational,
    reflections,
    vanishes,
)

HAIR = Fraction(1, 10**30)
x, t = sympy.Symbol("x"), sympy.Symbol("t", positive=True)


def test_pivots_decide_what_eigenvalues_only_approach():
    rng = np.random.default_rng(1)
    B = rng.integers(-9, 10, size=(6, 3)).astype(object)
    L, d = ldl(B @ B.T)
    assert (L @ np.diag(d) @ L.T == B @ B.T).all()
    assert (d >= 0).all()
    assert sum(d > 0) == 3
    assert ldl([[0, 1], [1, 0]]) is None
    with pytest.raises(ValueError, match="symmetric"):
        ldl([[0, 1], [2, 0]])


def test_reflections_are_orthogonal_and_one_turns_its_row_around():
    rows = np.random.default_rng(2).integers(-9, 10, size=(2, 4))
    Q, one = reflections(rows), reflections(rows[:1])
    assert (np.eye(4, dtype=int) == Q.T @ Q).all()
    assert (one @ rows[0] == -rows[0]).all()
    assert (one @ reflections(rows[1:]) == Q).all()


def test_random_points_are_exact_and_fill_their_range():
    point = random_point({"U": (100, 2), "keep": ()}, np.random.default_rng(0))
    entries = [*point["U"].flat, point["keep"]]
    assert all(isinstance(entry, Fraction) for entry in entries)
    assert min(entries) < -0.9
    assert 0.9 < max(entries) < 1
    assert 0 < point["keep"] <= 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_hair_decides_definiteness(n):
    A = np.ones((n, n), dtype=int)
    tilted = rational("A", A)
    tilted[-1, -1] -= HAIR
    assert is_positive_semidefinite(A)
    assert is_positive_semidefinite(tilted) == (n == 1)
    assert not is_positive_semidefinite(-A)


def test_large_integers_of_numpy_do_not_overflow():
    (entry,) = rational("X", np.array([2**62]))
    assert entry * entry == 2**124


def test_what_sympy_must_not_take_for_zero():
    assert vanishes(sympy.sqrt(t**2) - t)
    assert vanishes(1 / (x - 1) - 1 / (x + 1) - 2 / (x**2 - 1))
    assert not vanishes(sympy.sqrt(x**2) - x)
    assert not vanishes(x * sympy.Rational(HAIR))


def test_roots_at_the_ends_and_double_roots_are_found():
    assert not is_positive((x - 1) ** 2 * (x + 2) ** 2)
    assert is_positive((x - 1) ** 2, 1 + HAIR)
    assert not is_positive((x - 1) ** 2, 1)
    assert not is_positive((x - 1) ** 2, most=1)
    assert is_positive(-x, most=-HAIR)
    assert not is_positive((x**2 + 1) / (x - 3), 2, 5)  # through a pole


def test_a_larger_degree_needs_more_points():
    assert points_needed(109) == (1, 109 / 2**40)
    assert points_needed(110) == (2, (110 / 2**40) ** 2)
    for degree in (0, 2.0, 2**21):
        with pytest.raises(ValueError, match="degree must be an integer"):
            points_needed(degree)


def test_an_interval_contains_what_floats_round():
    for exact in (Fraction(1, 3), Fraction(2**80 + 1), Fraction(-(10**40), 7)):
        low, high = (Fraction(*to_rational(end)) for end in ball(exact, exact)._mpi_)
        assert low < exact < high


def test_an_enclosure_is_refused_where_it_fails_or_is_not_decided():
    def f(x, y):
        return iv.exp(x) * y

    box = {"x": (0, 1), "y": (Fraction(1, 2), 2)}
    assert enclosed(f, Fraction(499, 1000), 6, box, 100) == (True, "")
    holds, where = enclosed(f, None, 5, box, 1000)
    assert (holds, where[:9]) == (False, "it fails ")
    holds, where = enclosed(f, None, Fraction(5436563, 10**6), box, 20)  # 2 e = 5.4365637
    assert (holds, where[:9]) == (False, "undecided")
