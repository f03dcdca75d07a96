"""The directive `hand` of the interactive figures."""

from types import SimpleNamespace

import pytest

from booksite.interactive_figure import InteractiveFigure


def test_a_picture_without_a_script_is_an_error(tmp_path):
    directive = InteractiveFigure.__new__(InteractiveFigure)
    env = SimpleNamespace(srcdir=tmp_path)
    settings = SimpleNamespace(settings=SimpleNamespace(env=env))
    directive.arguments, directive.error = ["nothing"], ValueError
    directive.state = SimpleNamespace(document=settings)
    with pytest.raises(ValueError, match=r"No picture 'nothing': .*nothing\.js is missing"):
        directive.run()
