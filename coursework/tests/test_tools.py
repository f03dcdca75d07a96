"""What the tools do for those who write, and what of an answer arrives."""

import os
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from armslength import grade, inbox, sandbox
from armslength.grader import Grader
from armslength.otter_source import SourceError
from armslength.sandbox import Sandbox
from armslength.submission import Limits, Submission
from coursework.tests.conftest import LIMITS, TREES, with_answers
from coursework.tools import assign, sources

NAME = "dropout_is_a_regularizer"


def test_the_limits_that_are_told_are_those_that_hold():
    most = Limits()
    gigabytes = f"{most.memory // 2**30} GiB"
    times = f"{most.cell} s for a cell, {most.question} s for a question, {most.total} s in all"
    files = f"{most.file // 2**20} MiB for a file and {sandbox.ROOM // 2**20} MiB for all files"
    told = (sources.COURSEWORK / "GRADING.md").read_text()
    assert f"The limits: {times}; {gigabytes} of memory for a process; {files};" in told
    page = (sources.COURSEWORK.parent / "book" / "course" / "index.md").read_text()
    assert most.total == 10 * 60
    assert f"at most ten minutes, and {gigabytes} for each process" in page


def test_answers_arrive_as_what_they_are():
    cells = [
        "from collections import namedtuple\nfrom types import SimpleNamespace\nimport numpy as np",
        "split = lambda x: namedtuple('Split', 'whole rest')(int(x), x % 1)",
        "swap = lambda pair: type(pair)(*pair[::-1])",
        "kept = {'a': (1, 2.5), 'b': [None, 'c'], 3: {1 + 2j}, 'd': np.eye(2)}",
    ]
    with Sandbox() as own, Submission(cells, LIMITS, own) as submission:
        whole, rest = pair = submission.get("split")(2.5)
        assert pair == (whole, rest) == (2, 0.5) == (pair.whole, pair.rest)
        assert submission.get("swap")(pair) == (0.5, 2)
        kept = submission.get("kept")
        np.testing.assert_array_equal(kept.pop("d"), np.eye(2))
        assert kept == {"a": (1, 2.5), "b": [None, "c"], 3: {1 + 2j}}
        assert not submission.remarks


UNUSUAL = {  # what a right answer may be, and what arrives
    "sympy.Rational(5, 2)": 2.5,
    "sympy.sqrt(2)": 2**0.5,
    "Decimal('2.5')": 2.5,
    "Fraction(7, 8) ** 5000": 0.875**5000,
    "range(3)": [0, 1, 2],
    "(x for x in range(3))": [0, 1, 2],
    "{1: 2}.keys()": [1],
    "deque([1, 2])": [1, 2],
    "frozenset([1])": [1],
    "zip([1], [2])": [(1, 2)],
    "pandas.DataFrame([[1.0, 2.0]])": np.array([[1.0, 2.0]]),
    "pandas.Series([1, 2])": np.array([1, 2]),
    "torch.nn.Parameter(torch.ones(2))": np.ones(2),
    "torch.ones(2, dtype=torch.bfloat16)": np.ones(2),
    "np.matrix([[1.0]])": np.array([[1.0]]),
}


def test_unusual_kinds_arrive_too():
    first = (
        "import pandas, sympy, torch, numpy as np\n"
        "from collections import deque\nfrom decimal import Decimal\nfrom fractions import Fraction"
    )
    cells = [first, *(f"x{k} = {text}" for k, text in enumerate(UNUSUAL))]
    with Sandbox() as own, Submission(cells, LIMITS, own) as submission:
        for k, (text, expected) in enumerate(UNUSUAL.items()):
            found = submission.get(f"x{k}")
            assert np.shape(found) == np.shape(expected), text
            np.testing.assert_allclose(np.asarray(found, dtype=float), expected, err_msg=text)
        assert not submission.remarks


def test_why_an_answer_is_not_graded_is_told(grade):
    answers = {
        "rate": "rate = lambda theta: b'2'",
        "penalty": "def penalty(*a):\n    raise ZeroDivisionError('by theta')",
        "path_norm": "path_norm = b'2'",
        "best_scale": "",
    }
    result = grade(NAME, with_answers(NAME, answers))
    hints = {mark.question: mark.hints for mark in result.marks if not mark.score}
    assert set(hints) == set(answers)
    assert "rate: TypeError: a value of type bytes cannot be graded" in hints["rate"]
    assert "penalty: ZeroDivisionError: by theta" in hints["penalty"]
    assert len(hints["rate"]) > 1  # the hint itself
    assert hints["path_norm"] == ["path_norm: a value of type bytes cannot be graded."]
    assert hints["best_scale"] == ["best_scale: it has no value."]


def test_a_teacher_is_told_what_of_the_library_the_solution_does_not_use(grade):
    called = "def path_norm(U, V):\n    return shallow.dropout_regularizer(U, V)"
    first = "from runproofs.theory.bounds import wide as w\n"
    result = grade(NAME, with_answers(NAME, {"path_norm": first + called}))
    (note,) = result.notes
    assert note == "It uses bounds.wide, shallow.dropout_regularizer, which the solution does not."
    assert not grade(NAME, with_answers(NAME, {})).notes


