"""One style for all figures, animations that need no network, and small tables."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib import animation, axes, projections
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

# The player of matplotlib takes its symbols from a web font; these are in every font.
GLYPHS = {
    "fa-minus": "−", "fa-fast-backward": "«", "fa-step-backward": "‹", "fa-pause": "❚❚",
    "fa-play fa-flip-horizontal": "◀", "fa-play": "▶", "fa-step-forward": "›",
    "fa-fast-forward": "»", "fa-plus": "+",
}  # fmt: skip


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
    """A player with a slider over the frames of a figure, which works offline.

    Parameters
    ----------
    fig : Figure
        The figure, which is closed in the end.
    update : callable
        Takes k = 0, 1, ..., and draws picture k.
    frames : int
        Number of pictures.
    alt : str
        What can be seen, in words; not empty.
    fps : float, optional
        Pictures a second, 8 by default.

    Returns
    -------
    HTML
        The player, the same text on every run; its pictures have 256 colors.

    Notes
    -----
    Cost: one rendering of the figure a frame, and some 6 kB a frame at the default size.
    """
    if not alt.strip():
        raise ValueError("alt is empty; say in words what the animation shows.")
    with mpl.rc_context({"animation.embed_limit": 12, "savefig.dpi": 90}):
        update(0)
        fig.draw_without_rendering()
        fig.set_layout_engine("none")  # one layout for all frames: axes stand still, half the time
        fig.canvas.draw_idle = lambda: None  # would render each frame a second time
        player = animation.FuncAnimation(fig, update, frames=frames, interval=1000 / fps)
        html = player.to_jshtml(fps=fps, default_mode="once")
    plt.close(fig)
    return HTML(_offline(html, alt))


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


def _offline(html: str, alt: str) -> str:
    """matplotlib's player without its web font, with a name that depends on its content only."""
    html = re.sub(r"<link rel=\"stylesheet\"\s+href=\"https?://[^>]*>", "", html)
    html = re.sub(r'<i class="fa ([^"]+)"></i>', lambda match: GLYPHS[match[1]], html)
    html = re.sub(r"(?<=data:image/png;base64,)[^\"]+", _fewer_colors, html)
    random_name = re.search(r"_anim_img([0-9a-f]{32})", html)[1]
    content = hashlib.sha256(html.replace(random_name, "").encode()).hexdigest()[:32]
    html = html.replace(random_name, content)
    html = re.sub(r'<img id="(_anim_img\w+)"', rf'<img alt="{escape(alt)}" id="\1"', html)
    return re.sub(r'(<input id="_anim_slider\w+")', r'\1 aria-label="frame"', html)


def _fewer_colors(match) -> str:
    """A PNG in base64 with 256 colors, about a third as long."""
    encoded = re.sub(r"[\\\s]", "", match[0])  # matplotlib breaks it into lines
    picture, file = Image.open(BytesIO(b64decode(encoded))), BytesIO()
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return b64encode(file.getvalue()).decode()
