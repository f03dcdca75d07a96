"""The table of what a source proves in a chapter is made from the register."""

from booksite.results import listed, verdict
from runproofs.claims.registry import CHAPTERS, register


def test_verdicts_are_those_of_the_register():
    names = ("corollary-4", "theorem-16", "corollary-5", "algorithm-5")
    assert [verdict(register()[f"thesis/{name}"])[0] for name in names] == [
        "holds", "holds, with a correction", "printed wrongly", "holds, a slip of the pen",
    ]  # fmt: skip
    word, page, _ = verdict(register()["thesis/figure-2-3"])
    assert word == "in parts: with a qualification, not reproduced"
    assert page == "book/back/scoreboard"


def test_nothing_is_listed_that_no_check_decides_or_that_is_ours():
    for chapter in CHAPTERS:
        entries = listed(chapter)
        assert len(entries) > 8
        assert {entry.status for entry in entries} == {"checked"}
        assert "beyond" not in {entry.source for entry in entries}
