"""The two trees of an assignment, made by otter: what students get, and what teachers keep.

    armslength-assign NOTEBOOK ... [--trees FOLDER]

TREES/student/NAME has the notebook without answers; TREES/instructor/NAME has the solved one, what
its author wrote, a key, and otter's own zip for a grading server if the notebook asks for one.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from otter.assign import main as otter_assign

from armslength import otter_source
from armslength.grader import Grader, hints


def both_trees(notebook, trees):
    """Both trees of an assignment, anew, from the notebook at a path, beside which lies what it
    reads. Returns their folders. Raises SourceError, also if the solution fails a test."""
    name = notebook.stem
    student, instructor = trees / "student" / name, trees / "instructor" / name
    for tree in (student, instructor):
        shutil.rmtree(tree, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        run_otter(notebook, scratch)
        shutil.copytree(f"{scratch}/student", student)
        shutil.copytree(f"{scratch}/autograder", instructor)
    for path in instructor.glob("*.zip"):  # its name has the time of day
        path.rename(instructor / "autograder.zip")
    shutil.copy(notebook, instructor / otter_source.SOURCE)
    (instructor / "key.md").write_text(otter_source.read(instructor).key(), encoding="utf-8")
    made = instructor.resolve()
    with contextlib.chdir(notebook.parent):  # where its data lie
        check(made)
    return student, instructor


def run_otter(notebook, out):
    """`otter assign`, without its run of the tests, for which it would start a kernel."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            otter_assign(str(notebook), str(out), no_run_tests=True)
    except Exception as error:
        raise otter_source.SourceError(f"otter assign {notebook.name}: {error}") from error


def check(instructor):
    """Raises SourceError unless the solution in an instructor's tree passes all its tests."""
    try:
        grader = Grader(instructor)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise otter_source.SourceError(f"{instructor.name}: the solution fails: {said}") from error
    for test in grader.tests.values():
        test.run(dict(grader.clean))
        if test.score < test.possible:
            said = " ".join(hints(test))
            raise otter_source.SourceError(f"{instructor.name}: {test.name} fails: {said}")


def at_once(make, everything):
    """What `make` returns for each, in this order, made in as many processes as there are cores."""
    context = multiprocessing.get_context("fork")  # otter is imported once
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        yield from pool.map(make, everything)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notebooks", nargs="+", type=Path, help="in otter's format")
    parser.add_argument("--trees", type=Path, default=Path("trees"))
    options = parser.parse_args()
    try:
        for student, _ in at_once(partial(both_trees, trees=options.trees), options.notebooks):
            print(student, flush=True)
    except (otter_source.SourceError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
