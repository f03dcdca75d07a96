"""Animations: numbered, told, moved by a slider and by one button, and legible on a phone."""

import pytest

from booksite.lazy_loading import INCH
from browser import browse
from runproofs.figures import DPI

PAGE = "book/ch2_shallow_linear/digits.html"
FRAME = """(picture) => [picture.complete, picture.naturalWidth, picture.naturalHeight,
    picture.clientWidth, picture.clientHeight]"""


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        root = browse.site(metafunc.config)
        names = [n for n in browse.page_names(root)
                 if 'class="animation"' in (root / n).read_text("utf-8")]  # fmt: skip
        assert names, "no page has an animation"
        metafunc.parametrize("name", names)


def test_all_frames_come_and_a_phone_shows_them_whole(context, home, name):
    with browse.visit(context, home, name) as (page, found):
        page.set_viewport_size(browse.PHONE)
        page.add_style_tag(content=".hand-still { display: block !important }")
        for animation in page.locator("figure .animation").all():
            picture, slider = animation.locator("img"), animation.locator("input")
            animation.locator("xpath=ancestor::figure//span[@class='caption-number']").wait_for()
            done, width, height, shown, _ = before = picture.evaluate(FRAME)
            assert done, "the first frame is there before any touch"
            assert shown >= INCH * width / DPI, "its text is too small for a phone"
            slider.press("End")
            page.wait_for_function("(picture) => picture.complete", arg=picture.element_handle())
            frames = int(slider.get_attribute("max")) + 1
            assert picture.evaluate(FRAME) == [True, width, frames * height, *before[3:]]
            assert slider.get_attribute("aria-valuetext") == f"{frames} of {frames}"
        assert page.locator(".animation").count() == page.locator("figure .animation").count()
        assert found == []


def test_it_plays_once_and_stops_where_one_says(page):
    animation = page.locator(".animation")
    button, slider = animation.locator("button"), animation.locator("input")
    assert slider.input_value() == "0", "nothing moves by itself"
    assert animation.locator("img[role='button']").count() == 0
    button.focus()
    page.keyboard.press("Enter")
    assert button.inner_text() == "Pause"
    page.wait_for_function("(slider) => slider.value > 1", arg=slider.element_handle())
    page.keyboard.press("Enter")
    assert button.inner_text() == "Play"
    stopped = slider.input_value()
    page.wait_for_timeout(500)
    assert slider.input_value() == stopped
    slider.press("End")
    slider.press("ArrowLeft")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("(button) => button.textContent === 'Play'", arg=button.element_handle())
    assert slider.input_value() == slider.get_attribute("max")
    page.keyboard.press("Enter")
    assert int(slider.input_value()) < 2, "it begins again"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_button_looks_as_that_of_an_interactive_figure(context, page, home, theme):
    looks = """(button) => {
      const { color, backgroundColor, border, borderRadius } = getComputedStyle(button);
      return [color, backgroundColor, border, borderRadius];
    }"""
    with browse.visit(context, home, "book/ch2_shallow_linear/landscape.html") as (other, _):
        pages = ((page, ".animation button"), (other, ".hand-stage button"))
        found = []
        for one, button in pages:
            one.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            found.append(one.locator(button).first.evaluate(looks))
        assert found[0] == found[1]
