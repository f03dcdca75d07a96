"""What an upgrade may break: CONTRIBUTING names the place and the test of each."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("**What an upgrade may break.**")[1]
ROWS = [
    [re.findall("`(.*?)`", cell) for cell in row.split(" | ")]
    for row in re.findall(r"^\| (`.*) \|$", TABLE, re.M)
]


def test_all_nine_are_listed():
    assert len(ROWS) == 9


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0])
def test_the_place_uses_it_and_the_test_exists(row):
    [name], _, places, guards = row
    for place in places:
        assert name.rpartition(".")[2] in (ROOT / place).read_text("utf-8"), place
    assert any(guard.startswith("tests/") for guard in guards)
    for guard in guards:
        if guard.startswith("tests/"):
            file, _, test = guard.partition("::")
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), guard
