"""The register is well formed, and agrees with the pages."""

import re

import pytest
import yaml

from runproofs.claims.pages import checks_in
from runproofs.claims.registry import (
    BOOK,
    beside,
    demand_clone,
    misstated,
    on_pages,
    register,
    stated,
)

ENTRY = {"number": "Lemma 1", "section": "1", "kind": "lemma", "title": "A title"}
TOLD = ENTRY | {"statement": "A statement."}
ERRATUM = dict.fromkeys(("printed", "problem", "corrected", "evidence"), "words") | {
    "grade": "certain",
    "weight": "minor",
}


def write(book, text, page="ch1_first/page"):
    """A file beside a page of a book, and the page."""
    path = book / f"{page}.yml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    path.with_suffix(".md").touch()
    register.cache_clear()
    beside.cache_clear()


def load(book, entries, page="ch1_first/page"):
    """The register of a book with these entries."""
    write(book, yaml.safe_dump({"claims": entries}, sort_keys=False), page)
    return register(book)


def test_an_entry_comes_back(tmp_path):
    told = TOLD | {"kind": "narrative", "number": "2"}
    entries = load(tmp_path, {"thesis/lemma-1": ENTRY | {"erratum": ERRATUM}, "thesis/b": told})
    found = entries["thesis/lemma-1"]
    assert (found.chapter, found.status, found.slug) == ("ch1", "checked", "thesis-lemma-1")
    assert (found.source, found.name) == ("thesis", "Lemma 1")
    assert found.erratum.grade == "certain"
    assert entries["thesis/b"].status == "told"


def test_a_claim_of_another_source_is_named_with_it(tmp_path):
    ids = ("vidal/lemma-1", "helmbold-long/lemma-1", "beyond/lemma-1", "icml/lemma-1")
    found = load(tmp_path, dict.fromkeys(ids, ENTRY))
    names = ["Vidal, Lemma 1", "Helmbold and Long, Lemma 1", "Lemma 1", "Lemma 1"]
    assert [entry.name for entry in found.values()] == names


@pytest.mark.parametrize(
    ("grade", "weight", "needed"),
    [
        ("certain", "major", True),
        ("certain", "typo", True),
        ("certain", "wording", False),
        ("likely", "major", False),
        ("extraction artifact", "typo", False),
    ],
)
def test_what_is_certainly_wrong_needs_a_counterexample(tmp_path, grade, weight, needed):
    slip = ENTRY | {"erratum": ERRATUM | {"grade": grade, "weight": weight}}
    assert load(tmp_path, {"thesis/a": slip})["thesis/a"].needs_counterexample == needed
    assert not load(tmp_path, {"thesis/a": ENTRY})["thesis/a"].needs_counterexample


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "lemmma"}, r"page.yml: thesis/lemma-1.kind must be one of .*'lemmma'"),
        ({"extra": 1}, "extra"),
        ({"section": 2.10}, r"lemma-1.section must be string, but it is 2.1"),
        ({"title": ""}, r"lemma-1.title must "),
        ({"erratum": {**ERRATUM, "grade": "sure"}}, "grade must be one of .*'sure'"),
        ({"erratum": {**ERRATUM, "weight": "huge"}}, "weight must be one of .*'huge'"),
        ({"erratum": {**ERRATUM, "extra": ""}}, "extra"),
        ({"erratum": {"grade": "certain"}}, r"lemma-1.erratum must "),
        ({"erratum": None}, r"lemma-1.erratum must "),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load(tmp_path, {"thesis/lemma-1": ENTRY | change})
    for field in ENTRY:
        lacking = {key: value for key, value in ENTRY.items() if key != field}
        with pytest.raises(ValueError, match=rf"must contain \['{field}'\] properties"):
            load(tmp_path, {"thesis/a": lacking})


@pytest.mark.parametrize("name", ["someone/lemma-1", "thesis/lemma 1", "thesis/lemma-", 3])
def test_a_malformed_id_is_named(tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}.id must "):
        load(tmp_path, {name: ENTRY})


@pytest.mark.parametrize(
    "text", ["", "- a", "claims: []", "claims: [", "claim: {a: 1}", "claims: {}\nclaims: {}"]
)
def test_a_broken_file_is_named(tmp_path, text):
    write(tmp_path, text)
    with pytest.raises(ValueError, match=r"page\.yml"):
        register(tmp_path)


def test_a_file_stands_beside_a_page_of_a_chapter(tmp_path):
    write(tmp_path, "breaks: {a: []}", "practice/page")
    assert register(tmp_path) == {}
    with pytest.raises(ValueError, match=r"practice/page\.yml: .* belong to a chapter"):
        load(tmp_path, {"thesis/a": ENTRY}, "practice/page")
    write(tmp_path, "breaks: {a: []}", "practice/page")
    attack = load(tmp_path, {"beyond/a": ENTRY}, "practice/your_attack")["beyond/a"]
    assert attack.chapter == "ch6"
    (tmp_path / "practice" / "page.md").unlink()
    beside.cache_clear()
    with pytest.raises(ValueError, match=r"page\.yml stands beside no page"):
        beside(tmp_path)


def test_an_id_may_not_occur_twice_nor_share_an_anchor(tmp_path):
    load(tmp_path, {"thesis/lemma-1": ENTRY})
    for name in ("thesis/lemma-1", "thesis/lemma.1"):
        with pytest.raises(ValueError, match="thesis-lemma-1 occurs twice"):
            load(tmp_path, {name: ENTRY | {"number": "Lemma 2"}}, "ch1_first/zweite")


