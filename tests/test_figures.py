"""The style, and the animations that need no network."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from runproofs.book import figures


@pytest.fixture(autouse=True)
def _own_settings():
    with mpl.rc_context({"backend": "agg"}):
        yield


def small_animation(alt="A bar that grows."):
    fig, ax = plt.subplots(figsize=(1, 1))
    (bar,) = ax.bar([0], [0])
    ax.set_ylim(0, 2)
    return figures.animate(fig, lambda k: bar.set_height(k), 2, alt=alt).data


def test_the_style_is_opaque_and_uses_the_palette():
    figures.style()
    assert mpl.rcParams["savefig.facecolor"] == "white"
    colors = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    assert colors[0] == figures.BLUE
    assert len(set(colors)) == 6


def test_an_animation_is_offline_and_described():
    html = small_animation('A "bar" that grows.')
    sources = re.findall(r'(?:src|href)="(https?:|//)', html)
    assert not sources
    assert "fa fa-" not in html
    assert 'alt="A &quot;bar&quot; that grows."' in html
    assert 'aria-label="frame"' in html
    assert html.count("data:image/png;base64") == 2


def test_an_animation_is_the_same_on_every_run():
    assert small_animation() == small_animation()


def test_an_animation_needs_alt_text():
    with pytest.raises(ValueError, match="alt is empty"):
        small_animation(" ")


def test_the_figure_is_closed():
    before = plt.get_fignums()
    small_animation()
    assert plt.get_fignums() == before


def test_a_table_marks_what_is_measured_and_refuses_ragged_rows():
    html = figures.table(["figure", "ours"], [["<b>1</b>", "0.3 %"]], measured=(1,)).data
    assert "<th>figure</th><th>ours</th>" in html
    assert '<td><b>1</b></td><td class="measured">0.3 %</td>' in html
    with pytest.raises(ValueError, match="2 cells, but one has 1"):
        figures.table(["a", "b"], [["c"]])
