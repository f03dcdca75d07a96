"""A block that cannot fail cannot be left: each rule of `claims` bites."""

import re
import traceback
from contextlib import suppress

import pytest

from runproofs.claims import block
from runproofs.claims.block import Check, ClaimFailed, claim, example
from runproofs.claims.breaks import Break
from runproofs.claims.registry import BOOK, Claim, Erratum

PLAIN = "thesis/equation-2.1"  # an entry without erratum
CERTAIN = "thesis/theorem-6"  # an entry with a certain erratum


def entry(**changes):
    fields = dict.fromkeys(Claim._fields, "") | {"id": "source/name", "erratum": None}
    return Claim(**(fields | changes))


def erratum(grade, weight="minor"):
    return Erratum(grade, weight, "", "", "", "")


def positive(check):
    check("positive").holds(True)


def control(check):
    check("control").fails(False)


def as_printed(check):
    check("the print").fails(False, as_printed=True)


def leave(*rows, on=None):
    """Enters and leaves a block with these rows; returns it."""
    with Check(on or entry()) as check:
        for row in rows:
            row(check)
    return check


def failure(*rows, on=None):
    """The message with which a block of these rows fails."""
    with pytest.raises(ClaimFailed) as caught:
        leave(*rows, on=on)
    return str(caught.value)


def test_a_good_block_passes_and_prints_its_rows(capsys, monkeypatch):
    monkeypatch.setattr(block, "invitations", lambda identifier: [])
    with claim(PLAIN, tol=1e-3, evidence="computed") as check:
        control(check)
        positive(check)
        check("nearly").equal(1.0001, 1)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  ✓ positive [computed: true]",
        "  ✓ nearly [computed: error ≤ 0.001]",
        "  must fail, and does:",
        "  ✗ control [computed: false]",
    ]


def test_without_a_tolerance_a_block_compares_exactly():
    assert "1 of 3 rows failed" in failure(
        positive, control, lambda check: check("nearly").equal(1 + 1e-15, 1)
    )


def test_what_cannot_be_claimed(monkeypatch):
    with pytest.raises(KeyError, match="not in the register"):
        claim("thesis/theorem-99")
    for tol in (-1, 0.3):
        with pytest.raises(ValueError, match="tol is"):
            claim(PLAIN, tol=tol)
    told = {"thesis/told": entry(id="thesis/told", kind="narrative")}
    monkeypatch.setattr(block, "register", lambda: told)
    with pytest.raises(ValueError, match="narrative"):
        claim("thesis/told")


def test_a_block_needs_sentences_a_positive_row_and_a_control():
    assert "no positive row" in failure(control)
    assert "no control" in failure(positive)
    assert "no positive row" in failure()
    for text in ("", "  ", None, 1):
        with pytest.raises(ValueError, match="a row is a sentence"):
            leave(lambda check, text=text: check(text))


def test_a_row_that_is_never_judged_fails_the_block_and_its_card_says_so():
    with pytest.raises(ClaimFailed, match=r"! forgotten \[never judged\]") as caught:
        leave(positive, control, lambda check: check("forgotten"))
    card = caught.value.check
    assert card.wrong() == ["'forgotten' was never judged."]
    assert "never judged</span></li>" in card._repr_html_()


def test_a_row_is_judged_inside_the_block_that_is_entered_once():
    check = Check(entry())
    with pytest.raises(RuntimeError, match="outside the block"):
        check("too early")
    with pytest.raises(ClaimFailed), check:
        late = check("judged afterwards")
    with pytest.raises(RuntimeError, match="outside the block"):
        check("too late")
    with pytest.raises(RuntimeError, match="outside the block"):
        late.holds(True)
    with pytest.raises(RuntimeError, match="entered twice"), check:
        pass


def test_the_message_lists_every_row_with_what_was_measured():
    message = failure(
        lambda check: check("first").equal(1.5, 1, tol=0.1),
        positive,
        lambda check: check("third").differs(1, 1, by=0.1),
    )
    assert "2 of 3 rows failed" in message
    assert "! first [computed: error ≤ 0.1; measured 0.5 > 0.1]" in message
    assert "✓ positive" in message
    assert "! third [computed: ≥ 0.1 apart; measured 0 < 0.1 apart]" in message
    assert "and does" not in message


def test_a_certain_erratum_needs_its_counterexample(capsys):
    certain = entry(erratum=erratum("certain"))
    assert "no row marked as_printed" in failure(positive, control, on=certain)
    leave(positive, as_printed, on=certain)
    assert "✗ as printed: the print" in capsys.readouterr().out


@pytest.mark.parametrize(
    "slip",
    [None, erratum("likely"), erratum("extraction artifact"), erratum("certain", "wording")],
)
def test_nothing_else_is_shown_as_printed(slip):
    leave(positive, control, on=entry(erratum=slip))
    message = failure(positive, as_printed, on=entry(erratum=slip))
    assert "the register has no certain erratum to show" in message


def test_an_exception_inside_the_block_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError) as caught, claim(PLAIN):
        1 / 0  # noqa: B018
    lines = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "1 / 0" in lines
    assert "book/claims.py" not in lines


def test_the_card_separates_what_holds_from_what_must_fail(monkeypatch):
    wrong = Break("source/name", "page", "drop `x` < 1", "page", "x", "")
    monkeypatch.setattr(block, "invitations", lambda identifier: [wrong] * (identifier == wrong[0]))
    certain = entry(erratum=erratum("certain"))
    check = leave(
        as_printed, lambda check: check("close").equal(1 + 2.22e-16, 1, tol=1e-12), on=certain
    )
    text = re.sub("<[^>]*>", "|", check._repr_html_())
    words = [word.strip() for word in text.split("|") if word.strip()]
    assert words == [
        "✓", "close", "·", "computed:", "2e-16 ≤ 1e-12",
        "must fail, and does", "✗", "as printed", "the print", "·", "computed:", "false",
        "Break it:", "drop", "x", "&lt; 1", "on this page\n- x",
    ]  # fmt: skip
    assert str(check).splitlines()[-1] == "  break it: drop `x` < 1"


