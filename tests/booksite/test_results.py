"""The table of what a source proves in a chapter is made from the register and the scoreboard."""

import re

from booksite.results import listed, on_scoreboard, verdict
from helpers.books import build
from runproofs.book.register import BOOK, CHAPTERS, register


def test_each_chapter_has_its_table_on_its_first_page_only():
    found = {}
    for path in BOOK.rglob("*.md"):
        for chapter in re.findall(r"^```\{results\} (\S+)$", path.read_text("utf-8"), re.M):
            found.setdefault(chapter, []).append(path.name)
    assert found == {chapter: ["index.md"] for chapter in CHAPTERS}


def test_verdicts_are_those_of_register_and_scoreboard():
    names = ("corollary-4", "theorem-16", "corollary-5", "algorithm-5")
    assert [verdict(register()[f"thesis/{name}"])[0] for name in names] == [
        "holds", "holds, with a correction", "printed wrongly", "holds, a slip of the pen",
    ]  # fmt: skip
    word, page, _ = verdict(register()["thesis/figure-2-3"])
    assert set(word.removeprefix("in parts: ").split(", ")) == set(
        on_scoreboard()["thesis/figure-2-3"]
    )
    assert page == "book/back/scoreboard"
    assert set(on_scoreboard()) <= set(register())


def test_nothing_is_listed_that_no_check_decides_or_that_is_ours():
    for chapter in CHAPTERS:
        entries = listed(chapter)
        assert len(entries) > 8
        assert {entry.status for entry in entries} == {"checked"}
        assert "beyond" not in {entry.source for entry in entries}


def test_the_table_leads_to_statement_and_erratum(tmp_path):
    (tmp_path / "index.md").write_text("# A page\n\n```{results} ch6\n```\n", "utf-8")
    entries = tmp_path / "book" / "back" / "ledger" / "ch6.md"
    entries.parent.mkdir(parents=True)
    entries.write_text("---\norphan: true\n---\n# Entries\n", "utf-8")
    html, _, _ = build(tmp_path)
    page = (html / "index.html").read_text("utf-8")
    (row,) = re.findall(r"<tr><td>(?:(?!<tr>).)*Corollary 5<.*?</tr>", page)
    assert 'href="book/back/ledger/ch6.html#claim-thesis-corollary-5">Corollary 5</a>' in row
    assert '<a href="book/back/errata.html#erratum-thesis-corollary-5">printed wrongly</a>' in row
    assert "<td>Entries</td>" in row
