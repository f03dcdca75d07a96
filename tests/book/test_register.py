"""The register is well formed, and agrees with the pages."""

import re

import pytest
import yaml

from runproofs.book.register import BOOK, checks_in, demand_clone, raw_formulas, register
from tools import digest
from tools.digest import changed

ENTRY = {
    "id": "thesis/lemma-1", "number": "Lemma 1", "section": "1", "kind": "lemma",
    "title": "A title", "statement": "A statement.", "how": "By hand.", "erratum": None,
}  # fmt: skip
ERRATUM = dict.fromkeys(("printed", "problem", "corrected", "evidence"), "words") | {
    "grade": "certain",
    "weight": "minor",
}


def load(folder, *entries, file="ch1"):
    """The register of a folder in which these entries are the file's."""
    (folder / f"{file}.yml").write_text(yaml.safe_dump(list(entries)), "utf-8")
    register.cache_clear()
    return register(folder)


def test_an_entry_comes_back(tmp_path):
    found = load(tmp_path, {**ENTRY, "erratum": ERRATUM})["thesis/lemma-1"]
    assert (found.chapter, found.status, found.slug) == ("ch1", "checked", "thesis-lemma-1")
    assert (found.source, found.name) == ("thesis", "Lemma 1")
    assert found.erratum.grade == "certain"


def test_a_claim_of_another_source_is_named_with_it(tmp_path):
    ids = ("vidal/lemma-1", "helmbold-long/lemma-1", "beyond/lemma-1", "icml/lemma-1")
    found = load(tmp_path, *({**ENTRY, "id": name} for name in ids))
    names = ["Vidal, Lemma 1", "Helmbold and Long, Lemma 1", "Lemma 1", "Lemma 1"]
    assert [entry.name for entry in found.values()] == names


def test_a_status_is_planned_told_or_checked(tmp_path):
    told = {key: value for key, value in ENTRY.items() if key != "how"}
    told |= {"id": "thesis/told", "kind": "narrative", "number": "Section 1"}
    planned = {**told, "id": "thesis/planned", "status": "planned", "number": "Section 2"}
    found = load(tmp_path, ENTRY, told, planned)
    assert [entry.status for entry in found.values()] == ["checked", "told", "planned"]


@pytest.mark.parametrize(
    ("grade", "weight", "needed"),
    [
        ("certain", "major", True),
        ("certain", "minor", True),
        ("certain", "typo", True),
        ("certain", "wording", False),
        ("likely", "major", False),
        ("extraction artifact", "typo", False),
    ],
)
def test_what_is_certainly_wrong_needs_a_counterexample(tmp_path, grade, weight, needed):
    slip = ERRATUM | {"grade": grade, "weight": weight}
    assert (
        load(tmp_path, {**ENTRY, "erratum": slip})["thesis/lemma-1"].needs_counterexample == needed
    )
    assert not load(tmp_path, ENTRY)["thesis/lemma-1"].needs_counterexample


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "lemmma"}, r"ch1.yml: thesis/lemma-1.kind must be one of .*'lemmma'"),
        ({"status": "done"}, r"lemma-1.status must "),
        ({"status": "checked"}, r"lemma-1.status must "),
        ({"extra": 1}, "extra"),
        ({"check": "exact"}, "check"),
        ({"section": 2.10}, r"lemma-1.section must be string, but it is 2.1"),
        ({"title": ""}, r"lemma-1.title must "),
        ({"id": "someone/lemma-1"}, r"someone/lemma-1.id must "),
        ({"id": "thesis/lemma 1"}, r"lemma 1.id must "),
        ({"erratum": {**ERRATUM, "grade": "sure"}}, "grade must be one of .*'sure'"),
        ({"erratum": {**ERRATUM, "weight": "huge"}}, "weight must be one of .*'huge'"),
        ({"erratum": {**ERRATUM, "extra": ""}}, "extra"),
        ({"erratum": {"grade": "certain"}}, r"lemma-1.erratum must "),
        ({"erratum": "none"}, r"lemma-1.erratum must "),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load(tmp_path, ENTRY | change)


@pytest.mark.parametrize("field", ENTRY)
def test_a_missing_field_is_named(tmp_path, field):
    with pytest.raises(ValueError, match=rf"must contain \['{field}'\] properties"):
        load(tmp_path, {key: value for key, value in ENTRY.items() if key != field})


@pytest.mark.parametrize(
    "text", ["", "[]", "id: thesis/lemma-1", "- words", "- id: [", "- {a: 1, a: 2}"]
)
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "ch2.yml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"ch2\.yml"):
        register(tmp_path)


def test_a_key_may_not_stand_twice_in_an_entry(tmp_path):
    text = yaml.safe_dump([{**ENTRY, "erratum": ERRATUM}])
    for line in ("  erratum: null\n", "  title: Another\n", "  erratum: {grade: a, grade: b}\n"):
        (tmp_path / "ch1.yml").write_text(text + line, "utf-8")
        register.cache_clear()
        with pytest.raises(ValueError, match="stands twice"):
            register(tmp_path)


