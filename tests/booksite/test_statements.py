"""The numbers of statements are those of the register."""

import re
from collections import defaultdict
from types import SimpleNamespace

import pytest

from booksite import routes, statements
from booksite.statements import numbers
from runproofs.book.pages import checks_in
from runproofs.book.register import BOOK, register

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


def test_a_box_leads_to_what_it_states_or_to_what_needs_it():
    def box(label, *claims, leads_to=""):
        return statements.Box("a/one", label, "A title", claims, leads_to)

    boxes = [box("two", "thesis/one", "thesis/two"), box("way", leads_to="thesis/one")]
    card = statements.Card("b/one", "<p>", "")
    found = statements.Places({"a/one": (boxes, {}), "b/one": ([], {"slug": [card]}),
                               "b/two": ([], {"slug": [card]})})  # fmt: skip
    assert {claim: box.label for claim, box in found.stated.items()} == {
        "thesis/one": "two",
        "thesis/two": "two",
    }
    assert [box.leads() for box in found.boxes["a/one"]] == [
        ["thesis/one", "thesis/two"],
        ["thesis/one"],
    ]
    assert len(found.cards["slug"]) == 2
