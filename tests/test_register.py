"""The register is well formed, and agrees with the pages."""

import pytest
import yaml

from runproofs.book.register import BOOK, CHAPTERS, checks_in, register

ENTRY = {
    "id": "source/lemma-1", "number": "Lemma 1", "section": "1", "kind": "lemma",
    "title": "A title", "statement": "A statement.", "check": "exact", "how": "By hand.",
    "cost": "1s", "erratum": None,
}  # fmt: skip
ERRATUM = dict.fromkeys(("printed", "problem", "corrected", "evidence"), "") | {
    "grade": "certain",
    "weight": "minor",
}


def load(folder, *entries, file="ch1"):
    (folder / f"{file}.yml").write_text(yaml.safe_dump(list(entries)), "utf-8")
    return register(folder)


def test_an_entry_comes_back(tmp_path):
    found = load(tmp_path, {**ENTRY, "erratum": ERRATUM})["source/lemma-1"]
    assert (found.chapter, found.status, found.slug) == ("ch1", "checked", "source-lemma-1")
    assert found.erratum.grade == "certain"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "lemmma"}, "source/lemma-1: kind is 'lemmma', allowed are assumption"),
        ({"status": "done"}, "status is 'done'"),
        ({"extra": 1}, "source/lemma-1 in the register of ch1: .*extra"),
        ({"erratum": {**ERRATUM, "grade": "sure"}}, "grade is 'sure'"),
        ({"erratum": {**ERRATUM, "weight": "huge"}}, "weight is 'huge'"),
        ({"erratum": {"grade": "certain"}}, "source/lemma-1 in the register of ch1"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load(tmp_path, ENTRY | change)


def test_a_missing_field_is_named(tmp_path):
    with pytest.raises(ValueError, match="statement"):
        load(tmp_path, {key: value for key, value in ENTRY.items() if key != "statement"})


def test_an_id_may_not_occur_twice_nor_share_an_anchor(tmp_path):
    with pytest.raises(ValueError, match="occurs twice"):
        load(tmp_path, ENTRY, {**ENTRY, "id": "source/lemma.1"})


def test_only_blocks_in_code_cells_count():
    page = """Prose with claim("source/prose").

```{code-cell} ipython3
with claim("source/one") as check:
    pass
```

```python
with claim("source/shown"):
```

````{code-cell} ipython3
:tags: [hide-input]
with claim('source/two') as check, other: pass
````
"""
    assert list(checks_in(page)) == ["source/one", "source/two"]


def test_every_file_of_the_register_belongs_to_a_chapter():
    stems = {path.stem.removeprefix("beyond-") for path in (BOOK / "claims").glob("*.yml")}
    assert stems == set(CHAPTERS)


def pages():
    return sorted(path for path in BOOK.rglob("*.md") if "ipynb" not in path.as_posix())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(BOOK).as_posix())
def test_a_page_checks_registered_claims_and_each_once(page):
    found = list(checks_in(page.read_text("utf-8")))
    assert set(found) <= set(register())
    assert len(found) == len(set(found))


def test_a_claim_is_checked_on_some_page_or_planned():
    found = {name for page in pages() for name in checks_in(page.read_text("utf-8"))}
    expected = {entry.id for entry in register().values() if entry.status != "planned"}
    assert found == expected
