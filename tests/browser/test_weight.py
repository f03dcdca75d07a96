"""Pages are light: text comes first; formulas and pictures come when a reader comes near."""

import gzip
import re
from functools import cache
from pathlib import Path

from browser import browse

HEAVIEST = 600_000  # bytes of HTML
HEAVIEST_VIEW, MOST_REQUESTS = 700_000, 25  # compressed bytes; what is fetched before one scrolls
MOST_MOVED = 0.05  # the score of layout shifts
SPEED, ROUND_TRIP = 200_000, 0.15  # of a slow phone: bytes per second, seconds
ROUND_TRIPS = 5  # of the connection, the page, the bundles, MathJax and its fonts, in turn
LATEST = 4.0  # seconds until the first formula stands
COMPRESSED = {".css", ".html", ".js", ".json", ".svg"}  # by a host of static pages
STILL = """async () => {
  const nothing = document.createElement("div");
  for (const _ of "12") {  // MathJax is there; what it was asked to typeset has been typeset
    await window.typesetIn?.(nothing);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)));
  }
  await document.fonts.ready;
}"""
IMAGE = re.compile(r'<img [^>]*src="[^":]*_images/[^"]+\.png"[^>]*>')
FIRST = "book/index.html"
FORMULAS = "book/back/ledger/ch2.html"  # the most of all pages
ORDER = """() => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  const fetched = performance.getEntriesByType("resource").find((e) => e.name.includes("mathjax/"));
  return [paint.startTime, fetched.startTime];
}"""
SHIFTS = """() => new Promise((done) => {
  let total = 0;
  new PerformanceObserver((shifts) => {
    for (const shift of shifts.getEntries()) total += shift.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(total), 300);
})"""


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        root = browse.site(metafunc.config)
        names = browse.page_names(root)
        if "first_view" in metafunc.function.__name__:
            names = heaviest(root, names)
        metafunc.parametrize("name", names)


def heaviest(root, names):
    """The first page, and of each folder the pages with most to read and with most to fetch."""
    text = {name: (root / name).read_text("utf-8") for name in names if name.startswith("book/")}
    folders = {}
    for name in text:
        folders.setdefault(Path(name).parent, []).append(name)
    found = {FIRST}
    for pages in folders.values():
        found.add(max(pages, key=lambda name: len(text[name])))
        found.add(max(pages, key=lambda name: len(re.findall("<img |<script ", text[name]))))
    return sorted(found)


@cache
def weight(path):
    """Bytes of a file as it is sent."""
    sent = path.read_bytes()
    return len(gzip.compress(sent, 6) if path.suffix in COMPRESSED else sent)


def test_a_first_view_is_light_and_keeps_still(context, home, pytestconfig, name):
    root = browse.site(pytestconfig)
    for size in (browse.DESKTOP, browse.PHONE):
        with context.browser.new_context(viewport=size) as new:  # nothing is cached
            page, asked = new.new_page(), []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(home + name)
            page.evaluate(STILL)
            moved = page.evaluate(SHIFTS)
        paths = [root / url.removeprefix(home).partition("?")[0] for url in asked
                 if url.startswith(home)]  # fmt: skip
        sent = sum(map(weight, paths))
        assert sent <= HEAVIEST_VIEW
        assert ROUND_TRIPS * ROUND_TRIP + sent / SPEED <= LATEST
        assert len(asked) <= MOST_REQUESTS
        assert moved <= MOST_MOVED


def test_no_page_is_heavy(pytestconfig, name):
    weight = (browse.site(pytestconfig) / name).stat().st_size
    assert weight <= HEAVIEST, f"{name} has {weight / 1000:.0f} kB of HTML"


def test_text_first_then_formulas_in_view_and_a_phone_keeps_still(context, home):
    page = context.new_page()
    page.set_viewport_size(browse.PHONE)
    page.goto(home + FORMULAS)
    page.wait_for_selector(".claim-entry .math mjx-container")
    page.wait_for_timeout(1000)
    drawn, fetched = page.evaluate(ORDER)
    assert drawn <= fetched
    assert page.evaluate(SHIFTS) <= MOST_MOVED
    formulas = page.locator(".math")
    waiting = page.locator(".math:not(:has(mjx-container))")
    assert 0 < waiting.count() < formulas.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("!document.querySelector('.math:not(:has(mjx-container))')")
    page.close()


def test_every_picture_has_its_place(pytestconfig, name):
    images = IMAGE.findall((browse.site(pytestconfig) / name).read_text("utf-8"))
    assert [image for image in images if "width=" not in image] == []


def test_the_menu_of_formulas_comes_with_the_first_right_click(context, home):
    with browse.visit(context, home, FIRST) as (page, found):
        formulas = page.locator("mjx-container")
        count = formulas.count()
        page.locator("mjx-container:visible").first.click(button="right")
        page.wait_for_selector(".CtxtMenu_Menu :text('Copy to Clipboard')")
        assert formulas.count() == count == page.locator("mjx-assistive-mml").count()
        assert found == []


def test_without_mathjax_the_sources_can_be_read(context, home):
    page = context.new_page()
    page.route("**/mathjax/*", lambda route: route.abort())
    page.goto(home + FIRST)
    page.wait_for_function("!document.querySelector('.math[style]')")
    color = "element => getComputedStyle(element).color"
    formula = page.locator(".bd-article p .math").first
    assert formula.evaluate(color) == formula.locator("xpath=..").evaluate(color)
    page.close()
