"""The directive `hand` loads the scripts of its pictures, and only these."""

from types import SimpleNamespace

import pytest
from docutils import nodes

from booksite import interactive_figure


def document(*names):
    found = nodes.document(None, None)
    words = nodes.paragraph("", "Drag it.")
    found += [interactive_figure.interactive_figure("", words, name=name) for name in names]
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
    interactive_figure.load(app, "page", "page.html", {}, document(*names))
    assert files == loaded


def test_a_picture_without_a_script_is_an_error(tmp_path):
    directive = interactive_figure.Hand.__new__(interactive_figure.Hand)
    directive.arguments = ["nothing"]
    directive.state = SimpleNamespace(
        document=SimpleNamespace(settings=SimpleNamespace(env=SimpleNamespace(srcdir=tmp_path)))
    )
    directive.error = ValueError
    with pytest.raises(ValueError, match=r"No picture 'nothing': .*nothing\.js is missing"):
        directive.run()
