"""The library as a wheel on the site, under `_static`: what a downloaded notebook needs.

It is made in a copy of the library, since setuptools leaves files behind where it works.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKED = ("lib", "book/claims", "book/sabotage", "book/results", "pyproject.toml", "setup.py")
PACKED += ("README.md", "LICENSE", "LICENSE-TEXT.md")


def wheel(app) -> Path | None:
    """The wheel on the site, if this is a book with a library of its own."""
    return next(Path(app.outdir, "_static").glob("runproofs-*.whl"), None)


def pack_library(app):
    """Put the wheel on the site, in place of an older one."""
    root, target = Path(app.srcdir), Path(app.outdir, "_static")
    if app.builder.name != "html" or not (root / "setup.py").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("runproofs-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for name in PACKED:
            source, copy = root / name, Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(
                    source, copy, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__")
                )
            else:
                shutil.copy(source, copy)
        build = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
        command = [sys.executable, "-c", build, str(target.resolve())]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def setup(app):
    app.connect("builder-inited", pack_library)
