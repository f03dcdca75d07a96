"""What readers do with a page: fold, open, enlarge, scroll; by hand and by keys, light and dark."""

import re
from io import BytesIO

import pytest
from PIL import Image

from browser import browse

WIDE = "book/ch2_shallow_linear/two_layer.html"  # wide displays, solutions, pictures, an animation
CODE = "book/ch2_shallow_linear/index.html"  # open cells
ANIMATION = "book/ch2_shallow_linear/digits.html"
PHOTOGRAPH = "book/ch2_shallow_linear/matrix_factorization.html"
WHITE = "rgb(255, 255, 255)"
CUT = """() => [...document.querySelectorAll("div.math mjx-container")]
    .filter((formula) => formula.checkVisibility())
    .map((formula) => [formula.scrollWidth > formula.clientWidth + 1, formula.dataset.cut ?? "",
      formula.tabIndex, getComputedStyle(formula).maskImage.includes("gradient")])"""
INLINE = "mjx-container:not([display])"
STRAY = """(inline) => [...document.querySelectorAll(inline)].filter((formula) => {
  const { nextSibling } = formula.closest("span.math") ?? formula;
  if (!formula.checkVisibility() || nextSibling?.nodeType !== Node.TEXT_NODE) return false;
  if (!/^[.,;:!?)]/.test(nextSibling.data)) return false;
  const sign = new Range();
  sign.setStart(nextSibling, 0);
  sign.setEnd(nextSibling, 1);
  return sign.getBoundingClientRect().left < formula.getBoundingClientRect().right - 2;
}).map((formula) => formula.closest("p, li").textContent.slice(0, 80))"""


@pytest.fixture
def page(context, home):
    with browse.visit(context, home, WIDE) as (page, found):
        yield page
        page.evaluate("localStorage.clear()")
        assert found == []


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE])
def test_what_is_cut_says_so_and_takes_keys(page, size):
    page.set_viewport_size(size)
    page.wait_for_timeout(200)
    formulas = page.evaluate(CUT)
    assert any(cut for cut, *_ in formulas) == (size == browse.PHONE)
    for cut, sides, tab, faded in formulas:
        assert (sides, tab, faded) == (("right", 0, True) if cut else ("", -1, False))


def test_a_cut_formula_scrolls_by_keys_and_fades_at_the_other_side(page):
    page.set_viewport_size(browse.PHONE)
    formula = page.locator("div.math mjx-container[data-cut]").first
    formula.focus()
    page.keyboard.press("End")
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "(formula) => formula.dataset.cut === 'left'", arg=formula.element_handle()
    )


