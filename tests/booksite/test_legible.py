"""The text of a picture can be read on a phone (booksite.legible)."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from docutils import nodes
from matplotlib.text import Text

from booksite import legible
from runproofs.book import figures

HELPER = "def draw(ax):\n    ax.legend(fontsize=8)\n"


@pytest.mark.parametrize(
    ("cells", "sizes"),
    [
        (["plt.plot()"], [10]),
        (["ax.text(0, 0, 'a', fontsize=9)\nax.legend(fontsize='small')"], [8.33]),
        (["ax.legend(fontsize='medium')\nax.legend(fontsize=None)"], [10]),
        (["ax.set_title('a', fontsize=20)"], [10]),
        (["%matplotlib inline"], [10]),
        (["look = {'fontsize': 7}\nax.text(0, 0, 'a', **look)"], [7]),
        (["ax.tick_params(labelsize=6.5)"], [6.5]),
        ([HELPER, "draw(ax)", "plt.plot()"], [8, 8, 10]),
        (["def again(n):\n    return again(n - 1)", "again(3)"], [10, 10]),
    ],
)
def test_the_smallest_text_is_what_a_cell_asks_for_itself_or_by_a_function(cells, sizes):
    assert legible.smallest(cells) == sizes


def test_what_the_code_says_is_what_matplotlib_draws():
    code = "fig, ax = plt.subplots()\nax.text(0.5, 0.5, 'a', fontsize='small')\nax.set_xlabel('x')"
    with mpl.rc_context({"backend": "agg"}):
        figures.style()
        scope = {"plt": plt}
        exec(code, scope)
        scope["fig"].canvas.draw()
        drawn = [text.get_fontsize() for text in scope["fig"].findobj(Text) if text.get_text()]
        plt.close("all")
    assert min(drawn) == pytest.approx(legible.smallest([code])[0], rel=1e-3)


def test_the_least_width_gives_that_text_seven_pixels():
    width = legible.least_width(8, 1350, 150)  # 9 inches
    assert 8 / 72 * width / 9 == pytest.approx(legible.LEAST, rel=0.01)


def cell(code, output):
    source = nodes.container("", nodes.literal_block(code, code), nb_element="cell_code_source")
    shown = nodes.container("", output, nb_element="cell_code_output")
    return nodes.container("", source, shown, nb_element="cell_code")


def test_a_picture_and_a_player_get_their_frames():
    picture = nodes.image(uri="a.png", alt="x")
    with mpl.rc_context({"backend": "agg"}):
        fig, ax = plt.subplots(figsize=(9, 1))
        movie = figures.animate(fig, lambda k: ax.set_title(f"{k}", fontsize=8), 2, alt="y").data
    player = nodes.raw(movie, movie, format="html")
    draw = "def draw(k):\n    ax.set_title(k, fontsize=8)\n"
    play = f"{draw}figures.animate(fig, draw, 2)"
    page = nodes.container("", cell("ax.legend(fontsize=8)", picture), cell(play, player))
    legible.mark(None, page)
    assert picture["classes"] == ["text-8"]
    [image] = re.findall(r'<span class="frame">(<img alt="y" .*?)</span>', player.astext())
    assert re.fullmatch(r'<img alt="y" id="_anim_img\w+" style="--least: 567px; ">', image)

    size = 'loading="lazy" width="1350" height="9"'
    context = {"body": f'<p><img {size} alt="x" class="text-8" src="a.png" /></p>'}
    legible.frame(None, "", "", context, None)
    image = f'<img {size} alt="x" style="--least: 567px; " src="a.png" />'
    assert context["body"] == f'<p><span class="frame">{image}</span></p>'


def test_a_picture_keeps_the_width_that_its_cell_asks_for():
    context = {"body": '<img width="900" class="text-10" src="a.png" style="width: 480px;" />'}
    legible.frame(None, "", "", context, None)
    assert context["body"].count("style=") == 1
    assert "--least: 302px; width: 480px;" in context["body"]
