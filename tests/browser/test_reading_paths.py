"""Reading paths lead from page to page, as long as they say, and skip what they say."""

import re

import pytest

from booksite.learning_paths import duration, routes
from browser import browse

STEP = "book/ch2_shallow_linear/autoencoders.html"  # in the middle of two paths
NEXT = ".prev-next-area .right-next"


@pytest.mark.parametrize("route", routes(), ids=lambda route: route.name)
def test_a_route_leads_through_its_pages_and_its_minutes_add_up(route, context, home):
    with browse.visit(context, home, "book/index.html") as (page, _):
        shown = page.locator("details.route", has_text=route.name).first
        shown.locator("summary").click()
        head = shown.locator("summary").inner_text().split(" · ")[1]
        address = shown.locator("ol > li").first.locator("a").first.get_attribute("href")
    whole, minutes = all(not step.read for step in route.steps), 0
    assert address == f"{route.steps[0].page}.html{route.query}"
    for k, step in enumerate(route.steps):
        with browse.visit(context, home, f"book/{step.page}.html") as (page, _):
            place = page.locator("p.page-route", has_text=f"{route.name}, step {k + 1} of")
            assert place.count() == 1
            if k + 1 < len(route.steps):
                following = place.locator(".next a").get_attribute("href")
                name = route.steps[k + 1].page.split("/")[-1]
                assert following.endswith(f"{name}.html{route.query}")
            said = re.search(r"(\d+) min to read", page.locator("article").inner_text())
            minutes += int(said[1]) if said else float("nan")
    if whole and minutes == minutes:  # each page is rounded to whole minutes
        low, high = minutes - len(route.steps), minutes + len(route.steps)
        assert head in {f"{duration(m)} to read" for m in range(low, high + 1)}


def test_two_hours_are_two_hours(context, home):
    with browse.visit(context, home, "book/index.html") as (page, _):
        line = page.locator("details.route > summary").first.inner_text()
    minutes = re.match(r"Two hours · (\d+) minutes to read", line)
    assert 110 <= int(minutes[1]) <= 120


@pytest.mark.parametrize("route", routes(), ids=lambda route: route.name)
def test_a_path_ends_with_words_that_stand_open_for_who_came_by_it(route, context, home):
    last = f"book/{route.steps[-1].page}.html"
    with browse.visit(context, home, last + route.query) as (page, _):
        end = page.locator(".path-end p:visible")
        assert end.count() == 1
        assert end.locator("a").count() >= 2
    with browse.visit(context, home, last) as (page, _):
        assert page.locator(".path-end p:visible").count() == 0
        assert page.locator(".path-end > summary").first.is_visible()


def test_who_comes_by_a_path_is_led_along_it(context, home):
    with browse.visit(context, home, "book/index.html") as (page, found):
        path = page.locator("details.route", has_text="Two hours").first
        path.locator("summary").click()
        path.get_by_role("link", name="Tied autoencoders").click()
        line = page.locator(".page-route:visible")
        assert re.match(r"Two hours, step \d+ of", line.inner_text())
        notes = page.locator(".path-skip:visible")
        assert notes.all_inner_texts() == [
            "Your path skips to Two-layer networks: a squared nuclear norm in disguise"
        ]
        assert notes.evaluate("(note) => note.nextElementSibling.matches('.skipped')")
        link = line.locator("a", has_text="Dropout shares the load")
        link.focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("autoencoders.html?path=two-hours#dropout-shares-the-load")
        assert page.locator(f"{NEXT} .prev-next-subtitle").text_content() == "next on your path"
        page.locator(NEXT).click()
        page.wait_for_url("**/two_layer.html?path=two-hours")
        page.locator(".prev-next-area .left-prev").click()
        page.wait_for_url("**/autoencoders.html?path=two-hours")
        assert found == []


def test_a_path_is_kept_until_one_leaves_it(context, home):
    with browse.visit(context, home, f"{STEP}?path=two-hours") as (page, _):
        page.goto(home + STEP)
        page.locator(f"{NEXT}[href*='two_layer.html']").wait_for()
        page.get_by_role("button", name="Leave this path").press("Enter")
        page.locator(f"{NEXT}[href='equalizing.html']").wait_for()
        assert not page.locator(".page-route").first.is_visible()


@pytest.mark.parametrize("query", ["", "?path=i-teach", "?path=none"])
def test_who_comes_by_none_of_its_paths_finds_the_page_as_it_is(context, home, query):
    with browse.visit(context, home, STEP + query) as (page, _):
        assert page.locator(NEXT).get_attribute("href") == "equalizing.html"
        assert page.locator(".path-skip, .skipped").count() == 0
        assert not page.locator(".page-route").first.is_visible()


def test_what_has_been_read_is_ticked_and_can_be_taken_back(context, home):
    with browse.visit(context, home, STEP) as (page, found):
        button = page.get_by_role("button", name="I have read this page")
        assert button.get_attribute("aria-pressed") == "false"
        button.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator(".bd-sidebar-primary a.read").inner_text().startswith("Tied")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy the list").click()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == STEP.removesuffix(".html")
        page.goto(f"{home}book/index.html")
        shown = page.locator("details.route > summary[data-read$='read']")
        names = [line.split(" · ")[0] for line in shown.all_inner_texts()]
        assert names == ["Two hours", "Two weeks"]
        assert page.locator("details.route a.read").count() == 2
        page.goto(home + STEP)
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
        assert page.locator("a.read").count() == 0
        assert found == []
