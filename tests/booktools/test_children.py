"""Children in which pages run: what fails is said, time is limited, nothing outlives them."""

import pytest

from booktools import children as runner
from runproofs.book import figures

ENDLESS = "while True:\n    pass"


def failures(tmp_path, codes, asserts):
    runner.limit(1)
    running = runner.Running(tmp_path / "page.md", animate=None)
    return [running.run(code, "page.md", asserts) for code in codes]


def run(tmp_path, *codes, asserts=True):
    """What fails when these cells run in a child, one after another."""
    [(_, found, seconds)] = runner.in_children(failures, [(tmp_path, codes, asserts)], jobs=1)
    assert seconds < 30
    return found


def test_cells_share_their_names_and_a_failure_ends_only_its_cell(tmp_path):
    assert run(tmp_path, "x = 2", "1 / 0", "assert x == 2", "assert x == 3, x") == [
        "", "ZeroDivisionError: division by zero", "", "AssertionError: 2",
    ]  # fmt: skip


def test_asserts_can_be_left_out(tmp_path):
    assert run(tmp_path, "assert False", asserts=False) == [""]


def test_a_cell_runs_in_the_folder_of_its_page(tmp_path):
    assert run(tmp_path, f"import os\nassert os.getcwd() == {str(tmp_path)!r}") == [""]


def test_a_cell_without_end_is_ended(tmp_path):
    assert run(tmp_path, ENDLESS) == ["TimeoutError: 1 s are over"]


def test_the_child_is_silent_and_nothing_outlives_it(tmp_path, capfd):
    run(tmp_path, "print('something')")
    assert "something" not in "".join(capfd.readouterr())
    assert figures.animate is not None


@pytest.mark.parametrize(("k", "part"), [(None, list(range(25))), (3, [3, 13, 23]), (366, [6, 16])])
def test_a_tenth(k, part):
    assert runner.tenth(list(range(25)), k) == part


def test_the_end_says_what_is_wrong_or_that_all_is_green(capsys):
    assert runner.concluded([], "All is green.") == 0
    assert capsys.readouterr().out == "All is green.\n"
    assert runner.concluded(["one", "two"], "All is green.") == 1
    assert capsys.readouterr().out == "one\ntwo\n"
