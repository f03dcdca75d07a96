"""`make test` runs the pages as they are, in Markdown, and a cell that fails fails it."""

import os
import shutil
import subprocess
import sys

import pytest

from runproofs.claims.registry import BOOK

PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
# A page

```{code-cell} ipython3
x = 1
```

```{code-cell} ipython3
assert x == %s
```
"""


@pytest.mark.parametrize(("value", "passed", "failed"), [(1, 2, 0), (2, 1, 1)])
def test_nbval_runs_the_cells_of_a_page(tmp_path, value, passed, failed):
    shutil.copy(BOOK / "conftest.py", tmp_path)
    (tmp_path / "page.md").write_text(PAGE % value, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax"]
    plain = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    ran = subprocess.run(
        [*command, "--nbval-current-env", "."],
        cwd=tmp_path, env=plain, text=True, capture_output=True,
    )  # fmt: skip
    assert ran.returncode == (1 if failed else 0), ran.stdout + ran.stderr
    assert f"{passed} passed" in ran.stdout
    assert (f"{failed} failed" in ran.stdout) == bool(failed)
