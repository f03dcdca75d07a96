"""`make test` runs all its parts, whatever the first one says, and sums up in lines that hold."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from booktools import test as run_tests
from booktools.test import PARTS, Part
from runproofs.book.register import BOOK

TESTS = """
import pytest

def test_green():
    pass

@pytest.mark.parametrize("x", ["one word"])
def test_red(x):
    '''>>> 1 + 1
    3
    '''
    assert x == "two\\nlines"

def test_left_out():
    pytest.skip()

@pytest.fixture
def broken():
    raise OSError("no disk")

def test_without_its_fixture(broken):
    pass
"""
PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

```{code-cell} ipython3
from runproofs.book.claims import claim

with claim("thesis/definition-threat-model") as check:
    check("green").equal(1, 1)
    check("[red] $x$").equal(1.5, 1, tol=0.1)
    check("also red").holds(False)
    check("control").fails(False)
```

```{code-cell} ipython3
with claim("thesis/definition-threat-model") as check:
    check("green").equal(1, 1)
```

```{code-cell} ipython3
unknown
```
"""
GREEN = Part("a green part", 200, ["green.py"])


@pytest.fixture
def forged(tmp_path, monkeypatch):
    """An empty tree in the place of this one."""
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)  # of the run that this test belongs to
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a second less for each start
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "LAST", tmp_path / "_build" / "last.json")
    (tmp_path / "green.py").write_text("print('green words')")
    return tmp_path


def test_all_parts_run_and_what_failed_is_told_in_lines(forged, capfd):
    (forged / "pytest.ini").write_text("[pytest]")
    (forged / "book").mkdir()
    shutil.copy(BOOK / "conftest.py", forged / "book")
    (forged / "red.py").write_text("import sys; sys.exit('red words')")
    (forged / "book" / "page.md").write_text(PAGE, "utf-8")
    (forged / "test_forged.py").write_text(TESTS)
    (forged / "test_lost.py").write_text("import nothing_like_it")
    parts = [
        Part("two commands", 5, ["red.py", "green.py"]),
        Part("tests", 5, ["-m pytest --continue-on-collection-errors test_forged.py test_lost.py"]),
        Part("examples", 5, ["-m pytest --doctest-modules test_forged.py -k test_forged.test_red"]),
        Part("pages", 5, ["-m pytest -p nbval.plugin --nbval-lax --nbval-current-env book"]),
        Part("none", 5, ["-m pytest -k no_such_test test_forged.py"]),
        GREEN,
    ]
    assert run_tests.run_all(parts) == 1
    out, err = capfd.readouterr()
    assert "red words" in err
    assert [line for line in out.splitlines() if line.startswith("[")][-1] == (
        "[6/6] a green part, about 3 min"
    )
    assert "green words" in out
    *table, end = out[out.index("\npart ") :].strip().splitlines()
    assert end == "3 passed, 9 failed, 1 skipped"
    assert [line.split()[:-1] for line in table[1:7]] == [
        ["two", "commands", "1", "1"],
        ["tests", "1", "3"],
        ["examples", "0", "1"],
        ["pages", "0", "3"],
        ["none", "0", "1"],
        ["a", "green", "part", "1", "0"],
    ]
    assert max(map(len, table[:7])) < 60
    assert table[7] == ""
    red = "book/page.md, thesis/definition-threat-model"
    assert set(table[8:]) == {
        "python red.py ended with status 1, as said above",
        "test_lost.py::test_lost: ModuleNotFoundError: No module named 'nothing_like_it'",
        r"test_forged.py::test_red[one word]: AssertionError: assert 'one word' == 'two\nlines'",
        "test_forged.py::test_without_its_fixture: OSError: no disk",
        "test_forged.py::test_forged.test_red: >>> 1 + 1",
        f"{red}: On this machine this row is false: [red] $x$ "
        "(demanded: error ≤ 0.1; measured: 0.5 > 0.1)",
        f"{red}: On this machine this row is false: also red (demanded: true; measured: false)",
        f"{red}: there is no control.",
        "book/page.md::Cell 2: NameError: name 'unknown' is not defined",
        "python -m pytest -k no_such_test test_forged.py ended with status 5, as said above",
    }


def test_a_green_run_says_so_and_the_next_one_knows_how_long_it_takes(forged, capfd):
    for expected in ("about 3 min", "about 0 s"):
        assert run_tests.run_all([GREEN]) == 0
        out = capfd.readouterr().out.splitlines()
        assert out[0] == f"[1/1] a green part, {expected}"
        assert out[-1] == "1 passed, 0 failed"


def test_a_test_run_that_dies_is_red(forged, capfd):
    (forged / "test_dies.py").write_text("import os\n\ndef test_dies():\n    os._exit(0)\n")
    (forged / "conftest.py").write_text("import os\n\nos._exit(9)\n")
    assert run_tests.run_all([Part("tests", 1, ["-m pytest"])]) == 1
    assert capfd.readouterr().out.splitlines()[-2:] == [
        "python -m pytest ended with status 9, as said above",
        "0 passed, 1 failed",
    ]


@pytest.mark.skipif(os.name != "posix", reason="there the console interrupts everybody")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_with_one_line(end, forged):
    (forged / "nap.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    program = (  # a shell's background job ignores SIGINT, and so would this one
        "import signal, sys; from pathlib import Path; from booktools import test as run_tests as r; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); r.ROOT = Path(); "
        "r.PARTS = {'n': r.Part('nap', 60, ['nap.py'])}; r.LAST = Path('last'); sys.exit(r.main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=forged, env=os.environ | {"PYTHONPATH": sys.path[0]},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        while not ((forged / "pid").exists() and (pid := (forged / "pid").read_text())):
            time.sleep(0.05)
        process.send_signal(end)
        out, _ = process.communicate(timeout=20)
    assert out == "[1/1] nap, about 60 s\n\nInterrupted in [1/1] nap.\n"
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_what_make_and_the_hook_call(dry_make):
    tool = ".venv/bin/python tests/tools/run_tests.py"
    assert dry_make("test").stdout.splitlines()[-1] == tool
    assert dry_make("lint").stdout.splitlines()[-1] == f"{tool} style"
    assert list(PARTS) == ["style", "runs", "tests", "examples", "pages"]
    assert PARTS["runs"].commands == ["-m runproofs.reproductions --stale"]


def test_an_unknown_part_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "styles"])
    with pytest.raises(SystemExit):
        run_tests.main()
    assert "there is no part styles; the parts are style, runs," in capsys.readouterr().err
