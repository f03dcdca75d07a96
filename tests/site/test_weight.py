"""Pages are light: pictures of players, all but the first, come when a reader turns to them."""

import browse
import pytest
from test_pages import site

HEAVIEST = 600_000  # bytes of HTML
PLAYERS = ".animation img"
SHOWN = "image => image.complete && image.naturalWidth > 0 && image.src"


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        root = site(metafunc.config)
        names = browse.page_names(root)
        if "player" in metafunc.function.__name__:
            names = [n for n in names if "_anim_img" in (root / n).read_text("utf-8")]
            assert names, "no page has a player"
        metafunc.parametrize("name", names)


@pytest.fixture(scope="module")
def home(pytestconfig):
    with browse.serve(site(pytestconfig)) as address:
        yield address


def test_no_page_is_heavy(pytestconfig, name):
    weight = (site(pytestconfig) / name).stat().st_size
    assert weight <= HEAVIEST, f"{name} has {weight / 1000:.0f} kB of HTML"


def test_a_player_turns_its_pictures(context, home, name):
    with browse.visit(context, home, name) as (page, found):
        for k, image in enumerate(page.query_selector_all(PLAYERS)):
            first = image.evaluate(SHOWN)
            assert first, "its first picture stands before any touch"
            last = page.locator(f"{PLAYERS} + .anim-controls [title='Last frame']").nth(k)
            last.dispatch_event("pointerover")
            page.wait_for_function("image => !image.dataset.frames", arg=image)
            last.dispatch_event("click")
            page.wait_for_function(f"([image, first]) => ({SHOWN})(image) !== first",
                                   arg=[image, first])  # fmt: skip
        assert found == []
