"""The workflows, the README and the Makefile give the same commands; Binder finds its files."""

import os
import re
from pathlib import Path

import pytest
import yaml

from runproofs.site.launch import NOTEBOOKS

ROOT = Path(__file__).resolve().parents[1]


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text("utf-8"))


def commands(job):
    """What the steps of a job run, those of one line."""
    return [step["run"] for step in job["steps"] if "run" in step and "\n" not in step["run"]]


def by_hand():
    """The commands of the README for who has no make."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = re.search(r"^Then the same commands everywhere(.*?)^## ", text, re.M | re.S)[1]
    return [line.strip() for line in section.splitlines() if line.startswith("    ")]


def test_who_has_no_make_is_given_what_make_does(dry_make):
    plan = dry_make("--always-make", "book", "test").stdout.replace(".venv/bin/", "")
    done = [re.sub(r" --disable-pip-version-check -q", "", line) for line in plan.splitlines()]
    tools = ("pip", "jupyter-book", "ruff", "python ", "codespell", "pytest")
    assert by_hand() == [line for line in done if line.startswith(tools)]


def test_the_machine_without_make_runs_what_the_readme_says():
    job = workflow("book.yml")["jobs"]["windows"]
    assert commands(job) == by_hand()
    readme = (ROOT / "README.md").read_text("utf-8")
    set_there = re.findall(r"^    \$env:(\w+) = (\w+)$", readme, re.M)
    assert dict(set_there) == job["env"]


@pytest.mark.parametrize("name", ["linux", "macos"])
def test_the_others_run_make(name):
    found = commands(workflow("book.yml")["jobs"][name])
    assert found[:2] == ["make book", "make test"]


def test_nothing_is_published_but_what_passed_on_main():
    jobs = workflow("book.yml")["jobs"]
    writing = {name for name, job in jobs.items() if "write" in str(job.get("permissions"))}
    assert writing == {"publish", "notebooks"}
    assert [jobs[name]["needs"] for name in ("publish", "notebooks")] == ["linux", "publish"]
    assert {jobs[name]["if"] for name in writing} == {"github.ref == 'refs/heads/main'"}
    assert workflow("book.yml")["permissions"] == {"contents": "read"}


def test_the_launch_buttons_lead_to_the_branch_that_is_pushed():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8")
    assert f"git init -q -b {NOTEBOOKS}" in text
    assert f'GITHUB_REPOSITORY" {NOTEBOOKS}\n' in text


def test_binder_has_the_python_of_the_book_and_no_torch_for_gpus():
    folder = ROOT / ".binder"
    wanted = yaml.safe_load((folder / "environment.yml").read_text("utf-8"))["dependencies"]
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    assert f"python={re.search(r'on Python (3[.][0-9]+)', pins)[1]}" in wanted
    assert "pytorch-cpu" in wanted
    if os.name == "posix":
        assert os.access(folder / "postBuild", os.X_OK), "Binder runs it"
