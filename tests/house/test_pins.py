"""Exact versions that any index has, of all that is installed, on every machine of the README."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from itertools import product
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = ("3.11.5", "3.12.0", "3.13.0", "3.14.0")
MACHINES = {  # sys_platform, platform_machine, platform_system, os_name
    "Linux": ("linux", "x86_64", "Linux", "posix"),
    "Linux on ARM": ("linux", "aarch64", "Linux", "posix"),
    "macOS": ("darwin", "arm64", "Darwin", "posix"),
    "Windows": ("win32", "AMD64", "Windows", "nt"),
}


def entries(path):
    """The lines of a file of requirements without its comments and its options."""
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("-")]


PINS = entries(ROOT / "constraints.txt")
ASKED = sorted(ROOT.glob("requirements*.txt"))


@pytest.fixture(params=product(PYTHONS, MACHINES), ids=" on ".join)
def environment(request):
    """What markers ask about one Python on one machine."""
    python, machine = request.param
    names = ("sys_platform", "platform_machine", "platform_system", "os_name")
    return {
        **dict(zip(names, MACHINES[machine], strict=True)),
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }


def holds(requirement, environment, extras=()):
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate({**environment, "extra": extra}) for extra in ("", *extras)
    )


def pinned(environment):
    """The packages that constraints.txt gives a version there, as often as it does."""
    pins = map(Requirement, PINS)
    return [canonicalize_name(pin.name) for pin in pins if holds(pin, environment)]


def needed(environment):
    """What the requirements name, and what the installed ones of these need in their turn."""
    named = [Requirement(line) for path in ASKED for line in entries(path)]
    waiting = [*named, *map(Requirement, PROJECT["dependencies"])]
    found = set()
    while waiting:
        one = waiting.pop()
        key = canonicalize_name(one.name), frozenset(one.extras)
        if key in found:
            continue
        found.add(key)
        try:
            further = map(Requirement, requires(one.name) or ())
        except PackageNotFoundError:  # of a target that has not been set up here
            continue
        waiting += [other for other in further if holds(other, environment, one.extras)]
    return {name for name, _ in found}


def test_every_version_is_exact_and_has_no_local_label():
    """A label such as +cpu names a build that the plain package index does not have."""
    assert len(PINS) > 200
    for pin in PINS:
        assert re.fullmatch(r"[a-z][a-z0-9-]*==[0-9][\w.]*( ; .+)?", pin), pin
        assert "extra" not in pin


def test_no_package_has_two_versions_anywhere(environment):
    names = pinned(environment)
    assert len(names) == len(set(names))


def test_nothing_is_installed_in_a_version_that_is_not_pinned(environment):
    assert needed(environment) - set(pinned(environment)) == set()


def test_what_is_asked_for_stands_in_one_file():
    names = [Requirement(line).name for path in ASKED for line in entries(path)]
    assert len(set(map(canonicalize_name, names))) == len(names)


def test_the_oldest_python_is_the_same_everywhere(dry_make):
    oldest = PYTHONS[0]
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"Python {oldest} or newer" in (ROOT / "README.md").read_text("utf-8")
    plan = dry_make("--always-make", "pins").stdout
    assert f"--python-version {oldest} " in plan
    assert f"Python {oldest} or newer" in plan
