"""The workflows, the README and the Makefile give the same commands; Binder finds its files."""

import os
import re
import tomllib
from pathlib import Path

import yaml

from booksite.publishing import NOTEBOOKS

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text("utf-8"))


def commands(job):
    """What the steps of a job run, those of one line, for each target of its matrix."""
    found = [step["run"] for step in job["steps"] if "run" in step and "\n" not in step["run"]]
    targets = job.get("strategy", {}).get("matrix", {}).get("target", [""])
    return [line.replace("${{ matrix.target }}", target) for target in targets for line in found]


def in_workflows():
    """The targets that a workflow makes whole."""
    names = [path.name for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    lines = [line for name in names for job in workflow(name)["jobs"].values()
             for line in commands(job)]  # fmt: skip
    return {
        match[1] for line in lines if (match := re.fullmatch(r"make (\S+)(?: KERNELS=.*)?", line))
    }


def in_gate():
    """Each target that .ci/run makes, and whether it makes all of it."""
    text = (ROOT / ".ci" / "run").read_text("utf-8")
    text = re.sub(r"#.*|echo (?:.*\\\n)*.*", "", text)  # what is only said
    found = {}
    for made in re.findall(r"\bmake ([^\n;&|]+)", text):
        part = re.search(r"\b(?:TENTH|TABLE|PAGE|CLAIM|N)=", made)
        for target in re.findall(r"(?<!\S)[a-z][a-z-]*(?!\S)", made):
            found[target] = found.get(target, False) or not part
    return found


NO_CHECK = {
    "lab",
    "page",
    "paper",
    "restamp",
    "spread",
    "pictures",
    "small-book",
    "grade",
    "clean",
    "pins",
}
PART_OF = {"lint": "test", "coursework": "test-coursework"}


def by_hand():
    """The commands of the README for who has no make."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = re.search(r"^Then the same commands everywhere(.*?)^## ", text, re.M | re.S)[1]
    return [line.strip() for line in section.splitlines() if line.startswith("    ")]


def test_who_has_no_make_is_given_what_make_does(dry_make):
    plan = dry_make("--always-make", "book", "test").stdout.replace(".venv/bin/", "")
    done = [re.sub(r" --disable-pip-version-check -q", "", line) for line in plan.splitlines()]
    tools = ("pip", "jupyter-book", "python ")
    assert by_hand() == [line for line in done if line.startswith(tools)]


def test_the_machine_without_make_runs_what_the_readme_says():
    job = workflow("book.yml")["jobs"]["windows"]
    assert commands(job) == by_hand()
    readme = (ROOT / "README.md").read_text("utf-8")
    set_there = re.findall(r"^    \$env:(\w+) = (\w+)$", readme, re.M)
    assert dict(set_there) == job["env"]


def test_there_is_one_gate():
    """What a fresh clone must pass is told in .ci/run alone; macOS has the two commands."""
    jobs = workflow("book.yml")["jobs"]
    assert commands(jobs["linux"]) == [".ci/run"]
    assert os.name != "posix" or os.access(ROOT / ".ci" / "run", os.X_OK)
    assert commands(jobs["macos"]) == ["make book", "make test"]


def test_every_check_is_in_a_gate_and_whole_in_one():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split())
    assert {*NO_CHECK, *PART_OF, *PART_OF.values()} <= targets
    whole = in_workflows() | {target for target, all_of_it in in_gate().items() if all_of_it}
    assert targets - NO_CHECK - set(PART_OF) - whole == set()
    assert set(in_gate()) <= targets


def test_every_python_is_tried_and_the_oldest_builds_the_book():
    weekly = workflow("weekly.yml")["jobs"]["pythons"]
    assert commands(weekly) == ["make test"]
    assert weekly["strategy"]["matrix"]["python"] == PYTHONS
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.match(r">=(3[.]\d+)", project["requires-python"])[1] == PYTHONS[0]
    lowest, newest = workflow("weekly.yml")["jobs"]["versions"]["strategy"]["matrix"]["include"]
    assert (f">={lowest['python']}", newest["python"]) == (project["requires-python"], PYTHONS[-1])
    action = (ROOT / ".github" / "actions" / "set-up" / "action.yml").read_text("utf-8")
    assert yaml.safe_load(action)["inputs"]["python"]["default"] == PYTHONS[0]
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert "setup-python" not in path.read_text("utf-8"), "it is in the action"


def test_nothing_is_published_but_what_passed_on_main():
    jobs = workflow("book.yml")["jobs"]
    writing = {name for name, job in jobs.items() if "write" in str(job.get("permissions"))}
    assert writing == {"publish", "notebooks"}
    assert [jobs[name]["needs"] for name in ("publish", "notebooks")] == ["linux", "publish"]
    assert {jobs[name]["if"] for name in writing} == {"github.ref == 'refs/heads/main'"}
    assert workflow("book.yml")["permissions"] == {"contents": "read"}


def test_the_hook_runs_make_lint_whatever_is_committed():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    [hook] = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert (hook["entry"], hook["language"]) == ("make lint", "system")
    assert hook["always_run"]
    assert not hook["pass_filenames"]
    assert not {"files", "types", "exclude", "stages"} & set(hook)


def test_the_launch_buttons_lead_to_the_branch_that_is_pushed():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8")
    assert f"git init -q -b {NOTEBOOKS}" in text
    assert f'GITHUB_REPOSITORY" {NOTEBOOKS}\n' in text


def test_binder_has_the_python_of_the_book_and_no_torch_for_gpus():
    folder = ROOT / ".binder"
    wanted = yaml.safe_load((folder / "environment.yml").read_text("utf-8"))["dependencies"]
    assert f"python={PYTHONS[0]}" in wanted
    assert "pytorch-cpu" in wanted
    if os.name == "posix":
        assert os.access(folder / "postBuild", os.X_OK), "Binder runs it"
