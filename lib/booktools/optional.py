"""Tests that need more than `make test` has: `python -m booktools optional NAME`.

Missing packages are installed first, in the versions of constraints.txt.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from . import ROOT

TESTS = {  # name: the extra of pyproject.toml that it needs, what it runs
    "agreement": ("agreement", "test_agreement.py"),  # attacks against foolbox and torchattacks
    "convex": ("convex", "test_convex.py"),  # optima against a convex solver
    "dask": ("dask", "test_dask.py"),  # a sweep on a cluster of two workers
    "data": ("", "test_real_data.py ../experiments/test_prefix.py"),  # from $HEURISTICS_DATA
    "downloads": ("", "test_downloads.py -n 2"),  # notebooks of the built book, in an empty folder
    "settings": ("", "test_settings.py -n 2"),  # whole settings of the stored runs
}
NEWEST = ROOT / "_build" / "newest"
SPHINX = [
    *("sphinx", "myst-parser", "myst-nb", "sphinx-book-theme", "sphinx-proof", "sphinx-exercise"),
    *("sphinx-design", "sphinx-copybutton", "sphinx-togglebutton", "sphinx-external-toc"),
    "sphinxcontrib-bibtex",
]


def run(*command: str | Path, **options) -> int:
    return subprocess.run([str(word) for word in command], cwd=ROOT, **options).returncode


def pip(*arguments: str) -> None:
    """Install; CalledProcessError, after pip's own words, where that fails."""
    command = ["-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments]
    run(sys.executable, *command, check=True)


def install(extra: str) -> None:
    """The packages of an extra of pyproject.toml, in exact versions."""
    if extra == "agreement":  # torchattacks asks for an old requests
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        pip("--no-deps", *project["optional-dependencies"][extra], "-c", "constraints.txt")
    elif extra:
        pip("-e", f".[{extra}]", "-c", "constraints.txt")


def optional(arguments: list[str] | None = None) -> int:
    """Run one of the tests that need more than `make test` has; what follows goes to pytest."""
    parser = argparse.ArgumentParser("python -m booktools optional", description=optional.__doc__)
    parser.add_argument("name", choices=TESTS)
    options, further = parser.parse_known_args(arguments)
    extra, what = TESTS[options.name]
    install(extra)
    path, *words = what.split()
    rest = [ROOT / "tests" / "optional" / word if ".py" in word else word for word in words]
    return run(sys.executable, "-m", "pytest", f"tests/optional/{path}", *rest, *further)


def lock(arguments: list[str] | None = None) -> int:
    """Write the exact versions of everything, in constraints.txt: those that it has as far as they
    still serve."""
    parser = argparse.ArgumentParser("python -m booktools lock", description=lock.__doc__)
    parser.add_argument("--upgrade", action="store_true", help="the newest versions instead")
    options = parser.parse_args(arguments)
    install("lock")
    return run(
        *(sys.executable, "-m", "uv", "pip", "compile", "-q", "--universal", "--all-extras"),
        *("--python-version", "3.11.5", "--annotation-style", "line"),
        *("--custom-compile-command", "python -m booktools lock"),
        *(["--upgrade"] if options.upgrade else []),
        *("pyproject.toml", "coursework/grader/pyproject.toml", "-o", "constraints.txt"),
    )


def newest(arguments: list[str] | None = None) -> int:
    """Test what builds the book, and build it, with the newest Sphinx and its extensions."""
    argparse.ArgumentParser("python -m booktools newest", description=newest.__doc__).parse_args(
        arguments
    )
    install("lock")
    new = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", sys.executable]
    run(*new, "--target", NEWEST, *SPHINX, check=True)
    environment = {**os.environ, "PYTHONPATH": str(NEWEST)}
    wrong = run(sys.executable, "-m", "pytest", "tests/booksite", env=environment)
    book = shutil.which("jupyter-book", path=Path(sys.executable).parent)
    run(book, "config", "sphinx", ".", check=True)
    try:
        cache = f"nb_execution_cache_path={ROOT / '_build' / '.jupyter_cache'}"
        build = ["-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-D", cache]
        return run(sys.executable, *build, ".", NEWEST / "html", env=environment) or wrong
    finally:
        (ROOT / "conf.py").unlink()
