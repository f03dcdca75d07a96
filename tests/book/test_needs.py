"""What a page needs comes before it, in the book and in the plans of a course."""

import re
from graphlib import TopologicalSorter

import jupytext
import pytest
import yaml
from coursework.tools import course, sources
from jupytext.config import load_jupytext_configuration_file

from helpers.pages import PAGES, labeled, needs
from runproofs.claims.registry import BOOK

TEACH = (BOOK / "course" / "index.md").read_text("utf-8")
PLANS = dict(re.findall(r"^### (\w+) weeks\n(.*?)(?=^##)", TEACH, re.M | re.S))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_a_page_needs_what_its_words_say(path):
    assert needs(path) is not None
    said = re.search(r"\b(You need|page needs)\b.*?(?=\. |\.$|\n\n)", path.read_text("utf-8"), re.M)
    assert {*re.findall(r"\{ref\}`([^`]+)`", said[0] if said else "")} <= {*needs(path)}


def test_no_page_needs_itself_in_the_end():
    page = labeled()
    graph = {path: [page[label] for label in needs(path)] for path in PAGES}
    assert len([*TopologicalSorter(graph).static_order()]) == len(PAGES)


def test_teachers_are_told_which_chapters_begin_without_another():
    advice = (BOOK / "index.md").read_text("utf-8").split("need no other chapter first: ")[1]
    alone, others = (re.findall(r"`(ch:.*?)`", part) for part in advice.split(". ", 1))
    page = labeled()
    assert len(alone) == 5
    assert [label for label in alone if needs(page[label])] == []
    assert all(needs(page[label]) for label in others[:2])


def test_jupyter_keeps_the_front_matter_of_a_page():
    config = load_jupytext_configuration_file(str(BOOK / "jupytext.toml"))
    page = BOOK / "ch2_shallow_linear" / "digits.md"
    notebook = jupytext.read(page, config=config)
    assert notebook.metadata["needs"] == needs(page) != []
    written = jupytext.writes(notebook, "md:myst", config=config)
    assert yaml.safe_load(written.split("\n---\n")[0])["needs"] == needs(page)
    assert "needs" not in yaml.safe_load(
        jupytext.writes(jupytext.read(page), "md:myst").split("\n---\n")[0]
    )


# The plans of a course


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
    page, read = labeled(), set()
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
