"""What a text names is a link with a preview."""

import re

from browser import browse

PAGE = "book/ch6_adversarial/training_converges.html"
LINK = "article a.to-claim[href='pgd_finds_attacks.html#a2-lemma-18']"


def test_the_pointer_on_a_named_result_shows_what_it_says(page):
    link, preview = page.locator(LINK).first, page.locator("#preview")
    link.scroll_into_view_if_needed()
    assert preview.is_hidden()
    link.hover()
    preview.wait_for(state="visible")
    assert preview.locator("b").first.inner_text() == "Lemma 18, Equation 6.6"
    preview.locator("mjx-container").first.wait_for()
    box, size = preview.bounding_box(), page.viewport_size
    assert 0 <= box["x"] <= box["x"] + box["width"] <= size["width"]
    assert 0 <= box["y"] <= box["y"] + box["height"] <= size["height"]
    page.mouse.move(0, 0)
    preview.wait_for(state="hidden")


def test_the_preview_is_there_for_keys_and_goes_with_escape(page):
    link, preview = page.locator(LINK).first, page.locator("#preview")
    link.evaluate("(link) => { link.tabIndex = 0; link.focus({ focusVisible: true }); }")
    preview.wait_for(state="visible")
    assert link.get_attribute("aria-describedby") == preview.get_attribute("id")
    assert preview.get_attribute("role") == "tooltip"
    page.keyboard.press("Escape")
    preview.wait_for(state="hidden")
    assert link.get_attribute("aria-describedby") is None


def test_no_link_is_a_kind_without_a_name(pytestconfig):
    """A reference to a box without a number says "Lemma" and no more, unless it has a text."""
    bare = re.compile(
        r"<a [^>]*>(?:<span[^>]*>)*\s*"
        r"(?:Lemma|Theorem|Proposition|Corollary|Definition|Remark|Algorithm|Exercise|Figure|Table)?"
        r"\s*(?:</span>)*</a>"
    )
    pages = sorted((browse.site(pytestconfig) / "book").rglob("*.html"))
    holes = {str(page): bare.findall(page.read_text("utf-8")) for page in pages}
    assert len(holes) > 100
    assert {page: found for page, found in holes.items() if found} == {}


def test_most_of_what_is_named_on_a_page_is_a_link(home, context):
    """What stays without a link is of sources that are named apart."""
    counts = {"linked": 0, "plain": 0}
    named = re.compile(r"\b(?:Theorem|Lemma|Proposition|Corollary|Algorithm)s? \d+\b")
    for name in (
        "ch2_shallow_linear/two_layer", "ch3_deep_linear/gaps", "ch4_generalization/two_bounds",
        "ch5_convergence/theorem_14", "ch6_adversarial/training_converges",
    ):  # fmt: skip
        with browse.visit(context, home, f"book/{name}.html") as (page, _):
            texts = page.evaluate(
                """() => [...document.querySelectorAll("article p")].map((p) => {
                  const copy = p.cloneNode(true);
                  const links = copy.querySelectorAll("a");
                  const linked = [...links].map((a) => a.textContent).join(" | ");
                  links.forEach((a) => a.remove());
                  const title = p.closest(".claim-card, .admonition-title");
                  return [linked, title ? "" : copy.textContent];
                })"""
            )
        counts["linked"] += sum(len(named.findall(linked)) for linked, _ in texts)
        counts["plain"] += sum(len(named.findall(plain)) for _, plain in texts)
    assert counts["linked"] > 20
    assert counts["plain"] < 0.5 * counts["linked"], counts
