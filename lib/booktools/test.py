"""Run all parts of `make test`, even if one fails; sum up the parts, then the failures."""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from . import ROOT

CODE = "lib tests coursework"
NBVAL = "--nbval-lax --nbval-current-env --nbval-cell-timeout=120"
PARTS = {  # commands that run one after the other, as Python takes them
    "style": [
        f"-m ruff check {CODE}", f"-m ruff format --check {CODE}", "-m booktools lint",
        "-m codespell_lib",
    ],
    "runs": ["-m runproofs.experiments --stale"],
    "tests": ["-m pytest -n 2 tests"],
    # By themselves, so that a run that finds no example fails.
    "examples": ["-m pytest --doctest-modules lib --ignore lib/booktools/pdf.py"],  # playwright
    "pages": [f"-m pytest {NBVAL} --dist loadscope -n 2 book"],
}  # fmt: skip


class Result(NamedTuple):
    """How many tests passed and were skipped, and one or more lines for each that failed."""

    passed: int
    skipped: int
    failures: list[str]


def run(command: str) -> Result:
    """pytest counts its tests; any other command is one."""
    words = command.split()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        if "pytest" in words:
            words += [f"--junitxml={report}", "-o", "junit_family=xunit1"]  # it names files
        status = subprocess.run([sys.executable, *words], cwd=ROOT, stdin=subprocess.DEVNULL)
        result = read(report) if report.exists() else Result(int(not status.returncode), 0, [])
    if status.returncode and not result.failures:
        said = f"python {command} ended with status {status.returncode}, as said above"
        result.failures.append(said)
    return result


def read(report: Path) -> Result:
    """What pytest wrote: a `testcase` each, with `skipped`, `failure` or `error` in it."""
    passed, skipped, failures = 0, 0, []
    for case in ElementTree.parse(report).iter("testcase"):
        if wrong := [*case.iterfind("failure"), *case.iterfind("error")]:
            failures += told(case, wrong[0])
        else:
            skipped += case.find("skipped") is not None
            passed += case.find("skipped") is None
    return Result(passed, skipped, failures)


def told(case, wrong) -> list[str]:
    """The failure in one line, or in one for each red row of a claim."""
    text = re.sub(r"#x1B\[[\d;]*m", "", wrong.text)  # colors
    if claim := re.search(r"^ClaimFailed: (.+)\n((?:.+\n?)+)", text, re.M):
        return [f"{case.get('file')}, {claim[1]}: {row}" for row in claim[2].splitlines()]
    said = (
        re.findall(r"^E +(.+)", text, re.M)[:1]  # of pytest
        or re.findall(r"^\w+(?:Error|Exception|Interrupt)\b.*", text, re.M)[-1:]  # of a cell
        or re.findall(r"^\d+ (>>> .*)", text, re.M)[-1:]  # of a docstring
        or [line for line in text.splitlines() if line.strip()][-1:]
    )
    place = [name for name in (case.get("file"), case.get("name")) if name]
    return [": ".join(["::".join(place), *said])]


def run_all(parts: dict[str, list[str]]) -> int:
    """Run the parts and sum up; 1 if one fails."""
    table, failures, passed, skipped = [("part", "passed", "failed", "seconds")], [], 0, 0
    for k, (name, commands) in enumerate(parts.items(), start=1):
        print(f"[{k}/{len(parts)}] {name}", flush=True)
        start = time.monotonic()
        results = [run(command) for command in commands]
        lost = [failure for result in results for failure in result.failures]
        won = sum(result.passed for result in results)
        passed, skipped = passed + won, skipped + sum(result.skipped for result in results)
        table.append((name, won, len(lost), round(time.monotonic() - start)))
        failures += lost
    print()
    for name, *counts in table:
        print(f"{name:12}" + "".join(f"{count:>9}" for count in counts))
    print("", *failures, sep="\n", end="\n" * bool(failures))
    print(f"{passed} passed, {len(failures)} failed" + f", {skipped} skipped" * (skipped > 0))
    return int(bool(failures))


def main(arguments: list[str]) -> int:
    """Run all parts, or the named ones; 1 if one fails."""
    parser = argparse.ArgumentParser("python -m booktools test", description=main.__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    names = parser.parse_args(arguments).parts
    if unknown := set(names) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    return run_all({name: PARTS[name] for name in names or PARTS})
