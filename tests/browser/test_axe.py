"""axe, a judge of accessibility, finds nothing serious on any page, light and dark, unfolded."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from browser import browse

GRAVE = {"serious", "critical"}
# What MathJax draws in a sentence is MathJax's; the parts of a block of code have a few colors,
# and each is looked at once: both spare the judge nine tenths of the elements of a page.
UNFOLD = """() => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  for (const folded of document.querySelectorAll(".toggle-hidden"))
    folded.classList.remove("toggle-hidden");
  for (const formula of document.querySelectorAll("span.math mjx-container"))
    formula.textContent = "x";
  for (const block of document.querySelectorAll("pre")) {
    const seen = new Set();
    for (const part of block.querySelectorAll("span"))
      if (seen.size === seen.add(part.className).size) part.replaceWith(part.textContent);
  }
}"""
JUDGE = """async () => {
  const { violations } = await axe.run({ resultTypes: ["violations"], preload: false });
  return violations.map(({ id, impact, nodes }) => [id, impact, nodes.length, nodes[0].html]);
}"""
DARK = "document.documentElement.dataset.theme = 'dark'"


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        root = browse.site(metafunc.config)
        names = browse.page_names(root)
        names = [name for name in names if "<article" in (root / name).read_text("utf-8")]
        metafunc.parametrize("name", names)


def complaints(context, home, name):
    """What is serious or critical on a page, in sentences."""
    with browse.visit(context, home, name) as (page, _):
        page.emulate_media(reduced_motion="reduce")
        page.add_style_tag(content="* { transition: none !important; animation: none !important }")
        page.evaluate(UNFOLD)
        page.evaluate(AXE_SCRIPT)
        light = page.evaluate(JUDGE)
        page.evaluate(DARK)
        known = {rule for rule, *_ in light if rule != "color-contrast"}
        dark = [found for found in page.evaluate(JUDGE) if found[0] not in known]
    return [
        f"{rule}, {count} times: {' '.join(first.split())[:160]}"
        for rule, impact, count, first in light + [[f"dark: {rule}", *more] for rule, *more in dark]
        if impact in GRAVE
    ]


def test_nothing_serious(context, home, name):
    assert complaints(context, home, name) == []


@pytest.mark.parametrize("query", ["?path=two-hours", "?slides=2"])
def test_nothing_serious_on_a_path_or_as_slides(context, home, query):
    assert complaints(context, home, f"book/ch2_shallow_linear/index.html{query}") == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<p>well</p>", None),
        ('<p style="color: #999">pale</p>', "color-contrast"),
        ('<p style="color: #111">unseen in the dark</p>', "dark: color-contrast"),
        ("<details><summary></summary>x</details>", "summary-name"),
        ('<details><summary>x</summary><img src="data:,"></details>', "image-alt"),
        (
            '<pre style="width: 40px; overflow: auto">wide wide wide wide wide wide</pre>',
            "scrollable-region-focusable",
        ),
    ],
)
def test_what_is_serious_is_said(context, tmp_path, body, rule):
    (tmp_path / "page.html").write_text(
        '<!DOCTYPE html><html lang="en"><title>page</title><link rel="icon" href="data:,">'
        "<style>html { background: #fff } html[data-theme=dark] { background: #000; color: #fff }"
        f"</style><main><h1>page</h1>{body}</main>"
    )
    with browse.serve(tmp_path) as home:
        found = complaints(context, home, "page.html")
    assert [what.partition(",")[0] for what in found] == ([rule] if rule else [])
