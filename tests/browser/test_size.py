"""No page that one reads is longer than a lecture, and most of what one sees is not code.

Measured as a reader meets the page: 1280 px wide, proofs and checks folded.
"""

import pytest

from browser import browse

SCREENS = 15  # of 900 px
CODE = 1 / 4  # of the height
READ = (
    "book/ch", "book/companions/", "book/course/", "book/practice/", "book/index",
    "book/back/beyond", "book/back/errata", "book/back/ledger", "book/back/scoreboard",
)  # fmt: skip
MEASURE = """() => {
  const height = (element) => element.getBoundingClientRect().height;
  const article = document.querySelector("article.bd-article");
  const code = [...article.querySelectorAll("div.cell_input")];
  const visible = code.filter((cell) => !cell.closest("details:not([open])"));
  return [height(article), visible.map(height).reduce((a, b) => a + b, 0)];
}"""


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        names = browse.page_names(browse.site(metafunc.config))
        metafunc.parametrize("name", [name for name in names if name.startswith(READ)])


def measure(context, home, name):
    """Height of the article, and of the code that is not folded, in pixels."""
    with browse.visit(context, home, name) as (page, _):
        return page.evaluate(MEASURE)


def complaints(context, home, name):
    """What is too large on a page, in sentences."""
    height, code = measure(context, home, name)
    screens, share = height / browse.DESKTOP["height"], code / height
    found = [f"{screens:.1f} screens"] * (screens > SCREENS)
    return found + [f"{share:.0%} of the height is code"] * (share > CODE)


def test_size(context, home, name):
    assert complaints(context, home, name) == []


@pytest.mark.parametrize(
    ("text", "code", "folded", "expected"),
    [
        (10_000, 3000, 9000, []),
        (10_600, 3000, 0, ["15.1 screens"]),
        (8000, 3000, 0, ["27% of the height is code"]),
    ],
)
def test_what_is_too_large_is_said(context, tmp_path, text, code, folded, expected):
    def block(height):
        return f'<div class="cell_input" style="height: {height}px"></div>'

    (tmp_path / "page.html").write_text(
        '<!DOCTYPE html><link rel="icon" href="data:,"><article class="bd-article">'
        f'<div style="height: {text - 40}px"></div>{block(code)}'
        f"<details><summary>a proof</summary>{block(folded)}</details></article>"
    )
    with browse.serve(tmp_path) as home:
        assert complaints(context, home, "page.html") == expected
