"""Submissions that misbehave get nothing for what they broke, and never stop the batch."""

import csv
import json
import sys

import pytest

from coursework.tests.conftest import TREES, notebook, with_answers
from coursework.tools import grade as grading
from coursework.tools.student_side import can_confine
from coursework.tools.submission import Limits

NAME = "dropout_is_a_regularizer"  # one stands for all: the tools are the same
QUICK = Limits(cell=5, call=2, total=120, file=2**20)
SECRET = (TREES / "instructor" / NAME / f"{NAME}.ipynb").resolve()
MODULE = sys.modules["coursework.tools.submission"].__file__


def with_cells(text, *, first="", last=""):
    """A notebook with one more cell before the others, and one after."""
    changed = json.loads(text)
    for place, source in ((0, first), (len(changed["cells"]) + 1, last)):
        cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
        changed["cells"].insert(place, cell | {"source": source, "id": f"new-{place}"})
    return json.dumps(changed)


HARMLESS = {  # a cell beside the right answers: it breaks nothing else
    "loops for ever": "while True: pass",
    "prints a gigabyte": "for _ in range(1000): print('x' * 10**6)",
    "writes a large file": "open('large', 'wb').write(bytes(10**8))",
    "asks for memory": "x = bytearray(10**11)",
    "recurses": "f = lambda: f()\nf()",
    "exits": "import sys; sys.exit()",
    "exits at once": "import os; os._exit(0)",
    "quits": "quit()",
    "interrupts": "raise KeyboardInterrupt",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "kills its group": "import os; os.killpg(0, 9)",
    "closes everything": "import os; os.closerange(0, 999)",
    "writes nonsense where answers go": """
import os
for number in range(3, 99):
    try: os.write(number, (20).to_bytes(4, 'big') + b'{"value": {"zip": 1}} ')
    except OSError: pass""",
    "deletes what others hand in": """
import pathlib, shutil
for path in pathlib.Path('..').glob('submission-*'):
    if path.resolve() != pathlib.Path.cwd(): shutil.rmtree(path)""",
    "has no syntax": "def (",
    "has a child that stays": "import subprocess; subprocess.Popen(['sleep', '600'])",
}
CHEATS = {  # a cell in the place of all answers
    "replaces numpy's comparisons": """
import numpy, numpy as np
for name in ('allclose', 'isclose', 'array_equal', 'all', 'abs'):
    setattr(np, name, lambda *a, **k: True)""",
    "replaces the library": """
from runproofs.linear import shallow
for name in dir(shallow):
    if not name.startswith('_'): setattr(shallow, name, lambda *a, **k: 0.0)
penalty = dropout_loss = path_norm = best_scale = rate = lambda *a: 0.0""",
    "replaces what answers": """
import sys
for module in sys.modules['coursework.tools.student_side'], sys.modules['json']:
    module.encode = module.dumps = lambda *x: b'{"value": 1.0}'""",
    "replaces assert's exception": "import builtins; builtins.AssertionError = type('E', (), {})",
    "equals everything": """
class All(float):
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = __bool__ = lambda *a: True
    __sub__ = __rsub__ = __abs__ = __call__ = lambda self, *a: self
    shape = property(lambda self: self)
    __hash__ = float.__hash__
mean_output = mean_loss = All()
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = All()""",
    "answers with everything": """
import numpy as np
class Any(np.ndarray):
    def __array_function__(self, *a): return True
    def __array_ufunc__(self, *a, **k): return True
any = np.zeros(3).view(Any)
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = lambda *a: any""",
    "answers for ever": """
def answer(*a):
    while True: pass
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = answer""",
    "answers with 80 megabytes": """
import numpy as np
answer = lambda *a: np.zeros(10**7)
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = answer""",
    "answers with itself": """
def answer(*a):
    x = []; x.append(x); return x
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = answer""",
    "exits when asked": """
def answer(*a): raise SystemExit
dropout_loss = rate = penalty = path_norm = best_scale = free_network = curves = answer""",
}
NO_NOTEBOOKS = {
    "nothing": b"",
    "an image": bytes(range(256)) * 10,
    "a list": b"[]",
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "cells that are none": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [7]}',
    "a source that is none": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": '
    b'[{"cell_type": "code", "source": {"a": 1}, "metadata": {}, "outputs": []}]}',
    "deep brackets": b"[" * 10**6,
}


@pytest.mark.parametrize("what", HARMLESS)
@pytest.mark.parametrize("place", ["first", "last"])
def test_what_is_beside_the_answers_costs_nothing(grade, what, place):
    submission = with_cells(notebook("instructor", NAME), **{place: HARMLESS[what]})
    result = grade(NAME, submission, QUICK)
    assert result.score == result.possible, result


@pytest.mark.parametrize("what", CHEATS)
def test_a_cheat_earns_nothing(grade, what):
    submission = with_cells(notebook("student", NAME), last=CHEATS[what])
    assert grade(NAME, submission, QUICK).score == 0


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("path_norm", "def path_norm(U, V):\n    while True: pass"),
        ("path_norm", "import os\ndef path_norm(U, V):\n    os._exit(0)"),
        ("rate", "import sys\nrate = sys.exit"),
        ("best_scale", "def best_scale(*a):\n    return 'x' * 10**8"),
    ],
)
def test_a_function_that_misbehaves_loses_its_question(grade, question, code):
    result = grade(NAME, with_answers(NAME, {question: code}), QUICK)
    assert {mark.question for mark in result.marks if not mark.score} == {question}, result


