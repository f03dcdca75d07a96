"""The grader is a package of its own: what it is made of, and a course of somebody else."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest

from armslength import table
from armslength.assign import both_trees
from armslength.otter_source import SourceError
from coursework.tools.sources import COURSEWORK

GRADER = COURSEWORK / "grader"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder where the wheel is installed, with its commands in `bin`."""
    folder = tmp_path_factory.mktemp("installed")
    tree = shutil.copytree(GRADER, folder / "tree", ignore=shutil.ignore_patterns("__pycache__"))
    run(tree, "hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    run(folder, "pip", "install", "-q", "--no-deps", "--no-index", "--target", "site", wheel)
    return folder / "site"


def run(folder, *module):
    subprocess.run([sys.executable, "-m", *map(str, module)], cwd=folder, check=True)


def test_it_knows_nothing_of_the_book(installed):
    files = [path for path in GRADER.rglob("*") if path.suffix in (".py", ".html", ".md", ".toml")]
    assert len(files) > 15
    for path in files:
        text = path.read_text("utf-8")
        found = re.search("(?i)runproofs|coursework|dropout|proofs you can", text)
        assert not found, f"{path}: {found}"
    (wheel,) = installed.parent.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if "dist-info" not in name}
    assert packed == {f"armslength/{path.name}" for path in (GRADER / "armslength").glob("*.*")}
    assert len((GRADER / "README.md").read_text("utf-8").splitlines()) <= 60


def raw(text):
    return nbformat.v4.new_raw_cell(text)


def code(text):
    return nbformat.v4.new_code_cell(text)


def course():
    """An assignment of two questions, in otter's format."""
    hidden = '""" # BEGIN TEST CONFIG\nhidden: true\nfailure_message: Odd years too.\n'
    hidden += '""" # END TEST CONFIG\nassert not leap(1901)'
    cells = [
        raw("# ASSIGNMENT CONFIG\nname: years"),
        nbformat.v4.new_markdown_cell("# Years that leap"),
        raw("# BEGIN QUESTION\nname: leap\npoints: 2\nall_or_nothing: true"),
        raw("# BEGIN SOLUTION"),
        code("def leap(year):\n    return year % 4 == 0  # SOLUTION"),
        raw("# END SOLUTION"),
        raw("# BEGIN TESTS"),
        code("assert leap(1904)"),
        code(hidden),
        raw("# END TESTS"),
        raw("# END QUESTION"),
        raw("# BEGIN QUESTION\nname: why\npoints: 1\nmanual: true"),
        raw("# BEGIN SOLUTION"),
        nbformat.v4.new_markdown_cell("The sun is late. **Rubric:** the sun."),
        raw("# END SOLUTION"),
        raw("# END QUESTION"),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=kernel)


@pytest.mark.parametrize(
    ("answer", "told"),
    [("True", "leap fails: Odd years too."), ("1 / 0)\nleap(4", "ZeroDivisionError")],
)
def test_a_solution_that_fails_its_own_test_is_not_handed_out(tmp_path, answer, told):
    notebook = course()
    (solution,) = (cell for cell in notebook.cells if "year % 4" in cell.source)
    solution.source = f"def leap(year):\n    return ({answer})"
    nbformat.write(notebook, tmp_path / "years.ipynb")
    with pytest.raises(SourceError, match=told):
        both_trees(tmp_path / "years.ipynb", tmp_path / "trees")


def test_a_course_that_has_nothing_to_do_with_the_book_is_graded(installed, tmp_path):
    def command(name, *arguments):
        environment = os.environ | {"PYTHONPATH": str(installed)}
        line = [sys.executable, installed / "bin" / name, *arguments]
        done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    nbformat.write(course(), tmp_path / "years.ipynb")
    assert command("armslength-assign", "years.ipynb").strip() == "trees/student/years"
    given = nbformat.read(tmp_path / "trees" / "student" / "years" / "years.ipynb", 4)
    assert "year % 4" not in str(given)
    (tmp_path / "inbox" / "years").mkdir(parents=True)
    for student, answer in (("ada", "year % 4 == 0"), ("ben", "True"), ("cleo", "year in 1 / 0")):
        solved = code(f"def leap(year):\n    return {answer}")
        nbformat.write(
            nbformat.v4.new_notebook(cells=[*given.cells, solved]),
            tmp_path / "inbox" / "years" / f"{student}.ipynb",
        )
    assert "Rows: 3" in command("armslength-grade", "inbox/years")
    out = tmp_path / "trees" / "graded" / "years"
    rows = {row["student"]: row["leap (of 2)"] for row in table.read(out / "marks.csv")}
    assert rows == {"ada": "2", "ben": "0", "cleo": "0"}
    told = [(row["test"], row["failed"]) for row in table.read(out / "questions.csv")]
    assert told[:3] == [("", ""), ("visible test 1:", "1"), ("hidden test 2: Odd years too.", "2")]
    assert "Odd years too." in (out / "feedback" / "ben.html").read_text("utf-8")
    assert "ZeroDivisionError" in (out / "feedback" / "cleo.html").read_text("utf-8")
    assert "The sun is late." in (out / "by_hand" / "why.html").read_text("utf-8")
