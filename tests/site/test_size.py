"""No page is longer than a lecture, and most of what one sees is not code.

Measured as a reader meets the page: 1280 px wide, proofs and checks folded.
"""

import browse
import pytest
from test_pages import site

SCREENS = 15  # of 900 px
CODE = 1 / 4  # of the height
LISTS = ("book/back/", "genindex", "search", "index.html")  # to look things up in, and the cover

MEASURE = """() => {
  const article = document.querySelector("article.bd-article");
  const visible = [...article.querySelectorAll("div.cell_input")].filter(
    (code) => !code.closest("details:not([open])"));
  const heights = visible.map((code) => code.getBoundingClientRect().height);
  return [article.getBoundingClientRect().height, heights.reduce((a, b) => a + b, 0)];
}"""


def pytest_generate_tests(metafunc):
    names = browse.page_names(site(metafunc.config))
    pages = [name for name in names if not name.startswith(LISTS)]
    metafunc.parametrize("name", pages)


@pytest.fixture(scope="module")
def home(pytestconfig):
    with browse.serve(site(pytestconfig)) as address:
        yield address


def measure(context, home, name):
    """Height of the article and of the code that is not folded, in pixels."""
    with browse._visit(context, home, name) as (page, _):
        return page.evaluate(MEASURE)


def test_size(context, home, name):
    height, code = measure(context, home, name)
    assert height <= SCREENS * browse.DESKTOP["height"], f"{height / 900:.1f} screens"
    assert code <= CODE * height, f"{code / height:.0%} of the height is code"
