"""Pages ask for few files (booksite.bundles); tests/browser/test_weight.py counts them."""

import shutil
from pathlib import Path

import pydata_sphinx_theme
from fontTools.ttLib import TTFont

from booksite import bundles

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"


def test_one_tag_takes_the_place_of_many():
    html = (
        '<link rel="preload" as="script" href="../_static/a.js" />\n'
        '<script src="../_static/options.js"></script>\n'
        '<script defer src="../_static/a.js?v=1"></script>\n'
        "<script>let hint;</script>\n"
        '<script defer="defer" src="../_static/deep/b.js"></script>\n'
        '<script src="../_static/mine.js"></script>'
    )
    assert bundles.bundled(html, ["a.js", "deep/b.js"], "<one>") == (
        '<script src="../_static/options.js"></script>\n'
        "<one>\n"
        "<script>let hint;</script>\n"
        '<script src="../_static/mine.js"></script>'
    )


def test_a_stylesheet_has_what_it_imports(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "basic.css").write_text("a {}", "utf-8")
    (tmp_path / "deep" / "b.css").write_text('@import "../basic.css";\nb {}', "utf-8")
    assert bundles.read(tmp_path / "deep" / "b.css") == "a {}\nb {}"


def test_only_icons_that_a_page_names_stay(tmp_path):
    shutil.copytree(THEME, tmp_path, dirs_exist_ok=True)
    styles = tmp_path / "styles"
    all_icons = (styles / "pydata-sphinx-theme.css").read_text("utf-8")
    css = bundles.few_icons(all_icons, {"fa-pencil-alt"}, styles)
    assert '.fa-pencil-alt:before,.fa-pencil:before{content:"\\f303"}' in css
    assert ".fa-sun:before" in all_icons
    assert ".fa-sun:before" not in css
    assert "webfonts" not in css
    codes = TTFont(styles / "fa-solid-900.woff").getBestCmap()
    assert 0xF303 in codes
    assert 0xF0EB in codes  # a light bulb, of admonitions
    assert 0xF185 not in codes  # the sun
