"""One style for all figures, animations that need no network, and small tables."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import axes, projections
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which readers of every kind of color vision can tell apart;
# the order puts neighbors far apart in lightness too, for printing in gray.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
INK = "#333333"

STYLE = {
    "axes.prop_cycle": mpl.cycler(color=[BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY]),
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "figure.facecolor": "white",  # opaque, so that dark ink stays legible in dark mode
    "figure.figsize": (6.4, 3.4),
    "font.size": 10,
    "grid.alpha": 0.25,
    "image.cmap": "cividis",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.facecolor": "white",
    "svg.hashsalt": "runproofs",
}

# An animation is HTML with two handlers: its slider shows a frame, its button plays all of them.
# They are attributes, because some notebooks do not run a script where it stands.
ANIMATION = """<div class="animation" style="max-width: {width}px">
<img alt="{alt}" src="{first}" data-film="{film}"
 style="display: block; width: 100%; aspect-ratio: {width} / {height}; object-fit: cover">
<div class="hand-controls" style="display: flex; align-items: center; gap: .2em 1em">
<button type="button" style="min-width: 5em" onclick="{play}">Play</button>
<label style="display: flex; flex: 1; gap: .6em"><input type="range" min="0" max="{last}" value="0"
 aria-label="frame" aria-valuetext="1 of {frames}" style="flex: 1" oninput="{turn}"
><span class="hand-value">1 of {frames}</span></label>
</div></div>"""
TURN = """
const picture = this.closest('.animation').firstElementChild;
if (picture.dataset.film) picture.src = picture.dataset.film;
delete picture.dataset.film;
picture.style.objectPosition = `0 ${100 * this.value / this.max}%`;
const frame = `${+this.value + 1} of ${+this.max + 1}`;
this.nextElementSibling.textContent = this.ariaValueText = frame;"""
PLAY = """
const slider = this.nextElementSibling.firstElementChild;
const turn = (k) => { slider.value = k; slider.dispatchEvent(new Event('input')); };
const stop = () => { this.beat = clearInterval(this.beat); this.textContent = 'Play'; };
if (this.beat) return stop();
turn(slider.value === slider.max ? 0 : slider.value);
this.textContent = 'Pause';
this.beat = setInterval(() => {
  if (slider.value === slider.max || !slider.isConnected) stop();
  else if (this.closest('.animation').firstElementChild.complete) turn(+slider.value + 1);
}, PAUSE);"""
DPI = 110  # of an animation: its text is as large as that of a picture on a page


class _Axes(axes.Axes):
    """Plain axes that draw an annotation outside of them too, which would vanish without a word."""

    name = "rectilinear"  # in place of matplotlib's own

    def annotate(self, *what, annotation_clip=None, **options):
        return super().annotate(*what, annotation_clip=bool(annotation_clip), **options)


class HTML:
    """What a notebook shows as it is; IPython has the same, and need not be there for it.

    Parameters
    ----------
    data : str
        The HTML.
    """

    def __init__(self, data: str):
        self.data = data

    def __repr__(self):
        return "<HTML>"

    def _repr_html_(self) -> str:
        return self.data


def style() -> None:
    """Use the book's style in this notebook; call it once, in the first cell."""
    mpl.rcParams.update(STYLE)
    projections.register_projection(_Axes)


def animate(
    fig: Figure, update: Callable[[int], object], frames: int, *, alt: str, fps: float = 8
) -> HTML:
    """Frames of a figure with a slider and a button that plays them once; works offline.

    Parameters
    ----------
    fig : Figure
        The figure, which is closed in the end. On a phone its text of 8 points can be read if it
        is at most 5.6 inches wide.
    update : callable
        Takes k = 0, 1, ..., and draws frame k.
    frames : int
        Number of frames, at least 2.
    alt : str
        What can be seen, in words; not empty.
    fps : float, optional
        Frames a second, 8 by default.

    Returns
    -------
    HTML
        The animation, the same text on every run. All its frames are one picture of 256 colors, a
        film from top to bottom, which takes the place of the first frame when a reader turns to it.

    Notes
    -----
    Cost: one rendering of the figure a frame, and some 6 kB a frame at the default size.
    """
    if not alt.strip():
        raise ValueError("alt is empty; say in words what the animation shows.")
    canvas = FigureCanvasAgg(fig)
    fig.stale_callback = None  # would render each frame a second time
    fig.set_dpi(DPI)
    update(0)
    fig.draw_without_rendering()
    fig.set_layout_engine("none")  # one layout for all frames: axes stand still, half the time
    drawn = []
    for k in range(frames):
        update(k)
        canvas.draw()
        drawn.append(np.array(canvas.buffer_rgba())[..., :3])
    plt.close(fig)
    height, width, _ = drawn[0].shape
    film = Image.fromarray(np.concatenate(drawn)).quantize(
        256, Image.Quantize.MAXCOVERAGE, dither=0
    )
    return HTML(
        ANIMATION.format(
            alt=escape(alt), width=width, height=height, frames=frames, last=frames - 1,
            first=_png(film.crop((0, 0, width, height))), film=_png(film),
            turn=escape(TURN, quote=False),
            play=escape(PLAY, quote=False).replace("PAUSE", f"{1000 / fps:g}"),
        )
    )  # fmt: skip


def table(header: list[str], rows: list[list[str]], measured: tuple[int, ...] = ()) -> HTML:
    """A small table.

    Parameters
    ----------
    header : list of str
        Heads of the columns, in HTML: links and ``<i>``.
    rows : list of list of str
        Cells in HTML, in each row as many as heads.
    measured : tuple of int, optional
        Columns whose numbers may differ between two runs that agree, on other hardware;
        ``make reproduce`` does not compare them.

    Returns
    -------
    HTML
        The table.
    """
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = ""
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"Each row must have {len(header)} cells, but one has {len(row)}.")
        marks = [' class="measured"' * (k in measured) for k in range(len(row))]
        cells = (f"<td{mark}>{cell}</td>" for mark, cell in zip(marks, row, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    # the theme styles tables of this class in light and dark mode
    return HTML(
        f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def columns(table: HTML) -> dict[str, list[str]]:
    """What a `table` shows, column by column.

    Parameters
    ----------
    table : HTML
        Made by `table`.

    Returns
    -------
    dict of list of str
        The texts of each column, by its head; tags become spaces.
    """
    lines = re.findall("<tr>(.*?)</tr>", table.data, re.S)
    texts = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", line, re.S) for line in lines]
    head, *rows = ([re.sub("<[^>]*>", " ", text).strip() for text in line] for line in texts)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def _png(picture: Image.Image) -> str:
    """An address that holds the picture."""
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
