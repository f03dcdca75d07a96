"""The two trees: what students get, and what instructors keep.

    python -m coursework.tools.assign [NAME ...] [--wheel FILE] [--out FOLDER] [--term TERM]

Otter makes both notebooks of an assignment from its source. Beside them a student gets a page that
says how to start, the library as a wheel, and all of it as one zip; an instructor gets the notes,
a key and otter's own zip for a grading server.
"""

import argparse
import json
import shutil
import tempfile
import tomllib
import zipfile
from functools import partial
from pathlib import Path

import jupytext

from armslength.assign import at_once, both_trees
from coursework.tools import sources

OUT = Path("_build/coursework")
BESIDE = {"README.md": "start.md", "Makefile": "student.mk"}  # in the student's tree, and here
CONSTRAINTS = sources.COURSEWORK.parent / "constraints.txt"


def assign(name, out, wheel=None, variant=()):
    """Both trees of one assignment, anew, in the conventions of a variant."""
    source = sources.read(name, variant)
    folder = sources.COURSEWORK / name
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for path in folder.iterdir():  # data that the notebook reads
            if path.suffix not in (".md", ".yml"):
                (shutil.copytree if path.is_dir() else shutil.copy)(path, scratch / path.name)
        source.notebook.metadata["conventions"] = sources.digest(name, variant)
        if wheel:
            source.notebook.cells[0].source += with_library(wheel, scratch)
        jupytext.write(source.notebook, scratch / f"{name}.ipynb")
        student, instructor = both_trees(scratch / f"{name}.ipynb", out)
    for path in ("otter_config.json", "requirements.txt"):
        (instructor / path).unlink(missing_ok=True)
    shutil.rmtree(instructor / "runproofs", ignore_errors=True)  # it is in the zip
    shutil.copy(folder / "notes.md", instructor)
    for path, template in BESIDE.items():
        text = Path(__file__).with_name(template).read_text()
        (student / path).write_text(text.replace("TITLE", source.title()).replace("NAME", name))
    if wheel:
        shutil.copy(wheel, student)
        shutil.copy(CONSTRAINTS, student)
        (student / "requirements.txt").write_text("\n".join(requirements(wheel.name)) + "\n")
    with zipfile.ZipFile(student.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(student.rglob("*")):
            archive.write(path, path.relative_to(student.parent))


def with_library(wheel, folder):
    """Settings by which otter's zip holds the library, which a server does not have."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [m for m in archive.namelist() if m.startswith("runproofs/")])
    project = tomllib.loads((sources.COURSEWORK.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = json.dumps([*project["dependencies"], *extras["data"]])
    return f"\nrequirements: {needed}\nautograder_files: [runproofs]"


def requirements(wheel):
    """What a student installs: the versions with which the answers are graded, and no PyTorch."""
    return ["-c constraints.txt", f"./{wheel}[data]", "otter-grader", "jupyterlab"]


def one(name, out, wheel, term):
    """Both trees of one assignment, in the conventions of a term; a line that says so."""
    variant = sources.pick(name, term) if term else ()
    assign(name, out, wheel, variant)
    conventions = ", ".join(form for _, form in variant) or "as printed"
    return f"{name} ({conventions}): {out / 'student' / name}.zip"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=sources.names())
    parser.add_argument("--wheel", type=Path, help="the library, for the student's tree")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--term", help="a name, which picks other conventions")
    options = parser.parse_args()

    make = partial(one, out=options.out, wheel=options.wheel, term=options.term)
    try:
        for made in at_once(make, options.names):
            print(made, flush=True)
    except sources.SourceError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
