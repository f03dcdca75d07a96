"""Pages are light: text comes first; formulas and pictures come when a reader comes near."""

import re

from browser import browse

HEAVIEST = 600_000  # bytes of HTML
IMAGE = re.compile(r'<img [^>]*src="[^":]*_images/[^"]+\.png"[^>]*>')
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
        metafunc.parametrize("name", browse.page_names(browse.site(metafunc.config)))


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
    assert page.evaluate(SHIFTS) <= 0.1
    formulas = page.locator(".math")
    waiting = page.locator(".math:not(:has(mjx-container))")
    assert 0 < waiting.count() < formulas.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("!document.querySelector('.math:not(:has(mjx-container))')")
    page.close()


def test_every_picture_has_its_place(pytestconfig, name):
    images = IMAGE.findall((browse.site(pytestconfig) / name).read_text("utf-8"))
    assert [image for image in images if "width=" not in image] == []
