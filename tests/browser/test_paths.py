"""Five things that somebody new looks for, each within three clicks from the first page.

A path follows what one reads: the words of a link, a button or a fold, and what is typed into the
search.
"""

import re

import pytest

from browser import browse

FIRST = "book/index.html"
MOST = 3  # clicks


class Typed(str):
    """What is typed, with the key Enter behind it."""


PATHS = {
    "Theorem 16, and what it rests on": (
        ["Search", Typed("Theorem 16"), re.compile("> Theorem 16$"), re.compile("^Rests on")],
        '.rests[open] :text("Lemma 19")',
    ),
    "what p = .5 does to my layer": (
        ["What your dropout layer adds"],
        ':text("a unit is multiplied by")',
    ),
    "the printed theorems that are false": (
        ["printed theorems that are false"],
        '.erratum[open] :text("As printed")',
    ),
    "an assignment": (["Teach", "Dropout is a regularizer"], ':text("1. Predict")'),
}


def arrive(page, size):
    """Open the page anew on a screen of this size; nothing glides, nor has a menu still to go."""
    page.set_viewport_size(size)
    page.emulate_media(reduced_motion="reduce")
    page.reload()


def walk(page, steps) -> int:
    """Follow a path, and count its clicks."""
    for step in steps:
        if isinstance(step, Typed):
            page.keyboard.type(step)
            page.keyboard.press("Enter")
            page.wait_for_selector("#search-results li a")
            continue
        page.wait_for_load_state()
        page.evaluate(f"({browse.PROBE}).settle({browse.PATIENCE})")  # nothing moves any more
        named = page.get_by_text(step, exact=True).or_(page.get_by_label(step, exact=True))
        named.locator("visible=true").first.click(force=True)  # the link may lie upon its words
    return sum(not isinstance(step, Typed) for step in steps)


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize(("steps", "answer"), PATHS.values(), ids=PATHS)
def test_within_three_clicks(context, home, size, steps, answer):
    with browse.visit(context, home, FIRST) as (page, _):
        arrive(page, size)
        assert walk(page, steps) <= MOST
        page.locator(f".bd-article {answer}").first.wait_for(timeout=1000 * browse.PATIENCE)


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE], ids=["desktop", "phone"])
def test_a_page_to_run_within_three_clicks(context, home, size):
    with browse.visit(context, home, FIRST) as (page, _):
        arrive(page, size)
        with page.expect_download() as got:
            assert walk(page, ["Run", "Download this page", "Notebook (.ipynb)"]) <= MOST
        assert got.value.suggested_filename == "index.ipynb"
