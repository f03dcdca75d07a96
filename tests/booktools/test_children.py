"""Children in which pages run: what fails is said, time is limited, nothing outlives them."""

import time
from pathlib import Path

import pytest

from booktools.children import in_children, tenth
from booktools.running import Page
from runproofs import figures

PAGE = """
```{code-cell}
x = 2
print("something")
```
```{code-cell}
assert x == 3, x
1 / 0
```
```{code-cell}
import os
assert x == 2 and os.getcwd() == "FOLDER"
```
"""


def failures(path):
    return Page(path).run_all().failures


def test_cells_share_their_names_and_a_failure_ends_only_its_cell(tmp_path, capfd):
    path = tmp_path / "page.md"
    path.write_text(PAGE.replace("FOLDER", str(tmp_path)), "utf-8")
    [(task, found, _)] = in_children(failures, [(path,)])
    assert task == (path,)
    assert found == [(7, "AssertionError: 2"), (7, "ZeroDivisionError: division by zero")]
    assert "something" not in "".join(capfd.readouterr())
    assert Path.cwd() != tmp_path
    assert figures.animate is not None


def test_a_child_without_end_or_that_dies_gives_none_and_one_that_fails_an_error():
    start = time.monotonic()
    found = {k: answer for (k,), answer, _ in in_children(ended, [(k,) for k in range(3)], 2, 1)}
    assert found == {0: 0, 1: None, 2: None}
    assert time.monotonic() - start < 30
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(in_children(lambda: 1 / 0, [()]))


def ended(k):
    if k == 1:
        time.sleep(100)
    if k == 2:
        import os

        os._exit(1)
    return k


@pytest.mark.parametrize(("k", "part"), [(None, list(range(25))), (3, [3, 13, 23]), (366, [6, 16])])
def test_a_tenth(k, part):
    assert tenth(list(range(25)), k) == part
