"""On a phone the errata are whole, and the scoreboard has its verdicts in sight."""

from contextlib import ExitStack

import pytest

from browser import browse

WIDE = """() => [...document.querySelectorAll(".bd-article :is(.math, table, .erratum)")]
  .filter((box) => box.clientWidth)
  .filter((box) => (box.querySelector(":scope > mjx-container")?.getBoundingClientRect().width
    ?? box.scrollWidth) > box.clientWidth + 1)
  .map((box) => (box.closest(".erratum") ?? box).textContent.slice(0, 60))"""


@pytest.fixture
def opened(context, home):
    """A page of the back matter as a phone shows it, everything unfolded."""
    with ExitStack() as stack:

        def opened(name):
            visit = browse.visit(context, home, f"book/back/{name}.html")
            page, _ = stack.enter_context(visit)
            page.set_viewport_size(browse.PHONE)
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            return page

        yield opened


def test_no_formula_and_no_table_of_the_errata_is_wider_than_a_phone(opened):
    assert opened("errata").evaluate(WIDE) == []


def test_the_scoreboard_shows_each_verdict_by_mark_and_word_and_links_to_a_check(opened):
    page = opened("scoreboard")
    verdicts = page.eval_on_selector_all(
        ".score .verdict",
        "all => all.map((v) => [v.textContent, v.getBoundingClientRect().right])",
    )
    links = page.eval_on_selector_all(".score a", "all => all.map((a) => a.getAttribute('href'))")
    assert len(verdicts) == len(links) > 25
    words = ("● reproduced", "◐ with a qualification", "○ not reproduced", "○ not run")
    assert {text for text, _ in verdicts} <= set(words)
    assert max(right for _, right in verdicts) <= browse.PHONE["width"]
    assert [link for link in links if "#check-" not in link] == []
