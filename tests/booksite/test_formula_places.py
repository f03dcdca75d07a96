"""Formulas have a place before MathJax comes; tests/browser/test_weight.py sees nothing move."""

import pytest

from booksite import formula_places
from booksite.formula_places import MATH, height, place, width


@pytest.mark.parametrize(
    ("tex", "other"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\frac\lambda r", r"\tfrac{\lambda}{r}"),
        (r"\frac{\sqrt2}4", r"\frac{\sqrt{2}}{4}"),
        (r"x\le0", r"x\ge 0"),
        (r"\mathbb E\big[x\big]", r"\mathbb{E}[x]"),
        (r"\lVert x\rVert", r"\|x\|"),
    ],
)
def test_what_is_written_otherwise_is_as_wide(tex, other):
    assert width(tex) == pytest.approx(width(other), abs=0.2)
    assert width(f"{tex}+y") > width(tex) + 1


def test_what_cannot_be_read_keeps_its_source():
    assert width(r"\nothing") is None
    formula = r'<span class="math notranslate nohighlight">\(\nothing\)</span>'
    assert MATH.sub(place, formula) == formula


def test_a_displayed_formula_is_as_high_as_its_rows():
    assert height("x") < height(r"\frac12") < height(r"\frac12\\x") < height(r"\frac12\\\sum x")


def test_sizes_are_written_where_the_formulas_are():
    line = 'class="math notranslate nohighlight">\\(x&lt;1\\)</span>.'
    number = '<span class="eqno">(1)<a href="#equation-a">#</a></span>'
    rows = rf'class="math notranslate nohighlight" id="equation-a">{number}\[x\\\frac12\]</div>'
    context = {"body": f"<p><span {line}</p>\n<div {rows}"}
    formula_places.keep_places(None, "page", "page.html", context, None)
    assert context["body"] == (
        f'<p><span style="--size: {width("x<1"):.2f}" {line}</p>\n<div style="--size: 4.00" {rows}'
    )
