"""Small books, built by Sphinx with what this book adds to it."""

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "booksite" / "small_book"
REPOSITORY = "https://github.com/an-owner/a-book"
OURS = (  # what it borrows
    "book/_static", "book/_templates", "coursework/grader/armslength", "coursework/tools", "lib",
)  # fmt: skip


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


def copy_small(folder):
    """Copies the small book to a folder, with what it borrows, to be built as the book is."""
    old = shutil.ignore_patterns("__pycache__", "expected")
    shutil.copytree(SMALL, folder, dirs_exist_ok=True, ignore=old)
    for part in OURS:
        shutil.copytree(ROOT / part, folder / part, dirs_exist_ok=True, ignore=old)
    for part in ("LICENSE", "README.md", "book/site.yaml", "pyproject.toml"):
        shutil.copy(ROOT / part, folder / part)
    config = (ROOT / "_config.yml").read_text("utf-8")
    config, found = re.subn(r"(?m)^  url: .*$", f"  url: {REPOSITORY}", config)
    assert found == 1
    (folder / "_config.yml").write_text(config, "utf-8")


def jupyter_book(folder, *options) -> subprocess.CompletedProcess:
    """What `jupyter-book build` says of the book in a folder."""
    tool = str(Path(sys.executable).with_name("jupyter-book"))
    environment = os.environ | {"PYTHONPATH": str(folder / "lib"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [tool, "build", *options, "."],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
