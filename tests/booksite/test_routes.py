"""The ways through the book: what they name exists, and what a step needs has come before."""

import re

import pytest

from booksite.routes import Step, routes
from helpers.books import build
from helpers.pages import PAGES, labeled, needs
from runproofs.book.register import BOOK

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


def test_a_step_too_early_is_found():
    route = ROUTES["Two weeks"]
    first, *others = route.steps[2:5]
    assert missing(route._replace(steps=(*others, first)))
    assert missing(route._replace(given=("sec:nowhere",))) == ["sec:nowhere"]


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


def test_the_first_page_counts_minutes_and_a_step_says_where_it_stands(tmp_path, monkeypatch):
    words = "word " * 1190
    (tmp_path / "book").mkdir()
    pages = {
        "index": "# Start\n\n```{routes}\n```\n\n```{toctree}\nbook/one\nbook/two\n```\n",
        "book/one": f"# One\n\n{words}\n\n## Skipped\n\n{words}\n",
        "book/two": f"# Two\n\n{words}\n\n## The reader's `part`\n\n{words}\n\n## Left\n\nA word\n",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    steps = Step("one", ()), Step("two", ("The reader's part", "No"))
    given = ROUTES["Two hours"]._replace(name="Short", about="all", given=(), steps=steps)
    monkeypatch.setattr("booksite.routes.routes", lambda: (given,))
    html, warnings, _ = build(tmp_path)
    assert warnings.count("a route leads to 'No', which is no section") == 1
    assert "The reader" not in warnings
    start, one, two = ((html / f"{name}.html").read_text("utf-8") for name in pages)
    assert "<b>Short</b> · 40 minutes to read · all" in start  # 20 and 20
    assert start.index("book/one.html") < start.index("book/two.html#the-reader-s-part")
    where = r'<p class="page-route">(.*?)</p>'
    said = [re.sub(r"<[^>]*>", "", re.search(where, page, re.S)[1]) for page in (one, two)]
    assert said == [
        "Short, step 1 of 2 · next Two",
        "Short, step 2 of 2: read here the opening, The reader's part · before One",
    ]
