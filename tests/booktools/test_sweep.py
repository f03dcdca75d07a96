"""Knobs of pages: they are read, turned to both ends, and what fails is said."""

import pytest

from booktools import sweep as knobs
from booktools.sweep import Knob, knob
from runproofs.book.register import BOOK

PAGE = """# A page

```{{code-cell}} ipython3
:tags: [parameters]
seed = 7  # any whole number
width = 4  # 3 to 6: units
law = "normal"  # one of "normal", "uniform"
```

```{{code-cell}} ipython3
first = width
{code}
```

```{{code-cell}} ipython3
{last}
```
"""


def failures(tmp_path, code="", last=""):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(code=code, last=last), "utf-8")
    tasks = [(page, turn) for turn in range(3)]
    return sorted(knobs.check(tasks, jobs=1, out=lambda line: None))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("seed = 62  # any whole number", Knob("seed", 62, 63, 64)),
        ("width = 4  # 3 to 6: units", Knob("width", 4, 3, 6)),
        ("rate = 0.5  # 0.1 to 0.9", Knob("rate", 0.5, 0.1, 0.9)),
        ("rate = 0.1  # 0.1 to 0.9: at an end", Knob("rate", 0.1, 0.1, 0.9)),
        ("k = 2  # one of 1, 2, 3: hidden layers", Knob("k", 2, 1, 3)),
        ('law = "a"  # one of "a", "b"', Knob("law", "a", "b", "b")),
    ],
)
def test_a_knob_says_its_range(line, expected):
    assert knob(line) == expected


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("width = 4", "is not `name = value"),
        ("width = 4  # units", "is not `a to b`"),
        ("width = 7  # 3 to 6: units", "must lie in its range"),
        ("width = 3  # 3 to 3: units", "must lie in its range"),
        ("p = 0.7  # 0.7 to 0.70001", "is less than a tenth"),
        ("k = 4  # one of 1, 2", "and another value must be in"),
        ("k = 4  # one of 4", "and another value must be in"),
    ],
)
def test_a_line_that_is_no_knob_is_refused(line, complaint):
    with pytest.raises(ValueError, match=complaint):
        knob(line)


def test_a_page_that_holds_is_green_at_both_ends(tmp_path):
    code = "assert (seed, width, law) in [(7, 4, 'normal'), (8, 3, 'uniform'), (9, 6, 'uniform')]"
    assert failures(tmp_path, code) == []


def test_each_end_is_tried(tmp_path):
    found = failures(tmp_path, "assert width != 3, 'too narrow'\nassert width != 6, 'too wide'")
    assert found == [
        f"{tmp_path.name}/page.md, lower ends: line 11: AssertionError: too narrow",
        f"{tmp_path.name}/page.md, upper ends: line 11: AssertionError: too wide",
    ]


def test_other_seeds_are_tried(tmp_path):
    found = failures(tmp_path, "assert seed == 7, seed")
    assert [line.rsplit(" ", 1)[1] for line in found] == ["8", "9"]


def test_cells_run_again_from_the_last_to_the_first(tmp_path):
    """So none is green only since the one before it has just run again."""
    (found,) = failures(tmp_path, "count = 0", last="assert count == 0\ncount += 1")
    assert "run again: AssertionError" in found


def test_a_cell_that_does_not_run_twice_is_found(tmp_path):
    (found,) = failures(tmp_path, "size = max(first, 0)", last="max = first")
    assert "as printed, each cell twice: line 11, run again: TypeError" in found


def test_a_page_needs_one_cell_of_knobs(tmp_path):
    page = PAGE.format(code="", last="")
    with pytest.raises(ValueError, match="0 cells have the tag"):
        knobs.knobs(page.replace("[parameters]", "[other]"))
    with pytest.raises(ValueError, match="2 cells have the tag"):
        knobs.knobs(2 * page)


def test_a_failing_page_fails_the_command(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(code="assert width < 6", last=""), "utf-8")
    assert knobs.main([str(page), "--jobs", "1"]) == 1
    page.write_text(PAGE.format(code="assert width < 7", last=""), "utf-8")
    assert knobs.main([str(page), "--jobs", "1"]) == 0


def test_every_page_with_a_card_has_knobs():
    pages = knobs.pages()
    assert len(pages) > 20
    for page in pages:
        found = knobs.knobs(page.read_text("utf-8"))
        assert found, f"{page.relative_to(BOOK)} has no knob."
