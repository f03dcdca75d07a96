"""The checks of numbers: what they let in, and the one sentence for what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

from runproofs import _arguments as arguments

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        ({"above": 0}, [1e-320, 7], [0, -1]),
        ({"least": 0}, [0, 1e308], [-1e-320]),
        ({"above": 0, "below": 1}, [0.5], [0, 1, 2]),
        ({"least": 0, "most": 1}, [0, 1], [-0.1, 1.1]),
        ({"least": 1, "most": np.inf}, [1, np.inf], [0.9, -np.inf, np.nan]),
    ],
)
def test_bounds_are_open_or_closed_and_every_entry_counts(bounds, inside, outside):
    found = arguments.numbers("x", inside, **bounds)
    assert found.dtype == float
    assert found.tolist() == inside
    assert all(arguments.number("x", one, **bounds) == one for one in inside)
    for bad in outside:
        for call in (arguments.number, arguments.numbers):
            with pytest.raises(ValueError, match=rf"^x must be .*, but it was {float(bad)}\.$"):
                call("x", bad, **bounds)
        with pytest.raises(ValueError, match=rf", but it was {float(bad)}\.$"):
            arguments.numbers("x", [*inside, bad], **bounds)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: arguments.number("x", 2, above=0, below=1), "a number that is larger than 0 and"),
        (lambda: arguments.number("x", [1, 2], least=0), r"a number .*, but its shape is \(2,\)"),
        (lambda: arguments.number("x", 0, above=0, wanted="a rate"), "a rate, but it was 0"),
        (lambda: arguments.number("x", [1]), r"a number, but its shape is \(1,\)"),
        (lambda: arguments.number("x", THIRD, least=0), "not an array of real numbers"),
        (lambda: arguments.number("x", THIRD, exact=True, least=1), "least 1, but it was 1/3"),
        (lambda: arguments.numbers("x", THIRD, least=0), "not an array of real numbers"),
        (lambda: arguments.numbers("x", True, least=0), "at least 0, but it is not an array"),
        (lambda: arguments.numbers("x", [1, 2], batch=(3,)), r"number or have shape \(3,\)"),
        (lambda: arguments.number("x", 0, least=1, most=np.inf), "at least 1, or infinity"),
        (lambda: arguments.positive_integer("x", 9, most=8, why=", to list"), "8, to list, but"),
        (lambda: arguments.positive_integer("x", 3.0), "an integer .* but it was 3.0"),
    ],
)
def test_each_refusal_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=rf"^x must be .*{sentence}") as error:
        call()
    assert str(error.value).endswith(".")
    assert str(error.value).count(". ") == 0


def test_a_matrix_is_definite_by_its_least_eigenvalue_alone():
    for values in ([0, 1, 1], [-1, 1, 1], [-3, -2, 0]):
        with pytest.raises(ValueError, match="C must be positive definite, but its least eigenval"):
            arguments.eigh_definite("C", np.diag(values))
    with pytest.raises(ValueError, match="C must be positive semidefinite, but its least eigenval"):
        arguments.eigh_semidefinite("C", np.diag([-1.0, 1, 1]))
    assert arguments.eigh_semidefinite("C", np.diag([0.0, 1, 1]))[0].tolist() == [0, 1, 1]
    assert arguments.eigh_definite("C", np.diag([1e-9, 1, 1]))[0].min() == 1e-9


def test_the_weights_of_many_networks_are_let_in_unless_one_is_asked_for():
    many = [np.ones((4, 3, 2)), np.ones((4, 2, 3))]
    assert [W.shape for W in arguments.layers(many)] == [(4, 3, 2), (4, 2, 3)]
    with pytest.raises(ValueError, match="W_1 must be"):
        arguments.layers(many, batched=False)


@pytest.mark.parametrize("p", [-0.1, 1, 1.5])
def test_a_drop_probability_is_below_one(p):
    with pytest.raises(ValueError, match="drop must be a probability"):
        arguments.drop_probability(p)


def test_infinity_is_refused_unless_it_is_the_largest_and_fractions_stay_where_they_may():
    with pytest.raises(ValueError, match="x must have finite entries"):
        arguments.number("x", np.inf, least=0)
    assert arguments.number("x", THIRD, exact=True, above=0) is THIRD
    assert arguments.numbers("x", [1, 2], batch=[2]).tolist() == [1, 2]
    assert arguments.numbers("x", [], above=0).size == 0
