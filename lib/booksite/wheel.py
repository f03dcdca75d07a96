"""The library as a wheel on the site, under `_static`: what a downloaded notebook needs."""

import subprocess
import sys
from pathlib import Path


def wheel(app) -> Path | None:
    """The wheel on the site, if this is a book with a library of its own."""
    return next(Path(app.outdir, "_static").glob("runproofs-*.whl"), None)


def pack_library(app):
    """Put the wheel on the site, in place of an older one; OSError says why it cannot be."""
    root, target = Path(app.srcdir), Path(app.outdir, "_static")
    if app.builder.name != "html" or not (root / "pyproject.toml").exists():
        return
    for old in target.glob("runproofs-*.whl"):
        old.unlink()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target.resolve()]
    packed = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    if packed.returncode:
        why = (packed.stderr or packed.stdout).strip().splitlines()[-1:]
        raise OSError(f"The library cannot be packed for the site: {''.join(why)}")


def setup(app):
    app.connect("builder-inited", pack_library)
