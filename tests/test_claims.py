"""A block that cannot fail cannot be written: each rule of `claims` bites."""

import traceback
from fractions import Fraction

import numpy as np
import pytest
import torch

from runproofs.book.claims import Check, ClaimFailed, claim
from runproofs.book.register import Claim, Erratum

PLAIN = "thesis/equation-2.1"  # an entry without erratum
CERTAIN = "thesis/theorem-6"  # an entry with a certain erratum


def entry(**changes):
    fields = dict.fromkeys(Claim._fields, "") | {"id": "source/name", "erratum": None}
    return Claim(**(fields | changes))


def positive(check):
    check.holds(True, what="positive")


def control(check):
    check.fails(False, what="control")


def failure(*rows, on=PLAIN):
    """The message with which a block of these rows fails."""
    check = claim(on)
    for row in rows:
        row(check)
    with pytest.raises(ClaimFailed) as caught, check:
        pass
    return str(caught.value)


def test_a_good_block_passes_and_prints_its_rows(capsys):
    with claim(PLAIN) as check:
        positive(check)
        control(check)
    printed = capsys.readouterr().out
    assert "(2.1)" in printed
    assert "✓ positive [holds]" in printed
    assert "✓ control: control [fails]" in printed


def test_unknown_id():
    with pytest.raises(KeyError, match="not in the register"):
        claim("thesis/theorem-99")


def test_no_rows_no_positive_row_no_control():
    assert "no positive row" in failure()
    assert "no positive row" in failure(control)
    assert "no negative control" in failure(positive)


def test_a_registered_reason_replaces_the_control(capsys):
    with Check(entry(no_control="a definition")) as check:
        positive(check)
    assert "positive" in capsys.readouterr().out


def test_a_certain_erratum_needs_its_counterexample(capsys):
    assert "no row marked as_printed" in failure(positive, control, on=CERTAIN)
    with claim(CERTAIN) as check:
        positive(check)
        check.fails(False, what="the print", as_printed=True)
    assert "as printed: the print" in capsys.readouterr().out
    likely = Erratum("likely", "minor", "", "", "", "")
    with Check(entry(erratum=likely)) as check:
        positive(check)
        control(check)


def test_the_message_lists_every_row_with_what_was_measured():
    message = failure(
        lambda check: check.equal(1.5, 1, tol=0.1, what="first"),
        positive,
        lambda check: check.differs(1, 1, by=0.1, what="third"),
    )
    assert "2 of 3 rows failed" in message
    assert "✗ first [error ≤ 1e-01; measured 5.0e-01]" in message
    assert "✓ positive" in message
    assert "✗ control: third [differs by ≥ 1e-01; measured 0.0e+00]" in message


@pytest.mark.parametrize(
    "row",
    [
        lambda check: check.equal([1, 2], [1, 2.1], tol=1e-3, what=""),
        lambda check: check.at_most([1, 3], [2, 2], what=""),
        lambda check: check.at_most(1 + 1e-9, 1, what="", tol=1e-12),
        lambda check: check.holds(False, what=""),
        lambda check: check.within(3.0, 0.0, 0.5, what=""),
        lambda check: check.differs(1, 1 + 1e-9, by=1e-6, what=""),
        lambda check: check.exceeds([1, 2], [1, 2], what=""),
        lambda check: check.exceeds(1.5, 1, by=0.6, what=""),
        lambda check: check.fails(True, what=""),
    ],
)
def test_each_kind_of_row_can_fail(row):
    assert "1 of 3 rows failed" in failure(positive, row, control)


@pytest.mark.parametrize(
    "row",
    [
        lambda check: check.equal([1, 2], [1, 2 + 1e-9], tol=1e-6, what=""),
        lambda check: check.equal(torch.ones(2), np.ones(2), tol=0, what=""),
        lambda check: check.equal([1e-9, 0], 0, tol=1e-6, scale=1, what=""),
        lambda check: check.equal(1j, 1j, tol=0, what=""),
        lambda check: check.equal(Fraction(1, 2), 0.5, tol=0, what=""),
        lambda check: check.at_most([1, 2], 2, what=""),
        lambda check: check.at_most(1 + 1e-13, 1, what="", tol=1e-12),
        lambda check: check.holds(np.bool_(True), what=""),
        lambda check: check.within([1.0, -1.0], [0.0, 0.0], [0.5, 0.5], what=""),
        lambda check: check.differs([1, 2], [1, 3], by=0.3, what=""),
        lambda check: check.exceeds([0, 3], [1, 2], by=0.9, what=""),
        lambda check: check.fails(np.bool_(False), what=""),
    ],
)
def test_each_kind_of_row_can_pass(row, capsys):
    with claim(PLAIN) as check:
        positive(check)
        row(check)
        control(check)
    assert "✓" in capsys.readouterr().out


