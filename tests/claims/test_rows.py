"""A row that cannot fail cannot be written, and compares exactly where it can."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
import torch

from runproofs.claims.rows import Row, _relation

THIRD = Fraction(1, 3)
HAIR = Fraction(1, 10**20)


class Block:
    """What a row knows of its block."""

    tol, of_floats = 0.0, "computed"

    def must_be_open(self, text):
        pass


def row(tol=0.0):
    block = Block()
    block.tol = tol
    return Row(block, "a sentence")


def verdict(method, *arguments, **options):
    judged = row()
    getattr(judged, method)(*arguments, **options)
    return judged.verdict


@pytest.mark.parametrize(
    ("method", "arguments", "options"),
    [
        ("equal", ([1, 2], [1, 2 + 1e-9]), {"tol": 1e-6}),
        ("equal", (torch.ones(2), np.ones(2)), {}),
        ("equal", ([1e-9, 0], 0), {"tol": 1e-6, "scale": 1}),
        ("at_most", ([1, 2], 2), {"tightness": 1}),
        ("at_most", (1 + 1e-13, 1), {"tol": 1e-12, "tightness": 0.9}),
        ("at_most", (2**60, 2**60 + 1), {"tightness": 0.9}),
        ("at_most", (THIRD, THIRD + HAIR), {"tightness": 0.9}),
        ("at_most", (0.01, 1), {"tightness": 0.01, "why_loose": "of a constant that nobody knows"}),
        ("less", ([1, -3], [2, -2]), {"by": 0.3}),
        ("less", (THIRD, 2 * THIRD), {"by": 0.5}),
        ("not_close", ([1, 2], [1, 3]), {"by": 0.3}),
        ("not_close", ([0, 2], [1, 3]), {"by": 0.3, "every": True}),
        ("pairwise_different", ([[1, 2], [1, 3], [0, 3]],), {"by": 0.3}),
        ("holds", (np.bool_(True),), {}),
        ("within", ([1.1, 0.9], [1.0, 1.0], [0.1, 0.1]), {}),
        ("within", (0.4, 0.0, 0.1), {}),
        ("differs", ([1, 2], [1, 3]), {"by": 0.3}),
        ("differs", ([0, 2], [1, 3]), {"by": 0.3, "every": True}),
        ("exceeds", ([2, 3], [1, 2]), {"by": 0.9, "every": True}),
        ("exceeds", (2**60 + 1, 2**60), {}),
        ("exceeds", (sympy.sqrt(2) + sympy.Rational(HAIR), sympy.sqrt(2)), {}),
        ("fails", (np.bool_(False),), {}),
    ],
)
def test_each_kind_of_row_can_pass(method, arguments, options):
    judged = verdict(method, *arguments, **options)
    assert judged.passed
    control = method in {"differs", "exceeds", "fails"}
    assert (judged.control, judged.as_printed) == (control, False)
    if control:
        assert verdict(method, *arguments, **options, as_printed=True).as_printed


@pytest.mark.parametrize(
    ("method", "arguments", "options", "measured"),
    [
        ("equal", ([1, 2], [1, 2.1]), {"tol": 1e-3}, "0.048 > 0.001"),
        ("equal", ([1, 2], [1, 3]), {}, "1 of 2 differ: 2 is not 3"),
        ("at_most", ([1, 3], [2, 2]), {"tightness": 0.3}, "3 > 2, nearest 66 %"),
        ("at_most", ([1, 2], [9, 3]), {"tightness": 0.7}, "2 ≤ 3, nearest 66 %"),
        ("at_most", ([0, 0], [2, 0]), {"tightness": 0.3}, "0 ≤ 0, nearest 0 %"),
        ("at_most", (-1, 1), {"tightness": 0.3}, "-1 ≤ 1, 0 %"),
        ("at_most", (1.1, 1), {"tol": 1e-12, "tightness": 0.3}, "1.1 > 1 + 1e-12, 90 %"),
        ("less", ([1, 2], [3, 2.5]), {"by": 0.3}, "2 < 2.5, by 20 %"),
        ("less", ([0, 0], [1, 2]), {"by": 0.3}, "a side is 0"),
        ("less", (3, 2), {"by": 0.3}, "3 ≥ 2, by -34 %"),
        ("not_close", ([1, 2], [1, 2.1]), {"by": 0.3}, "somewhere 0.048 < 0.3 apart"),
        ("not_close", ([0, 0], [1, 2]), {"by": 0.3}, "a side is 0"),
        ("not_close", ([0, 1], [1, 1]), {"by": 0.3, "every": True}, "each 0 < 0.3 apart"),
        ("pairwise_different", ([[1, 2], [1, 3], [1, 2]],), {"by": 0.3}, "any two 0 < 0.3 apart"),
        ("pairwise_different", ([[1, 2]],), {"by": 0.3}, "1 member"),
        ("holds", (False,), {}, "false"),
        ("within", (0.6, 0.0, 0.1), {}, "6 > 5 s.e. (false alarm 6e-07)"),
        ("differs", (1, 1 + 1e-9), {"by": 1e-6}, "1e-09 < 1e-06 apart"),
        ("differs", ([0, 1], [1, 1]), {"by": 0.3, "every": True}, "each 0 < 0.3 apart"),
        ("exceeds", ([1, 2], [1, 2]), {}, "somewhere 1 ≤ 1"),
        ("exceeds", ([0, 3], [1, 2]), {"every": True}, "each 0 ≤ 1"),
        ("exceeds", (mpmath.mpf(2) ** 0.5 * mpmath.mpf(2) ** 0.5, 2), {}, "2 ≤ 2"),
        ("exceeds", (1.5, 1), {"by": 0.6}, "1.5 ≤ 1 + 0.6"),
        ("fails", (True,), {}, "true"),
    ],
)
def test_each_kind_of_row_can_fail_and_says_what_was_measured(method, arguments, options, measured):
    found = verdict(method, *arguments, **options)
    assert (found.passed, found.measured) == (False, measured)


def test_what_a_row_shows():
    shown = {
        "2e-16 ≤ 1e-12": verdict("equal", 1 + 2.22e-16, 1, tol=1e-12),
        "equal": verdict("equal", [1, 2], [1, 2]),
        "10 ≤ 288,031, 0.0034 %": verdict(
            "at_most", 10, 288031, tightness=1e-5, why_loose="one of many"
        ),
        "0.31 ≥ 0.01 apart": verdict("differs", 1.312, 1, by=0.01),
        "5.2 > 3": verdict("exceeds", 5.2, 3),
        "4.1 ≤ 5 s.e. (false alarm 6e-07)": verdict("within", 1.41, 1.0, 0.1),
        "0 ≤ 3 s.e. (false alarm 3e-02)": verdict("within", np.ones(10), np.ones(10), 0.1, z=3),
    }
    assert [found.measured for found in shown.values()] == list(shown)
    demanded = [found.demanded for found in shown.values()]
    assert demanded == [
        "error ≤ 1e-12", "equal", "at most, reaching 1e-05", "≥ 0.01 apart", "exceeds",
        "≤ 5 s.e. (false alarm 6e-07)", "≤ 3 s.e. (false alarm 3e-02)",
    ]  # fmt: skip


def test_digits_tell_two_numbers_apart():
    assert _relation(1 + 1e-7, ">", 1, True) == "1.0000001 > 1"
    assert _relation(0.015, "≤", 0.01, False, (1, 6)) == "0.015 > 0.01"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (THIRD + HAIR, THIRD),
        ([THIRD, THIRD + HAIR], [THIRD, THIRD]),
        (2**60 + 1, 2**60),
        (np.array([2**60 + 1]), np.array([2**60])),
        (torch.tensor([2**60 + 1]), torch.tensor([2**60])),
        (2**60 + 1, float(2**60)),
        (10**400 + 1, 10**400),
        (THIRD, 1 / 3),
        (sympy.sqrt(2), sympy.Float(2) ** 0.5),
        (sympy.Symbol("x") + 1, sympy.Symbol("x")),
        (True, False),
        (1.0, 1.0 + 2.3e-16),
    ],
)
def test_with_no_tolerance_the_least_difference_counts(one, other):
    assert not verdict("equal", one, other).passed
    assert not verdict("equal", other, one).passed
    for same in (one, other):
        assert verdict("equal", same, same).passed


def test_with_no_tolerance_kinds_may_differ():
    assert verdict("equal", Fraction(1, 2), 0.5).passed
    assert verdict("equal", [True, 0], np.array([1.0, 0.0])).passed
    assert verdict("equal", sympy.sqrt(2) ** 2, 2).passed


def test_with_a_tolerance_differences_are_exact():
    assert verdict("equal", THIRD + HAIR, THIRD, tol=1e-19).passed
    assert not verdict("equal", THIRD + HAIR, THIRD, tol=1e-21).passed
    assert not verdict("equal", 2**60 + 1, 2**60, tol=1e-19).passed
    assert verdict("differs", 2**60 + 2**27, 2**60, by=1e-10).passed
    assert not verdict("at_most", THIRD + HAIR, THIRD, tightness=0.9).passed
    assert not verdict("less", THIRD, THIRD + HAIR, by=1e-10).passed


OPTIONS = {
    "equal": {"tol": 0.1},
    "at_most": {"tightness": 0.3},
    "less": {"by": 0.1},
    "not_close": {"by": 0.1},
    "differs": {"by": 0.1},
    "exceeds": {},
    "within": {"standard_error": 0.1},
}


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.nan, 1.0),
        (1.0, np.nan),
        ([1, np.nan], [0, 0.5]),
        (np.inf, np.inf),
        (np.array([THIRD, np.nan], object), THIRD),
        (sympy.nan, sympy.nan),
        (sympy.oo, sympy.oo),
    ],
)
def test_nan_and_infinity_fail_on_either_side(method, left, right):
    found = verdict(method, left, right, **OPTIONS[method])
    assert (found.passed, found.measured) == (False, "not finite")
    if method == "equal":  # without tolerance, too
        assert verdict("equal", left, right).measured == "not finite"


@pytest.mark.parametrize("method", OPTIONS)
def test_shapes_that_differ_and_empty_arrays_fail(method):
    for left, right, reason in [
        ([1.0, 2.0], [1.0], "shapes (2,) and (1,)"),
        (np.ones((2, 1)), np.ones(2), "shapes (2, 1) and (2,)"),
        ([], [], "nothing to compare"),
        ([], 1.0, "nothing to compare"),
    ]:
        found = verdict(method, left, right, **OPTIONS[method])
        assert (found.passed, found.measured) == (False, reason)


def test_only_numbers_are_compared():
    for thing in (None, "text", [None], {"a": 1}):
        with pytest.raises(TypeError, match="compares numbers"):
            row().equal(thing, thing)
    for method in ("at_most", "less", "exceeds"):
        with pytest.raises(TypeError, match="complex numbers have no order"):
            getattr(row(), method)(1j, 2.0, **OPTIONS[method])
    for condition in (np.array([True, True]), 1, "yes"):
        for method in ("holds", "fails"):
            with pytest.raises(TypeError, match="one truth value"):
                getattr(row(), method)(condition)


DEMANDS = [
    *(("equal", (1, 1), {"tol": tol}, "tol is") for tol in (-1e-3, 0.21, np.nan)),
    ("at_most", (1, 1), {"tol": 0.21, "tightness": 0.3}, "tol is"),
    *(("equal", (0.0, 0.0), {"tol": 0.1, "scale": s}, "scale") for s in (None, 0, -1, np.nan)),
    ("differs", (1.0, 0.0), {"by": 0.1, "scale": None}, "scale"),
    ("differs", (1.0, 0.0), {"by": 0.1, "scale": np.inf}, "scale"),
    *(
        ("equal", (expected + 1e-3, expected), {"tol": 0.2, "scale": scale}, "hides any difference")
        for expected, scale in [(2.0, 1e9), (2.0, 4.1), (1e-9, 1.0), (0.0, 2.1)]
    ),
    *(("at_most", (1, 1), {"tightness": r}, "tightness is") for r in (0, -1, 1.01, np.nan)),
    ("at_most", (1, 1), {"tightness": 0.29}, "why_loose= says why"),
    ("at_most", (1, 1), {"tightness": 0.3, "why_loose": "a reason"}, "why_loose= says why"),
    *(("less", (1, 2), {"by": by}, "rounding") for by in (0, -1, 1e-12, np.nan, np.inf)),
    ("not_close", (1, 2), {"by": 1e-12}, "rounding"),
    ("pairwise_different", ([1, 2],), {"by": 1e-12}, "rounding"),
    *(("differs", (1, 2), {"by": by}, "by must be positive") for by in (0, -1, np.nan, np.inf)),
    ("differs", (2.0, 1.0), {"by": 1e-12}, "rounding"),
    ("differs", (2.0, 1.0), {"by": 0.1, "scale": 1e-12}, "rounding"),
    ("differs", (1e-17, 0.0), {"by": 0.1, "scale": 1e-17}, "rounding"),
    *(("exceeds", (2, 1), {"by": by}, "by must not be negative") for by in (-1, np.nan, np.inf)),
    ("exceeds", (5.0, 0.0), {"by": 1e-300}, "rounding"),
    *(("within", (1, 1, 0.1), {"z": z}, "z must be") for z in (0, -1, 11, np.nan)),
    *(
        ("within", ([1.0, 1.0], 1.0, error), {}, "standard_error must be positive")
        for error in (0.0, -1.0, 0.21, [0.1, 1.0])
    ),
    ("within", (0.4, 0.0, 0.3), {}, "standard_error must be positive"),
]


@pytest.mark.parametrize(("method", "arguments", "options", "words"), DEMANDS)
def test_a_demand_that_says_nothing_is_refused(method, arguments, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(row(), method)(*arguments, **options)


def test_demands_that_say_just_enough():
    assert verdict("equal", 1.2, 1, tol=0.2).passed
    assert not verdict("equal", 1e-6, 0, tol=1e-12, scale=1e3).passed  # a gradient, of terms 1e3
    assert verdict("equal", 1e-10, 0, tol=1e-12, scale=1e3).passed
    assert not verdict("exceeds", 1 + 1e-15, 1.0).passed
    with pytest.raises(TypeError, match="tightness"):
        row().at_most(1, 2)
    for error in (np.inf, np.nan):
        assert not verdict("within", 1.0, 99.0, error).passed
    assert verdict("within", [1.0, 1.0], [1.0, 1.0], [0.1, 0.1, 0.1]).measured.startswith("shapes")


def test_the_tolerance_is_the_blocks_unless_given():
    rows = row(tol=0.1), row(tol=0.1)
    rows[0].equal(1.05, 1)
    rows[1].equal(1.05, 1, tol=0.01)
    assert [judged.verdict.passed for judged in rows] == [True, False]


def test_differences_are_relative_to_the_largest_expected():
    assert verdict("equal", [100.5, 1.0], [100.0, 1.0], tol=0.01).passed
    assert not verdict("equal", [100.0, 2.5], [100.0, 1.0], tol=0.01).passed
    assert not verdict("equal", [0.0, 0.5], [0.0, 1.0], tol=0.1).passed
    assert not verdict("differs", [100.5, 1.0], [100.0, 1.0], by=0.01).passed


def test_a_row_is_judged_once():
    judged = row()
    judged.holds(True)
    with pytest.raises(RuntimeError, match="judged twice"):
        judged.fails(False)
