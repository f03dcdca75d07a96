"""Wrong versions of claims: they are applied where they say, and noticed or reported."""

import inspect

import pytest

from booktools import breaks
from booktools.children import in_child
from runproofs import masks
from runproofs.claims.breaks import Break, all_breaks, break_library, broken, replaced
from runproofs.claims.pages import cells
from runproofs.claims.registry import BOOK, register

PAGE = """# A page

```{{code-cell}} ipython3
from runproofs.claims.block import claim
from runproofs.linear.shallow import regularizer

factor = 3
assert regularizer([[1.0]], [[2.0]], factor) == 12, "an assert outside stops nothing"
```

```{{code-cell}} ipython3
with claim("thesis/equation-2.1", evidence="computed") as check:
    check("finite unless the factor is 4").equal(1 / (4 - factor), 1)
    check("a neighbor").differs(1, 2, by=0.1)
with claim("thesis/equation-2.2", evidence="computed", tol=1e-12) as check:
    check("a row").{judged}
    check("a neighbor").differs(1, 2, by=0.1)
```
"""
VALUE = "regularizer([[1.0]], [[2.0]], factor)"
SEEING, BLIND = f"equal({VALUE}, 4 * 3)", f"equal({VALUE}, {VALUE})"
CLAIM = "thesis/equation-2.2"
TYPED = ("another factor", "page", "factor = 3", "factor = 4")


def doubled(by):
    return ("change it", "linear.shallow.regularizer", "_regularizer(U", by)


@pytest.fixture
def wrong(tmp_path):
    """What is wrong with a book of one page, whose card sees a break of its factor or not."""

    def check(judged, *changes, page=PAGE, claim=CLAIM):
        path = tmp_path / "page.md"
        path.write_text(page.format(judged=judged), "utf-8")
        listed = [Break(claim, "page", *change) for change in changes]
        return in_child(lambda: breaks.check(path, listed)[:2])

    return check


def test_a_card_that_sees_turns_red(wrong):
    found, seen = wrong(SEEING, TYPED, doubled("2 * _regularizer(U"))
    assert found == []
    assert len(seen) == 2
    assert all("| a row |" in line for line in seen)


@pytest.mark.parametrize(
    ("judged", "change"),
    [
        (BLIND, TYPED),
        (BLIND, doubled("2 * _regularizer(U")),
        (SEEING.replace("4 * 3)", "4 * 3, tol=0.2)"), doubled("1.1 * _regularizer(U")),
        (SEEING, ("do nothing", "page", "factor = 3", "factor = 1 + 2")),
        (SEEING, doubled("nobody(U")),  # a crash
        (SEEING, doubled("float('nan') * _regularizer(U")),
        (SEEING, doubled("[1.0, 2] * _regularizer(U")),
    ],
)
def test_a_card_that_stays_green_is_reported(wrong, judged, change):
    found, seen = wrong(judged, change)
    assert found == [f"page: {CLAIM} stays green: {change[0]}"]
    assert "| NOTHING (" in seen[0]


def test_the_card_of_another_claim_does_not_count(wrong):
    other = "thesis/equation-2.1"
    swapped = PAGE.replace(other, "x").replace(CLAIM, other).replace('"x"', f'"{CLAIM}"')
    assert f"{CLAIM} stays green" in wrong(SEEING, TYPED, page=swapped)[0][0]


@pytest.mark.parametrize(
    ("judged", "said"), [(f"equal({VALUE}, 13)", "a row"), ("equal(float('nan'), 1)", "finite")]
)
def test_a_page_that_is_red_by_itself_is_reported(wrong, judged, said):
    found, _ = wrong(judged)
    assert found
    assert all("is not green by itself" in line for line in found)
    assert said in " ".join(found)


def test_a_change_reaches_functions_that_were_imported_before(monkeypatch):
    monkeypatch.setattr(
        masks.all_masks, "__code__", masks.all_masks.__code__
    )  # restored at the end
    early = masks.all_masks
    _, before = early(1, keep=0.5)
    break_library(Break("", "", "", "masks.all_masks", "keep**k * ", "keep**(2 * k) * "))
    assert list(early(1, keep=0.5)[1]) != list(before)


def test_a_piece_must_occur_once():
    for piece in ("nowhere to be found", "e"):
        with pytest.raises(ValueError, match=r"times in masks\.all_masks, not once"):
            break_library(Break("x", "", "", "masks.all_masks", piece, "1"))


def test_a_claim_without_breaks_is_missing(monkeypatch, capsys):
    assert breaks.missing(list(register())) == []
    monkeypatch.setattr(breaks, "invitations", lambda claim: [])
    said = ["thesis/lemma-2 (lemma) has 0 breaks, and needs 2."]
    assert breaks.missing(["thesis/lemma-2"]) == said
    assert breaks.main(["--claim", "no such claim"]) == 1
    assert "There is no break to run." in capsys.readouterr().err


def test_every_break_of_the_book_fits_its_claim_and_its_piece_stands_once():
    for wrong in all_breaks():
        assert wrong.claim in breaks.claims_of(wrong.page), f"{wrong.claim} is not on {wrong.page}"
        assert wrong.replace != wrong.by
        if wrong.where == "page":
            page = (BOOK / f"{wrong.page}.md").read_text("utf-8")
            replaced("\0".join(cell.code for cell in cells(page)), wrong)  # or ValueError
        else:
            function, code = broken(wrong)  # or ValueError, or SyntaxError
            assert code != inspect.unwrap(function).__code__, wrong
