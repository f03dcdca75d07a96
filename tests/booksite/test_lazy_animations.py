"""The pictures of players move into scripts, whole and in order."""

from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from booksite import lazy_animations
from runproofs import figures


def player(*heights):
    with mpl.rc_context({"backend": "agg"}):
        fig, ax = plt.subplots(figsize=(1, 1))
        (bar,) = ax.bar([0], [0])
        ax.set_ylim(0, 5)
        return figures.animate(
            fig, lambda k: bar.set_height(heights[k]), len(heights), alt="A bar."
        ).data


def lightened(body, folder):
    context = {"body": body, "pathto": lambda name, _: f"../{name}"}
    app = SimpleNamespace(outdir=folder)
    lazy_animations.fetch_later(app, "a/page", "page.html", context, None)
    return context["body"]


def test_each_player_keeps_its_first_picture_and_names_its_script(tmp_path):
    bodies = [player(0, 1, 2), player(3, 4)]
    light = lightened(f"{bodies[0]}<p>between</p>{bodies[1]}", tmp_path)
    assert light.count("data:image/png") == 2
    for body in bodies:
        pictures = lazy_animations.PICTURE.findall(body)
        (script,) = (path for path in (tmp_path / "_static" / "players").iterdir()
                     if pictures[-1] in path.read_text())  # fmt: skip
        assert f'= "../_static/players/{script.name}"' in light
        assert script.read_text() == f"showPlayer(anim{script.stem}, [{','.join(pictures)}]);\n"
        assert f"new Array({len(pictures)}).fill({pictures[0]})" in light


def test_a_page_without_players_is_as_it_was(tmp_path):
    assert lightened("<p>text</p>", tmp_path) == "<p>text</p>"
    assert not (tmp_path / "_static").exists()


def test_a_lost_picture_is_noticed(tmp_path):
    broken = player(0, 1, 2).replace("frames[1] =", "frame[1] =")
    with pytest.raises(ValueError, match="a/page: 2 pictures of 3"):
        lightened(broken, tmp_path)
