"""The two trees of an assignment, made by otter: what students get, and what teachers keep.

    armslength-assign NOTEBOOK ... [--trees FOLDER]

TREES/student/NAME has the notebook without answers; TREES/instructor/NAME has the solved one, what
its author wrote, a key, and otter's own zip for a grading server if the notebook asks for one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from armslength import otter_source


def both_trees(notebook, trees):
    """Both trees of an assignment, anew, from the notebook at a path, beside which lies what it
    reads. Returns their folders. Raises SourceError."""
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
    (instructor / "key.md").write_text(key(otter_source.read(instructor)), encoding="utf-8")
    return student, instructor


def run_otter(notebook, out):
    """`otter assign`, which also runs all tests on the solution; SourceError if one fails."""
    done = subprocess.run(
        [sys.executable, "-m", "otter", "assign", notebook.name, str(out)],
        cwd=notebook.parent,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise otter_source.SourceError(
            f"otter assign {notebook.name} failed:\n{done.stdout}{done.stderr}"
        )


def key(source):
    """The grading key: marks, and of each question what is right and what the tests look at."""
    total = sum(question.points for question in source.questions)
    parts = [f"# Key: {source.name.replace('_', ' ')}\n\n{total:g} marks.\n"]
    for question in source.questions:
        how = "by hand" if question.manual else "by tests"
        parts.append(f"## {question.name} ({question.points:g} marks, {how})\n")
        for cell in question.solution:
            code = cell.cell_type == "code"
            parts.append(f"```python\n{cell.source}\n```\n" if code else f"{cell.source}\n")
        if question.hidden_tests:
            parts.append("Hidden tests:\n")
            parts += [f"```python\n{test}\n```\n" for test in question.hidden_tests]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notebooks", nargs="+", type=Path, help="in otter's format")
    parser.add_argument("--trees", type=Path, default=Path("trees"))
    options = parser.parse_args()
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # otter is a process of its own
            made = pool.map(lambda path: both_trees(path, options.trees), options.notebooks)
            for student, _ in made:
                print(student, flush=True)
    except (otter_source.SourceError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
