"""The linter of the pages: the rules and the format of cells, with the lines of the page."""

import subprocess

import pytest

from booktools import lint as lint_pages
from booktools.lint import ROOT

IMPORTS = """```{code-cell} ipython3
import numpy as np
import torch

from runproofs import linalg
```
"""
USES = """```{code-cell} ipython3
:tags: [hide-input]
np.eye(2)
```
"""
MORE_USES = """````{code-cell} ipython3
---
tags: [x]
---
x = torch.eye(2) @ linalg.psd_sqrt(np.eye(2))
x
````
"""
PAGE = f"# A page\n\n{IMPORTS}\nWords.\n\n{USES}\n{MORE_USES}"


@pytest.fixture
def lint(tmp_path):
    """Lints a folder with this one page, if `fix` after mending; returns problems and the page."""

    def run(page, fix=False, name="page.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(page, "utf-8")
        if fix:
            lint_pages.mend(tmp_path)
        problems = lint_pages.lint(tmp_path)
        return [problem.split("page.md:")[1] for problem in problems], path.read_text("utf-8")

    return run


def test_a_page_may_begin_with_a_cell_of_imports(lint):
    assert lint(PAGE) == ([], PAGE)
    assert lint(PAGE, fix=True) == ([], PAGE)


def test_an_import_that_no_cell_uses_is_found_at_its_line(lint):
    problems, _ = lint(PAGE.replace("torch.eye(2)", "np.eye(2)"))
    assert problems == ["5:8: F401 `torch` imported but unused"]


def test_each_place_is_a_line_of_the_page(lint):
    problems, _ = lint(PAGE.replace("x\n````", "if x is 3:\n    print(y)\n````"))
    assert [problem.split()[:2] for problem in problems] == [["22:4:", "F632"], ["23:11:", "F821"]]


def test_fix_sorts_and_formats_cells_and_touches_nothing_else(lint):
    torch, blank, ours = IMPORTS.splitlines()[2:5]
    worse = PAGE.replace(f"{torch}\n{blank}\n{ours}", f"{ours}\n{torch}")
    worse = worse.replace("np.eye(2)\n```", "np.eye( 2 )\n```").replace("Words.", "Words   ( 2 ).")
    problems, page = lint(worse)
    assert page == worse
    assert problems == [
        "4:1: I001 Import block is un-sorted or un-formatted",
        "13: the cell is not formatted; --fix formats it",
    ]
    assert lint(worse, fix=True) == ([], PAGE.replace("Words.", "Words   ( 2 )."))


def test_a_cell_that_cannot_be_read_is_kept_and_found(lint):
    broken = PAGE.replace("np.eye(2)\n```", "np.eye(2\n```")
    problems, page = lint(broken, fix=True)
    assert page == broken
    assert any(problem.startswith("14:") and "syntax" in problem for problem in problems)


@pytest.mark.parametrize(("width", "found"), [(88, 1), (100, 0)])
def test_the_course_has_wider_cells_than_the_book(tmp_path, width, found):
    assert width in lint_pages.WIDTHS.values()
    long = f"total = sum([{', '.join(['1.0'] * 16)}])"
    assert 88 < len(long) <= 100
    (tmp_path / "page.md").write_text(f"```{{code-cell}} ipython3\n{long}\n```\n", "utf-8")
    assert len(lint_pages.lint(tmp_path, width)) == found
    lint_pages.mend(tmp_path, width)
    assert lint_pages.lint(tmp_path, width) == []


def test_the_cells_of_the_book_and_of_the_course_are_linted():
    folders = {path.relative_to(ROOT).parts[0] for path in ROOT.glob("[a-z]*/**/*.md")
               if "{code-cell}" in path.read_text("utf-8")}  # fmt: skip
    assert folders == set(lint_pages.WIDTHS)


@pytest.mark.parametrize("page", ["```{code-cell} ipython3\n```\n", "Words.\n"])
def test_an_empty_cell_and_a_page_without_cells_pass(lint, page):
    assert lint(page, fix=True) == ([], page)


def test_copies_that_an_editor_makes_are_skipped(lint):
    page = PAGE.replace("np.eye(2)\n```", "np.eye( 2 )\n```")
    lint("Words.\n")
    assert lint(page, fix=True, name=".ipynb_checkpoints/page.md") == ([], page)


def test_a_folder_without_pages_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="There is no page in"):
        lint_pages.lint(tmp_path)


def test_all_pages_take_two_calls_of_ruff(lint, monkeypatch, tmp_path):
    calls, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: calls.append(a) or run(*a, **k))
    for k in range(5):
        (tmp_path / f"{k}.md").write_text(PAGE, "utf-8")
    assert lint(PAGE) == ([], PAGE)
    assert len(calls) == 2


def test_a_row_that_compares_an_expression_with_itself(lint):
    row = "check('x').equal({}, squares.mean(), tol=1e-9)"
    page = f"# A page\n\n```{{{{code-cell}}}}\nsquares = [1, 2]\n{row}\n```\n"
    found, _ = lint(page.format("squares.mean()"))
    assert "5: the row compares an expression with itself" in found
    found, _ = lint(
        page.format("expected=squares.mean(), measured=1").replace(", squares.mean(),", ",")
    )
    assert not any("itself" in line for line in found)
    found, _ = lint(page.format("squares.sum()"))
    assert not any("itself" in line for line in found)
