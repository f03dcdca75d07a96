"""What holds up the text of a page: scripts and pictures (booksite.lazy_loading)."""

from PIL import Image
from sphinx.builders.html._assets import _JavaScript

from booksite import lazy_loading


def test_scripts_run_when_the_page_has_been_read():
    assert lazy_loading.deferred(_JavaScript("_static/book.js")).attributes == {"defer": "defer"}
    eager = _JavaScript("_static/documentation_options.js")
    assert lazy_loading.deferred(eager) is eager
    later = lazy_loading.deferred(_JavaScript("_static/mathjax/tex-chtml.js", defer="defer"))
    assert later.attributes == {"type": "text/later"}  # a browser leaves it alone


def test_pictures_keep_their_place(tmp_path):
    Image.new("P", (30, 20)).save(tmp_path / "a.png")
    paths = {"b.png": tmp_path / "a.png"}
    picture = '<p><img alt="x" src="../_images/b.png" /></p>'
    assert lazy_loading.lazy_pictures(picture, paths) == (
        '<p><img loading="lazy" width="30" height="20" alt="x" src="../_images/b.png" /></p>'
    )
    small = '<img src="b.png" style="width: 50%" width="10" />'
    assert lazy_loading.lazy_pictures(small, paths) == small.replace(
        "<img ", '<img loading="lazy" '
    )
    other = '<img src="https://example.org/b.png"><img src="data:image/png;base64,x">'
    assert lazy_loading.lazy_pictures(other, paths) == other
    for same in ('<img alt="x" src="c.png" />', '<img loading="lazy" src="b.png" />'):
        assert lazy_loading.lazy_pictures(same, paths) == same
