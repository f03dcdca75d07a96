"""The page for those who teach: its table is computed, and its syllabi can be taught in order."""

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest

from helpers.books import build
from helpers.pages import labelled, needs

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # coursework is no part of the library
course = importlib.import_module("coursework.tools.course")
sources = course.sources
FIRST = "dropout_is_a_regularizer"
PAGE = (ROOT / "book" / "course" / "index.md").read_text("utf-8")
PLANS = dict(re.findall(r"^### (\w+) weeks\n(.*?)(?=^##)", PAGE, re.M | re.S))


@pytest.fixture
def forge(tmp_path, monkeypatch):
    """Changes the first assignment in a copy of coursework/, which is then what is read."""
    copy = tmp_path / "coursework"
    shutil.copytree(ROOT / "coursework", copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "COURSEWORK", copy)

    def change(file, old, new):
        path = copy / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


def row():
    return next(one for one in course.assignments() if one.name == FIRST)


def built(folder):
    """Warnings and HTML of a page with the table alone."""
    (folder / "index.md").write_text("# Page\n\n```{course}\n```\n", "utf-8")
    html, warnings, _ = build(folder)
    return warnings, (html / "index.html").read_text("utf-8")


def numbers(html):
    """The numbers of each row, by its first words."""
    rows = re.findall(r"<tr.*?</tr>", html.split("<tbody>")[1], re.S)
    cells = [
        [re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", r, re.S)] for r in rows
    ]
    return {re.split(r"[.\d]", cell[0])[0].strip(): [*map(float, cell[1:])] for cell in cells}


def test_minutes_and_marks_are_those_of_the_assignment(forge):
    before = row()
    forge(f"{FIRST}/{FIRST}.md", "name: penalty\npoints: 3", "name: penalty\npoints: 5")
    forge(f"{FIRST}/notes.md", "| penalty | 20 | 3 |", "| penalty | 12 + 15 | 5 |")
    after = row()
    assert after.minutes == before.minutes + 7
    assert (after.by_tests, after.by_hand) == (before.by_tests + 2, before.by_hand)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (f"{FIRST}.md", "name: penalty\npoints: 3", "name: penalty\npoints: 5"),
        (f"{FIRST}.md", "name: penalty\npoints: 3", "name: prize\npoints: 3"),
        ("notes.md", "| penalty | 20 | 3 |", "| penalty | 20 | 4 |"),
        ("notes.md", "| proof | 15 | 4 (by hand) |", "| proof | 15 | 4 |"),
        ("notes.md", "| penalty | 20 | 3 |", "| penalty | some | 3 |"),
    ],
)
def test_notes_that_do_not_fit_the_questions_are_an_error(forge, file, old, new):
    forge(f"{FIRST}/{file}", old, new)
    with pytest.raises(ValueError, match=f"{FIRST}: notes.md has"):
        course.assignments()


def test_an_assignment_without_a_place_fails_the_build(forge, tmp_path):
    forge("course.yml", f"{FIRST}:", "another:")
    message = f"The course: in course.yml or written, but not both: another, {FIRST}."
    assert message in built(tmp_path)[0]


def test_the_table_shows_the_numbers_and_their_sums(forge, tmp_path):
    shown = numbers(built(tmp_path)[1])
    total = shown.pop("all")
    assert [*shown] == [one.title for one in course.assignments()]
    one = row()
    assert shown[one.title] == [one.minutes, one.by_tests, one.by_hand]
    assert total == [sum(column) for column in zip(*shown.values(), strict=True)]


def weeks(plan):
    """Labels of the pages and names of the assignments, week by week."""
    rows = re.findall(r"^\| \d+ \|(.*)$", PLANS[plan], re.M)
    found = [re.findall(r"\{ref\}`(.*?)`", row) for row in rows]
    return [
        (
            [label for label in week if not label.startswith("course:")],
            [label.removeprefix("course:") for label in week if label.startswith("course:")],
        )
        for week in found
    ]


@pytest.mark.parametrize(("plan", "length"), [("Four", 4), ("Eight", 8), ("Twelve", 12)])
def test_a_plan_can_be_taught_in_its_order(plan, length):
    """Nothing is read before what it needs, nor what an assignment lets students find before it."""
    page, read = labelled(), set()
    words = {one.name: one for one in course.assignments()}
    assert len(weeks(plan)) == length
    for pages, names in weeks(plan):
        for label in pages:
            missing = set(needs(page[label])) - read
            assert not missing, f"{label} needs {missing}"
            read.add(label)
        for name in names:
            assert set(words[name].before) <= read, f"{name} needs {words[name].before}"
            assert not set(words[name].after) & read, f"{name} is given away"


@pytest.mark.parametrize("plan", ["Eight", "Twelve"])
def test_a_long_plan_has_every_assignment(plan):
    named = [name for _, names in weeks(plan) for name in names]
    assert named == [one.name for one in course.assignments()]
    assert sorted(named) == sources.names()
