"""The table of what a source proves in a chapter is made from the register and the scoreboard."""

from booksite.results import listed, on_scoreboard, verdict
from runproofs.book.register import CHAPTERS, register


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
