"""The trees are made once, by `make coursework`, before these tests."""

import functools
import json
import os
from pathlib import Path

import pytest

from coursework.tools import sources
from coursework.tools.grade import Grader
from coursework.tools.submission import Limits

TREES = Path(os.environ.get("COURSEWORK_TREES", "_build/coursework"))
LIMITS = Limits(cell=30, call=15, total=150)


@functools.cache
def grader(name):
    """The grader of an assignment; its solution runs once."""
    return Grader(name, TREES / "instructor")


@functools.cache
def notebook(tree, name):
    """Text of the notebook of an assignment in one of the two trees."""
    return (TREES / tree / name / f"{name}.ipynb").read_text()


@pytest.fixture
def grade(tmp_path):
    """Grade the text of a submission: grade(name, text) returns the result."""

    def graded(name, text, limits=LIMITS):
        path = tmp_path / "submission.ipynb"
        path.write_text(text)
        return grader(name).grade_safely(path, "student", limits)

    return graded


def with_answers(name, answers):
    """The solved notebook of an assignment, with other code for the questions in `answers`."""
    solved = json.loads(notebook("instructor", name))
    for question in sources.read(name).questions:
        if question.name in answers:
            old = [c.source for c in question.solution if c.cell_type == "code"]
            at = [
                i
                for i, cell in enumerate(solved["cells"])
                if cell["cell_type"] == "code" and "".join(cell["source"]) in old
            ]
            assert len(at) == len(old), f"{name}: {question.name}: a cell is not found"
            for i in at:
                solved["cells"][i]["source"] = ""
            solved["cells"][at[0]]["source"] = answers[question.name]
    return json.dumps(solved)
