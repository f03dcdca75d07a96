"""Runs all parts of `make test`, whatever the first one says, and sums up: part by part, then each
failure in one line. Arguments: the parts that are to run, all of them by default.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
LAST = ROOT / "_build" / ".test-seconds.json"  # what each part took the last time
CODE = "lib tests benchmarks coursework"
NBVAL = "--nbval-lax --nbval-current-env --nbval-cell-timeout=120"


class Part(NamedTuple):
    """Commands that run one after the other, as Python takes them."""

    title: str
    seconds: int  # that they take on two cores, until they have run here
    commands: list[str]


PARTS = {
    "style": Part("style", 8, [
        f"-m ruff check {CODE}",
        f"-m ruff format --check {CODE}",
        "-m booktools.lint",
        "-m codespell_lib",
    ]),
    "runs": Part("the stored runs", 8, ["-m runproofs.reproductions --stale"]),
    "tests": Part("the library's tests", 300, ["-m pytest -n 2 tests"]),
    # By themselves, so that a run that finds no example fails.
    "examples": Part("the library's examples", 60, ["-m pytest --doctest-modules lib"]),
    "pages": Part("the pages", 720, [f"-m pytest {NBVAL} --dist loadscope -n 2 book"]),
}  # fmt: skip


class Result(NamedTuple):
    """How many tests of a part passed and were skipped, and a line or more for each that failed."""

    passed: int
    skipped: int
    failures: list[list[str]]


def run(command: str) -> Result:
    """pytest counts its tests; any other command is one."""
    words = command.split()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        if "pytest" in words:
            words += [f"--junitxml={report}", "-o", "junit_family=xunit1"]  # it names files
        status = wait_for([sys.executable, *words])
        result = read(report) if report.exists() else Result(int(status == 0), 0, [])
    if status and not result.failures:
        result.failures.append([f"python {command} ended with status {status}, as said above"])
    return result


def wait_for(command: list[str]) -> int:
    """The exit status; an interrupt ends the command, and what it has started, without a word."""
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, process_group=0) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            if os.name == "posix":  # elsewhere the interrupt has reached it already
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise


def read(report: Path) -> Result:
    """What pytest wrote: a `testcase` each, with `skipped`, `failure` or `error` in it."""
    passed = skipped = 0
    failures = []
    for case in ElementTree.parse(report).iter("testcase"):
        if wrong := [*case.iterfind("failure"), *case.iterfind("error")]:
            failures.append(told(case, wrong[0]))
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
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


def run_all(parts: list[Part]) -> int:
    """Runs them and says how each went; the exit status is 1 if one is red."""
    took = json.loads(LAST.read_text("utf-8")) if LAST.exists() else {}
    table, failures = [("part", "passed", "failed", "seconds")], []
    passed = skipped = 0
    for k, part in enumerate(parts, start=1):
        place = f"[{k}/{len(parts)}] {part.title}"
        print(f"{place}, {about(took.get(part.title, part.seconds))}", flush=True)
        start = time.monotonic()
        try:
            results = [run(command) for command in part.commands]
        except KeyboardInterrupt:
            print(f"\nInterrupted in {place}.")
            return 128 + signal.SIGINT
        took[part.title] = round(time.monotonic() - start)
        lost = [failure for result in results for failure in result.failures]
        won = sum(result.passed for result in results)
        passed, skipped = passed + won, skipped + sum(result.skipped for result in results)
        table.append((part.title, won, len(lost), took[part.title]))
        failures += lost
    LAST.parent.mkdir(exist_ok=True)
    LAST.write_text(json.dumps(took), "utf-8")
    print()
    for title, *counts in table:
        print(f"{title:24}" + "".join(f"{count:>9}" for count in counts))
    if failures:
        print("", *(line for failure in failures for line in failure), sep="\n")
    print(f"{passed} passed, {len(failures)} failed" + f", {skipped} skipped" * (skipped > 0))
    return int(bool(failures))


def about(seconds: int) -> str:
    return f"about {seconds / 60:.0f} min" if seconds > 90 else f"about {seconds} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    names = parser.parse_args().parts
    if unknown := set(names) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    for end in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(end) is signal.SIG_DFL:  # not under nohup
            signal.signal(end, signal.default_int_handler)
    return run_all([PARTS[name] for name in names or PARTS])


if __name__ == "__main__":
    sys.exit(main())
