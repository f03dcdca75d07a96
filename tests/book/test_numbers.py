"""The numbers of statements are those of the register."""

import re
from collections import defaultdict

from booksite.statement_index import numbers
from runproofs.claims.pages import checks_in
from runproofs.claims.registry import BOOK, register

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


def misnumbered() -> list[str]:
    """Numbers in titles that no claim has, and those of claims that no box or text has."""
    titles, checks, text = numbers_of_pages()
    known = register()
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
    assert misnumbered() == ["Lemma 6 (1)"]
