"""Pages carry the first frame of an animation; all frames come when a reader turns to it.

An animation of `figures.animate` holds all its frames in one picture, its film, so that a notebook
is whole. On a built page films are most of the weight, and most readers pass by. They move into
files beside the page, which the animation loads at the first touch.
"""

import hashlib
import re
from base64 import b64decode
from pathlib import Path

FILM = re.compile(r'(?<= data-film=")data:image/png;base64,([^"]+)')


def fetch_later(app, pagename, templatename, context, doctree):
    """Move the films of a page into files, and give their buttons and sliders a look."""

    def moved(film):
        data = b64decode(film[1])
        name = f"_static/films/{hashlib.sha256(data).hexdigest()[:32]}.png"
        path = Path(app.outdir, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return context["pathto"](name, 1)

    context["body"], count = FILM.subn(moved, context.get("body", ""))
    if count:
        app.add_css_file("hand/hand.css")  # as those of an interactive figure


def setup(app):
    app.connect("html-page-context", fetch_later)
