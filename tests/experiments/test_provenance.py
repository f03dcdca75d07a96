"""A stored run is tied to the code that it reached, and to its own arrays."""

import ast
import importlib
import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from booktools import revalidate
from runproofs import experiments
from runproofs.claims.registry import BOOK
from runproofs.experiments import base, provenance, results
from runproofs.experiments.__main__ import main
from runproofs.experiments.results import Result, ResultError, load, save

KNOWN, UNFINISHED = experiments.discover(), results.UNFINISHED


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "UNFINISHED", tmp_path / "unfinished")
    monkeypatch.setattr(base, "_registry", {})


@pytest.mark.parametrize(
    "change",
    [lambda a: a * 1.001, lambda a: a[:2], lambda a: a.astype("f4"), lambda a: a.reshape(1, -1)],
)
def test_other_numbers_or_another_shape_or_dtype_are_refused(change, tmp_path):
    path = tmp_path / "one.npz"
    save(path, Result({"x": np.ones(3), "y": np.ones(3)}, {}))
    with np.load(path) as file:
        np.savez(path, **{**file, "x": change(file["x"])})
    with pytest.raises(ResultError, match=r"refused: \['x'\] are not the arrays once saved"):
        load(path)


@pytest.mark.parametrize(("key", "value"), [("seconds", 1), ("commit", "0" * 40)])
def test_a_changed_provenance_is_refused(key, value, tmp_path):
    path = tmp_path / "one.npz"
    save(path, Result({"x": np.zeros(3)}, {"seconds": 9, "machine": "cpu"}))
    with np.load(path) as file:
        about = json.loads(file["provenance"].item())
        np.savez(path, provenance=json.dumps({**about, key: value}), x=file["x"])
    with pytest.raises(ResultError, match="its provenance is not the one once saved"):
        load(path)


CHAPTER = """
'''A chapter.'''
from runproofs.experiments.base import experiment
from runproofs.experiments import ch00

@experiment("figure-0-1", over=("r",), quick={"r": (1,)}, paper={"r": (1, 2, 3)})
def doubles(r, seed):
    return {"x": ch00.double(r)}
"""
HELPER = """
'''Helps.'''
some = None

def double(r):
    return 2 * r  # twice
"""
OTHER = HELPER.replace("2 * r", "-7 * r")


@pytest.fixture
def library(monkeypatch, tmp_path):
    """Writes a chapter and its helper into the library; returns the experiment."""
    folder = tmp_path / "library"
    folder.mkdir()
    monkeypatch.setattr(experiments, "__path__", [str(folder)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        for name in ("ch0", "ch00"):
            sys.modules.pop(f"runproofs.experiments.{name}", None)
            vars(experiments).pop(name, None)

    def write(helper):
        (folder / "ch0.py").write_text(CHAPTER)
        (folder / "ch00.py").write_text(helper)
        forget()
        importlib.invalidate_caches()
        return experiments.discover()["figure-0-1"]

    yield write
    forget()


def test_a_run_of_another_helper_is_stale(library):
    library(HELPER).reproduce()
    assert not library(HELPER).stale()
    assert main(["figure-0-1", "--stale"]) == 0
    other = library(OTHER)
    assert other.stale()
    assert main(["figure-0-1", "--stale"]) == 1, "make test is red"
    assert other.paper()["x"].tolist() == [2, 4, 6]
    other.compute()
    assert other.paper()["x"].tolist() == [-7, -14, -21]
    assert not other.stale()


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("# twice", "# two times", False),
        ("Helps", "Is of great help", False),
        ("(r):\n", "(r):\n    '''Twice r.'''\n", False),
        ("2 * r", "(\n        2 * r\n    )", False),
        ("2 * r", "2.0 * r", True),
        ("(r):", "(r, s=1):", True),
        ("None", "0", True),
    ],
)
def test_the_identity_is_that_of_the_program(library, old, new, changes):
    assert old in HELPER
    before = provenance.identity(library(HELPER).function)
    after = provenance.identity(library(HELPER.replace(old, new)).function)
    assert (before != after) == changes


def test_the_identity_reaches_what_is_imported_but_not_the_machinery():
    for name, expected in {
        "figure-2-2": {"runproofs.experiments.ch2", "runproofs._arguments", "runproofs.linalg"},
        "figure-3-2": {"runproofs.linear.deep", "runproofs.linear.deep.deep_training"},
        "table-6-1": {"runproofs.data", "runproofs.adversarial.attacks"},
    }.items():
        reached = set(provenance.reached({KNOWN[name].function.__module__}))
        assert expected <= reached
        assert not any(module.startswith("runproofs.claims") for module in reached)
        assert not reached & {f"runproofs.experiments.{part}" for part in ("base", "ch6_grid")}


