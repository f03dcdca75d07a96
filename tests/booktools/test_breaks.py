"""Wrong versions of claims: they are found, applied where they say, and noticed or reported."""

import inspect
import re
from pathlib import Path

import pytest

from booktools import breaks as saboteur
from runproofs import masks
from runproofs.book import breaks as sabotage
from runproofs.book.breaks import Break, all_breaks, break_library, broken, replaced
from runproofs.book.pages import cells
from runproofs.book.register import BOOK
from runproofs.linear.shallow import regularizer

PAGE = """# A page

```{{code-cell}} ipython3
from runproofs.book.claims import claim
from runproofs.linear.shallow import regularizer

factor = 3
assert regularizer([[1.0]], [[2.0]], factor) == 12, "asserts outside the card do not stop the run"
```

```{{code-cell}} ipython3
with claim("{claim}", tol=1e-12) as check:
    check("{row}").{judged}
    check("a neighbor").differs(1, 2, by=0.1)
```
"""
SEEING = "equal(regularizer([[1.0]], [[2.0]], factor), 4 * 3)"
BLIND = "equal(regularizer([[1.0]], [[2.0]], factor), regularizer([[1.0]], [[2.0]], factor))"
CLAIM = "thesis/equation-2.3"
DOUBLED = ("double it", "linear.shallow.regularizer", "_regularizer(U", "2 * _regularizer(U")
TYPED = ("another factor", "page", "factor = 3", "factor = 4")


@pytest.fixture
def book(monkeypatch, tmp_path):
    """A book of one page, whose card sees the breaks of its factor or not."""

    def write(judged):
        (tmp_path / "page.md").write_text(PAGE.format(claim=CLAIM, row="a row", judged=judged))
        monkeypatch.setattr(saboteur, "BOOK", tmp_path)

    return write


def tasks(*changes):
    return [("page", None), *(("page", Break(CLAIM, "page", *change)) for change in changes)]


def test_a_card_that_sees_turns_red(book):
    book(SEEING)
    said = []
    assert saboteur.check(tasks(DOUBLED, TYPED), jobs=1, out=said.append) == []
    assert sorted(line.split(" | ")[1:3] for line in said) == [
        ["another factor", "a row"], ["double it", "a row"],
    ]  # fmt: skip
    assert all(re.search(r"\| \d s$", line) for line in said), "each took seconds"
    assert regularizer([[1.0]], [[2.0]], 3) == 12, "only the child was broken"


def test_a_card_that_is_blind_is_reported(book):
    book(BLIND)
    assert saboteur.check(tasks(DOUBLED, TYPED), jobs=1, out=[].append) == [
        f"page: {CLAIM} stays green: double it", f"page: {CLAIM} stays green: another factor",
    ]  # fmt: skip


def test_a_tolerance_that_hides_a_sabotage_is_reported(book):
    tenth_more = (
        "a tenth more",
        "linear.shallow.regularizer",
        "_regularizer(U",
        "1.1 * _regularizer(U",
    )
    book(SEEING)
    assert saboteur.check(tasks(tenth_more), jobs=1, out=[].append) == []
    book(SEEING.replace("4 * 3)", "4 * 3, tol=0.2)"))
    (wrong,) = saboteur.check(tasks(tenth_more), jobs=1, out=[].append)
    assert "stays green: a tenth more" in wrong


def test_a_sabotage_that_changes_nothing_is_reported(book):
    book(SEEING)
    nothing = ("do nothing", "page", "factor = 3", "factor = 1 + 2")
    (wrong,) = saboteur.check(tasks(nothing), jobs=1, out=[].append)
    assert "stays green: do nothing" in wrong


def test_two_ids_that_are_exchanged_are_reported(book, tmp_path):
    other = "thesis/equation-2.1"
    book(SEEING)
    page = tmp_path / "page.md"
    card = f'with claim("{other}") as check:\n    check("one").equal(1, 1)\n'
    card += '    check("two").differs(1, 2, by=0.1)\n'
    text = page.read_text("utf-8").replace("with claim(", card + "with claim(")
    page.write_text(text, "utf-8")
    assert saboteur.check(tasks(TYPED), jobs=1, out=[].append) == []
    swapped = text.replace(other, "x").replace(CLAIM, other).replace('"x"', f'"{CLAIM}"')
    page.write_text(swapped, "utf-8")
    (wrong,) = saboteur.check(tasks(TYPED), jobs=1, out=[].append)
    assert f"{CLAIM} stays green" in wrong


def test_a_page_that_is_red_by_itself_is_reported(book):
    book("equal(regularizer([[1.0]], [[2.0]], factor), 13)")
    (wrong,) = saboteur.check(tasks(), jobs=1)
    assert "is not green by itself" in wrong


def test_a_crash_is_not_noticing(book):
    book(SEEING)
    crash = ("let it crash", "linear.shallow.regularizer", "_regularizer(U", "nobody(U")
    (wrong,) = saboteur.check(tasks(crash), jobs=1, out=[].append)
    assert "stays green" in wrong


@pytest.mark.parametrize("by", ["float('nan') * _regularizer(U", "[1.0, 2] * _regularizer(U"])
def test_what_a_row_cannot_compare_is_not_noticing(book, by):
    book(SEEING)
    spoilt = ("spoil it", "linear.shallow.regularizer", "_regularizer(U", by)
    (wrong,) = saboteur.check(tasks(spoilt), jobs=1, out=[].append)
    assert "stays green" in wrong


