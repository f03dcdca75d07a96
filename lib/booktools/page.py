"""Check a page as far as a minute allows, before it is published.

The page runs once as it is and once with each of its breaks, at both ends of its parameters and
each cell a second time, and with its last bits moved; its cells are linted, and what is missing or
too long is said.
"""

import argparse
import json
import os
import time

from runproofs.claims.breaks import all_breaks
from runproofs.claims.registry import BOOK, beside, misstated, register

from . import breaks, rounding, sweep
from .children import concluded, in_child, name_of, paths_of
from .lint import lint

LINES, ROWS = 40, 12  # that a cell with a card, and a card, may have


def judged(path, jobs: int) -> list[str]:
    """A sentence for each fault of a page."""
    name = name_of(path)

    def run():
        mine = [wrong for wrong in all_breaks() if wrong.page == name]
        wrong, seen, page = breaks.check(path, mine, jobs)
        cards = [(check.claim.id, len(check.rows)) for check in page.checks]
        return wrong, seen, cards, rounding.summary(page), page.cells

    wrong = lint([path])
    failed, seen, cards, summary, cells = in_child(run)
    print("\n".join(seen), flush=True)
    wrong += failed + breaks.missing([claim for claim, _ in cards if claim in register()])
    wrong += [f"{name}: {claim} has {n} rows, more than {ROWS}." for claim, n in cards if n > ROWS]
    for cell in cells:
        count = len(cell.code.splitlines())
        if "with claim(" in cell.code and count > LINES:
            wrong.append(f"{name}:{cell.line} the cell has {count} lines, more than {LINES}.")
    if cards:  # other pages need no parameters
        wrong += sweep.check([path], jobs)
    wrong += unfinished(name)
    moved = json.loads(json.dumps(summary)), *rounding.measured("as found", 1, 1, [path])
    wrong += [f"{name}:{line}, last bits moved: {what}" for line, what in moved[1]["red"]]
    return wrong + rounding.fragile(moved)


def unfinished(name: str) -> list[str]:
    """A sentence for each thing that the claims of a page lack outside of its cells."""
    claims = beside().get(name, {}).get("claims", {})
    listed = (BOOK / "back" / "beyond.md").read_text("utf-8")
    wrong = [
        sentence
        for sentence in misstated()
        if sentence.startswith(f"{name}.md:") or sentence.split()[0] in claims
    ]
    for claim in claims:
        entry = register()[claim]
        unknown = [used for used in (*entry.uses, *entry.mentions) if used not in register()]
        wrong += [f"{name}.yml: {claim} uses {used}, which no page.yml has." for used in unknown]
        if entry.source == "beyond" and f"**{{claim}}`{claim}`" not in listed:
            wrong.append(f"{claim} has no sentence in book/back/beyond.md.")
    return wrong


def main(arguments: list[str]) -> int:
    """Judge pages; 1 if something is wrong."""
    parser = argparse.ArgumentParser("python -m booktools page", description=main.__doc__)
    parser.add_argument("pages", nargs="+", help="such as book/ch2_shallow_linear/index.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="children at a time")
    options = parser.parse_args(arguments)
    found = []
    for path in paths_of(options.pages):
        start = time.perf_counter()
        found += judged(path, options.jobs)
        print(f"{name_of(path)}: {time.perf_counter() - start:.0f} s", flush=True)
    return concluded(found, "All is green.")
