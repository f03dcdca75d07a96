"""The directive of the pictures that answer to the hand (booksite.hand)."""

from types import SimpleNamespace

import pytest
from docutils import nodes

from booksite import hand


def document(*names):
    found = nodes.document(None, None)
    found += [hand.hand("", nodes.paragraph("", "Drag it."), name=name) for name in names]
    return found


@pytest.mark.parametrize(
    ("names", "loaded"),
    [
        ((), []),
        (("jump",), ["hand/hand.css", "hand/hand.js", "hand/jump.js"]),
        (("race", "race"), ["hand/hand.css", "hand/hand.js", "hand/race.js"]),
    ],
)
def test_a_page_loads_what_its_pictures_need(names, loaded):
    files = []
    app = SimpleNamespace(
        add_css_file=files.append, add_js_file=lambda name, loading_method: files.append(name)
    )
    hand.load(app, "page", "page.html", {}, document(*names))
    assert files == loaded


def test_a_picture_without_a_script_is_an_error(tmp_path):
    directive = hand.Hand.__new__(hand.Hand)
    directive.arguments = ["nothing"]
    directive.state = SimpleNamespace(
        document=SimpleNamespace(settings=SimpleNamespace(env=SimpleNamespace(srcdir=tmp_path)))
    )
    directive.error = ValueError
    with pytest.raises(ValueError, match=r"No picture 'nothing': .*nothing\.js is missing"):
        directive.run()
