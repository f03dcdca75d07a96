"""The checks of numbers: what they let in, and the one sentence for what they refuse."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from runproofs import _arguments as arguments
from runproofs.linear import completion, nuclear, sensing, shallow, structured
from runproofs.networks import relu_dropout

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


MASKED = np.ma.masked_array([1, 99], mask=[False, True])


@pytest.mark.parametrize("x", [MASKED, [MASKED, [0, 1]], ([[MASKED]],), [1, np.ma.masked]])
@pytest.mark.parametrize("check", ["array", "numbers", "zeros_and_ones", "integers"])
def test_masked_entries_are_refused_however_deep_they_lie(check, x):
    size = {"zeros_and_ones": [2], "integers": []}.get(check, [])
    options = {"size": 2} if check == "integers" else {}
    with pytest.raises(ValueError, match=r"^x must have finite entries, but some are masked\.$"):
        getattr(arguments, check)("x", x, *size, **options)
    unmasked = [np.ma.masked_array([1, 0]), [0, 1]]
    assert arguments.array("x", unmasked).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("bad", [[[1], [1, 2]], torch.ones(2, requires_grad=True), ["1", 1j]])
def test_what_is_no_array_of_real_numbers_gets_a_sentence(bad):
    for check, more in ((arguments.numbers, ()), (arguments.zeros_and_ones, (2,))):
        with pytest.raises(ValueError, match=r"^x must .*\.$"):
            check("x", bad, *more)


def test_ids_are_whole_numbers_below_their_bound():
    for kind in ("i1", "u8", ">i4"):
        found = arguments.integers("x", np.array([2, 0, 1], kind)[::-1], size=3, below=3)
        assert found.dtype == np.dtype("int64")
        assert found.tolist() == [1, 0, 2]
    for bad in ([1, 2, 3], [0, -1, 1], [0.0, 1, 2], [True, False, True], [0, 1], [[0, 1, 2]]):
        with pytest.raises(ValueError, match=r"^x must be .*integers that are at least 0"):
            arguments.integers("x", bad, size=3, below=3)
    with pytest.raises(ValueError, match="but one is 18446744073709551615"):
        arguments.integers("x", np.array([2**64 - 1], "u8"), size=1)


def test_masks_are_zeros_and_ones_of_any_type():
    for kind in (bool, "i1", ">f8", object):
        found = arguments.zeros_and_ones("x", np.array([[1, 0], [0, 1]], kind), 2)
        assert found.tolist() == [[1, 0], [0, 1]]
    assert arguments.zeros_and_ones("x", 1, 2, one=True).tolist() == [1, 1]
    for bad in ([1, 2], [np.nan, 0], [1, 0, 0], 1, [1 + 0j, 0], np.array([1 + 0j, 0], object)):
        with pytest.raises(ValueError, match=r"^x must consist of zeros and ones, 2 on its last"):
            arguments.zeros_and_ones("x", bad, 2)
    with pytest.raises(ValueError, match=r"^x must consist"):
        arguments.zeros_and_ones("x", 0, 2, one=True)


def test_a_choice_is_one_of_the_options():
    assert arguments.choice("x", "a", ["a", "b"]) == "a"
    for bad in ("c", ["a"], np.array(["a"]), np.array([1, 2]), None):
        with pytest.raises(ValueError, match=r"^x must be a function, a or 2, but it was"):
            arguments.choice("x", bad, ["a", 2], also="a function, ")


@pytest.mark.parametrize(("dtype", "tiny"), [(np.float32, 1e-7), (np.float64, 1e-16)])
def test_rounding_is_that_of_the_type_that_came_in(dtype, tiny):
    """A Gram matrix of rank 1, rounded; a matrix that is symmetric to a rounding; a law."""
    v = np.array([1, np.pi, np.e, 1 / 3])
    C = np.outer(v, v).astype(dtype)
    C[0, 1] *= 1 + 3 * dtype(tiny)
    assert arguments.symmetric("C", C).dtype == float
    assert arguments.eigh_semidefinite("C", C)[0].min() == 0
    arguments.positive_semidefinite("C", C)
    law = np.full(7, 1 / 7, dtype)
    assert len(arguments.probabilities("p", law, 7)) == 7
    for off in (1e3 * tiny, 1e-6 if dtype == np.float64 else 1e-4):
        if off > 1e-10:  # what float64 calls rounding
            C[0, 1] = C[1, 0] * (1 + off)
            with pytest.raises(ValueError, match="C must be symmetric"):
                arguments.symmetric("C", C)
            with pytest.raises(ValueError, match="p must be 7 probabilities"):
                arguments.probabilities("p", law * (1 + 10 * off), 7)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    "objective",
    [
        lambda B: shallow.objective(B, B, [[1]], 0),
        lambda B: shallow.tied_objective(B, [[1]], 0),
        lambda B: completion.objective(B, B, ([0], [0], [1.0]), 0),
        lambda B: completion.objective(B, B, ([0], [0], [1.0]), 0, ([1.0], [1.0])),
        lambda B: sensing.objective(B, B, [[[1]]], [1], 0),
        lambda B: nuclear.objective(B, B, [[1]], 0),
        lambda B: structured.objective(B, B, [[1]], 0),
        lambda B: relu_dropout.objective(B, B, [[1]], [[1]], drop=0),
    ],
)
def test_without_penalty_what_overflows_is_infinite_and_no_nan(objective):
    assert objective([[1e170]]) == np.inf
    assert shallow.regularizer([[1e170]], [[1e170]], 0) == 0


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
