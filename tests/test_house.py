"""The house itself: exact versions that any index has, and commands that exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PINS = sorted([ROOT / "constraints.txt", *ROOT.glob("requirements-*.txt")])


def pins(path):
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line]


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.name)
def test_every_version_is_exact_and_has_no_local_label(path):
    """A label such as +cpu names a build that the plain package index does not have."""
    assert pins(path)
    for pin in pins(path):
        assert re.fullmatch(r"[A-Za-z][\w.-]*==[0-9][\w.]*", pin), pin


def test_no_package_has_two_versions():
    names = [
        re.sub("[-_.]+", "-", pin.split("==")[0]).lower() for path in PINS for pin in pins(path)
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".ci/run", "Makefile"])
def test_every_command_that_is_named_is_a_target(name):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split()
    text = (ROOT / name).read_text("utf-8")
    named = re.findall(r"(?:^ *|^# |`|&& |\" )make ([a-z][a-z-]*)", text, re.M)
    assert named
    assert set(named) <= set(targets)
    if name == "Makefile":  # its first lines explain all but two of them
        assert set(targets) - set(named) == {"lint", "clean"}


@pytest.mark.parametrize("arguments", [[], ["PAGE=book/no_such_page.md"]])
def test_make_page_says_how_to_name_a_page(arguments):
    result = subprocess.run(
        ["make", "--dry-run", "page", *arguments],
        cwd=ROOT, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert result.returncode == 2
    example = re.search(r"make page PAGE=(\S+)\.  Stop", result.stderr)[1]
    assert (ROOT / example).exists()