def test_a_file_belongs_to_a_chapter(tmp_path):
    with pytest.raises(ValueError, match=r"ch9\.yml belongs to no chapter"):
        load(tmp_path, ENTRY, file="ch9")


def test_an_id_may_not_occur_twice_nor_share_an_anchor(tmp_path):
    for name in ("thesis/lemma-1", "thesis/lemma.1"):
        with pytest.raises(ValueError, match="thesis-lemma-1 occurs twice"):
            load(tmp_path, ENTRY, {**ENTRY, "id": name, "number": "Lemma 2"})


def test_a_number_may_not_occur_twice_in_a_source(tmp_path):
    def numbered(source, number, file):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        load(folder, {**ENTRY, "id": f"{source}/one", "number": number})
        return load(folder, {**ENTRY, "id": "thesis/two", "number": "(2.11)"},
                    {**ENTRY, "id": f"{source}/three", "number": number}, file=file)  # fmt: skip

    for source, number, file in [
        ("thesis", "(2.12)", "ch2"),
        ("beyond", "Theorem A", "beyond-ch1"),
    ]:
        with pytest.raises(ValueError, match=f"{source}.*{re.escape(number)}.* occurs twice"):
            numbered(source, number, file)
    numbered("thesis", "Section 3, unnumbered", "ch2")
    numbered("beyond", "Theorem A", "ch2")  # our letters begin anew in each chapter


# Blocks on pages --------------------------------------------------------------------------------


def cell(code, options=""):
    return f"```{{code-cell}} ipython3\n{options}{code}\n```\n"


BLOCK = 'with claim("thesis/one") as check:\n    pass'


@pytest.mark.parametrize(
    "page",
    [
        cell(BLOCK),
        cell('with claim("thesis/one", tol=1e-9) as check: pass'),
        cell("with claim('thesis/one', tol=1e-3) as check: pass"),
        cell(BLOCK, ":tags: [hide-input]\n"),
        cell(BLOCK, "---\nmystnb: {}\ntags: [hide-input]\n---\n"),
        f"````{cell(BLOCK)[3:-5]}\n````\n",
        cell("x = 1\n" + BLOCK),
    ],
)
def test_a_block_in_a_code_cell_counts(page):
    assert checks_in(f"Prose.\n\n{page}") == ["thesis/one"]


@pytest.mark.parametrize(
    "page",
    [
        f"Prose with {BLOCK}\n",
        f"```python\n{BLOCK}\n```\n",
        cell('check = claim("thesis/one")'),
        cell('claim("thesis/one")'),
        cell('# with claim("thesis/one") as check:'),
        cell(f"'''\n{BLOCK}\n'''"),
        cell("if False:\n    " + BLOCK.replace("\n", "\n    ")),
        cell("while 0:\n    " + BLOCK.replace("\n", "\n    ")),
        cell("def never():\n    " + BLOCK.replace("\n", "\n    ")),
        cell("try:\n    " + BLOCK.replace("\n", "\n    ") + "\nexcept ClaimFailed:\n    pass"),
        cell('name = "thesis/one"\nwith claim(name) as check: pass'),
        cell('with other("thesis/one") as check: pass'),
        cell('with suppress(AssertionError), claim("thesis/one") as check: pass'),
        cell('with claim("thesis/one") as check, suppress(AssertionError): pass'),
        cell(f"# NBVAL_SKIP\n{BLOCK}"),
        cell(f"{BLOCK}\n#PYTEST_VALIDATE_IGNORE_OUTPUT"),
        cell(BLOCK, ":tags: [skip-execution]\n"),
        cell(BLOCK, ":tags: [raises-exception]\n"),
        cell(BLOCK, "---\ntags: [nbval-skip]\n---\n"),
    ],
)
def test_what_does_not_run_at_each_build_does_not_count(page):
    assert checks_in(page) == []


@pytest.mark.parametrize(
    "forged",
    [
        "from contextlib import nullcontext as claim",
        "from runproofs.book.claims import Check as claim",
        "from elsewhere import claim",
        "import elsewhere as claim",
        "def claim(name):\n    return suppress(AssertionError)",
        "class claim: pass",
        "claim = nullcontext",
        "for claim in [nullcontext]: pass",
        "if True:\n    claim: object = nullcontext",
        "(claim := nullcontext)",
    ],
)
def test_another_claim_of_the_same_name_is_refused(forged):
    page = cell("from runproofs.book.claims import claim") + cell(BLOCK)
    assert checks_in(page) == ["thesis/one"]
    with pytest.raises(ValueError, match="nothing else"):
        checks_in(cell(forged) + page)


def test_blocks_come_in_order_and_a_cell_that_is_not_python_is_refused():
    page = cell(BLOCK) + cell(BLOCK.replace("one", "two") + "\n" + BLOCK)
    assert checks_in(page) == ["thesis/one", "thesis/two", "thesis/one"]
    with pytest.raises(ValueError, match="not Python"):
        checks_in(cell('with claim("thesis/one") as check\n    pass'))


