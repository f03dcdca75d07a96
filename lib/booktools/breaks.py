"""Break each claim on purpose; its card must notice.

A child process runs the page up to the claim, with one break of its `page.yml` at a time. A
comparison in a positive row of the card must turn red: a crash, a value that is not finite, or
another shape is not enough.
"""

import sys
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path

from runproofs.claims.breaks import Break, all_breaks, break_library, invitations, replaced
from runproofs.claims.pages import Cell, checks_in
from runproofs.claims.registry import BOOK, register

from .children import command, concluded, in_children, name_of, paths_of, tenth
from .judge import Error, outcomes
from .running import Page

TWICE = ("figure", "lemma", "theorem")  # need two breaks: the effect gone, a constant
SECONDS = 180  # for one run of a page


def missing(claims: list[str]) -> list[str]:
    """A sentence for each claim that has too few breaks."""
    wrong = []
    for claim in map(register().get, claims):
        count, wanted = len(invitations(claim.id)), 1 + (claim.kind in TWICE)
        if claim.status == "checked" and count < wanted:
            wrong.append(f"{claim.id} ({claim.kind}) has {count} breaks, and needs {wanted}.")
    return wrong


@cache
def claims_of(page: str) -> list[str]:
    """The claims that a page checks."""
    return checks_in((BOOK / f"{page}.md").read_text("utf-8"))


def elsewhere(breaks: list[Break], pages: Iterable[str]) -> list[Break]:
    """The same breaks on the other pages whose cards show them, such as the landing page."""
    return [
        one._replace(page=name)
        for name in pages
        for one in breaks
        if name != one.page and one.claim in claims_of(name)
    ]


def error_of(wrong: Break, cells: list[Cell]) -> Error:
    """The break as an `Error` for the judge of pages."""
    if wrong.where != "page":
        return Error(wrong.sentence, "library", 0, lambda page: break_library(wrong), wrong.claim)
    codes = [cell.code for cell in cells]
    changed = replaced("\0".join(codes), wrong).split("\0")
    first = next(
        (k for k, pair in enumerate(zip(codes, changed, strict=True)) if pair[0] != pair[1]), 0
    )

    def make(page):
        pairs = zip(page.cells, changed, strict=True)
        page.cells = [cell._replace(code=code) for cell, code in pairs]

    return Error(wrong.sentence, "page", first, make, wrong.claim)


def check(path: Path, breaks: list[Break], jobs: int = 1):
    """Run a page with each of these breaks, in this process and its children.

    Returns sentences about what is wrong and about what was noticed, and the page as it ran without
    a break; there, every card must be green.
    """
    name, page, wrong, seen, errors = name_of(path), Page(path), [], [], []
    for one in breaks:
        try:
            errors.append(error_of(one, page.cells))
        except ValueError as error:
            wrong.append(f"{name}: {error}")
    for error, found, seconds in outcomes(page, errors, len(page.cells) - 1, jobs, SECONDS):
        red = [text for claim, _, text in found.red if claim == error.until]
        text = red[0] if red else f"NOTHING ({'; '.join(what for _, what in found.loud)})"
        seen.append(f"{error.until} | {error.name} | {text} | {seconds:.0f} s")
        if not red:
            wrong.append(f"{name}: {error.until} stays green: {error.name}")
    wrong += [f"{name}:{line} is not green by itself: {what}" for line, what in page.failures]
    return wrong, seen, page


def main(arguments: list[str] | None = None) -> int:
    """Run the breaks of a claim, of a page, a tenth of all, or all; 1 if one goes unnoticed."""
    parser = command("break", main.__doc__)
    parser.add_argument("--claim", default="", help="an id of the register")
    parser.add_argument("--page", default="", help="such as book/ch2_shallow_linear/index.md")
    options = parser.parse_args(arguments)
    pages = {name_of(path): path for path in paths_of([])}
    wrong = [] if options.claim or options.page else missing(list(register()))
    page = options.page.removeprefix("book/").removesuffix(".md")
    chosen = tenth(
        [b for b in all_breaks() if options.claim in ("", b.claim) and page in ("", b.page)],
        options.tenth,
    )
    if not chosen:
        print("There is no break to run.", file=sys.stderr)
        return 1
    for one in chosen:
        if one.page not in pages or one.claim not in claims_of(one.page):
            wrong.append(f"{one.page}.yml: {one.claim} is not checked on that page.")
    known = [one for one in chosen if one.page in pages]
    known += elsewhere(known, pages)
    tasks = [(name, list(group)) for name, group in groupby(known, lambda b: b.page)]
    jobs = max(1, options.jobs // max(1, len(tasks)))  # for one page

    def checked(name, breaks):
        return check(pages[name], breaks, jobs)[:2]

    for (name, _), found, _ in in_children(checked, tasks, options.jobs):
        failed, seen = found or ([f"{name}: the run of the page died."], [])
        wrong += failed
        print("\n".join(seen), flush=True)
    return concluded(wrong, f"All {len(known)} breaks turn their claim red.")