def test_relative_imports_are_followed():
    tree = ast.parse("from . import a\nfrom ..b import c\nimport d.e\nimport f as g")
    names = set(provenance.imported_names(tree, "p.q"))
    assert names == {"p.q", "p.q.a", "p.b", "p.b.c", "d.e", "f"}


def test_the_commit_is_that_of_the_clone_and_says_when_the_library_differs(monkeypatch, tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=us", "-c", "user.email=us@example.org")
        ran = subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True
        )
        return ran.stdout.decode().strip()

    monkeypatch.setattr(provenance, "BOOK", tmp_path / "book")
    assert provenance.commit() == ""  # no clone
    git("init")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.py").write_text("a = 1")
    git("add", ".")
    git("commit", "-m", "first")
    head = git("rev-parse", "HEAD")
    assert provenance.commit() == head
    (tmp_path / "page.md").write_text("a page computes no stored run")
    assert provenance.commit() == head
    (tmp_path / "lib" / "a.py").write_text("a = 2")
    assert provenance.commit() == f"{head} dirty"
    monkeypatch.setattr(provenance, "BOOK", tmp_path / "lib" / "book")
    assert provenance.commit() == ""  # an installed copy within another project


def test_unfinished_runs_lie_where_make_clean_does_not_reach(dry_make):
    assert BOOK.parent / ".unfinished" == UNFINISHED
    assert ".unfinished/" in (BOOK.parent / ".gitignore").read_text("utf-8").splitlines()
    said = dry_make("clean").stdout
    assert said.startswith("rm -rf ")
    assert ".unfinished" not in said


# Long runs from before a clean commit was demanded. One that runs again leaves this list.
UNRECORDED = {
    "figure-3-2", "figure-3-2-exact", "figure-3-3", "figure-3-3-exact", "figure-4-2",
    "figure-5-3-digits", "figure-5-3-wide", "table-4-1", "table-6-1", "table-6-2-digits",
}  # fmt: skip


def test_every_stored_run_names_a_commit_of_this_clone_without_other_code_beside_it(monkeypatch):
    monkeypatch.undo()
    git = partial(subprocess.run, cwd=BOOK, text=True, capture_output=True, check=False)
    if git(["git", "rev-parse", "--is-shallow-repository"]).stdout.strip() != "false":
        pytest.skip("a clone with all commits is needed")
    unknown = set()
    for name, one in KNOWN.items():
        if one.not_run:
            continue
        commit = one.paper().provenance.get("commit", "")
        found = git(["git", "cat-file", "-e", f"{commit}^{{commit}}"])
        if " " in commit or found.returncode != 0:
            unknown.add(name)
    assert unknown == UNRECORDED


@pytest.fixture
def prefix(monkeypatch, tmp_path):
    """Writes the prefix test that `booktools revalidate` runs."""
    monkeypatch.setattr(revalidate, "BOOK", tmp_path / "book")
    shadowed = sys.modules.pop("test_prefix", None)

    def write(outcome, mark=""):
        (tmp_path / "tests" / "experiments").mkdir(parents=True)
        (tmp_path / "tests" / "experiments" / "test_prefix.py").write_text(
            f"import pytest\n{mark}\n@pytest.mark.parametrize('name', ['figure-0-1'])\n"
            "def test_prefix(name, record_property):\n    record_property('share', 0.04)\n"
            f"    assert {outcome}\n"
        )

    yield write
    sys.modules.pop("test_prefix", None)
    if shadowed:
        sys.modules["test_prefix"] = shadowed


@pytest.mark.parametrize(
    ("outcome", "mark"), [(False, ""), (True, "@pytest.mark.skip"), (False, "@pytest.mark.xfail")]
)
def test_nothing_is_recorded_without_a_passed_prefix_test(library, prefix, capsys, outcome, mark):
    library(HELPER).reproduce()
    other = library(OTHER)
    prefix(outcome, mark)
    assert revalidate.main(["figure-0-1"]) == 1
    assert "the test of its prefix did not pass" in capsys.readouterr().err
    assert other.stale()


def test_what_is_revalidated_is_a_line_of_text_and_no_archive_changes(library, prefix, capsys):
    library(HELPER).reproduce()
    other = library(OTHER)
    content = other.path.read_bytes()
    prefix(True)
    assert revalidate.main(["figure-0-1"]) == 0
    assert "figure-0-1: recorded; today's code made 4.0% of it again." in capsys.readouterr().out
    assert not other.stale()
    assert other.path.read_bytes() == content
    code = provenance.identity(other.function)
    assert base.identities(other.path.parent) == {"figure-0-1": (code, 0.04)}
    assert revalidate.main(["figure-0-1"]) == 0
    assert "figure-0-1: nothing to do, it is of today's code." in capsys.readouterr().out
    other.compute(fresh=True)
    assert base.identities(other.path.parent) == {}