def test_of_a_long_card_the_first_rows_are_seen_and_whatever_failed():
    def folded(n, m, failed=()):
        def row(k):
            return lambda check: check(f"row {k}").equal(k, k + (k in failed), tol=0)

        def wrong(k):
            return lambda check: check(f"variant {k}").differs(k, k + 2, by=0.1)

        make = Check(entry())
        with suppress(ClaimFailed), make:
            for judged in (*map(row, range(n)), *map(wrong, range(m))):
                judged(make)
        html = make._repr_html_()
        assert html.count("<li") == n + m
        return re.findall(r'<details class="more"( open)?><summary>(.*?)</summary>', html)

    assert folded(4, 2) == folded(5, 1) == []
    assert folded(6, 1) == [("", "and 1 more row")]
    assert folded(20, 9) == [("", "and 16 more rows"), ("", "and 7 more rows")]
    assert folded(20, 1, failed=[19]) == [(" open", "and 15 more rows")]
    assert folded(20, 1, failed=[2]) == [("", "and 15 more rows")]


def test_several_ways_to_break_it_stand_under_one_line(monkeypatch):
    ways = [Break("source/name", "page", f"way {k}", "page", "x", "") for k in range(3)]
    monkeypatch.setattr(block, "invitations", lambda identifier: ways)
    html = leave(positive, control, on=entry())._repr_html_()
    assert html.count("Break it") == 1
    assert "</em> 3 ways</summary><details" in html
    assert re.findall("<summary>(way .)</summary>", html) == ["way 0", "way 1", "way 2"]


def test_the_card_in_plain_text_shows_nothing_that_was_measured():
    def block(size):
        return str(
            leave(
                lambda check: check("error").equal(1 + size, 1, tol=0.1),
                lambda check: check("order").at_most(1, 1 + size, tightness=0.3),
                lambda check: check("mean").within(1 + size, 1, 0.1),
                lambda check: check("apart").differs(2 + size, 1, by=0.1),
                lambda check: check("beyond").exceeds(2 + size, 1 + size / 2),
            )
        )

    assert block(1e-3) == block(2e-3)


def test_the_card_escapes_text_and_keeps_math():
    check = leave(
        control, lambda check: check("$a<b$ <script>").holds(True),
        on=entry(number="Theorem <1>", title="A & B"),
    )  # fmt: skip
    html = check._repr_html_()
    assert "<script>" not in html
    assert "Theorem &lt;1&gt;" in html
    assert r"\(a&lt;b\)" in html
    assert "<a " not in html  # outside the book there is nothing to link to


def test_in_the_book_the_card_links_to_ledger_and_errata(monkeypatch):
    monkeypatch.chdir(BOOK / "ch2_shallow_linear")
    monkeypatch.setattr(block, "_anchored", set())
    check = claim(CERTAIN)
    html = check._repr_html_()
    assert 'href="../back/ledger.html#claim-thesis-theorem-6"' in html
    assert 'href="../back/errata.html#erratum-thesis-theorem-6"' in html
    assert 'id="check-thesis-theorem-6"' in html
    assert "id=" not in check._repr_html_()  # one anchor a page
    for slip, linked in (
        (erratum("certain", "wording"), True),
        (erratum("likely"), True),
        (erratum("extraction artifact"), False),
        (None, False),
    ):
        assert ("errata.html" in Check(entry(erratum=slip))._repr_html_()) == linked


def test_an_example_keeps_the_rules_and_its_card_leads_nowhere(monkeypatch):
    monkeypatch.chdir(BOOK / "ch2_shallow_linear")
    said = failure(positive, control, on=example("one coin", "exact").claim)
    assert "its first row is 'computed', and its heading says 'exact'" in said
    html = leave(positive, control, on=example("one coin", "computed").claim)._repr_html_()
    assert "<b>Example</b> one coin" in html
    assert "<a " not in html
    with pytest.raises(ValueError, match=r"evidence must be one of for-all, .* it was 'certain'"):
        example("one coin", "certain")


def test_where_nothing_catches_it_a_red_card_is_shown_under_its_false_rows(monkeypatch):
    shown = []
    monkeypatch.setattr(block, "_show", shown.append)
    with pytest.raises(ClaimFailed) as caught:
        leave(
            positive, lambda check: check("$\\pi$ is 3").equal(3.14, 3, tol=0.01),
            lambda check: check("a wrong one").differs(1, 1, by=0.1), on=entry(),
        )  # fmt: skip
    assert not shown  # a cell may catch it
    identifier, false, true = caught.value._render_traceback_()
    assert identifier == f"ClaimFailed: {caught.value.check.claim.id}"
    said = "On this machine this row is"
    assert false == f"{said} false: $\\pi$ is 3 (demanded: error ≤ 0.01; measured: 0.047 > 0.01)"
    assert caught.value._render_traceback_() == [identifier, false, true]
    assert true.startswith(f"{said} true, and must be false: a wrong one (demanded: ≥ 0.1 apart;")
    [card] = shown
    html = card._repr_html_()
    assert html.index("is false: \\(\\pi\\) is 3") < html.index("<li")
    assert re.findall(r'<li class="failed">.*?</li>', html) == [
        row for row in re.findall("<li.*?</li>", html) if ">!<" in row
    ]
    assert html.count('<li class="failed">') == 2
    assert 'class="heading">must fail</p>' in html
