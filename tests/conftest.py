"""One profile for all property tests: the same examples on every run, unless asked otherwise.

HYPOTHESIS_PROFILE=random draws new ones each time and remembers what failed. There is no deadline,
since shared machines stall at times.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

COMMON = {"deadline": None, "max_examples": 60}
settings.register_profile("book", **COMMON, derandomize=True, database=None)
settings.register_profile("random", **COMMON, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))

if not hasattr(os, "fork"):  # Windows, where what these test does not run (README)
    forking = ("breaks", "children", "mutate_library", "mutate_pages", "page", "rounding", "sweep")
    collect_ignore = [f"booktools/test_{name}.py" for name in forking]


@pytest.fixture
def dry_make():
    """A function that says what `make` with these arguments would do; a skip where make is not."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    root = Path(__file__).resolve().parents[1]

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = ["make", "--no-print-directory", "--dry-run", *arguments]
        return subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)

    return run
