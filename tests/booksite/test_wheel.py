"""The wheel on the site."""

from types import SimpleNamespace

import pytest

from booksite.notebooks import pack_library


def test_what_cannot_be_packed_says_why(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[build-system]\n")
    app = SimpleNamespace(
        srcdir=tmp_path, outdir=tmp_path / "html", builder=SimpleNamespace(name="html")
    )
    with pytest.raises(OSError, match=r"^The library cannot be packed for the site: \S"):
        pack_library(app)
