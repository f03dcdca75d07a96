"""Small books, built by Sphinx with what this book adds to it."""

import io

from sphinx.application import Sphinx


def build(folder, *extensions, builder="html", connect=(), **settings):
    """Builds the pages in `folder`; returns the folder of what is built, the warnings, the log."""
    log, warnings, output = io.StringIO(), io.StringIO(), folder / "_build"
    settings = {"nb_execution_mode": "off"} | settings
    settings["extensions"] = ["myst_nb", *extensions, "booksite"]
    app = Sphinx(
        folder, None, output / builder, output / "trees", builder, settings,
        status=log, warning=warnings,
    )  # fmt: skip
    for event in connect:
        app.connect(*event)
    app.build()
    return output / builder, warnings.getvalue(), log.getvalue()
