"""The bibliography lists what is cited, and nothing else; its addresses are well formed."""

import re

from pybtex.database import parse_file

from runproofs.claims.registry import BOOK

ENTRIES = parse_file(BOOK / "references.bib").entries
ADDRESSES = {
    "doi": r"10\.\d{4,5}/[^\s{}]+",
    "eprint": r"\d{4}\.\d{4,5}",
    "url": r"https://[^\s{}]+",
}


def cited():
    text = "".join(path.read_text("utf-8") for path in BOOK.rglob("*.md"))
    text += "".join(path.read_text("utf-8") for path in BOOK.rglob("*.yml"))
    for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text):
        yield from (re.sub(r".*<|>", "", key).strip() for key in keys.split(","))


def test_what_is_listed_is_cited_and_what_is_cited_is_listed():
    assert set(cited()) == set(ENTRIES)


def test_names_are_spelled_in_unicode():
    assert "\\" not in (BOOK / "references.bib").read_text("utf-8")


def test_addresses_are_well_formed_and_say_whose_they_are():
    for key, entry in ENTRIES.items():
        for field, pattern in ADDRESSES.items():
            if field in entry.fields:
                assert re.fullmatch(pattern, entry.fields[field]), f"{key}: {field}"
        assert ("eprint" in entry.fields) == ("archiveprefix" in entry.fields), key
    dois = [entry.fields["doi"] for entry in ENTRIES.values() if "doi" in entry.fields]
    assert len(dois) == len(set(dois))