METHODS = {
    "equal": {"tol": 0.1},
    "at_most": {},
    "differs": {"by": 0.1},
    "exceeds": {},
    "within": {"standard_error": 1.0},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("left", "right"), [(np.nan, 1.0), (1.0, np.nan), ([1, np.nan], [0, 0.5]), (np.inf, 1.0)]
)
def test_nan_and_infinity_fail_on_either_side(method, left, right):
    message = failure(
        positive,
        control,
        lambda check: getattr(check, method)(left, right, what="", **METHODS[method]),
    )
    assert "measured not finite" in message


@pytest.mark.parametrize("method", METHODS)
def test_shapes_that_differ_and_empty_arrays_fail(method):
    for left, right, reason in [
        ([1.0, 2.0], [1.0], "shapes (2,) and (1,)"),
        (np.ones((2, 1)), np.ones(2), "shapes (2, 1) and (2,)"),
        ([], [], "nothing to compare"),
    ]:
        message = failure(
            positive, control,
            lambda check, a=left, b=right: getattr(check, method)(a, b, what="", **METHODS[method]),
        )  # fmt: skip
        assert reason in message


def test_checks_that_check_nothing_are_refused():
    with claim(PLAIN) as check:
        positive(check)
        control(check)
        for tol in (-1e-3, 0.5, np.nan):
            with pytest.raises(ValueError, match="tol is"):
                check.equal(1, 1, tol=tol, what="")
        with pytest.raises(ValueError, match="scale"):
            check.equal(0, 0, tol=0.1, what="")
        with pytest.raises(ValueError, match="scale"):
            check.equal(1, 1, tol=0.1, scale=np.inf, what="")
        for by in (0, -1, np.nan):
            with pytest.raises(ValueError, match="by must be positive"):
                check.differs(1, 2, by=by, what="")
        with pytest.raises(ValueError, match="by must not be negative"):
            check.exceeds(2, 1, by=-1, what="")
        with pytest.raises(ValueError, match="standard_error"):
            check.within(1, 1, 0.0, what="")
        for condition in (np.array([True, True]), 1, "yes"):
            with pytest.raises(TypeError, match="one truth value"):
                check.holds(condition, what="")


def test_a_false_alarm_has_its_probability_on_the_card(capsys):
    with claim(PLAIN) as check:
        check.within(np.zeros(10), np.zeros(10), 1.0, z=3, what="ten means")
        control(check)
    assert "false alarm 3e-02" in capsys.readouterr().out  # 10 * 0.0027


def test_an_exception_inside_the_block_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError) as caught, claim(PLAIN):
        1 / 0  # noqa: B018
    lines = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "1 / 0" in lines
    assert "book/claims.py" not in lines


def test_the_card_escapes_text_and_keeps_math():
    check = Check(entry(number="Theorem <1>", title="A & B"))
    check.equal(1, 1, tol=0.1, what="$a<b$ <script>")
    html = check._repr_html_()
    assert "<script>" not in html
    assert "Theorem &lt;1&gt;" in html
    assert r"\(a&lt;b\)" in html
    assert 'class="measured">0.0e+00' in html
    assert "<a " not in html  # outside the book there is nothing to link to


def test_in_the_book_the_card_links_to_ledger_and_errata(monkeypatch):
    from runproofs.book.register import BOOK

    monkeypatch.chdir(BOOK / "ch2_shallow_linear")
    monkeypatch.setattr("runproofs.book.claims._anchored", set())
    check = claim(CERTAIN)
    html = check._repr_html_()
    assert 'href="../back/ledger.html#claim-thesis-theorem-6"' in html
    assert 'href="../back/errata.html#erratum-thesis-theorem-6"' in html
    assert 'id="check-thesis-theorem-6"' in html
    assert "id=" not in check._repr_html_()  # one anchor a page
