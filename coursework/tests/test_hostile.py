"""Submissions that misbehave get nothing for what they broke, and harm nobody else."""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from armslength import grade as grading
from armslength import sandbox, table
from armslength.sandbox import Sandbox
from armslength.submission import LET_GO, Limits, Submission, Unanswered
from coursework.tests.conftest import LIBRARY, TREES, grader, notebook, with_answers, with_cells
from coursework.tools import sources

NAMES = ["dropout_is_a_regularizer", "closed_form_against_training", "attack_then_defend"]
NAME = NAMES[0]
QUICK = Limits(cell=5, question=5, total=120, file=2**20)
MODULE = sys.modules["armslength.submission"].__file__

HARMLESS = {  # a cell beside the right answers: it breaks nothing else
    "loops forever": "while True: pass",
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
    "has no syntax": "def (",
    "has a child that stays": "import subprocess; subprocess.Popen(['sleep', '600'])",
}
CHEATS = {  # a cell in the place of all answers, whose names are ANSWERS
    "replaces numpy's comparisons": """
import numpy, numpy as np
for name in ('allclose', 'isclose', 'array_equal', 'all', 'abs'):
    setattr(np, name, lambda *a, **k: True)""",
    "replaces the library": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith('runproofs.'):
        for key in dir(module):
            if not key.startswith('_'): setattr(module, key, lambda *a, **k: 0.0)
ANSWERS = lambda *a: 0.0""",
    "replaces what answers": """
import sys
for module in sys.modules['armslength.student_side'], sys.modules['json']:
    module.encode = module.dumps = lambda *x: b'{"value": 1.0}'""",
    "replaces assert's exception": "import builtins; builtins.AssertionError = type('E', (), {})",
    "equals everything": """
class All(float):
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = __bool__ = lambda *a: True
    __sub__ = __rsub__ = __abs__ = __call__ = lambda self, *a: self
    shape = property(lambda self: self)
    __hash__ = float.__hash__
ANSWERS = All()""",
    "answers with everything": """
import numpy as np
class Any(np.ndarray):
    def __array_function__(self, *a): return True
    def __array_ufunc__(self, *a, **k): return True
any = np.zeros(3).view(Any)
ANSWERS = lambda *a: any""",
    "answers forever": """
def answer(*a):
    while True: pass
ANSWERS = answer""",
    "answers without an end": """
from itertools import count
ANSWERS = lambda *a: count()""",
    "answers with 80 megabytes": """
import numpy as np
ANSWERS = lambda *a: np.zeros(10**7)""",
    "answers with itself": """
def answer(*a):
    x = []; x.append(x); return x
ANSWERS = answer""",
    "exits when asked": """
def answer(*a): raise SystemExit
ANSWERS = answer""",
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
@pytest.mark.parametrize(
    ("name", "place"),
    [(NAMES[0], "first"), (NAMES[0], "last"), (NAMES[1], "last"), (NAMES[2], "first")],
)
def test_what_is_beside_the_answers_costs_nothing(grade, name, what, place):
    submission = with_cells(notebook("instructor", name), **{place: HARMLESS[what]})
    result = grade(name, submission, QUICK)
    assert result.score == result.possible, result


@pytest.mark.parametrize("what", CHEATS)
@pytest.mark.parametrize("name", NAMES)
def test_a_cheat_earns_nothing(grade, name, what):
    names = set().union(*grader(name).answers.values())
    cheat = CHEATS[what].replace("ANSWERS", " = ".join(sorted(names)))
    submission = with_cells(notebook("student", name), last=cheat)
    assert grade(name, submission, Limits(cell=5, question=1, total=120)).score == 0


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("path_norm", "def path_norm(U, V):\n    while True: pass"),
        ("path_norm", "import time\ndef path_norm(U, V):\n    time.sleep(3)"),
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


REACHING = [  # for what an answer must not reach
    """
import os, resource, socket, time
from dataclasses import make_dataclass
from fractions import Fraction
import numpy as np
fields = ["_x", "x", "__array__", "__array_interface__"]
window = {"shape": (9,), "typestr": "<f8", "version": 3, "data": (8, False)}
record = make_dataclass("Record", fields)(1, 2, lambda *a, **k: np.ones(3), window)
long = lambda digits: Fraction(16 ** digits + 1, 16 ** digits - 1)
kinds = resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC
limits = lambda: [resource.getrlimit(kind)[0] for kind in kinds]
def half(size):
    for number in range(3, 64):
        try: socket.socket(fileno=os.dup(number)).send(size.to_bytes(4, "big") + b"{")
        except OSError: pass
    time.sleep(99)
""",
    """
def look(function):
    return [name for name in ("__code__", "__closure__", "__globals__") if hasattr(function, name)]
def use(function, *args):
    return function(*args)
def chat(function):
    while True:
        try: function()
        except Exception: pass
""",
]


def test_an_answer_is_data_only_and_comes_in_time():
    brief = Limits(cell=20, question=3, total=120)
    with Sandbox() as own, Submission(REACHING, brief, own) as submission:
        assert vars(submission.get("record")) == {"x": 2}
        assert submission.get("long")(9000).denominator == 16**9000 - 1
        files, processes = submission.get("limits")()
        assert files == brief.files
        assert sandbox.trouble() or processes == brief.processes
        for name, argument in (("long", 200_000), ("half", 20), ("half", 2**30)):
            submission.question()
            began = time.monotonic()
            with pytest.raises(Unanswered):
                submission.get(name)(argument)
            assert submission.left > -1
            assert time.monotonic() - began < brief.question + LET_GO + 5


def test_a_function_of_a_test_stays_on_this_side():
    brief = Limits(cell=20, question=4, total=120)
    with Sandbox() as own, Submission(REACHING, brief, own) as submission:
        look, use = submission.get("look"), submission.get("use")
        secret = np.arange(3)
        assert look(lambda: secret) == []
        assert (use(lambda x: secret + x, 2) == [2, 3, 4]).all()
        assert use(lambda f, x: use(f, x), lambda x: x * x, 3) == 9
        with pytest.raises(ZeroDivisionError):
            use(lambda: 1 / 0)
        with pytest.raises(MemoryError):
            use(lambda n: np.zeros(n), 10**13)
        for name, argument in (("use", lambda: time.sleep(99)), ("chat", lambda: 1)):
            submission.question()
            with pytest.raises((TimeoutError, Unanswered)):
                submission.get(name)(argument)
            assert submission.left > -2


confined = pytest.mark.skipif(bool(sandbox.trouble()), reason=f"no sandbox: {sandbox.trouble()}")


@confined
@pytest.mark.parametrize(
    "code",
    [
        f"open({str((TREES / 'instructor' / NAME / f'{NAME}.ipynb').resolve())!r}).read()",
        f"open({MODULE!r}).read()",
        f"open({MODULE!r}, 'a')",
        "import numpy; open(numpy.__file__, 'a')",
        "import numpy, os; os.chmod(numpy.__file__, 0)",
        "import os; os.listdir('/proc')",
        "import os; os.listdir('OUTSIDE')",
        "open('/left', 'w')",
        "import os; os.unshare(os.CLONE_NEWUSER) if hasattr(os, 'unshare') else open('/none')",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.create_connection(('192.0.2.1', 9))",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
    ],
)
def test_what_is_outside_its_sandbox_is_out_of_reach(tmp_path, grade, code):
    outside = code.replace("OUTSIDE", str(tmp_path))
    submission = with_cells(notebook("instructor", NAME), last=outside)
    result = grade(NAME, submission, QUICK)
    assert result.score == result.possible
    (remark,) = result.remarks
    assert "Error" in remark


@confined
def test_a_sandbox_has_no_room_for_more_than_its_size(grade):
    fill = "for k in range(999): open(f'part-{k}', 'wb').write(bytes(2**20))"
    ends = "import os; os._exit(0)"  # so it starts anew, in an empty folder
    result = grade(NAME, with_cells(notebook("instructor", NAME), first=fill, last=ends), QUICK)
    assert "No space left" in " ".join(result.remarks)
    assert result.score == result.possible


def attacks(inbox, name):
    """Cells that reach for others, by what their author is called."""
    key = (TREES / "instructor" / name / f"{name}.ipynb").resolve()
    steal = f"json.load(open({str(key)!r}))['cells']"
    return {
        "bomber": """
import os, resource
for pid in {1, 2, os.getppid(), os.getsid(os.getppid())}:
    try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))
    except OSError: pass""",
        "chmod": f"""
