"""The numbers of statements are those of the register."""

import re
from collections import defaultdict
from types import SimpleNamespace

import pytest

from booksite import routes, statements
from booksite.statements import numbers
from runproofs.book.register import BOOK, checks_in, register

BOX = re.compile(r"^:{3,}\{prf:(?!proof)[a-z]+\} (.+)$", re.M)
SHOWN = ("equation", "figure", "table")  # which need no box


def numbers_of_pages():
    """By folder the numbers in the titles of its boxes and the claims it checks; all text."""
    titles, checks, texts = defaultdict(set), defaultdict(list), []
    for path in BOOK.rglob("*.md"):
        text = path.read_text("utf-8")
        titles[path.parent] |= {number for title in BOX.findall(text) for number in numbers(title)}
        texts.append(text)
        checks[path.parent] += checks_in(text)
    return titles, checks, "".join(texts)


def misnumbered(known) -> list[str]:
    """Numbers in titles that no claim has, and those of claims that no box or text has."""
    titles, checks, text = numbers_of_pages()
    told = {number for entry in known.values() if entry.status == "told"
            for number in numbers(entry.number)}  # fmt: skip
    found = []
    for folder, claims in checks.items():
        of_claims = {claim: numbers(known[claim].number) for claim in claims}
        found += titles[folder] - told - set().union(*of_claims.values())
        for claim, wanted in of_claims.items():
            if known[claim].kind in SHOWN:
                lost = [number for number in wanted if number not in text]
            else:
                lost = [] if not wanted or wanted & titles[folder] else wanted
            found += lost
    return sorted(found)


def test_boxes_and_register_have_the_same_numbers():
    # Its first part is a sentence of the page on the explicit regularizer.
    assert misnumbered(register()) == ["Lemma 6 (1)"]


def test_another_number_in_the_register_is_named():
    for claim, number in (("thesis/theorem-6", "Theorem 66"), ("thesis/equation-2.2", "(2.22)")):
        forged = register() | {claim: register()[claim]._replace(number=number)}
        assert number in misnumbered(forged)


@pytest.mark.parametrize("part", [routes, statements])
def test_what_another_process_has_read_is_taken_over(part):
    kept = routes.lengths if part is routes else statements.pages
    env, other = SimpleNamespace(), SimpleNamespace()
    kept(env).update(first=1, again=1)
    kept(other).update(first=2, again=2, second=2)
    part.merge(None, env, {"again", "second", "without"}, other)
    assert kept(env) == {"first": 1, "again": 2, "second": 2}


@pytest.fixture
def places():
    """Of a book of four pages in two folders; where a page has several boxes, the last fits."""

    def box(document, label, title):
        return statements.Box(document, label, title)

    told = next(entry for entry in register().values() if entry.status == "told" and entry.number)
    pages = {
        "a/one": [
            box("a/one", "six", "Theorem 6 and (2.14): the optimum"),
            box("a/one", "alone", "Theorem 6: its number alone, which fits no better"),
            "thesis/theorem-6",
            "no claim of the register",
            box("a/one", "way", "On our road"),
            box("a/one", "norm", "A squared path norm"),
            "thesis/equation-2.3",
            box("a/one", "between", "Unheard of"),
            "thesis/lemma-2",
            box("a/one", "end", "Nothing follows"),
        ],
        "a/two": [box("a/two", "lemmas", "Lemmas 2 and 3: two of them")],
        "b/one": [box("b/one", "other", "Lemma 2: of another folder"), "thesis/theorem-1"],
        "b/two": [box("b/two", "told", f"{told.number}: as it is told")],
    }
    card = statements.Card("b/one", "<p>", "")
    found = {
        name: (items, {"slug": [card]} if name > "a/two" else {}) for name, items in pages.items()
    }
    return statements.Places(found), told.id, pages


def test_a_box_states_the_claims_of_its_number_or_its_words(places):
    found, told, _ = places
    assert {claim: box.label for claim, box in found.stated.items()} == {
        "thesis/theorem-6": "alone",
        "thesis/equation-2.3": "norm",
        "thesis/lemma-2": "lemmas",
        told: "told",
    }
    assert found.claims["norm"] == ["thesis/equation-2.3"]
    assert len(found.cards["slug"]) == 2


def test_a_box_that_is_left_goes_with_the_next_check_of_its_page(places):
    found, _, pages = places
    assert found.beside == {
        "six": "thesis/theorem-6",
        "way": "thesis/equation-2.3",
        "between": "thesis/lemma-2",
        "other": "thesis/theorem-1",
    }
    boxes = [item for items in pages.values() for item in items if not isinstance(item, str)]
    leads = {box.label: found.of(box) for box in boxes}
    assert leads["norm"] == leads["way"] == ["thesis/equation-2.3"]
    assert leads["end"] == []
