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
PROJECT, GRADER = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
    for folder in ("", "coursework/grader")
)
PYTHONS = ("3.11.5", "3.12.0", "3.13.0", "3.14.0")
MACHINES = {  # sys_platform, platform_machine, platform_system, os_name
    "Linux": ("linux", "x86_64", "Linux", "posix"),
    "Linux on ARM": ("linux", "aarch64", "Linux", "posix"),
    "macOS": ("darwin", "arm64", "Darwin", "posix"),
    "Windows": ("win32", "AMD64", "Windows", "nt"),
}


PINS = re.findall(r"^[a-z].*?(?=\s*(?:#|$))", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
ASKED = [
    *PROJECT["dependencies"],
    *GRADER["dependencies"],
    *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
]


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
    """What pyproject.toml names, and what the installed ones of these need in their turn."""
    waiting = [one for one in map(Requirement, ASKED) if one.name != PROJECT["name"]]
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