import os
for name in ('{inbox}/zoe.ipynb', '{inbox}/aaron.ipynb', '{inbox}'):
    try: os.chmod(name, 0)
    except OSError: pass
    try: os.utime(name, (0, 0))
    except OSError: pass""",
        "killer": "import os; os.kill(-1, 9); os.kill(os.getpid(), 9)",
        "holder": """
import os, signal
for pid in range(1, 99):
    try: pid == os.getpid() or os.kill(pid, signal.SIGSTOP)
    except OSError: pass""",
        "escapist": """
import os
if not os.fork():
    os.setsid()
    if not os.fork(): os.execvp('sleep', ['sleep', '654321'])
    os._exit(0)""",
        "thief": f"import json\nfor cell in {steal}: exec(''.join(cell['source']))",
    }


def running(command):
    """Whether a process of this command line runs on this machine."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().replace(b"\0", b" ").strip().decode() == command:
                return True
        except OSError:
            pass
    return False


@confined
@pytest.mark.parametrize("name", NAMES)
def test_one_student_cannot_touch_another(tmp_path, monkeypatch, name):
    """All the attacks in one batch, between the first of the alphabet and the last."""
    inbox, out = tmp_path / name, tmp_path / "out"
    inbox.mkdir()
    solved = notebook("instructor", name)
    for student in ("aaron", "zoe"):
        (inbox / f"{student}.ipynb").write_text(solved)
    for student, cell in attacks(inbox, name).items():
        empty = notebook("student", name) if student == "thief" else solved
        (inbox / f"{student}.ipynb").write_text(with_cells(empty, first=cell))
    (inbox / "link.ipynb").symlink_to((TREES / "instructor" / name / f"{name}.ipynb").resolve())
    (inbox / "neighbor.ipynb").symlink_to(inbox / "aaron.ipynb")
    (inbox / "nowhere.ipynb").symlink_to(inbox / "nothing")
    (inbox / "loop").symlink_to(inbox)
    os.mkfifo(inbox / "pipe.ipynb")

    def seen():
        return {p.name: (p.lstat().st_mode, p.lstat().st_mtime) for p in inbox.iterdir()}

    before = seen()
    monkeypatch.setenv("PYTHONPATH", str(sources.COURSEWORK.parent))
    grading.grade(inbox, name, TREES, out, QUICK, LIBRARY)
    assert seen() == before
    rows = {row["student"]: row for row in table.read(out / "marks.csv")}
    full = rows["aaron"]["automatic, of"]
    for student in ("aaron", "chmod", "escapist", "zoe"):
        assert rows[student]["automatic"] == full, rows[student]
    for student in ("link", "neighbor", "nowhere", "loop", "pipe", "thief"):
        assert rows[student]["automatic"] == "0", rows[student]
        assert rows[student]["remarks"]
    assert len(rows) == 2 + 6 + 5
    time.sleep(1)
    assert not running("sleep 654321")
