"""Find the rows of the book that depend on the last bits, by other arithmetic (arithmetic.py).

A row's *room* is the distance of the number that it judges from its limit. Its *margin* is the
least room over all runs, divided by the standard deviation of the room. The tool prints the rows
that are red in some run, and the *fragile* ones, whose margin is below 3. A row that judges a truth
value has no room; one knows only that it is green in each run.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import stdev

from .arithmetic import KERNELS, elsewhere, patch, runnable

MARGIN = 3
SECONDS = 900  # for one run of a page


def summary(page) -> dict:
    """The failures of a page that has run, and its rows with their room."""
    rows = [
        (check.claim.id, row.text, row.verdict.room)
        for check in page.checks for row in check.rows if row.verdict
    ]  # fmt: skip
    return {"page": str(page.path), "red": page.failures, "rows": rows}


def inside(jitter: int, jobs: int, paths: list[Path]) -> None:
    """Print, as a line of JSON each, what the pages do in this process' arithmetic."""
    if jitter:
        patch(jitter)
    import torch  # this and the library after the patch

    from runproofs.experiments import discover

    from .children import in_children
    from .running import Page

    discover()  # most modules of the library, which the children inherit
    torch.set_num_threads(1)
    tasks = [(path,) for path in paths]
    for (path,), found, _ in in_children(
        lambda path: summary(Page(path, animations=True).run_all()), tasks, jobs, SECONDS
    ):
        dead = {"page": str(path), "red": [(0, "the run died, or took too long")], "rows": []}
        print(json.dumps(found or dead), flush=True)


def measured(kernels: str, jitter: int, jobs: int, paths: list[Path]) -> Iterator[dict]:
    """The pages' runs with those kernels and that jitter, as they end; what fails is printed."""
    command = ["rounding", "--inside", str(jitter), "--jobs", str(jobs)]
    for one in elsewhere(kernels, *command, *map(str, paths)):
        for line, failure in one["red"]:
            where = f"{Path(one['page']).stem}:{line}, {kernels}, jitter {jitter}"
            print(f"{where}: {failure}", flush=True)
        yield one


def margins(runs: list[dict]) -> dict[tuple, tuple[float, list[float]]]:
    """For each row that has room: its margin, and the room of the number that decides it.

    The key is the page, the claim, which of the claim's cards it is on, and the sentence.
    """
    found = defaultdict(list)
    for one in runs:
        seen = defaultdict(int)
        for claim, text, room in one["rows"]:
            seen[claim, text] += 1
            for which, value in enumerate(room):
                found[one["page"], claim, text, seen[claim, text], which].append(value)
    least = {}
    for (*row, _), rooms in found.items():
        room = min(rooms) if max(rooms) > 0 else -max(rooms)  # a row may be shown to fail
        spread = stdev(rooms) if len(rooms) > 1 else 0
        margin = room / spread if spread else float("inf")
        least[tuple(row)] = min(least.get(tuple(row), (margin, rooms)), (margin, rooms))
    return least


def fragile(runs: list[dict]) -> list[str]:
    """The rows whose margin is too small, in sentences, the least margin first."""
    found = sorted(margins(runs).items(), key=lambda item: item[1][0])
    return [
        f"fragile: {Path(page).stem}, {claim}: {text} "
        f"[room {min(rooms):.3g} to {max(rooms):.3g}, margin {margin:.2g}]"
        for (page, claim, text, _), (margin, rooms) in found
        if margin < MARGIN
    ]


def main(arguments: list[str]) -> int:
    """Run pages with other rounding; 1 if a cell fails or a row is fragile."""
    parser = argparse.ArgumentParser("python -m booktools rounding", description=main.__doc__)
    parser.add_argument("pages", nargs="*", help="such as book/ch2_shallow_linear/index.md; or all")
    parser.add_argument("--jitter", type=int, nargs="*", default=[], help="numbers from 1 on")
    parser.add_argument("--kernels", nargs="*", default=[], help=f"all, or some of {[*KERNELS]}")
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part of the pages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pages at a time")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside is not None:
        inside(options.inside, options.jobs, list(map(Path, options.pages)))
        return 0

    from .children import paths_of, tenth  # which import parts of the library

    paths = tenth(paths_of(options.pages), options.tenth)
    kernels = runnable() if options.kernels == ["all"] else options.kernels
    if missing := set(kernels) - set(runnable()):
        parser.error(f"this processor does not run the kernels {sorted(missing)}.")
    machines = [("as found", 0), *((name, 0) for name in kernels)]
    machines += [("as found", jitter) for jitter in options.jitter]
    runs = [one for how in machines for one in measured(*how, options.jobs, paths)]
    red, weak = sum(len(one["red"]) for one in runs), fragile(runs)
    print(*weak, f"{len(runs)} runs of pages: {red} failures, {len(weak)} fragile rows.", sep="\n")
    return int(bool(red or weak))
