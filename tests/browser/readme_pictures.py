"""python readme_pictures.py NOTEBOOK: the pictures of the README, from the cells of the first page.

Called with the executed first page, _build/jupyter_execute/book/index.ipynb, it writes them;
test_readme_pictures.py compares those there are with what is drawn.
"""

import base64
import io
import sys
from pathlib import Path

import nbformat
import numpy as np
from PIL import Image, ImageFilter

TOUR = Path(__file__).parents[2] / "book" / "_static" / "tour"


def drawn(notebook):
    """What the figures of an executed notebook show, as PNG, by name without `fig-`."""
    found = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            [picture] = [
                o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})
            ]
            found[figure["name"].removeprefix("fig-")] = base64.b64decode(picture)
    return found


def difference(one, other):
    """The share of pixels, in percent, in which two pictures differ clearly; 100 for other sizes.

    Fonts and lines are not drawn alike everywhere. So a pixel counts only if it differs by a
    quarter of the way from black to white after each picture is blurred over one pixel, and sizes
    may differ by two pixels.
    """
    images = [Image.open(io.BytesIO(png)).convert("RGBA").convert("RGB") for png in (one, other)]
    sizes = np.array([image.size for image in images])
    if np.ptp(sizes, axis=0).max() > 2:
        return 100.0
    box = (0, 0, *map(int, sizes.min(axis=0)))
    blurred = [image.crop(box).filter(ImageFilter.BoxBlur(1)) for image in images]
    apart = np.ptp([np.asarray(image, dtype=float) for image in blurred], axis=0).max(axis=-1)
    return float(100 * np.mean(apart > 64))


if __name__ == "__main__":
    pictures = drawn(sys.argv[1])
    for path in sorted(TOUR.glob("*.png")):
        path.write_bytes(pictures[path.stem])
