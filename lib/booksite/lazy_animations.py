"""Pages carry the first picture of an animation; the others come when a reader turns to it.

A player of `figures.animate` holds all its pictures, so that a downloaded notebook is whole. On a
built page they are most of the weight, and most readers pass by. They move into a script beside
the page, which `book.js` loads at the first touch of the player. A script, because a page that is
opened from a disk may load one, but may not fetch data.
"""

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path

from PIL import Image

from .lazy_loading import framed

FRAMES = re.compile(
    r'(var img_id = "_anim_img(?P<name>\w+)";.*?)var frames = new Array\((?P<count>\d+)\);'
    r"(?P<pictures>.*?)(?=/\* set a timeout)",
    re.DOTALL,
)
PICTURE = re.compile(r'frames\[\d+\] = ("data:image/png;base64,[^"]+")')
DPI = 90  # of figures.animate


def fetch_later(app, pagename, templatename, context, doctree):
    """Move the pictures of the players of a page into files, all but the first of each."""
    body, inches = context.get("body", ""), {}
    if "_anim_img" not in body:
        return

    def lighten(match):
        pictures, name = PICTURE.findall(match["pictures"]), match["name"]
        if len(pictures) != int(match["count"]):
            raise ValueError(f"{pagename}: {len(pictures)} pictures of {match['count']} in {name}.")
        first = b64decode(pictures[0].rpartition(",")[2].strip('"'))
        inches[f"_anim_img{name}"] = Image.open(BytesIO(first)).width / DPI
        path = Path(app.outdir) / "_static" / "players" / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"showPlayer(anim{name}, [{','.join(pictures)}]);\n", "utf-8")
        source = context["pathto"](f"_static/players/{name}.js", 1)
        return (
            f"{match[1]}var frames = new Array({match['count']}).fill({pictures[0]});\n"
            f'    document.getElementById(img_id).dataset.frames = "{source}";\n    '
        )

    body = FRAMES.sub(lighten, body)
    context["body"] = re.sub(
        r'<img [^>]*id="(_anim_img\w+)"[^>]*>', lambda tag: framed(tag[0], inches[tag[1]]), body
    )


def setup(app):
    app.connect("html-page-context", fetch_later)
