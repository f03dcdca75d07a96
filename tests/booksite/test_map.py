"""What rests on what is drawn, listed, counted, and told under each statement."""

import re

import pytest

from booksite import map as drawn
from booksite import uses
from helpers.books import build
from runproofs.book.register import BOOK, CHAPTERS, register

KERNEL = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3}
---
"""
BOX = """
::::{{prf:theorem}} {number}: a statement
:label: {label}
:claim: {claim}
So it is.
::::

```{{code-cell}}
with claim("{claim}"): pass
```
"""


@pytest.fixture
def book(tmp_path):
    """The pages of a small book: two statements, the map of a chapter, and the whole map."""
    boxes = (("Theorem 1", "t1"), ("Theorem 4", "t4"))
    statements = "".join(
        BOX.format(number=number, label=label, claim=f"thesis/theorem-{label[1:]}")
        for number, label in boxes
    )
    text = f"{KERNEL}# Statements\n\n```{{map}} ch2\n```\n{statements}"
    (tmp_path / "index.md").write_text(text, "utf-8")
    (tmp_path / "all.md").write_text(
        "---\norphan: true\n---\n# All\n\n```{map}\n```\n\n```{carrying} 3\n```\n\n"
        "```{without} thesis/assumption-2\n```\n",
        "utf-8",
    )
    html, *_ = build(tmp_path, "sphinx_proof", myst_enable_extensions=["colon_fence", "dollarmath"])
    return {name: (html / f"{name}.html").read_text("utf-8") for name in ("index", "all")}


def node(page, claim):
    """The attributes of a claim in a picture."""
    title = re.escape(drawn.escape(drawn.plain(register()[claim])))
    (tag,) = re.findall(rf"<a ([^>]*)><title>{title}</title>", page)
    return dict(re.findall(r'([\w-]+)="([^"]*)"', tag))


def test_a_claim_leads_to_its_statement_and_knows_what_it_rests_on(book):
    four, one = (node(book["all"], f"thesis/theorem-{k}") for k in (4, 1))
    assert four["href"] == "index.html#t4"
    assert four["data-uses"].split() == [one["data-n"]]
    assert f'<path data-e="{one["data-n"]} {four["data-n"]}"' in book["all"]
    assert node(book["all"], "thesis/corollary-4")["class"] == "holds"
    assert node(book["all"], "thesis/theorem-6")["class"] == "wrong"
    assert node(book["all"], "vidal/mnist-table")["class"] == "told"


def test_the_table_says_the_same_as_the_picture(book):
    picture, _, table = book["all"].partition('<details class="claim-map-table">')
    assert picture.count("<rect ") == table.count("<tr id=") == len(register())
    (row,) = re.findall(r'<tr id="map-thesis-theorem-4".*?</tr>', table)
    cells = re.findall(r"<td>(.*?)</td>", row)
    assert cells[3] == '<a href="#map-thesis-theorem-1">Theorem 1</a>'
    assert cells[4].count("<a ") == len(uses.used_by()["thesis/theorem-4"]) > 3


def test_lines_run_from_box_to_box_and_words_stand_in_them(book):
    """Down from the lower edge of what is used to the upper edge of what uses it."""
    picture = book["all"].partition('<details class="claim-map-table">')[0]
    shape = r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"/><text x="(\S+)" y="(\S+)">'
    boxes = [tuple(map(float, found)) for found in re.findall(shape, picture)]
    assert all(left < x < left + w and y < foot < y + h for left, y, w, h, x, foot in boxes)
    assert all(abs(2 * x - 2 * left - w) <= 2 for left, _, w, _, x, _ in boxes)
    lines = re.findall(r'<path data-e="(\d+) (\d+)" d="M(\S+) (\S+)C(\S+ ){5}(\S+)"/>', picture)
    assert len(lines) == sum(len(entry.uses) for entry in register().values())
    for used, user, x, y, *_, end in lines:
        first, last = boxes[int(used)], boxes[int(user)]
        assert abs(float(x) - first[4]) <= 1
        assert abs(float(y) - first[1] - first[3]) <= 1
        assert abs(float(end) - last[1]) <= 1
        assert first[1] + first[3] < last[1]


def test_the_filters_offer_what_occurs(book):
    found = dict(re.findall(r'<select name="(\w+)" aria-label="\w+">(.*?)</select>', book["all"]))
    for name, options in found.items():
        values = [getattr(entry, name) for entry in register().values()]
        offered = re.findall('<option value="(.*?)">', options)
        assert offered[0] == ""
        assert sorted(offered[1:]) == sorted(set(values))
    assert list(found) == ["source", "kind"]


def test_a_chapter_has_its_part_and_each_first_page_one(book):
    chapter = [entry for entry in register().values() if entry.chapter == "ch2"]
    assert book["index"].count("<rect ") == len(chapter)
    found = [
        (chapter, path.name)
        for path in BOOK.rglob("*.md")
        for chapter in re.findall(r"^```\{map\} (\S+)$", path.read_text("utf-8"), re.M)
    ]
    assert sorted(found) == sorted((chapter, "index.md") for chapter in CHAPTERS)


def test_a_statement_says_what_it_rests_on_and_what_uses_it(book):
    one, other = re.findall(r'<details class="rests">.*?</details>', book["index"])
    lines = sorted((one, other), key=len)
    assert re.search(r"<summary>Rests on 1, used by \d+</summary>", lines[0])
    assert 'Rests on <a class="reference" href="#t1">Theorem 1</a>.' in lines[0]
    assert re.search(r"<summary>Rests on 2, used by \d+</summary>", lines[1])
    assert '<a class="reference" href="#t4">Theorem 4</a>' in lines[1]


def test_the_script_comes_with_a_map_only(book):
    assert all("map.js" in page for page in book.values())


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
    assert uses.carried("thesis/theorem-1") == found
    first, second, *_ = drawn.heaviest(5)
    assert len(uses.carried(first.id)) >= len(uses.carried(second.id)) > 20


def test_without_assumption_2_the_theorems_on_dropout_training_fall(book):
    fallen = {e.id for e in register().values() if e.id in uses.carried("thesis/assumption-2")}
    assert {"thesis/theorem-14", "thesis/theorem-15", "thesis/lemma-13"} <= fallen
    assert not {"thesis/lemma-12", "thesis/theorem-6", "thesis/theorem-16"} & fallen
    of_thesis = [claim for claim in fallen if claim.startswith("thesis/")]
    assert f" {len(of_thesis)} rest on " in book["all"]


def test_an_unknown_chapter_is_an_error(tmp_path):
    (tmp_path / "index.md").write_text("# A page\n\n```{map} ch9\n```\n", "utf-8")
    _, warnings, _ = build(tmp_path)
    assert "knows no 'ch9'" in warnings
