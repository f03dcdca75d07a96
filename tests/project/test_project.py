"""Modules import in one order, commands start anywhere, and only what passed is published."""

import ast
import os
import re
import shlex
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from booksite.publishing import NOTEBOOKS
from runproofs.experiments import provenance

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "lib/runproofs"


# Modules -----------------------------------------------------------------------------------------


def imports():
    """The modules of the library, and which of them each one imports, also inside its functions."""
    files = {}
    for path in LIBRARY.rglob("*.py"):
        name = ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)
        files[name.removesuffix(".__init__")] = path
    graph = {}
    for name, path in files.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        found = provenance.imported_names(ast.parse(path.read_text("utf-8")), package)
        graph[name] = {other for other in found if other in files and other != name}
    return graph


def test_no_modules_import_each_other_in_a_circle():
    TopologicalSorter(imports()).prepare()  # raises CycleError, which names the circle


def test_no_module_imports_from_its_own_step_or_above():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (order,) = re.findall(r"^ *(`_arguments`.* → .*)\.$", text, re.M)
    steps = [re.findall(r"`(\w+)`", step) for step in order.split(" → ")]
    height = {part: i for i, step in enumerate(steps) for part in step}
    graph = imports()
    part = {name: name.split(".")[1] for name in graph if name != LIBRARY.name}
    assert set(part.values()) == set(height)  # every module has its step
    wrong = [
        f"{name} imports {other}"
        for name in part
        for other in graph[name] & part.keys()
        if part[name] != part[other] and height[part[name]] <= height[part[other]]
    ]
    assert wrong == []


# Commands ----------------------------------------------------------------------------------------


def made(recipe, **environment):
    """What make says when it runs this recipe, with nothing else in the environment."""
    command = ["make", "--no-print-directory", "--eval", f"shown:;@{recipe}", "shown"]
    settings = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, env=settings)


@pytest.mark.usefixtures("dry_make")
def test_a_home_that_cannot_be_written_changes_no_page():
    """Matplotlib would say so on each page that draws."""
    drawing, nowhere = f"{shlex.quote(sys.executable)} -c 'import matplotlib'", "/dev/null/home"
    settings = {"PATH": os.environ["PATH"], "HOME": nowhere}
    alone = subprocess.run(drawing, shell=True, text=True, capture_output=True, env=settings)
    assert nowhere in alone.stderr
    assert made(drawing, HOME=nowhere).stderr == ""


@pytest.mark.usefixtures("dry_make")
@pytest.mark.parametrize("poor", ["C", "POSIX"])
def test_a_poor_locale_is_replaced(poor):
    assert made("echo $$LC_ALL", LC_ALL=poor).stdout == "C.UTF-8\n"
    assert made("echo $$LC_ALL", LC_ALL="de_DE.UTF-8").stdout == "de_DE.UTF-8\n"


@pytest.mark.parametrize(("user", "asked"), [(0, True), (1000, False)])
def test_the_laboratory_starts_for_root(user, asked, dry_make, tmp_path, monkeypatch):
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    plan = dry_make("lab").stdout.splitlines()
    assert ("--allow-root" in plan[-1]) == asked


@pytest.mark.parametrize("arguments", [[], ["PAGE=book/no_such_page.md"]])
def test_make_page_says_how_to_name_a_page(dry_make, arguments):
    result = dry_make("page", *arguments)
    assert result.returncode == 2
    example = re.search(r"make page PAGE=(\S+)\.  Stop", result.stderr)[1]
    assert (ROOT / example).exists()


# Publishing --------------------------------------------------------------------------------------


def test_nothing_is_published_but_what_passed_on_main():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8"))
    jobs = workflow["jobs"]
    writing = {name for name, job in jobs.items() if "write" in str(job.get("permissions"))}
    assert writing == {"publish", "notebooks"}
    assert [jobs[name]["needs"] for name in ("publish", "notebooks")] == ["linux", "publish"]
    assert {jobs[name]["if"] for name in writing} == {"github.ref == 'refs/heads/main'"}
    assert workflow["permissions"] == {"contents": "read"}


def test_the_launch_buttons_lead_to_the_branch_that_is_pushed():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8")
    assert f"git init -q -b {NOTEBOOKS}" in text
    assert f'GITHUB_REPOSITORY" {NOTEBOOKS}\n' in text
