"""The linter of the pages: the rules and the format of cells, with the lines of the page."""

import pytest

from booktools import ROOT
from booktools.lint import WIDTHS, lint, lint_theory, pages_in, unchecked

IMPORTS = """```{code-cell} ipython3
import numpy as np
import torch

from runproofs import linalg
```
"""
PAGE = f"""# A page

{IMPORTS}
Words.

```{{code-cell}} ipython3
:tags: [hide-input]
np.eye(2)
```

````{{code-cell}} ipython3
---
tags: [x]
---
x = torch.eye(2) @ linalg.psd_sqrt(np.eye(2))
x
````
"""
ROW = "x\ncheck('x').equal({}, x.mean(), tol=1e-9)"


@pytest.fixture
def problems(tmp_path):
    """Lints this one page, mending it if `fix`; returns the problems and the page."""

    def run(page, **options):
        path = tmp_path / "page.md"
        path.write_text(page, "utf-8")
        found = lint([path], **options)
        return [problem.split("page.md:")[1] for problem in found], path.read_text("utf-8")

    return run


def test_each_problem_has_its_line_of_the_page(problems):
    assert problems(PAGE) == ([], PAGE)
    for old, new, expected in (
        ("torch.eye(2)", "np.eye(2)", "5:8: F401 `torch` imported but unused"),
        ("x\n````", "print(y)\n````", "22:7: F821 Undefined name `y`"),
        ("np.eye(2)\n```", "np.eye( 2 )\n```", "14: the cell is not formatted"),
        ("x\n````", f"{ROW.format('x.mean()')}\n````", "23: the row compares an expression with"),
    ):
        assert any(line.startswith(expected) for line in problems(PAGE.replace(old, new))[0])
    found, _ = problems(PAGE.replace("x\n````", f"{ROW.format('x.sum()')}\n````"))
    assert not any("itself" in line for line in found)


def test_fix_sorts_and_formats_cells_and_touches_nothing_else(problems):
    torch, blank, ours = IMPORTS.splitlines()[2:5]
    worse = PAGE.replace(f"{torch}\n{blank}\n{ours}", f"{ours}\n{torch}")
    worse = worse.replace("np.eye(2)\n```", "np.eye( 2 )\n```").replace("Words.", "Words   ( 2 ).")
    assert problems(worse, fix=True) == ([], PAGE.replace("Words.", "Words   ( 2 )."))
    broken = PAGE.replace("np.eye(2)\n```", "np.eye(2\n```")
    found, page = problems(broken, fix=True)
    assert page == broken
    assert any(problem.startswith("14:") and "syntax" in problem for problem in found)


THEORY = """
def norm(x, *, y=0):
    z = np.asarray(x)
    def inner(w):
        return np.reshape(w, 3) + torch.as_tensor(y, dtype=float)
    return np.array([x]) + np.array(z) + arguments.array("x", x)
class Net:
    def __call__(self, *x):
        return torch.tensor(x)
    def _inner(self, x):
        return np.asarray(x)
"""


def test_parameters_of_public_functions_go_through_the_checks(tmp_path):
    assert sorted(unchecked(THEORY)) == [
        (3, "np.asarray takes x unchecked"),
        (5, "np.reshape takes w unchecked"),
        (5, "torch.as_tensor takes y unchecked"),
        (9, "torch.tensor takes x unchecked"),
    ]
    assert lint_theory() == []
    (tmp_path / "linear").mkdir()
    for name in ("linear/norms.py", "linear/_private.py", "data.py"):
        (tmp_path / name).write_text(THEORY, "utf-8")
    found = lint_theory(tmp_path)
    assert len(found) == 4
    assert "linear/norms.py:3: np.asarray takes x unchecked: use arguments.array" in found[0]


def test_all_folders_with_cells_are_linted():
    folders = {path.relative_to(ROOT).parts[0] for path in ROOT.glob("[a-z]*/**/*.md")
               if "{code-cell}" in path.read_text("utf-8")}  # fmt: skip
    assert folders == set(WIDTHS)
    with pytest.raises(SystemExit, match="There is no page"):
        lint(pages_in(ROOT / "lib"))
