"""What the tools do for those who write, and what of an answer arrives."""

import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from coursework.tests.conftest import LIMITS, TREES
from coursework.tools import sources
from coursework.tools.submission import Limits, Origin, Submission

NAME = "dropout_is_a_regularizer"


def test_the_limits_that_are_told_are_those_that_hold():
    most = Limits()
    gigabytes = f"{most.memory // 2**30} GiB"
    times = f"{most.cell} s a cell, {most.call} s a call, {most.total} s in all"
    told = (sources.COURSEWORK / "GRADING.md").read_text()
    assert f"Limits: {times}, {gigabytes}, {most.file // 2**20} MiB a file;" in told
    page = (sources.COURSEWORK.parent / "book" / "course" / "index.md").read_text()
    assert most.total == 5 * 60
    assert f"at most five minutes and {gigabytes}" in page


def test_answers_arrive_as_what_they_are():
    cells = [
        "from collections import namedtuple\nfrom types import SimpleNamespace\nimport numpy as np",
        "split = lambda x: namedtuple('Split', 'whole rest')(int(x), x % 1)",
        "swap = lambda pair: type(pair)(*pair[::-1])",
        "kept = {'a': (1, 2.5), 'b': [None, 'c'], 3: {1 + 2j}, 'd': np.eye(2)}",
    ]
    with Submission(cells, LIMITS, Origin()) as submission:
        whole, rest = pair = submission.get("split")(2.5)
        assert pair == (whole, rest) == (2, 0.5) == (pair.whole, pair.rest)
        assert submission.get("swap")(pair) == (0.5, 2)
        kept = submission.get("kept")
        np.testing.assert_array_equal(kept.pop("d"), np.eye(2))
        assert kept == {"a": (1, 2.5), "b": [None, "c"], 3: {1 + 2j}}
        assert not submission.remarks


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_in_no_group_of_ours(tmp_path):
    code = f"""
import os
from coursework.tools.student_side import settle
settle({str(tmp_path)!r}, "nobody", [60, 2**32, 2**20])
print(all(os.getresuid()), all(os.getresgid()), os.getgroups())"""
    shutil.chown(tmp_path, "nobody")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.stdout == "True True []\n", said.stderr


def test_two_processes_do_not_draw_the_same_numbers():
    origin, drawn = Origin(), []
    for _ in range(2):
        with Submission(["import numpy as np\nx = np.random.rand()"], LIMITS, origin) as submission:
            drawn.append(submission.get("x"))
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("name", sources.names())
def test_the_zip_for_a_server_holds_the_library(name):
    if not list((TREES / "student" / name).glob("*.whl")):
        pytest.skip("made without the library: make coursework")
    with zipfile.ZipFile(TREES / "instructor" / name / "autograder.zip") as archive:
        assert "files/runproofs/__init__.py" in archive.namelist()
        assert b"torch" in archive.read("environment.yml")


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("NAME.md", "name: rate", "name: rate: 2", "question 3"),
        ("NAME.md", "failure_message: The exp", "failure_message: The: exp", "test of predict"),
        ("NAME.md", "failure_message: The exp", "failure_message: The # exp", "test of predict"),
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
    with pytest.raises(sources.SourceError, match=told) as raised:
        list(sources.wrong_answers(NAME))
    assert NAME in str(raised.value)
    assert "\n" not in str(raised.value)
