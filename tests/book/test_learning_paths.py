"""Reading paths: what they name exists, and what a step needs has come before."""

import re

import pytest

from booksite.learning_paths import routes
from helpers.pages import PAGES, labeled, needs
from runproofs.claims.registry import BOOK, CHAPTERS

ROUTES = {route.name: route for route in routes()}


def missing(route):
    """What pages of a route need that is neither before them nor given."""
    page = {label: path.relative_to(BOOK).with_suffix("").as_posix()
            for label, path in labeled().items()}  # fmt: skip
    unknown = set(route.given) - page.keys()
    met = {page[label] for label in route.given if label in page}
    lost = []
    for step in route.steps:
        path = BOOK / f"{step.page}.md"
        wanted = {page[label] for label in (needs(path) if path in PAGES else [])}
        lost += sorted(f"{step.page} needs {other}" for other in wanted - met)
        met.add(step.page)
    return [*sorted(unknown), *lost]


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_what_a_step_needs_has_come_before_or_is_given(route):
    assert missing(route) == []


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_nothing_is_given_for_nothing(route):
    for label in route.given:
        others = tuple(other for other in route.given if other != label)
        assert missing(route._replace(given=others)), label


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_pages_and_sections_exist(route):
    assert len({step.page for step in route.steps}) == len(route.steps)
    for step in route.steps:
        text = (BOOK / f"{step.page}.md").read_text("utf-8")
        titles = re.findall(r"^#+ (.+)$", text, re.M)
        assert set(step.read) <= set(titles), step.page


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_labels_of_its_end_exist_and_it_does_not_end_in_a_table_of_counts(route):
    written = "\n".join(path.read_text("utf-8") for path in BOOK.rglob("*.md"))
    for label in re.findall(r"{(.+?)}", route.end):
        assert f"\n({label})=\n" in f"\n{written}"
    assert route.steps[-1].page != "back/scoreboard"


def test_two_hours_end_on_theorem_16():
    *_, last = ROUTES["Two hours"].steps
    text = (BOOK / f"{last.page}.md").read_text("utf-8")
    section = re.findall(r"^## (.+)$", text[: text.index(":label: a3-theorem-16\n")], re.M)[-1]
    assert section == "From the surrogate to the robust error"
    assert section in last.read
    assert set(last.read[-1:]) == {"Recap"}


@pytest.mark.parametrize("directive", ["dependency-graph", "results-table"])
def test_each_chapter_has_its_map_and_its_results_on_its_first_page_only(directive):
    found = {}
    for path in BOOK.rglob("*.md"):
        for chapter in re.findall(rf"^```\{{{directive}\}} (\S+)$", path.read_text("utf-8"), re.M):
            found.setdefault(chapter, []).append(path.name)
    assert found == {chapter: ["index.md"] for chapter in CHAPTERS}
