"""Runs the breaks of the book, and demands that the card of each claim notices.

`python -m booktools.breaks` runs each page with one sabotage at a time, as far as the claim,
in a process of its own. A positive row of the card must turn red, by a comparison: a crash is not
enough, nor what is not finite, or of another shape.
"""

import sys
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from booktools.children import Running, command, concluded, in_children, limit, tenth
from runproofs.book import claims
from runproofs.book.breaks import Break, all_breaks, break_library, invitations, replaced
from runproofs.book.pages import cells, checks_in
from runproofs.book.register import BOOK, demand_clone, register

TWICE = ("figure", "lemma", "theorem")  # kinds that need two: the thing taken away, a constant
SECONDS = 180  # for one run of a page


class Verdict(NamedTuple):
    """What a run under sabotage, or with none, showed of a claim."""

    red: list[str]  # the positive rows that compared, and failed
    green: int  # the number of those that passed
    error: str  # why the card was not reached, not completed, or a row does not compare, if so


# Running pages -----------------------------------------------------------------------------------


class _Reached(BaseException):
    """The card of the claim is complete."""


def run(page: str, sabotage: Break | None = None) -> dict[str, Verdict]:
    """The verdict on each claim of a page, as far as the one that is sabotaged.

    Runs the cells in this process, without asserts and players; use a child process. A cell that
    fails is left, as a reader would leave it, and the next one runs.
    """
    path = BOOK / f"{page}.md"
    codes = [cell.code for cell in cells(path.read_text("utf-8"))]
    if sabotage and sabotage.where == "page":
        codes = replaced("\0".join(codes), sabotage).split("\0")
    elif sabotage:
        break_library(sabotage)
    verdicts, failures = {}, []

    def judge(check, kind, error, traceback):
        rows = [row for row in check.rows if row.verdict and not row.verdict.control]
        red = [row.text for row in rows if not row.verdict.passed and row.verdict.compared]
        reasons = [f"{kind.__name__}: {error}"] if kind else []
        reasons += [row.verdict.measured for row in rows if not row.verdict.compared]
        green = sum(row.verdict.passed for row in rows)
        verdicts[check.claim.id] = Verdict(red, green, "; ".join(reasons))
        if sabotage and check.claim.id == sabotage.claim:
            raise _Reached
        return True

    claims.Check.__exit__ = judge
    running = Running(path, animate=lambda *arguments, **options: None)
    with suppress(_Reached):
        for code in codes:
            if failure := running.run(code, page, asserts=False):
                failures.append(failure)
    if sabotage and sabotage.claim not in verdicts:
        verdicts[sabotage.claim] = Verdict([], 0, "; ".join(["not reached", *failures]))
    return verdicts


def _task(page, sabotage):
    limit(SECONDS)
    try:
        return run(page, sabotage)
    except Exception as error:
        name = sabotage.claim if sabotage else page
        return {name: Verdict([], 0, f"{type(error).__name__}: {error}")}


def check(tasks, jobs: int, out=print) -> list[str]:
    """Run tasks (page, sabotage or None) in children of this process; what is wrong, in sentences.

    Without sabotage every claim of the page must be green, with one its card must turn red.
    """
    wrong = []
    for (page, sabotage), verdicts, seconds in in_children(_task, tasks, jobs):
        if sabotage is None:
            for claim, found in verdicts.items():
                if found.red or found.error or not found.green:
                    wrong.append(f"{page}: {claim} is not green by itself: {found}")
            continue
        found = verdicts[sabotage.claim]
        saw = found.red[0] if found.red else f"NOTHING ({found.error})"
        out(f"{sabotage.claim} | {sabotage.sentence} | {saw} | {seconds:.0f} s")
        if not found.red:
            wrong.append(f"{page}: {sabotage.claim} stays green: {sabotage.sentence}")
    return wrong


def missing() -> list[str]:
    """The checked claims that have too few breaks, in sentences."""
    wrong = []
    for claim in register().values():
        if claim.status != "checked":
            continue
        count, wanted = len(invitations(claim.id)), 1 + (claim.kind in TWICE)
        if count < wanted:
            wrong.append(f"{claim.id} ({claim.kind}) has {count} breaks, and needs {wanted}.")
    return wrong


def claims_of_pages() -> dict[str, list[str]]:
    """The pages with code, each with the claims that it checks."""
    pages = {}
    for path in BOOK.rglob("*.md"):
        if found := checks_in(path.read_text("utf-8")):
            pages[path.relative_to(BOOK).with_suffix("").as_posix()] = found
    return pages


def main(arguments: list[str] | None = None) -> int:
    """Run the breaks of a claim, of a page, a tenth of all, or all; 1 if one is not seen."""
    parser = command("booktools.breaks", main.__doc__)
    parser.add_argument("--claim", default="", help="an id of the register")
    parser.add_argument("--page", default="", help="such as book/ch2_shallow_linear/index.md")
    options = parser.parse_args(arguments)
    demand_clone("Breaking the claims of the pages")
    page = options.page.removeprefix("book/").removesuffix(".md")
    wrong = [] if options.claim or page else missing()
    chosen = [
        s
        for s in all_breaks()
        if (not options.claim or s.claim == options.claim) and (not page or s.page == page)
    ]
    chosen = tenth(chosen, options.tenth)
    known = claims_of_pages()
    for s in chosen:
        if s.claim not in known.get(s.page, []):
            wrong.append(f"{s.page}.yml: {s.claim} is not checked on that page.")
    if not chosen:
        print("There is no sabotage to run.", file=sys.stderr)
        return 1
    tasks = [(p, None) for p in dict.fromkeys(s.page for s in chosen)]
    tasks += [(s.page, s) for s in chosen]
    wrong += check(tasks, options.jobs, partial(print, flush=True))
    return concluded(wrong, f"All {len(chosen)} breaks turn their claim red.")


if __name__ == "__main__":
    sys.exit(main())
