"""The map answers to the pointer, to keys and to its filters; without a script it is a picture."""

import pytest

from booksite.dependencies import dependents
from browser import browse
from runproofs.claims.registry import register

PAGE = "book/back/map.html"
TITLE = "Theorem 4: "


def claim(page, title=TITLE):
    return page.locator(".claim-map a", has=page.locator("title", has_text=title)).first


def test_the_focus_lights_what_a_claim_rests_on_and_what_rests_on_it(page):
    claim(page).evaluate("(claim) => claim.focus({ focusVisible: true })")
    assert page.locator(".claim-map .on").count() == 1
    assert page.locator(".claim-map a.above").count() == len(dependents("thesis/theorem-4"))
    below = page.locator(".claim-map a.below title").all_text_contents()
    assert any(title.startswith("Theorem 1: ") for title in below)
    assert page.locator(".claim-map path.below").count() >= len(below)
    said = page.locator(".claim-map-filter output").inner_text()
    assert said.startswith(TITLE)
    assert f"on it rest {len(dependents('thesis/theorem-4'))} (" in said
    page.keyboard.press("Tab")
    assert page.locator(".claim-map .on title").text_content() != TITLE
    assert page.locator(".claim-map .on").count() == 1


def test_the_pointer_does_so_too_and_a_click_leads_to_the_statement(page):
    claim(page).scroll_into_view_if_needed()
    claim(page).locator("rect").hover()
    assert page.locator(".claim-map svg.lit a.above").count() > 3
    page.mouse.move(0, 0)
    assert page.locator(".claim-map .above, .claim-map .lit").count() == 0
    claim(page).locator("rect").click()
    page.wait_for_url("**/two_layer.html#tl-theorem-4")


def test_the_filters_fade_claims_and_hide_their_rows(page):
    beyond = [entry for entry in register().values() if entry.source == "beyond"]
    page.select_option(".claim-map-filter [name=source]", "beyond")
    assert page.locator(".claim-map a:not(.out)").count() == len(beyond)
    assert page.locator(".claim-map-table tr[id]:not([hidden])").count() == len(beyond)
    page.select_option(".claim-map-filter [name=kind]", "theorem")
    assert page.locator(".claim-map a:not(.out)").count() == sum(
        entry.kind == "theorem" for entry in beyond
    )
    page.select_option(".claim-map-filter [name=source]", "")
    page.select_option(".claim-map-filter [name=kind]", "")
    assert page.locator(".claim-map a.out, .claim-map-table tr[hidden]").count() == 0


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE], ids=["wide", "phone"])
def test_the_page_does_not_scroll_sideways_and_its_letters_can_be_read(page, size):
    page.set_viewport_size(size)
    width, letter = page.evaluate(
        """() => [document.documentElement.scrollWidth,
          document.querySelector(".claim-map a text").getBoundingClientRect().height]"""
    )
    assert width <= size["width"]
    assert letter >= 7


def test_the_page_is_at_most_fifteen_screens(page):
    height = page.locator("article.bd-article").bounding_box()["height"]
    assert height <= 15 * browse.DESKTOP["height"]