def test_a_number_may_not_occur_twice_in_a_source(tmp_path):
    def numbered(folder, source, number, page="ch2_x/two"):
        (tmp_path / folder).mkdir()
        load(tmp_path / folder, {f"{source}/one": ENTRY | {"number": number}}, "ch2_x/one")
        return load(tmp_path / folder, {f"{source}/two": ENTRY | {"number": number}}, page)

    with pytest.raises(ValueError, match=r"thesis.*\(2\.12\).* occurs twice"):
        numbered("thesis", "thesis", "(2.12)")
    with pytest.raises(ValueError, match=r"beyond.*Theorem A.* occurs twice"):
        numbered("beyond", "beyond", "Theorem A")
    numbered("unnumbered", "thesis", "Section 3, unnumbered")
    numbered("chapters", "beyond", "Theorem A", "ch3_y/two")  # our letters begin anew in each


BOX = """:::{prf:lemma} Lemma 1
:label: the-label
:claim: %s
:nonumber:
It holds:

$$
x = y.
$$ (its-label)
:::
"""
TWO = {"thesis/one": ENTRY, "thesis/two": ENTRY | {"number": "Lemma 2"}}


@pytest.fixture
def book(tmp_path):
    """A book of one page, whose box names these claims."""

    def written(names, entries=TWO):
        load(tmp_path, entries)
        (tmp_path / "ch1_first" / "page.md").write_text(BOX % names, "utf-8")
        for reader in (stated, on_pages):
            reader.cache_clear()
        return tmp_path

    return written


def test_a_box_states_the_claims_that_it_names(book):
    found = stated(book("thesis/one, thesis/two"))
    assert found.keys() == TWO.keys()
    assert found["thesis/one"].label == "the-label"
    assert found["thesis/one"].text.startswith("It holds:")


@pytest.mark.parametrize(
    ("names", "entries", "said"),
    [
        ("thesis/one, thesis/two", TWO, []),
        ("thesis/one", TWO, ["thesis/two has neither a box nor a statement."]),
        ("thesis/one, thesis/two", TWO | {"thesis/one": TOLD}, ["thesis/one is stated twice."]),
        ("thesis/one, thesis/two, thesis/3", TWO, ["'thesis/3', which no page.yml has."]),
        ("", {}, ["states '', which no page.yml has."]),
    ],
)
def test_what_is_stated_nowhere_or_twice_is_named(book, names, entries, said):
    found = list(misstated(book(names, entries)))
    assert len(found) == len(said)
    assert all(sentence.endswith(end) for sentence, end in zip(found, said, strict=True))


def test_each_claim_of_the_book_is_stated_once():
    assert list(misstated()) == []


def test_each_checked_claim_and_no_other_promises_evidence():
    for entry in register().values():
        assert bool(entry.evidence) == (entry.status == "checked"), entry.id


def test_the_statement_is_that_of_the_page():
    lemma = register()["thesis/lemma-2"]
    assert r"\mathbb E[xx^\top]=I" in lemma.statement
    assert not re.search(r"\$\$ *\(", "".join(entry.statement for entry in register().values()))
    assert all(entry.statement.strip() for entry in register().values())


@pytest.mark.parametrize(
    ("options", "code", "found"),
    [
        ("", 'with claim("a/b") as check:\n    pass', ["a/b"]),
        (":tags: [hide-input]\n", 'x = 1\nwith claim("a/b", tol=1e-9) as check: pass', ["a/b"]),
        ("", '# with claim("a/b") as check:', []),
        ("", 'if False:\n    with claim("a/b") as check:\n        pass', []),
        (":tags: [skip-execution]\n", 'with claim("a/b") as check:\n    pass', []),
        ("---\ntags: [raises-exception]\n---\n", 'with claim("a/b") as check:\n    pass', []),
    ],
)
def test_a_block_counts_where_it_runs_at_each_build(options, code, found):
    assert checks_in(f"Prose.\n\n```{{code-cell}} ipython3\n{options}{code}\n```\n") == found
    assert checks_in(f"```python\n{code}\n```\n") == []


def test_each_claim_is_checked_once_on_some_page_or_told():
    pages = [page for page in BOOK.rglob("*.md") if "ipynb" not in page.as_posix()]
    found = [checks_in(page.read_text("utf-8")) for page in pages]
    for checks in found:
        assert len(checks) == len(set(checks)), checks
    checked = {entry.id for entry in register().values() if entry.status == "checked"}
    assert set().union(*found) == checked


FORMULA = re.compile(r"(?s:\$\$.*?\$\$)|\$[^$]*\$|`[^`]*`")  # or code
RAW = re.compile(
    r"\|\||_\{|\^\{|\b[A-Za-z]\^[\dT*]|[A-Za-z]_[a-z0-9]\b|<=|>=|\bsqrt\b"
    r"|\b(alpha|epsilon|kappa|lambda|nu|rho|sigma|theta)\b"
    r"|[≤≥∈‖²³αβγδεζηθκλμνξπρστφχψω]|\b[A-Za-z] ?= ?\d|\b1e-\d|\d ?x ?\d"
)


def test_formulas_stand_between_dollars():
    for claim in register().values():
        told = {"title": claim.title, "statement": claim.statement}
        told |= claim.erratum._asdict() if claim.erratum else {}
        for field, text in told.items():
            raw = RAW.search(FORMULA.sub("", text))
            assert not raw, f"{claim.id}, {field}: {raw[0]}"


def test_what_only_a_clone_can_do_ends_in_one_sentence(tmp_path):
    demand_clone("Breaking claims")  # these tests lie in one
    with pytest.raises(SystemExit, match=r"^Breaking claims needs a clone of the book: [^.]*\.$"):
        demand_clone("Breaking claims", tmp_path)
