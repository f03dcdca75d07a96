"""Rows that prove: each one proves what is true, and none what is false by a hair."""

from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from mpmath import iv

from runproofs.claims.block import Check, ClaimFailed
from runproofs.claims.registry import LEVELS, Claim
from runproofs.claims.rows import Row

HAIR = Fraction(1, 10**15)
THIRD = Fraction(1, 3)
x, y = sympy.Symbol("x"), sympy.Symbol("y", positive=True)


def judged(method, *arguments, evidence="", of_floats="computed", **options):
    block = SimpleNamespace(tol=0.0, of_floats=of_floats, must_be_open=lambda text: None)
    row = Row(block, "a sentence", evidence)
    getattr(row, method)(*arguments, **options)
    return row


# The level of a comparison -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "level"),
    [
        (judged("equal", THIRD, [THIRD]), "exact"),
        (judged("equal", sympy.sqrt(2) ** 2, 2), "exact"),
        (judged("at_most", THIRD, 1, tightness=0.3), "exact"),
        (judged("less", THIRD, 1, by=0.1), "exact"),
        (judged("exceeds", 1, THIRD), "exact"),
        (judged("equal", 2 * x + y, y + x + x), "for-all"),
        (judged("equal", THIRD, 1 / 3, tol=1e-9), "computed"),
        (judged("equal", THIRD, THIRD, tol=1e-9), "computed"),  # a tolerance forgives
        (judged("at_most", THIRD, THIRD, tol=1e-9, tightness=1), "computed"),
        (judged("equal", [THIRD, 0.5], [THIRD, Fraction(1, 2)]), "computed"),
        (judged("equal", sympy.Float(0.5), sympy.Float(0.5)), "computed"),
        (judged("equal", np.array([2, 3]), [2, 3]), "computed"),  # counts, of what we do not know
        (judged("holds", True), "computed"),
        (judged("equal", 2, 2, evidence="exact"), "exact"),
        (judged("fails", False, evidence="exact"), "exact"),
        (judged("within", 1, 1, 0.1), "measured"),
        (judged("equal", 0.5, 0.5, evidence="measured"), "measured"),
        (judged("equal", 0.5, 0.5, of_floats="measured"), "measured"),
        (judged("equal", THIRD, THIRD, of_floats="measured"), "exact"),
        (judged("identity", x + x, 2 * x, evidence="measured"), "measured"),
    ],
)
def test_the_numbers_say_the_level(row, level):
    assert (row.verdict.passed, row.level) == (True, level)
    assert row.evidence() == ("for all $x$, $y$ > 0" if level == "for-all" else LEVELS[level])


def test_the_page_cannot_say_more_than_the_numbers():
    for sides, tol in ((0.5, 0.5), 0.0), ((2, 2), 1e-9):
        with pytest.raises(ValueError, match="what is compared is not exact"):
            judged("equal", *sides, tol=tol, evidence="exact")
    with pytest.raises(ValueError, match="what is compared is not exact"):
        judged("within", 1, 1, 0.1, evidence="exact")
    with pytest.raises(ValueError, match='"exact" or "measured", not \'for-all\''):
        judged("equal", 1, 1, evidence="for-all")


def test_a_card_must_have_the_level_that_the_register_promises_in_its_first_row():
    fields = dict.fromkeys(Claim._fields, "") | {"erratum": None, "evidence": "exact"}

    def card(*values):
        with Check(Claim(**fields)) as check:
            check("control").fails(False)
            for value in values:
                check("positive").equal(value, value)
        return check

    exact = card(THIRD, 0.5)
    assert str(exact).splitlines()[0].endswith(" (exact)")
    assert '<span class="level">exact</span></p>' in exact._repr_html_()
    with pytest.raises(ClaimFailed, match="first row is 'computed', and its heading says 'exact'"):
        card(0.5, THIRD)


def test_words_that_promise_proof_stand_on_no_floats():
    def card(text, value):
        with Check(Claim(**dict.fromkeys(Claim._fields, "") | {"erratum": None})) as check:
            check(text).equal(value, value)
            check("a control, exactly as it must fail").fails(False)

    card("exactly a third", THIRD)
    for text in ("exactly a third", "a certified bound", "the Certificates"):
        with pytest.raises(ClaimFailed, match="and its evidence is 'computed'"):
            card(text, 0.5)


# Rows that prove ---------------------------------------------------------------------------------


def square(U, V, t, off=0, power=2):
    """|U V|^2 / t, and the same by the columns of U."""
    product = U @ V
    by_columns = sum(u * v for u, v in zip(U.T[..., None], V[:, None], strict=True))
    return (product**2).sum() / t, (by_columns**power).sum() / t + off


def test_an_identity_holds_for_all_values():
    row = judged(
        "identity", [(x + y) ** 2, 1 / x - 1 / y], [x**2 + 2 * x * y + y**2, (y - x) / x / y]
    )
    assert (row.verdict.passed, row.evidence()) == (True, "for all $x$, $y$ > 0")
    for left, right in ((x + sympy.Rational(HAIR), x), (sympy.sqrt(x**2), x)):
        assert not judged("identity", left, right).verdict.passed
    assert judged("identity", sympy.sqrt(y**2), y).verdict.passed
    with pytest.raises(ValueError, match="no free symbol"):
        judged("identity", 1, 1)


