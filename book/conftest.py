"""Lets nbval run the MyST pages as they are: pytest --nbval-lax book."""

import os
from types import SimpleNamespace

import jupytext
import nbformat
import nbval.plugin

from booksite.kernels import fork_kernels


def read(path, as_version):
    return jupytext.read(path) if path.endswith(".md") else nbformat.read(path, as_version)


nbval.plugin.nbformat = SimpleNamespace(**{**vars(nbformat), "read": read})


def pytest_collect_file(file_path, parent):
    option = parent.config.option
    asked = option.nbval or option.nbval_lax
    if asked and file_path.suffix == ".md" and "format_name: myst" in file_path.read_text("utf-8"):
        return nbval.plugin.IPyNbFile.from_parent(parent, path=file_path)


if "PYTEST_XDIST_WORKER" in os.environ:  # which runs many pages
    fork_kernels()
