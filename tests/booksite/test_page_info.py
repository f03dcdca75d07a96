"""The words of a page that are seen when it opens (booksite.page_info)."""

import pytest
from docutils import nodes

from booksite import page_info

CARD = (
    r'<div class="claim-card"><p>A title</p><ul><li><span>✓</span> of \(a + b\)</li></ul>'
    '<details class="more"><summary>more</summary><ul><li>row</li></ul></details>'
    "<p>must fail</p><ul><li>low</li></ul>"
    "<details><summary>Break it</summary><details>a</details><details>b</details></details></div>"
)


@pytest.mark.parametrize(
    ("node", "count"),
    [
        (nodes.paragraph("", "Half of it - or 2."), 5),
        (nodes.math("", "a + b"), 1),
        (nodes.math_block("", "a + b"), 10),
        (nodes.literal_block("", "a b"), 0),
        (nodes.raw("", "a b"), 0),
        (nodes.comment("", "a b"), 0),
        (nodes.container("", nodes.literal_block("", "a b"), nodes.caption("", "c d")), 2),
        (nodes.raw("", CARD), 7),
        (nodes.container("", nodes.Text("a b"), classes=["dropdown"]), 0),
        (nodes.container("", nodes.Text("a b"), design_component="dropdown"), 0),
        (nodes.section("", nodes.paragraph("", "a b"), nodes.paragraph("", "c")), 3),
    ],
)
def test_words_that_are_seen(node, count):
    assert page_info.words(node) == count
