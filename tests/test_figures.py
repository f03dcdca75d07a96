"""The style, and the animations that need no network."""

import base64
import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import axes, projections
from matplotlib.backends.backend_agg import FigureCanvasAgg

from runproofs import figures


@pytest.fixture(autouse=True)
def _own_settings():
    with mpl.rc_context({"backend": "agg"}):
        yield
    projections.register_projection(axes.Axes)


def small_animation(alt="A bar that grows.", **options):
    fig, ax = plt.subplots(figsize=(1, 1))
    (bar,) = ax.bar([0], [0])
    ax.set_ylim(0, 2)
    return figures.animate(fig, lambda k: bar.set_height(k), 2, alt=alt, **options).data


def pictures(html):
    """The first frame and the film of an animation, each (height, width, 4)."""
    encoded = re.findall(r'data:image/png;base64,([^"]+)"', html)
    return [plt.imread(io.BytesIO(base64.b64decode(text))) for text in encoded]


def drawn(fig):
    fig.canvas.draw()
    return np.asarray(fig.canvas.buffer_rgba())[..., :3]


def test_a_figure_in_the_style_is_wide_and_opaque_and_its_frame_is_light():
    figures.style()
    assert mpl.rcParams["savefig.facecolor"] == "white"
    colors = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    assert colors[0] == figures.BLUE
    assert len(set(colors)) == 6
    fig, ax = plt.subplots()
    width, height = fig.get_size_inches() * fig.dpi
    assert 1.6 < width / height < 2
    assert 900 < width < 1000, "sharp at the width of the text"
    assert fig.get_constrained_layout()
    visible = [side for side in ax.spines if ax.spines[side].get_visible()]
    assert visible == ["left", "bottom"]
    ax.plot([0, 1], [0, 1], label="line")
    assert not ax.legend().get_frame_on()
    grid = ax.get_xgridlines()[0]
    assert grid.get_visible()
    assert grid.get_alpha() < 0.5 < 1 < ax.lines[0].get_linewidth() < 3
    plt.close(fig)


@pytest.mark.parametrize("options", [{}, {"annotation_clip": None}, {"arrowprops": {}}])
def test_an_annotation_outside_the_axes_is_drawn_unless_it_is_to_be_clipped(options):
    """matplotlib leaves out what points above the largest y."""

    def shown(**options):
        fig, ax = plt.subplots(figsize=(2, 2))
        fig.subplots_adjust(top=0.5)
        empty = drawn(fig).copy()
        ax.annotate("above", (0.2, 1.4), **options)
        changed = (drawn(fig) != empty).any()
        plt.close(fig)
        return changed

    assert not shown(**options)
    figures.style()
    with mpl.rc_context({"figure.constrained_layout.use": False}):
        assert shown(**options)
        assert not shown(**options | {"annotation_clip": True})


def test_an_animation_is_offline_and_described_and_the_same_on_every_run():
    before = plt.get_fignums()
    html = small_animation('A "bar" that grows.')
    assert plt.get_fignums() == before
    assert html == small_animation('A "bar" that grows.')
    assert set(re.findall(r'(?:src|href|data-film)="([^:]+:)', html)) == {"data:"}
    assert "<script" not in html, "not every notebook runs one"
    assert " id=" not in html, "of two animations with one name, one would steer the other"
    assert 'alt="A &quot;bar&quot; that grows."' in html
    with pytest.raises(ValueError, match="alt is empty"):
        small_animation(" ")


@pytest.mark.parametrize("interactive", [False, True])
def test_frames_are_in_order_and_each_is_rendered_once(interactive, monkeypatch):
    rendered, draw = [], FigureCanvasAgg.draw
    with plt.rc_context({"interactive": interactive}):
        fig, ax = plt.subplots(figsize=(1, 1))
        (bar,) = ax.bar([0], [0])
        ax.set_ylim(0, 3)
        monkeypatch.setattr(FigureCanvasAgg, "draw", lambda c: rendered.append(draw(c)))
        html = figures.animate(fig, bar.set_height, 3, alt="A bar that grows.").data
    first, film = pictures(html)
    assert len(rendered) == 3
    assert first.shape == (110, 110, 4), "1 inch at 110 dots"
    assert film.shape == (330, 110, 4)
    assert (film[:110] == first).all()
    colored = [(np.ptp(k[..., :3], axis=-1) > 0.1).sum() for k in np.split(film, 3)]
    assert colored[0] < 50 < 500 < 2 * colored[1] - colored[0] == pytest.approx(colored[2], abs=200)


def test_the_layout_stands_still():
    fig, ax = plt.subplots(figsize=(1, 1), layout="constrained")
    figures.animate(fig, lambda k: ax.set_ylabel("a long\nlabel\nindeed" * k), 2, alt="A label.")
    fig.canvas.draw()
    narrow = ax.get_position().width
    other, free = plt.subplots(figsize=(1, 1), layout="constrained")
    other.canvas.draw()
    assert narrow == pytest.approx(free.get_position().width, rel=0.05)
    plt.close(other)


@pytest.mark.parametrize(("options", "pause"), [({}, "125"), ({"fps": 4}, "250")])
def test_an_animation_runs_at_its_speed(options, pause):
    assert f"}}, {pause});" in small_animation(**options)


def test_a_table_marks_what_is_measured_and_refuses_ragged_rows():
    html = figures.table(["figure", "ours"], [["<b>1</b>", "0.3 %"]], measured=(1,)).data
    assert "<th>figure</th><th>ours</th>" in html
    assert '<td><b>1</b></td><td class="measured">0.3 %</td>' in html
    with pytest.raises(ValueError, match="2 cells, but one has 1"):
        figures.table(["a", "b"], [["c"]])


def test_the_columns_of_a_table_are_read_by_their_heads():
    table = figures.table(["run", "<i>n</i>"], [["a", "<b>1</b><br>2"], ["b", "3"]], measured=(1,))
    columns = figures.columns(table)
    assert list(columns) == ["run", "n"]
    assert columns["run"] == ["a", "b"]
    assert [text.split() for text in columns["n"]] == [["1", "2"], ["3"]]
