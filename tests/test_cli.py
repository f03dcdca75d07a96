"""The command `runproofs`: claims are listed, shown, checked, broken; bad names get near ones."""

import json
import os
import subprocess
import sys

import pytest

from helpers.without import without
from runproofs import cli

CLAIM = "thesis/comparison-2.4.1"  # its page takes a second, and no torch


def test_claims_are_listed_by_source_kind_and_words(capsys):
    assert cli.main(["list", "--source", "thesis", "--kind", "lemma", "--grep", "regularizer"]) == 0
    found = capsys.readouterr()
    assert "thesis/lemma-2 " in found.out
    assert "theorem" not in found.out
    assert cli.main(["list", "--grep", "no such words"]) == 1
    capsys.readouterr()
    assert cli.main(["list", "--chapter", "ch5", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert {entry["chapter"] for entry in entries} == {"ch5"}
    assert all(entry["statement"] for entry in entries)
    assert cli.main(["list", "--chapter", "ch2", "--evidence", "size"]) == 0
    assert "thesis/lemma-2 " in capsys.readouterr().out


def test_a_claim_is_shown_with_what_it_rests_on(capsys):
    assert cli.main(["show", "thesis/lemma-2"]) == 0
    said = capsys.readouterr().out
    assert r"\mathbb E[xx^\top]=I" in said
    assert "Rests on: thesis/setup-2" in said
    assert "runproofs check thesis/lemma-2" in said


@pytest.mark.parametrize("command", ["show", "check", "break"])
def test_a_name_that_is_unknown_gets_the_nearest(command):
    with pytest.raises(SystemExit, match=r"no 'thesis/lemm-2'\. Near: thesis/lemma-2"):
        cli.main([command, "thesis/lemm-2"])


def test_a_claim_is_checked_and_its_card_printed(capsys):
    assert cli.main(["check", CLAIM]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Section 2.4.1: ")
    assert "1 of 1 cards are green." in said.err
    assert cli.main(["check", "width", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert CLAIM in [result["id"] for result in results]
    assert all(result["holds"] and len(result["rows"]) > 1 for result in results)


def test_linear_networks_are_checked_without_torch():
    """Also lemma 2, on whose page a later cell needs it: the card of that one is not reached."""
    command = "from runproofs.cli import main; sys.exit(main({}))"
    claims = ["check", "thesis/theorem-6", "thesis/lemma-2", "thesis/theorem-10"]
    ran = without(["torch"], command.format(claims))
    assert ran.returncode == 0, ran.stderr
    assert "3 of 3 cards are green." in ran.stderr
    ran = without(["torch"], command.format(["check", "thesis/lemma-2", "thesis/algorithm-1"]))
    assert ran.returncode == 1
    needs = 'ch2_shallow_linear/index needs PyTorch: pip install "runproofs[torch]"'
    assert ran.stderr.splitlines()[-2:] == [
        needs,
        "1 of 2 cards are green. Red or not reached: thesis/algorithm-1.",
    ]
    assert "NameError" not in ran.stderr
    ran = without(["torch"], command.format(["break", "thesis/algorithm-1", "1"]))
    assert ran.returncode == 1
    assert ran.stderr.endswith(' needs PyTorch: pip install "runproofs[torch]"\n')


def test_a_broken_claim_turns_red():
    """In a process of its own, which it breaks; and in an empty folder, whatever the console."""
    command = [sys.executable, "-m", "runproofs", "break", CLAIM]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ways = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert ways.stdout.startswith(b"1. ")
    ran = subprocess.run([*command, "1"], capture_output=True, env=environment, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "Red: " in ran.stderr
    assert "Red: nothing" not in ran.stderr
    assert "  ! " in ran.stdout
    assert subprocess.run([*command, "99"], capture_output=True).returncode == 1


def test_a_page_becomes_a_notebook_that_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["page", "width"]) == 0
    with pytest.raises(SystemExit, match=r"width\.ipynb exists"):
        cli.main(["page", "width"])
    cells = json.loads((tmp_path / "width.ipynb").read_text("utf-8"))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    words = "".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    assert "{code-cell}" not in words
    assert "# The width" in words or "# " in words
    exec("\n".join(code), {"__name__": "__main__"})


def test_the_demonstration_runs(capsys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "DEMO", (CLAIM,))
        patch.setattr(cli, "break_claim", lambda options: 0)
        assert cli.main(["demo"]) == 0
    assert "controls, which must fail" in capsys.readouterr().out