def pages():
    return sorted(path for path in BOOK.rglob("*.md") if "ipynb" not in path.as_posix())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(BOOK).as_posix())
def test_a_page_checks_registered_claims_and_each_once(page):
    found = checks_in(page.read_text("utf-8"))
    assert {name for name in found if register()[name].status != "checked"} == set()
    assert len(found) == len(set(found))


def test_a_claim_is_checked_on_some_page_planned_or_told():
    found = {name for page in pages() for name in checks_in(page.read_text("utf-8"))}
    assert found == {entry.id for entry in register().values() if entry.status == "checked"}


@pytest.mark.parametrize(
    "words", ["||W|| is large", "the W_i", "C^{1/2}", "a rate lambda", "x <= 1", "d_{i}"]
)
def test_formulas_stand_between_dollars(tmp_path, words):
    plain, code, good = f"of {words} here", f"of `{words}` here", f"of ${words}$ here"
    for field, text, found in [
        ("how", plain, ["how"]), ("title", plain, ["title"]), ("how", code, []), ("how", good, []),
    ]:  # fmt: skip
        entry = load(tmp_path, {**ENTRY, field: text})["thesis/lemma-1"]
        assert [raw.split(":")[0] for raw in raw_formulas(entry)] == found
    slip = load(tmp_path, {**ENTRY, "erratum": ERRATUM | {"printed": plain}})["thesis/lemma-1"]
    assert [raw.split(":")[0] for raw in raw_formulas(slip)] == ["printed"]


def test_no_entry_of_a_written_chapter_has_a_raw_formula():
    register.cache_clear()
    written = [entry for entry in register().values() if entry.status != "planned"]
    assert len(written) > 190
    assert [(entry.id, *raw_formulas(entry)) for entry in written if [*raw_formulas(entry)]] == []


BARE = re.compile(r"[≤≥∈‖²³αβγδεζηθκλμνξπρστφχψω]|\b[A-Za-z] ?= ?\d|\b1e-\d|\d ?x ?\d")


def test_the_errata_quote_no_formula_in_plain_characters():
    for claim in register().values():
        told = {"title": claim.title, "statement": claim.statement}
        told |= claim.erratum._asdict() if claim.erratum else {}
        for field, text in told.items():
            bare = BARE.search(re.sub(r"\$[^$]*\$|`[^`]*`", "", text))
            assert not bare, f"{claim.id}, {field}: {bare[0]}"


def test_what_only_a_clone_can_do_ends_in_one_sentence(tmp_path):
    demand_clone("Turning the knobs")  # these tests lie in one
    with pytest.raises(SystemExit, match=r"^Turning the knobs needs a clone of the book, [^.]*\.$"):
        demand_clone("Turning the knobs", tmp_path)


def test_no_entry_changed_by_accident():
    assert changed() == [], (
        "If it is meant, `make register`; in CHANGELOG.md what a reader notices."
    )


@pytest.mark.parametrize(
    "forgery",
    [
        {"statement": "another"}, {"number": "(2.22)"}, {"kind": "remark"}, {"kind": "narrative"},
        {"how": "1e-14"}, {"status": "planned"}, {"erratum": None},
        *({"erratum": register()["thesis/theorem-6"].erratum._replace(**{field: "x"})}
          for field in ("weight", "grade")),
    ],
    ids=str,
)  # fmt: skip
def test_an_entry_that_is_forged_is_named(forgery, monkeypatch):
    entry = register()["thesis/theorem-6"]
    forged = register() | {entry.id: entry._replace(**forgery)}
    monkeypatch.setattr("tools.digest.register", lambda: forged)
    assert changed() == [entry.id]


def test_a_formula_that_only_the_page_changes_is_named(monkeypatch):
    claim = "thesis/theorem-6"
    for formula in map(digest.plain, digest.FORMULA.findall(register()[claim].statement)):
        if len(formula) >= digest.SHORTEST and formula in (page := digest.texts()[claim]):
            slip = page.replace(formula, formula[:-1] + "^3" + formula[-1])
            with monkeypatch.context() as forged:
                forged.setitem(digest.texts(), claim, slip)
                assert changed() == [claim]
            assert changed() == []


@pytest.mark.parametrize("gone", ["thesis/lemma-2", "vidal/known-generalization"])
def test_an_entry_that_is_gone_is_named(gone, monkeypatch):
    """One that is checked, or told."""
    forged = dict(register())
    del forged[gone]
    monkeypatch.setattr("tools.digest.register", lambda: forged)
    assert changed() == [gone]


def test_an_entry_that_is_added_is_named(monkeypatch):
    new = register()["thesis/lemma-2"]._replace(id="thesis/lemma-2b")
    monkeypatch.setattr("tools.digest.register", lambda: {**register(), new.id: new})
    assert changed() == [new.id]