def test_the_checks_of_the_notebook_are_not_those_that_count(grade):
    submission = json.loads(notebook("student", NAME))
    submission["metadata"].pop("otter")
    submission["cells"] = [c for c in submission["cells"] if "check" not in "".join(c["source"])]
    assert grade(NAME, json.dumps(submission)).score == 0


@pytest.mark.skipif(not can_confine(), reason="this kernel cannot confine a process to its folder")
@pytest.mark.parametrize(
    "code",
    [
        f"open({str(SECRET)!r}).read()",
        f"open({MODULE!r}).read()",
        f"open({MODULE!r}, 'a')",
        "import numpy; open(numpy.__file__, 'a')",
        "import os; os.listdir('/proc')",
        "import os; os.kill(os.getppid(), 9)",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
    ],
)
def test_what_is_outside_its_folder_is_out_of_reach(grade, code):
    submission = with_cells(notebook("instructor", NAME), last=code)
    result = grade(NAME, submission, QUICK)
    assert result.score == result.possible
    (remark,) = result.remarks
    assert "PermissionError" in remark


def test_nothing_is_graded_where_the_solution_fails(tmp_path, monkeypatch, capsys):
    (tmp_path / NAME).mkdir()
    monkeypatch.setattr(grading, "Limits", lambda: Limits(total=0))
    monkeypatch.setattr(grading, "INSTRUCTOR", TREES / "instructor")
    monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path / NAME)])
    with pytest.raises(SystemExit):
        grading.main()
    assert "the solution itself" in capsys.readouterr().err


def test_a_batch_of_all_kinds_has_a_row_and_a_page_each(tmp_path, monkeypatch, capsys):
    folder = tmp_path / NAME
    for student in ("ada", "=1+1"):
        (folder / student).mkdir(parents=True)
        (folder / student / "hw.ipynb").write_text(notebook("instructor", NAME))
    (folder / "ada-hw.ipynb").write_text(notebook("student", NAME))  # not to take that of ada/hw
    (folder / "ada-hw.pdf").write_bytes(b"%PDF")
    (folder / "empty.ipynb").write_text(notebook("student", NAME))
    (folder / "<b>bold.ipynb").write_text("<script>")
    (folder / "loop.ipynb").write_text(with_cells(notebook("student", NAME), last="while True: 0"))
    for what, content in NO_NOTEBOOKS.items():
        (folder / f"{what}.ipynb").write_bytes(content)
    monkeypatch.setattr(grading, "Limits", lambda: QUICK)
    monkeypatch.setattr(grading, "INSTRUCTOR", TREES / "instructor")
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["grade", str(folder), "--out", str(out)])
    grading.main()
    with open(out / "marks.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert len(rows) == 7 + len(NO_NOTEBOOKS)
    assert rows["ada-hw"]["automatic"] == rows["ada-hw"]["automatic, of"] != "0"
    assert rows["'=1+1-hw"]["automatic"] == rows["ada-hw"]["automatic"]
    for student in {*rows} - {"ada-hw", "'=1+1-hw"}:
        assert rows[student]["automatic"] == "0"
    pages = {path.stem: path.read_text() for path in (out / "feedback").glob("*.html")}
    assert len(pages) == len(rows)
    assert "<script>" not in pages["<b>bold"]
    assert "<b>" not in pages["<b>bold"]
    assert "default_rng" not in "".join(pages.values())


def test_marks_by_hand_survive_the_next_run(tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / NAME, tmp_path / "out"
    folder.mkdir()
    for student in ("ada", "=1"):
        (folder / f"{student}.ipynb").write_text("no notebook")
    monkeypatch.setattr(grading, "Limits", lambda: QUICK)
    monkeypatch.setattr(grading, "INSTRUCTOR", TREES / "instructor")
    monkeypatch.setattr(sys, "argv", ["grade", str(folder), "--out", str(out)])
    grading.main()
    rows = list(csv.reader((out / "marks.csv").open(newline="")))
    place = next(k for k, column in enumerate(rows[0]) if column.startswith("figure (by hand"))
    for row, mark in zip(rows[1:], ("2.5", "3"), strict=True):
        row[place] = mark
    with open(out / "marks.csv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows(rows)

    (folder / "late.ipynb").write_text("no notebook")
    grading.main()
    after = {row[0]: row for row in csv.reader((out / "marks.csv").open(newline=""))}
    assert {student: row[place] for student, row in after.items()} == {
        "student": rows[0][place], "'=1": "2.5", "ada": "3", "late": "",
    }  # fmt: skip
    assert "<td>3 of 4" in (out / "feedback" / "ada.html").read_text()
    assert "<td>? of 4" in (out / "feedback" / "late.html").read_text()

    (folder / "ada.ipynb").unlink()
    with pytest.raises(SystemExit):
        grading.main()
    assert "marks by hand for ada" in capsys.readouterr().err
    (out / "marks.csv").write_text("student;figure\nada;3\n")
    with pytest.raises(SystemExit):
        grading.main()
    assert "Move it away" in capsys.readouterr().err
