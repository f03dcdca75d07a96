"""`python -m booktools test` runs all parts, whatever the first one says, and sums up in lines."""

import os
import shutil

import pytest

from booktools import __main__, test
from booktools.test import PARTS
from runproofs.claims.registry import BOOK

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
from runproofs.claims.block import claim

with claim("thesis/definition-threat-model") as check:
    check("green").equal(1, 1)
    check("[red] $x$").equal(1.5, 1, tol=0.1)
    check("also red").holds(False)
    check("control").fails(False)
```

```{code-cell} ipython3
unknown
```
"""


def test_all_parts_run_and_what_failed_is_told_in_lines(tmp_path, monkeypatch, capfd):
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)  # of the run that this test belongs to
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a second less for each start
    monkeypatch.setattr(test, "ROOT", tmp_path)
    (tmp_path / "book").mkdir()
    shutil.copy(BOOK / "conftest.py", tmp_path / "book")
    for name, text in {
        "green.py": "print('green words')", "red.py": "import sys; sys.exit('red words')",
        "pytest.ini": "[pytest]", "book/page.md": PAGE, "test_forged.py": TESTS,
        "test_lost.py": "import nothing_like_it", "dead/conftest.py": "import os\nos._exit(9)",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    parts = {
        "commands": ["red.py", "green.py"],
        "tests": ["-m pytest --continue-on-collection-errors test_forged.py test_lost.py"],
        "examples": ["-m pytest --doctest-modules test_forged.py -k test_forged.test_red"],
        "pages": ["-m pytest -p nbval.plugin --nbval-lax --nbval-current-env book"],
        "none": ["-m pytest -k no_such_test test_forged.py"],
        "dead": ["-m pytest dead"],
        "green": ["green.py"],
    }
    assert test.run_all(parts) == 1
    out, err = capfd.readouterr()
    assert "red words" in err
    assert "green words" in out
    *table, end = out[out.index("\npart ") :].strip().splitlines()
    assert end == "3 passed, 10 failed, 1 skipped"
    assert [line.split()[:3] for line in table[1:8]] == [
        ["commands", "1", "1"], ["tests", "1", "3"], ["examples", "0", "1"], ["pages", "0", "3"],
        ["none", "0", "1"], ["dead", "0", "1"], ["green", "1", "0"],
    ]  # fmt: skip
    red = "book/page.md, thesis/definition-threat-model: On this machine this row is false"
    assert set(filter(None, table[8:])) == {
        "python red.py ended with status 1, as said above",
        "test_lost.py::test_lost: ModuleNotFoundError: No module named 'nothing_like_it'",
        r"test_forged.py::test_red[one word]: AssertionError: assert 'one word' == 'two\nlines'",
        "test_forged.py::test_without_its_fixture: OSError: no disk",
        "test_forged.py::test_forged.test_red: >>> 1 + 1",
        f"{red}: [red] $x$ (demanded: error ≤ 0.1; measured: 0.5 > 0.1)",
        f"{red}: also red (demanded: true; measured: false)",
        "book/page.md::Cell 1: NameError: name 'unknown' is not defined",
        "python -m pytest -k no_such_test test_forged.py ended with status 5, as said above",
        "python -m pytest dead ended with status 9, as said above",
    }


def test_an_unknown_tool_or_part_is_refused(capsys):
    assert __main__.main(["tests"]) == 2
    assert "check-outputs" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        __main__.main(["test", "styles"])
    assert f"there is no part styles; the parts are {', '.join(PARTS)}" in capsys.readouterr().err
