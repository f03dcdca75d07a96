r"""The formulas of a first screen have their place before MathJax, heavier than a page, has come.

Until then a page shows their sources, which are wider and not as high: all that follows would move.
Matplotlib reads most of TeX and draws it with the same letters, so it tells how wide a formula will
be. How high a displayed one will be, its rows tell. book.css gives the source this size.
"""

import re
from functools import cache
from html import unescape

from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

FIRST = 25  # formulas of a page, more than a screen has
MATH = re.compile(
    r'<(span|div) (class="math notranslate nohighlight"[^>]*>\s*(?:<span.*?</span>)?)'
    r"([^<]+)(?=</\1>)",
    re.DOTALL,
)
RENAMED = {"le": "leq ", "ge": "geq ", "ne": "neq ", "lVert": "Vert ", "rVert": "Vert "}
RENAMED |= {"square": "Delta ", "tfrac": "frac "}  # as wide
NAME = re.compile(rf"\\({'|'.join(RENAMED)})(?![a-zA-Z])")
BIG = re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])")
ARGUMENT = r"\s*(\\[a-zA-Z]+|[^{}\\\s])"  # without braces, which Matplotlib demands
ONE = re.compile(rf"(\\(?:sqrt|mathbb|mathbf|mathcal|frac)){ARGUMENT}")
TWO = re.compile(rf"(\\frac\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}){ARGUMENT}")
HIGH = re.compile(r"\\(d?frac|sum|prod|int|underbrace|Bigg?[lr]?)(?![a-zA-Z])")
PARSER, FONT = MathTextParser("path"), FontProperties(size=100, math_fontfamily="cm")


@cache
def width(tex: str) -> float | None:
    """Width of a formula in a line, in em of its font; None if Matplotlib cannot read it.

    >>> width(r"x\\le\\frac12") > width("x")
    True
    """
    tex = BIG.sub("", NAME.sub(lambda name: "\\" + RENAMED[name[1]], tex))
    tex = TWO.sub(r"\1{\2}", ONE.sub(r"\1{\2}", tex))
    try:
        return float(PARSER.parse(f"${tex}$", 72, FONT)[0]) / 100
    except ValueError:
        return None


def height(tex: str) -> float:
    """About the height of a displayed formula, in em of its font: 1.3 or 2.7 for each row."""
    return sum(2.7 if HIGH.search(row) else 1.3 for row in tex.split(r"\\"))


def place(formula: re.Match) -> str:
    tag, start, source = formula.groups()
    tex = unescape(source).strip()[2:-2].strip()  # without \( and \)
    size = width(tex) if tag == "span" else height(tex)
    style = f'style="--size: {size:.2f}" ' if size else ""
    return f"<{tag} {style}{start}{source}"


def keep_places(app, pagename, templatename, context, doctree):
    context["body"] = MATH.sub(place, context.get("body", ""), FIRST)


def setup(app):
    app.connect("html-page-context", keep_places, 900)
