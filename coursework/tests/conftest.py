"""The trees are made once, by `make coursework`, before these tests."""

import functools
import json
import os
from pathlib import Path

import pytest

from armslength import sandbox
from armslength.grader import Grader, Grading
from armslength.sandbox import Sandbox
from armslength.submission import Limits
from coursework.tools import sources

TREES = Path(os.environ.get("COURSEWORK_TREES", "_build/coursework"))
LIBRARY = ["runproofs"]
LIMITS = Limits(cell=30, question=30, total=150)


def pytest_report_header():
    if sandbox.trouble():
        return f"NOT CONFINED: {sandbox.trouble()}, so what a sandbox keeps out is not tested."


@functools.cache
def grader(name):
    """The grader of an assignment; its solution runs once."""
    return Grader(TREES / "instructor" / name, LIBRARY)


@functools.cache
def notebook(tree, name):
    """Text of the notebook of an assignment in one of the two trees."""
    return (TREES / tree / name / f"{name}.ipynb").read_text()


@functools.lru_cache(3)
def shared(name):
    """A sandbox for many submissions to an assignment, one after another: it imports once."""
    opened = Sandbox(grader(name).imports, LIBRARY)
    opened.wait()
    return opened


@pytest.fixture
def grade():
    """Grade the text of a submission: grade(name, text) returns the result."""

    def graded(name, text, limits=LIMITS):
        return Grading(grader(name), text.encode(), limits, shared(name)).result()

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


def with_cells(text, *, first="", last=""):
    """A notebook with one more cell before the others, and one after."""
    changed = json.loads(text)
    for place, source in ((0, first), (len(changed["cells"]) + 1, last)):
        cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
        changed["cells"].insert(place, cell | {"source": source, "id": f"new-{place}"})
    return json.dumps(changed)
