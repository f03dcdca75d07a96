"""The films of animations move into files, whole."""

import re
from base64 import b64decode
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt

from booksite import lazy_animations
from runproofs import figures


def animation(*heights):
    with mpl.rc_context({"backend": "agg"}):
        fig, ax = plt.subplots(figsize=(1, 1))
        (bar,) = ax.bar([0], [0])
        ax.set_ylim(0, 5)
        return figures.animate(
            fig, lambda k: bar.set_height(heights[k]), len(heights), alt="A bar."
        ).data


def lightened(body, folder):
    """What becomes of the body of a page, and the style sheets that the page loads."""
    context, styles = {"body": body, "pathto": lambda name, _: f"../{name}"}, []
    app = SimpleNamespace(outdir=folder, add_css_file=styles.append)
    lazy_animations.fetch_later(app, "a/page", "page.html", context, None)
    return context["body"], styles


def test_each_animation_keeps_its_first_frame_and_names_the_file_of_all(tmp_path):
    bodies = [animation(0, 1, 2), animation(3, 4)]
    light, styles = lightened(f"{bodies[0]}<p>between</p>{bodies[1]}", tmp_path)
    assert light.count("data:image/png") == 2
    names = re.findall(r' data-film="\.\./([^"]+)"', light)
    films = [b64decode(lazy_animations.FILM.search(body)[1]) for body in bodies]
    assert [(tmp_path / name).read_bytes() for name in names] == films
    assert styles == ["hand/hand.css"]


def test_a_page_without_animations_is_as_it_was(tmp_path):
    assert lightened("<p>text</p>", tmp_path) == ("<p>text</p>", [])
    assert not (tmp_path / "_static").exists()
