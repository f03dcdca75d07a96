"""A cell that fails costs nobody the book: its page stands, the end says so, it runs again."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_notebook, new_output

from booksite import execution, failures
from helpers import books

HEAD = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3}
---
"""
# What is printed needs a moment to leave the kernel.
DIES = "import os, time\nprint('before', flush=True)\ntime.sleep(1)\nos._exit(3)"
CELLS = {
    "index": ("print(6 * 7)",),
    "raises": ("def f():\n    return 1 / 0", "f()", "print('below')"),
    "dies": (DIES, "print('below')"),
    "late": ("import time\nprint('before', flush=True)\ntime.sleep(60)", "print('below')"),
}
SAID = {
    "raises": "ZeroDivisionError: division by zero",
    "dies": "Stopped: Kernel died; the cells below did not run",
    "late": "Stopped: A cell timed out while it was being executed, after 4 seconds; "
    "the cells below did not run",
}


def write(folder, cells):
    for name, codes in cells.items():
        text = "".join(f"\n```{{code-cell}}\n{code}\n```\n" for code in codes)
        toctree = "\n```{toctree}\nraises\ndies\nlate\n```\n" * (name == "index")
        (folder / f"{name}.md").write_text(f"{HEAD}# Page {name}\n{text}{toctree}", "utf-8")


def build(folder, capsys):
    """The status, what is printed, and the pages."""
    status = []
    html, _, _ = books.build(
        folder, nb_execution_mode="cache", nb_execution_timeout=4, exclude_patterns=["_build"],
        connect=[("build-finished", lambda app, error: status.append(app.statuscode), 999)],
    )  # fmt: skip
    pages = {name: (html / f"{name}.html").read_text("utf-8") for name in CELLS}
    return status[0], capsys.readouterr().out, pages


def test_whatever_fails_the_site_is_whole_and_the_next_build_runs_it_again(tmp_path, capsys):
    write(tmp_path, CELLS)
    status, told, pages = build(tmp_path, capsys)
    assert status == 1
    for name, said in SAID.items():
        assert f"\nPage {name} ({name}): {said}\n" in told
        words = re.sub("<[^>]*>", "", pages[name])
        assert words.count(said) == 2  # under the title, and in its place
        assert "Traceback" not in pages[name]
        assert (">below\n" in pages[name]) == (name == "raises")
    assert told.count("\nPage ") == 3
    assert failures.here() in told
    assert all(">before\n" in pages[name] for name in ("dies", "late"))
    assert ">42\n" in pages["index"]
    assert failures.RED.capitalize() not in pages["index"]

    write(tmp_path, dict.fromkeys(("dies", "late"), ("print('mended')",)))
    status, told, pages = build(tmp_path, capsys)
    assert status == 1
    assert sorted(re.findall(r"\[\d/3\] Page (\w+)", told)) == ["dies", "late", "raises"]
    assert re.search(r"\] Page raises, red, ", told)
    write(tmp_path, {"raises": ("print('mended')",)})
    status, told, pages = build(tmp_path, capsys)
    assert status == 0
    assert "Running 1 page" in told
    assert not any(failures.RED.capitalize() in page for page in pages.values())


def test_a_kernel_that_does_not_start_is_told_on_its_page(tmp_path, monkeypatch):
    def no_kernel(*arguments, **options):
        raise OSError("no space left\non this disk")

    monkeypatch.setattr(execution, "single_nb_execution", no_kernel)
    write(tmp_path, {"index": ("1", "2")})
    notebook, _ = execution.run(tmp_path / "index.md", 9)
    [failed], red = failures.show(notebook)
    assert failed == ("", "Stopped: no space left; the cells below did not run")
    assert not red


def test_an_error_that_a_page_wants_is_no_failure():
    wanted = new_output("error", ename="ValueError", evalue="as told", traceback=["long"])
    cell = new_code_cell("f()", metadata={"tags": ["raises-exception"]}, outputs=[wanted])
    assert failures.show(new_notebook(cells=[cell])) == ([], set())
    assert wanted.traceback == ["long"]


def test_the_form_asks_for_what_the_report_prints():
    form = (books.ROOT / failures.FORM).read_text("utf-8")
    lines = failures.here().splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["Processor", "Arithmetic", "Versions"]
    assert "Processor, arithmetic, versions" in form
    assert "python -m booksite.failures" in form
    assert re.search(r"openblas [\d.]+ [A-Z]\w+|mkl", lines[1])


@pytest.mark.parametrize(
    ("warnings", "failed", "error", "status", "complete"),
    [(0, {}, None, 0, True), (0, {"index": [("", "late")]}, None, 1, True), (1, {}, None, 0, False),
     (0, {}, OSError("full"), 0, False)],
)  # fmt: skip
def test_a_build_has_come_to_its_end_where_red_pages_are_all_that_is_wrong(
    tmp_path, capsys, warnings, failed, error, status, complete
):
    app = SimpleNamespace(
        statuscode=0, outdir=tmp_path / "html", builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(book_failures=failed, titles={"index": nodes.title("", "Coins")}),
        config=SimpleNamespace(html_theme_options={}), _warncount=warnings,
    )  # fmt: skip
    failures.report(app, error)
    assert app.statuscode == status
    assert (tmp_path / ".complete").exists() == complete
    assert ("\nCoins (index): late\n" in capsys.readouterr().out) == bool(failed)
