"""Let the browser draw the text of a page before scripts, formulas and pictures arrive.

Scripts in the head run when the page has been read. MathJax is fetched when the text has been drawn
(book/_static/formulas.js). A picture comes when a reader comes near; its place is kept, so that
nothing moves and an anchor lands where it should. On a phone it gets no narrower than its text
can be read, and scrolls in a frame (book.css).
"""

import re
from pathlib import Path, PurePosixPath

from PIL import Image

EAGER = "documentation_options.js"  # a script of the theme in the head sets one of these options
LATER = "mathjax/"
UNTOUCHED = "search"  # its page calls what these scripts define while it is read
PICTURE = re.compile(r'<img (?P<rest>[^>]*?src="(?P<source>[^":]+\.(?:png|jpg))"[^>]*>)')
INCH = 63  # px at which text of 8 points, the smallest in a picture, has 7 px


def deferred(script):
    """A copy of a script that runs after the page is parsed; the pages share the original."""
    source = str(getattr(script, "filename", "") or "")
    if LATER in source:  # a browser does not fetch scripts of an unknown type
        return type(script)(source, priority=script.priority, type="text/later")
    if not source or EAGER in source or {"async", "defer"} & set(script.attributes):
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def framed(image: str, inches: float) -> str:
    """An image in a frame that scrolls where the screen is narrower than its least width."""
    least = f'style="--least: {INCH * inches:.0f}px; '
    old, new = ('style="', least) if ' style="' in image else ("<img ", f'<img {least}" ')
    return f'<span class="frame">{image.replace(old, new, 1)}</span>'


def lazy_pictures(html: str, paths: dict) -> str:
    """Make pictures load when a reader scrolls near; paths: their files by name on the site."""

    def mend(picture):
        path = paths.get(PurePosixPath(picture["source"]).name)
        if path is None or "loading=" in picture[0]:
            return picture[0]
        with Image.open(path) as image:
            (width, height), (dpi, _) = image.size, image.info.get("dpi", (0, 0))
        size = "" if "width=" in picture[0] else f'width="{width}" height="{height}" '
        shown = f'<img loading="lazy" {size}{picture["rest"]}'
        return framed(shown, width / dpi) if dpi else shown

    return PICTURE.sub(mend, html)


def lighten(app, pagename, templatename, context, doctree):
    if pagename != UNTOUCHED:
        context["script_files"] = [deferred(s) for s in context.get("script_files", [])]
    paths = {name: Path(app.srcdir, path) for path, name in app.builder.images.items()}
    context["body"] = lazy_pictures(context.get("body", ""), paths)


def setup(app):
    app.connect("html-page-context", lighten, 900)
