"""The first screen of the book has a picture and a card, and its doors lead where they say."""

import re

import pytest

from browser import browse

FIRST = "book/index.html"
BOTTOM = "(name) => document.querySelector(name).getBoundingClientRect().bottom"

HEADING = """() => {
  const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  return (there?.closest("section") ?? document).querySelector("h1, h2").innerText;
}"""


@pytest.mark.parametrize(
    ("size", "seen"),
    [
        (browse.DESKTOP, [".hand-stage", ".claim-card .control"]),
        (browse.PHONE, [".hand-stage"]),
    ],
    ids=["desktop", "phone"],
)
def test_the_first_screen_has_a_picture_and_on_a_desktop_a_card(context, home, size, seen):
    with browse.visit(context, home, FIRST) as (page, _):
        page.set_viewport_size(size)
        bottoms = [page.evaluate(BOTTOM, f".bd-article {name}") for name in seen]
    assert [bottom for bottom in bottoms if bottom > size["height"]] == []


@pytest.mark.parametrize(
    ("door", "title"),
    [
        ("Read", "Reading paths"),
        ("Run", "Run it"),
        ("Teach", "Teach with this book"),
    ],
)
def test_a_door_leads_where_it_says(context, home, door, title):
    with browse.visit(context, home, FIRST) as (page, _):
        card = page.locator(".doors .sd-card").filter(has=page.get_by_text(door, exact=True))
        card.click()
        page.wait_for_load_state()
        assert re.sub(r"^[\d.]+ ", "", page.evaluate(HEADING)).startswith(title)