def test_a_sign_is_decided_for_all_reals():
    row = judged("positive", (x - 1) ** 2 + sympy.Rational(HAIR))
    assert (row.verdict.passed, row.evidence()) == (True, "for all $x$")
    assert judged("positive", x - x**2, least=HAIR, most=THIRD).evidence() == (
        f"for all {HAIR} ≤ $x$ ≤ 1/3"
    )
    for false in ((x - 1) ** 2, (x - 1) ** 2 - sympy.Rational(HAIR), -1 - x**2, 1 / (x - 1)):
        assert not judged("positive", false).verdict.passed
    assert not judged("positive", x, least=0).verdict.passed
    assert judged("positive", x, least=HAIR).verdict.passed
    for wrong in (sympy.exp(x), x**2 + sympy.sqrt(2)):
        with pytest.raises(TypeError, match="no quotient of polynomials"):
            judged("positive", wrong)
    for wrong in (x + y, sympy.Integer(1), x + 0.5):
        with pytest.raises(ValueError, match="one symbol, and no floats"):
            judged("positive", wrong)


def test_a_polynomial_identity_is_tried_where_no_other_polynomial_vanishes():
    shapes = {"U": (3, 5), "V": (5, 2), "t": ()}
    row = judged("polynomial_identity", square, degree=5, **shapes)
    assert row.verdict.passed
    assert row.evidence() == "for all $U$ 3×5, $V$ 5×2, $t$ (error ≤ 5e-12)"
    for wrong in ({"off": HAIR}, {"power": 3}):
        false = judged("polynomial_identity", partial(square, **wrong), degree=7, **shapes)
        assert (false.verdict.passed, false.verdict.measured) == (False, "different")
    again = judged("polynomial_identity", square, degree=1000, **shapes)
    assert again.verdict.demanded == "equal at 2 random points"


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (lambda U: ((U * 0.5).sum(), U.sum() / 2), "is no fraction"),
        (lambda U: (U - U, 0), "a side is 0"),
        (lambda U: (U, U[0]), "shapes (2, 2) and (2,)"),
    ],
)
def test_what_is_no_polynomial_identity(sides, said):
    verdict = judged("polynomial_identity", sides, degree=3, U=(2, 2)).verdict
    assert not verdict.passed
    assert said in verdict.measured


def test_a_certificate_is_a_bound_and_its_conditions():
    """The least of x^2 - 2 x + y^2 is -1: [[1, -1], [-1, 1]] of x^2 - 2 x + 1 is semidefinite."""
    gram = np.array([[1, -1], [-1, 1]])
    row = judged("certificate", -1, Fraction(-1), semidefinite=[gram], nonnegative=[[0, 2]])
    assert (row.verdict.passed, row.evidence()) == (True, "global, with certificate")
    assert row.verdict.demanded == "equal to the dual bound; 1 semidefinite, 2 at least 0"
    assert judged("certificate", 1, 1, zero=[0, [0, 0]]).verdict.passed
    for value, conditions, said in (
        (-1 + HAIR, {"zero": [0]}, "is not -1"),
        (-1, {"semidefinite": [gram - HAIR * np.eye(2, dtype=int)]}, "not semidefinite"),
        (-1, {"zero": [0, HAIR]}, "not zero"),
        (-1, {"nonnegative": [1, -HAIR]}, "a multiplier is negative"),
        (-1.0, {"zero": [0]}, "-1.0 is no fraction"),
    ):
        verdict = judged("certificate", value, -1, **conditions).verdict
        assert not verdict.passed
        assert said in verdict.measured
    with pytest.raises(ValueError, match="no certificate"):
        judged("certificate", 1, 1)
    with pytest.raises(TypeError, match=r"A must have integers or Fractions, but it has 1\.0"):
        judged("certificate", 1, 1, semidefinite=[np.eye(2)])


def test_an_enclosure_holds_at_each_point():
    def slope(z):
        return 1 / (1 + iv.exp(-z))  # of the softplus, below its value for z > 0

    def softplus(z):
        return iv.log(1 + iv.exp(z))

    row = judged(
        "enclosed", lambda z: softplus(z) - slope(z), least=0, z=(0, 30), beyond="it grows"
    )
    assert row.verdict.passed
    assert row.evidence() == "certified for 0 ≤ $z$ ≤ 30; beyond: it grows"
    product = judged("enclosed", lambda s, t: s * t, least=-2, most=2, s=(-1, 1), t=(-1, 1))
    assert product.verdict.demanded == "≥ -2 and ≤ 2"
    false = judged("enclosed", lambda z: z * (1 - z), most=Fraction(6, 25), z=(0, 1)).verdict
    assert false.measured.startswith("it fails for z in ")
    undecided = judged("enclosed", lambda z: z * (1 - z), most=Fraction(1, 4), z=(0, 1)).verdict
    assert "undecided for z in" in undecided.measured


def test_an_enclosure_has_a_box_and_a_bound():
    for options, said in (
        ({"z": (0, 1)}, "least= or most="),
        ({"least": 0}, "a box is"),
        ({"least": 0, "z": (1, 1)}, "a box is"),
    ):
        with pytest.raises(ValueError, match=said):
            judged("enclosed", lambda z=0: z, **options)
    with pytest.raises(TypeError, match=r"but it has 0\.1"):
        judged("enclosed", lambda z: z, least=0, z=(0.1, 1))
    with pytest.raises(TypeError, match="must return an interval"):
        judged("enclosed", lambda z: 1.0, least=0, z=(0, 1))