def test_a_page_whose_row_cannot_compare_is_reported(book):
    book("equal(float('nan'), 1)")
    (wrong,) = saboteur.check(tasks(), jobs=1)
    assert "not finite" in wrong


def test_no_claim_has_too_few_sabotages():
    assert saboteur.missing() == []


def test_a_card_that_crashes_does_not_hide_the_next_one(book, tmp_path):
    book(SEEING)
    page = tmp_path / "page.md"
    crashing = """with claim("thesis/equation-2.1") as check:
    check("finite unless the factor is 4").equal(1 / (4 - factor), 1)
with claim("thesis/equation-2.3\""""
    text = page.read_text("utf-8").replace(f'with claim("{CLAIM}"', crashing)
    assert text.count("with claim(") == 2
    page.write_text(text, "utf-8")
    assert saboteur.check(tasks(TYPED), jobs=1, out=[].append) == []


def test_the_command_counts_what_is_seen_and_names_what_is_not(book, monkeypatch, capsys):
    def command(judged, claim, *options):
        book(judged)
        monkeypatch.setattr(saboteur, "all_breaks", lambda: [Break(claim, "page", *TYPED)])
        return saboteur.main(["--jobs", "1", *options])

    assert command(SEEING, CLAIM, "--page", "book/page.md") == 0
    assert "All 1 breaks turn their claim red." in capsys.readouterr().out
    assert command(BLIND, CLAIM, "--claim", CLAIM) == 1
    assert f"page: {CLAIM} stays green: another factor" in capsys.readouterr().out
    assert command(SEEING, "thesis/lemma-2", "--page", "page") == 1
    assert "page.yml: thesis/lemma-2 is not checked on that page." in capsys.readouterr().out
    assert command(SEEING, CLAIM, "--claim", "thesis/lemma-2") == 1
    assert "There is no sabotage to run." in capsys.readouterr().err


def test_a_change_reaches_functions_that_were_imported_before(monkeypatch):
    monkeypatch.setattr(
        masks.all_masks, "__code__", masks.all_masks.__code__
    )  # restored at the end
    early = masks.all_masks
    swap = Break("", "", "", "masks.all_masks", "theta**k * ", "theta**(2 * k) * ")
    _, before = early(1, 0.5)
    try:
        break_library(swap)
        assert list(early(1, 0.5)[1]) != list(before)
    finally:
        monkeypatch.undo()
    assert list(early(1, 0.5)[1]) == list(before)


@pytest.mark.parametrize("piece", ["nowhere to be found", "e"])
def test_a_piece_must_occur_once(piece):
    with pytest.raises(ValueError, match=r"times in masks\.all_masks, not once"):
        break_library(Break("x", "", "", "masks.all_masks", piece, "1"))


def test_an_unknown_module_is_named():
    with pytest.raises(ValueError, match=r"no module of the library has nobody\.knows"):
        break_library(Break("x", "", "", "nobody.knows", "a", "b"))


def test_lines_are_found_and_indented_as_they_stand():
    text = "def f(x):\n    if x:\n        a = 1\n        b = 2\n    return 0\n"
    change = Break("x", "p", "", "page", "a = 1\nb = 2", "a = 2\nb = 1")
    assert "        a = 2\n        b = 1\n" in replaced(text, change)


def beside(book, page, fields):
    (book / f"{page}.md").touch()
    (book / f"{page}.yml").write_text(f"breaks:\n  thesis/x:\n  - {{{fields}}}\n")


def test_a_file_with_a_wrong_field_is_named(tmp_path):
    beside(tmp_path, "page", "brake: a, in: page, replace: a, by: b")
    with pytest.raises(ValueError, match=r"page\.yml, thesis/x: fields are"):
        all_breaks(tmp_path)


def test_sabotages_come_page_by_page_in_whichever_order_files_do(tmp_path, monkeypatch):
    for name in "ab":
        beside(tmp_path, name, "break: a, in: page, replace: a, by: b")
    listed = sorted(tmp_path.iterdir(), reverse=True)
    monkeypatch.setattr(Path, "rglob", lambda folder, pattern: iter(listed))
    assert [found.page for found in all_breaks(tmp_path)] == ["a", "b"]


def test_a_claim_without_sabotage_is_missing(monkeypatch):
    monkeypatch.setattr(saboteur, "invitations", lambda claim: [])
    assert any("thesis/lemma-2 (lemma) has 0 breaks, and needs 2." in w for w in saboteur.missing())
    monkeypatch.setattr(saboteur, "invitations", lambda claim: [1])
    found = saboteur.missing()
    assert any("thesis/lemma-2" in w for w in found)
    assert not any("thesis/equation-2.3" in w for w in found)


def test_every_sabotage_of_the_book_fits_its_claim_and_page():
    pages = saboteur.claims_of_pages()
    for wrong in sabotage.all_breaks():
        assert wrong.claim in pages[wrong.page], f"{wrong.claim} is not checked on {wrong.page}"
        assert wrong.replace != wrong.by


def test_every_piece_that_is_replaced_on_a_page_stands_there_once():
    for wrong in sabotage.all_breaks():
        if wrong.where == "page":
            page = (BOOK / f"{wrong.page}.md").read_text("utf-8")
            replaced("\0".join(cell.code for cell in cells(page)), wrong)  # or ValueError


def test_every_piece_that_is_replaced_in_the_library_stands_there_once():
    for wrong in sabotage.all_breaks():
        if wrong.where != "page":
            function, code = broken(wrong)  # or ValueError, or SyntaxError
            assert code != inspect.unwrap(function).__code__, wrong
