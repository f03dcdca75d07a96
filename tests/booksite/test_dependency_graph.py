"""What rests on what is drawn, listed, counted, and told under each statement."""

from booksite import dependencies
from booksite import dependency_graph as drawn
from helpers.books import build
from runproofs.claims.registry import register


def test_what_rests_on_a_claim_is_drawn_below_it():
    entries = [entry for entry in register().values() if entry.chapter == "ch2"]
    rows = drawn.layers(entries)
    level = {name: k for k, row in enumerate(rows) for name in row}
    assert sorted(level) == sorted(entry.id for entry in entries)
    for entry in entries:
        for used in entry.uses:
            assert used not in level or level[used] < level[entry.id], (used, entry.id)
    assert max(map(len, rows)) * (drawn.BOX + 2) <= drawn.WIDTH


def test_what_a_claim_carries_is_counted_through_others():
    found, waiting = set(), ["thesis/theorem-1"]
    while waiting:
        name = waiting.pop()
        new = [e.id for e in register().values() if name in (e.uses or ()) and e.id not in found]
        found.update(new)
        waiting += new
    assert dependencies.dependents("thesis/theorem-1") == found
    first, second, *_ = drawn.heaviest(5)
    assert len(dependencies.dependents(first.id)) >= len(dependencies.dependents(second.id)) > 20


def test_an_unknown_chapter_is_an_error(tmp_path):
    (tmp_path / "index.md").write_text("# A page\n\n```{dependency-graph} ch9\n```\n", "utf-8")
    assert "knows no 'ch9'" in build(tmp_path)[1]