def test_what_fits_again_does_not_fade(page):
    for width in (330, 180, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        assert page.locator("span.math mjx-container[data-cut]:not(.wide)").count() == 0


def test_formulas_are_no_stops_of_the_tab_key(page):
    assert page.locator("mjx-container").count() > 100
    assert page.locator("mjx-container[tabindex='0']:not([data-cut])").count() == 0


def test_a_statement_has_room_on_a_phone(page):
    page.set_viewport_size(browse.PHONE)
    for box in (
        ".proof.theorem",
        "div.proof:not(:has(> .admonition-title))",
        ".exercise",
        ".admonition.warning",
    ):
        widths = "(box) => [box.offsetWidth, box.lastElementChild.offsetWidth]"
        outer, inner = page.locator(box).first.evaluate(widths)
        assert outer - inner <= 24, box


@pytest.mark.parametrize("key", ["click", "Enter", " "])
def test_a_picture_opens_large_and_esc_closes_it(page, key):
    page.set_viewport_size(browse.PHONE)
    picture = page.locator("figure img").first
    if key == "click":
        picture.click()
    else:
        picture.focus()
        page.keyboard.press(key)
    large = page.locator("dialog.picture[open] img")
    assert large.get_attribute("alt") == picture.get_attribute("alt")
    assert large.evaluate("(image) => image.clientWidth === image.naturalWidth")
    assert large.evaluate("(image) => image.clientWidth") > 1.5 * picture.bounding_box()["width"]
    page.keyboard.press("Escape")
    assert page.locator("dialog.picture[open]").count() == 0
    assert picture.evaluate("(image) => image === document.activeElement") or key == "click"


def test_in_the_dark_the_paper_of_a_picture_is_the_page_and_a_photograph_stays(page, home):
    def corner(selector):
        picture = page.locator(selector).first.screenshot()
        return "rgb{}".format(Image.open(BytesIO(picture)).convert("RGB").getpixel((3, 3)))

    assert corner("figure img:visible") == WHITE
    for address, selector, paper in (
        (WIDE, "figure img:visible", None),
        (ANIMATION, "figure .animation img:visible", None),
        (PHOTOGRAPH, ".tag_photograph figure img:visible", WHITE),
    ):
        page.goto(home + address)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert dark != WHITE
        assert corner(selector) == (paper or dark)


def test_all_code_folds_by_keys_and_stays_folded_on_the_next_page(page, home):
    page.goto(home + CODE)
    code, switch = page.locator("div.cell_input:visible"), page.locator(".btn-fold-code-button")
    shown, outputs = code.count(), page.locator("div.cell_output:visible").count()
    assert shown > 2
    switch.focus()
    page.keyboard.press("Enter")
    assert (code.count(), page.locator(".folded-code:visible").count()) == (0, shown)
    assert page.locator("div.cell_output:visible").count() == outputs
    assert switch.get_attribute("aria-pressed") == "true"
    first = page.locator(".folded-code > summary:visible").first
    assert re.fullmatch(r"Code, \d+ lines?", first.inner_text())
    first.focus()
    page.keyboard.press("Enter")
    assert code.count() == 1
    page.goto(home + "book/ch2_shallow_linear/digits.html")
    assert page.locator(".folded-code").count() > 0
    assert code.count() == 0
    switch.click()
    assert code.count() > 0
    assert page.locator(".folded-code").count() == 0


def test_folded_code_never_shows_while_a_page_loads(page, home):
    """Without what runs after the page is read, its code is hidden already."""
    page.goto(home + CODE)
    page.evaluate("localStorage.setItem('code', 'folded')")
    page.add_init_script(
        """document.addEventListener("DOMContentLoaded",
          (event) => event.stopImmediatePropagation(), true)"""
    )
    page.reload(wait_until="commit")
    page.wait_for_selector("footer", state="attached")
    assert page.locator(".folded-code").count() == 0
    assert page.locator("div.cell > div.cell_input").count() > 3
    assert page.locator("div.cell > div.cell_input:visible").count() == 0


def test_a_solution_opens_where_one_clicks_and_its_sign_leads_to_the_exercise(page):
    solution = page.locator(".solution.dropdown").first
    title, sign = solution.locator("> .admonition-title"), solution.locator(".to-exercise")
    folded = "(solution) => solution.classList.contains('toggle-hidden')"
    assert title.inner_text().startswith("Solution to Exercise")
    title.click(position={"x": 60, "y": 12})
    assert not solution.evaluate(folded)
    assert "#" not in page.url
    solution.locator(".toggle-button").focus()
    page.keyboard.press("Enter")
    assert solution.evaluate(folded)
    sign.click()
    assert page.url.endswith(sign.get_attribute("href"))
    assert solution.evaluate(folded)


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE])
@pytest.mark.parametrize("name", [WIDE, "book/ch3_deep_linear/explicit_regularizer.html"])
def test_a_full_stop_stays_with_its_formula(context, home, name, size):
    with browse.visit(context, home, name) as (page, _):
        page.set_viewport_size(size)
        assert page.locator(".unbroken").count() > 10
        assert page.evaluate(STRAY, INLINE) == []


def test_keys_reach_what_can_be_done_and_one_sees_where_one_is(page):
    """The first stop skips to the text; then every stop until the first picture shows its focus."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    page.keyboard.press("Enter")
    for _ in range(150):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => {
              const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement);
              return [outlineStyle, boxShadow, document.activeElement.outerHTML.slice(0, 200)];
            }"""
        )
        assert style[:2] != ["none", "none"], style[2]
        if page.evaluate("document.activeElement.matches('.bd-article img')"):
            break
    else:
        pytest.fail("no picture is reached by keys")


def test_small_words_of_the_theme(page, home, pytestconfig):
    titles = page.locator(".dropdown-download-buttons .btn__text-container").all_text_contents()
    assert titles == ["Notebook (.ipynb)", "Library (.whl)", "Source (.md)", "Print (.pdf)"]
    icon = "(title) => getComputedStyle(title, '::after').content"
    assert page.locator(".proof > .admonition-title").first.evaluate(icon) == "none"
    page.goto(home + "book/index.html")
    assert page.title() == "Proofs You Can Run"
    assert not (browse.site(pytestconfig) / "prf-prf.html").exists()


CUT_PICTURES = """() => [...document.querySelectorAll(".frame")]
    .filter((frame) => frame.checkVisibility())
    .map((frame) => [frame.scrollWidth > frame.clientWidth + 1, frame.dataset.cut ?? ""])"""


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE])
def test_a_picture_too_wide_for_a_phone_scrolls_in_its_frame(page, size):
    page.set_viewport_size(size)
    page.wait_for_timeout(300)
    frames = page.evaluate(CUT_PICTURES)
    assert any(cut for cut, _ in frames) == (size == browse.PHONE)
    for cut, sides in frames:
        assert sides == ("right" if cut else "")
