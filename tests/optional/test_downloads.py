"""`booktools optional downloads`: downloaded notebooks run where there is no clone.

The library's wheel is made and installed into an empty environment, which borrows the other
packages from this one; the notebooks as the built site offers them are put into an empty folder,
and nbval runs them there (`--nbval-lax`: nothing fails; `make reproduce` compares the outputs).
With TENTH=n in the environment these are those that look into the book, and a tenth of all.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from booktools.children import tenth
from runproofs.claims.pages import cells
from runproofs.claims.registry import BOOK

ROOT = Path(__file__).resolve().parents[2]
OFFERED = ROOT / "_build" / "html" / "_sources" / "book"
WITH_CELLS = [
    path.relative_to(BOOK).with_suffix("").as_posix()
    for path in sorted(BOOK.rglob("*.md"))
    # Those that only fill numbers into the text stand in no download.
    if any("from myst_nb import glue" not in cell.code for cell in cells(path.read_text("utf-8")))
]
LOOKING = {"index", "back/scoreboard", "ch7_open_problems/index"}
TENTH = os.environ.get("TENTH")
PAGES = sorted(LOOKING.union(tenth(WITH_CELLS, TENTH and int(TENTH))))


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with the library from its wheel, far from the clone."""
    folder = tmp_path_factory.mktemp("elsewhere")
    wheel = next((ROOT / "_build" / "html" / "_static").glob("runproofs-*.whl"), None)
    if wheel is None:
        pytest.exit(
            "There is no wheel on the site: build the book first (make book).", returncode=2
        )
    venv.create(folder / "venv", with_pip=True)
    inside = folder / "venv" / "bin" / "python"
    where = [inside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(
        subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()
    )
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    install = ["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--ignore-installed", wheel]
    subprocess.run([inside, *install], check=True)
    return inside


@pytest.fixture
def empty(tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "HEURISTICS_DATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_library_lies_elsewhere_and_knows_claims_and_results(python, empty):
    program = (
        "import runproofs; from runproofs.claims.registry import register; "
        "from runproofs.claims.breaks import all_breaks; from runproofs import experiments; "
        "stored = [one.stored() for one in experiments.discover().values() if not one.not_run]; "
        "print(runproofs.__file__, len(register()), len(all_breaks()), all(map(bool, stored)))"
    )
    ran = run([python, "-c", program], empty)
    assert ran.returncode == 0, ran.stderr
    where, claims, breaks, stored = ran.stdout.split()
    assert Path(where).is_relative_to(python.parents[1])
    assert int(claims) > 400
    assert int(breaks) > 400
    assert stored == "True"


@pytest.mark.parametrize("page", PAGES)
def test_a_downloaded_notebook_runs_in_an_empty_folder(python, empty, page):
    shutil.copy(OFFERED / f"{page}.ipynb", empty / "page.ipynb")
    assert "myst_nb" not in (empty / "page.ipynb").read_text("utf-8"), "no reader has it"
    nbval = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120", "page.ipynb"]
    ran = run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *nbval], empty)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert os.listdir(empty) == ["page.ipynb"]


def build(what, folder, target):
    """A wheel or an sdist of the project in a folder; returns the file."""
    ran = run([sys.executable, "-m", "hatchling", "build", "-t", what, "-d", target], folder)
    assert ran.returncode == 0, ran.stderr
    return next(target.glob("runproofs-*"))


def test_the_sdist_makes_the_same_wheel(tmp_path):
    """And both have every stored result."""
    clone = tmp_path / "clone"
    for name in run(["git", "ls-files"], ROOT).stdout.splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    shutil.unpack_archive(build("sdist", clone, tmp_path / "sdist"), tmp_path / "unpacked")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    wheels = [build("wheel", folder, tmp_path / folder.name) for folder in (clone, unpacked)]
    ours, theirs = [set(zipfile.ZipFile(wheel).namelist()) for wheel in wheels]
    assert ours == theirs
    assert all(name.startswith("runproofs") for name in ours), "what builds the site stays here"
    results = {path.name for path in (ROOT / "book" / "results").iterdir()}
    assert results == {Path(name).name for name in ours if "/_book/results/" in name}