def test_two_processes_do_not_draw_the_same_numbers():
    drawn = []
    with Sandbox() as own:
        for _ in range(2):
            cells = ["import numpy as np\nx = np.random.rand()"]
            with Submission(cells, LIMITS, own) as submission:
                drawn.append(submission.get("x"))
    assert drawn[0] != drawn[1]


def test_a_student_installs_what_grades():
    constraints = assign.CONSTRAINTS.read_text().split()
    for package in ("numpy", "scipy", "otter-grader"):
        assert f"{package}=={version(package)}" in constraints
    assert "./library.whl[data]" in assign.requirements("library.whl")


USES_TORCH = """
import json, sys
from armslength.grader import run_notebook
run_notebook(json.load(open(sys.argv[1])))
sys.exit("torch" in sys.modules)
"""


@pytest.mark.parametrize("name", sources.names())
def test_an_assignment_needs_no_torch_which_no_student_installs(name):
    notebook = TREES / "instructor" / name / f"{name}.ipynb"
    subprocess.run([sys.executable, "-c", USES_TORCH, notebook], check=True)


@pytest.mark.parametrize("name", sources.names())
def test_the_zip_for_a_server_holds_the_library(name):
    if not list((TREES / "student" / name).glob("*.whl")):
        pytest.skip("made without the library: make coursework")
    with zipfile.ZipFile(TREES / "instructor" / name / "autograder.zip") as archive:
        assert "files/runproofs/__init__.py" in archive.namelist()
        needed = archive.read("environment.yml")
        assert b"scikit-learn" in needed
        assert b"torch" not in needed


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("NAME.md", "name: rate", "name: rate: 2", "question 3"),
        ("NAME.md", "failure_message: Right", "failure_message: Right: at", "test of rate"),
        ("NAME.md", "failure_message: Right", "failure_message: Right # so", "test of rate"),
        ("NAME.md", "hidden: true", "hidden", "test of predict"),
        ("wrong.yml", "predict:", "predicted:", "no question predicted"),
        ("wrong.yml", "predict:", "predict: [", "wrong.yml"),
        ("wrong.yml", "mask / theta", "mask * theta", "must stand in the solution once"),
        ("wrong.yml", None, None, "wrong.yml is missing"),
        ("notes.md", None, None, "notes.md is missing"),
    ],
)
def test_a_slip_of_the_author_is_told_in_a_sentence(tmp_path, monkeypatch, file, old, new, told):
    shutil.copytree(sources.COURSEWORK / NAME, tmp_path / NAME)
    monkeypatch.setattr(sources, "COURSEWORK", tmp_path)
    path = tmp_path / NAME / file.replace("NAME", NAME)
    if old:
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
    else:
        path.unlink()
    with pytest.raises(SourceError, match=told) as raised:
        list(sources.wrong_answers(NAME))
    assert NAME in str(raised.value)
    assert "\n" not in str(raised.value)


UNEVEN, SHELL = "if 1:\n        x = 1\n    y = 2", "!true\n" * 600


def test_a_cell_that_nobody_can_read_stops_nobody():
    found = Grader.library_names(
        SimpleNamespace(modules={"shallow"}, is_of_library=lambda _: False),
        [UNEVEN, SHELL, "%matplotlib inline\nshallow.objective(1)"],
    )
    assert found == {"shallow.objective"}


def test_a_notebook_finds_its_folder_a_user_and_a_lock():
    at = "." if sandbox.trouble() else "/tmp"  # that of the sandbox
    cells = [
        f"open('{at}/a', 'w').write('x')\nimport getpass\nuser = getpass.getuser()",
        "%%writefile helper.py\ny = 3",
        "import helper\nz = helper.y",
        "import multiprocessing\nlock = multiprocessing.Lock()\nw = 1",
    ]
    with Sandbox() as own, Submission(cells, LIMITS, own) as submission:
        assert [submission.get(name) for name in ("user", "z", "w")] == ["student", 3, 1]
        assert submission.remarks == {}


def test_two_files_with_one_readable_name_are_two_submissions(tmp_path):
    for form in ("NFC", "NFD"):
        (tmp_path / f"{unicodedata.normalize(form, 'josé')}.ipynb").write_bytes(form.encode())
    for letter in (b"\xfc", b"\xf6"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/M" + letter + b"ller.ipynb")).write_bytes(
            letter
        )
    found = inbox.read(tmp_path, 100)
    assert len({grade.place(handed) for handed in found}) == len(found) == 4


def test_empty_rows_of_a_roster_are_nobody(tmp_path):
    (tmp_path / "roster.csv").write_text("id,name,file\nada,Ada,\n,,\n,,\n")
    assert [row["id"] for row in inbox.roster(tmp_path / "roster.csv", "sums")] == ["ada"]
