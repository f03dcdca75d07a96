"""On a phone the text of a picture stays large enough to read; if need be, the picture scrolls.

A picture shrinks to the width of its column, and its text with it. The code of its cell says how
large its smallest text is, in points, and its pixels how wide it is, in inches. So each picture
gets the least width at which that text has 7 px, and a frame in which it scrolls where there is
less room (book.css; access.js shows that it goes on). Indices and exponents are not counted.
"""

import ast
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import partial

from docutils import nodes
from matplotlib.font_manager import font_scalings

from runproofs.book.figures import STYLE

LEAST = 7  # px
ASKED = {"fontsize", "labelsize", "title_fontsize"}  # what matplotlib calls the size of a text
DPI, PLAYER_DPI = STYLE["figure.dpi"], 90  # of plt.show, and of figures.animate
PICTURE = re.compile(
    r'(?P<start><img [^>]*?\bwidth="(?P<pixels>\d+)"[^>]*?) class="text-(?P<size>[\d.]+)"'
    r"(?P<end>[^>]*>)"
)
PLAYER = re.compile(r'(?P<start><img alt="[^"]*" id="_anim_img\w+")(?P<end>[^>]*>)')
FIRST_FRAME = re.compile(r"data:image/png;base64,([\w+/]{32})")


def sizes(tree: ast.AST, functions: dict[str, ast.AST]) -> Iterator[float]:
    """The sizes of text, in points, that code asks for, itself or by functions of its page."""
    for node in ast.walk(tree):
        asked = []
        if isinstance(node, ast.keyword):
            asked = [(node.arg, node.value)]
        elif isinstance(node, ast.Dict):
            keys = (getattr(key, "value", None) for key in node.keys)
            asked = list(zip(keys, node.values, strict=True))
        elif isinstance(node, ast.Name) and node.id in functions:
            others = {name: code for name, code in functions.items() if name != node.id}
            yield from sizes(functions[node.id], others)
        for name, value in asked:
            if name in ASKED and isinstance(value, ast.Constant):
                size = value.value
                yield STYLE["font.size"] * font_scalings[size] if size in font_scalings else size


def parsed(code: str) -> ast.Module:
    """The syntax tree of a cell; nothing, if it is no Python but a command to IPython."""
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.Module([], [])


def smallest(codes: list[str]) -> list[float]:
    """The size of the smallest text of each cell of a page; the style has 10."""
    trees = [parsed(code) for code in codes]
    functions = {
        node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    return [min([STYLE["font.size"], *sizes(tree, functions)]) for tree in trees]


def least_width(size: float, pixels: int, dpi: int) -> int:
    """The width in px of the screen at which text of `size` points has 7 px."""
    return round(LEAST * 72 / size * pixels / dpi)


def framed(image: re.Match, least: int) -> str:
    """An image in its frame, with its least width added to the style that it has."""
    tag = image["start"] + image["end"]
    if ' style="' not in tag:
        tag = re.sub(r"( src=|>)", r' style=""\1', tag, count=1)
    tag = tag.replace(' style="', f' style="--least: {least}px; ', 1)
    return f'<span class="frame">{tag}</span>'


def mark(app, doctree):
    """Each picture notes the size of its smallest text; a player gets its frame at once."""
    cells = [
        cell
        for cell in doctree.findall(nodes.container)
        if cell.get("nb_element") == "cell_code"
        and cell.children[0].get("nb_element") == "cell_code_source"
    ]
    found = smallest([cell.children[0].astext() for cell in cells])
    for cell, size in zip(cells, found, strict=True):
        for image in cell.findall(nodes.image):
            image["classes"].append(f"text-{size:g}")
        for raw in cell.findall(nodes.raw):
            if frame := FIRST_FRAME.search(raw.astext()):
                pixels = int.from_bytes(b64decode(frame[1])[16:20], "big")
                least = least_width(size, pixels, PLAYER_DPI)
                html = PLAYER.sub(partial(framed, least=least), raw.astext())
                raw.children = [nodes.Text(html)]


def frame(app, pagename, templatename, context, doctree):
    """Frames for the marked pictures, whose width in pixels is known by now."""
    context["body"] = PICTURE.sub(
        lambda image: framed(image, least_width(float(image["size"]), int(image["pixels"]), DPI)),
        context.get("body", ""),
    )


def setup(app):
    app.connect("doctree-read", mark)
    app.connect("html-page-context", frame, 901)  # after booksite.deferred, which notes the width
