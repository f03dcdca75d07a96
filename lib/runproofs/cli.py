"""The command `runproofs`: list, show, check and break the claims of the book.

A claim is checked by the cells of its page, from the first one up to its card, in this process. No
network, no notebook, no clone of the book is needed.
"""

import argparse
import difflib
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: small matrices, one core

from runproofs._optional import EXTRAS, needs
from runproofs.claims.breaks import break_library, invitations, replaced
from runproofs.claims.pages import cells, checks_in
from runproofs.claims.registry import BOOK, LEVELS, Claim, register

DEMO = ("thesis/lemma-2", "thesis/theorem-6", "helmbold-long/theorem-5")


# Running pages -----------------------------------------------------------------------------------


def checking_pages() -> dict[str, list[str]]:
    """The pages (from `book/`, without suffix) that check claims, and the claims of each."""
    names = {path.relative_to(BOOK).with_suffix("").as_posix() for path in BOOK.rglob("*.md")}
    found = {name: checks_in((BOOK / f"{name}.md").read_text("utf-8")) for name in sorted(names)}
    return {name: claims for name, claims in found.items() if claims}


class _Done(BaseException):
    """The last card that was asked for is complete; no cell can catch it by `except Exception`."""


def checks(page: str, wanted: Iterable[str], edit: Callable = lambda code: code) -> Iterator:
    """The completed blocks (`Check`) of a page, from its first cell to the last one that is wanted.

    edit: changes the code of the page before it runs, all cells in one text. A cell that fails is
    passed over, as by a reader, and its error printed to the standard error; of a package of an
    extra that is missing there is one sentence, if it keeps a card from being reached. What cells
    print, and their figures, are dropped. Cost: that of the page, 1 to 20 s.
    """
    os.environ["MPLBACKEND"] = "agg"
    from runproofs import figures
    from runproofs.claims import block

    waiting, found, missing = set(wanted), [], set()

    def lacks(error) -> bool:
        """Whether a package of an extra is missing, or a name from a cell where it was."""
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            missing.add(error.name)
            return True
        return bool(missing) and isinstance(error, NameError)

    def keep(check, kind, error, traceback):
        if lacks(error):
            return True
        found.append(check)
        waiting.discard(check.claim.id)
        if kind:
            print(f"{check.claim.id}: {kind.__name__}: {error}", file=sys.__stderr__)
        if not waiting:
            raise _Done
        return True

    path, here = BOOK / f"{page}.md", Path.cwd()
    codes = edit("\0".join(cell.code for cell in cells(path.read_text("utf-8")))).split("\0")
    names, kept = {"__name__": "__main__"}, (block.Check.__exit__, figures.animate)
    block.Check.__exit__, figures.animate = keep, lambda *_, **__: None
    os.chdir(path.parent)
    try:
        for code in codes:
            try:
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    exec(compile(code, page, "exec"), names)
            except Exception as error:
                if not lacks(error):
                    print(f"{page}: {type(error).__name__}: {error}", file=sys.stderr)
            yield from found
            found.clear()
    except _Done:
        yield from found
    finally:
        os.chdir(here)
        block.Check.__exit__, figures.animate = kept
        for name in sorted(missing) if waiting else ():
            print(needs(page, name), file=sys.stderr)


# Naming claims -----------------------------------------------------------------------------------


def chosen(names: list[str]) -> list[str]:
    """The checked claims of these names: ids, chapters ("ch2", "vidal") or pages ("width").

    Raises SystemExit with the nearest names for one that is unknown.
    """
    pages, found = checking_pages(), []
    checked = [claim for claims in pages.values() for claim in claims]
    for name in names:
        of_page = [c for page, claims in pages.items() if name in (page, page.split("/")[-1])
                   for c in claims]  # fmt: skip
        of_chapter = [c for c in checked if register()[c].chapter == name]
        some = [name] if name in checked else of_chapter or of_page
        if not some:
            raise SystemExit(unknown(name, [*checked, *(p.split("/")[-1] for p in pages)]))
        found += some
    return list(dict.fromkeys(found))


def unknown(name: str, known: Iterable[str]) -> str:
    """A sentence on a name that is not known; on a claim that is stated and not checked, that."""
    if name in register():
        return f"{name} is stated in the book without a check."
    near = difflib.get_close_matches(name, known, 3, 0.5)
    return f"There is no {name!r}. " + (f"Near: {', '.join(near)}." if near else "See the list.")


# The commands ------------------------------------------------------------------------------------


def list_claims(options) -> int:
    pages = checking_pages()
    checked = {claim for claims in pages.values() for claim in claims}
    found = [
        entry for entry in register().values()
        if options.source in ("", entry.source) and options.chapter in ("", entry.chapter)
        and options.kind in ("", entry.kind) and options.evidence in ("", entry.evidence)
        and re.search(options.grep, f"{entry.id} {entry.number} {entry.title}", re.I)
    ]  # fmt: skip
    if options.json:
        print(json.dumps([described(entry) for entry in found], indent=1, ensure_ascii=False))
        return 0
    for entry in found:
        told = f" ({LEVELS[entry.evidence]})" if entry.id in checked else " (no check)"
        print(f"{entry.id:42} {entry.number}: {entry.title}{told}")
    print(f"{len(found)} claims", file=sys.stderr)
    return 0 if found else 1


def described(entry: Claim) -> dict:
    """What the book says of a claim, in plain types."""
    slip = entry.erratum and entry.erratum._asdict()
    return {
        "id": entry.id, "name": entry.name, "title": entry.title, "kind": entry.kind,
        "chapter": entry.chapter, "evidence": entry.evidence,
        "statement": entry.statement.strip(), "uses": entry.uses, "erratum": slip,
        "breaks": [str(b.sentence) for b in invitations(entry.id)],
    }  # fmt: skip


def plain(text: str) -> str:
    """Markdown without the roles of the pages: {ref}`words <label>` becomes words."""
    return re.sub(r"\{[\w:-]+\}`(?:([^`<]+?) *<[^`>]*>|([^`]*))`", r"\1\2", text.strip())


def show(options) -> int:
    if options.id not in register():
        raise SystemExit(unknown(options.id, register()))
    entry = register()[options.id]
    page = next((page for page, claims in checking_pages().items() if entry.id in claims), "")
    print(f"{entry.name}: {entry.title}\n\n{plain(entry.statement)}\n")
    if entry.uses:
        print("Rests on: " + ", ".join(entry.uses))
    if entry.erratum:
        print(f"As printed ({entry.erratum.grade}): {plain(entry.erratum.printed)}")
        print(f"Problem: {plain(entry.erratum.problem)}")
        print(f"Correction: {plain(entry.erratum.corrected)}")
    if page:
        print(f"Evidence: {LEVELS[entry.evidence]}")
        print(f"Checked on the page {page}: runproofs check {entry.id}")
        for k, way in enumerate(invitations(entry.id), 1):
            print(f"Break it: {way.sentence}: runproofs break {entry.id} {k}")
    return 0


def check(options) -> int:
    claims, results = chosen(options.claims), []
    for page, of_page in checking_pages().items():
        if wanted := [claim for claim in claims if claim in of_page]:
            start = time.perf_counter()
            if not options.json and len(claims) > 1:
                print(f"{page} ...", file=sys.stderr, flush=True)
            for found in checks(page, wanted):
                if found.claim.id in wanted:
                    results.append(judged(found, time.perf_counter() - start))
                    if not options.json:
                        print(f"{found._text(measured=True)}\n", flush=True)
    missing = sorted(set(claims) - {result["id"] for result in results})
    if options.json:
        print(json.dumps(results, indent=1, ensure_ascii=False))
    wrong = [result["id"] for result in results if not result["holds"]] + missing
    told = f"{len(claims) - len(wrong)} of {len(claims)} cards are green."
    print(told + f" Red or not reached: {', '.join(wrong)}." * bool(wrong), file=sys.stderr)
    return int(bool(wrong))


def judged(found, seconds: float) -> dict:
    """A completed block in plain types."""
    return {
        "id": found.claim.id,
        "holds": not list(found.objections()),
        "seconds": round(seconds, 2),
        "rows": [
            {"text": row.text, "passed": bool(row.verdict and row.verdict.passed),
             "control": bool(row.verdict and row.verdict.control), "evidence": row.level,
             "demanded": row.verdict.demanded if row.verdict else "",
             "measured": row.verdict.measured if row.verdict else "never judged"}
            for row in found.rows
        ],
    }  # fmt: skip


def break_claim(options) -> int:
    claim = chosen([options.id])[0]
    ways = invitations(claim)
    if options.way is None:
        for k, way in enumerate(ways, 1):
            print(f"{k}. {way.sentence}, {way}\n")
        print(f"runproofs break {claim} 1 runs the first one.", file=sys.stderr)
        return 0
    if not 1 <= options.way <= len(ways):
        raise SystemExit(f"{claim} has the breaks 1 to {len(ways)}, not {options.way}.")
    way = ways[options.way - 1]
    print(f"Break it: {way.sentence}, {way}\n")
    edit = (lambda code: replaced(code, way)) if way.where == "page" else (lambda code: code)
    if way.where != "page":
        break_library(way)
    for found in checks(way.page, [claim], edit):
        if found.claim.id == claim:
            print(found._text(measured=True))
            red = [row.text for row in found.rows if row.verdict and not row.verdict.passed]
            print(f"\nRed: {'; '.join(red) or 'nothing'}", file=sys.stderr)
            return int(not red)
    return 1


def write_page(options) -> int:
    pages = {p: p for p in checking_pages()} | {p.split("/")[-1]: p for p in checking_pages()}
    if options.name not in pages:
        raise SystemExit(unknown(options.name, pages))
    target = Path(options.out or f"{pages[options.name].split('/')[-1]}.ipynb")
    if target.exists():
        raise SystemExit(f"{target} exists; name another file with --out.")
    text = (BOOK / f"{pages[options.name]}.md").read_text("utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    made, rest = [], text
    for cell in cells(text):
        words, _, rest = rest.partition(cell.options + cell.code if cell.code else cell.options)
        made.append(("markdown", re.sub(r"`{3,}\{code-cell\}.*\n\Z", "", words)))
        made.append(("code", cell.code.rstrip("\n")))
        rest = re.sub(r"\A`{3,}\n", "", rest)
    made.append(("markdown", rest))
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"id": f"cell-{k}", "cell_type": kind, "metadata": {}, "source": source.strip("\n")}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for k, (kind, source) in enumerate(made) if source.strip()
    ]}  # fmt: skip
    target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), "utf-8")
    print(f"{target}: open it with Jupyter.")
    return 0


def demo(options) -> int:
    print("Three proofs, run on this machine; each card has controls, which must fail.\n")
    status = check(argparse.Namespace(claims=list(DEMO), json=False))
    print("\nA check that cannot fail would prove nothing. Break one, and look for '!':\n")
    return status or break_claim(argparse.Namespace(id=DEMO[0], way=1))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("runproofs", description="The proofs of the book, run.")
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name, run, words):
        one = commands.add_parser(name, help=words, description=words)
        one.set_defaults(run=run)
        return one

    one = command("list", list_claims, "the claims of the book")
    for name in ("source", "chapter", "kind", "grep"):
        one.add_argument(f"--{name}", default="")
    one.add_argument("--evidence", default="", choices=LEVELS, help="the level of the main row")
    one.add_argument("--json", action="store_true")
    one = command("show", show, "a claim: its statement, what it rests on, what is wrong in print")
    one.add_argument("id")
    one = command("check", check, "run the proofs of claims, chapters (ch2) or pages (width)")
    one.add_argument("claims", nargs="+", metavar="CLAIM")
    one.add_argument("--json", action="store_true")
    one = command("break", break_claim, "the ways to break a claim, or run one of them")
    one.add_argument("id")
    one.add_argument("way", nargs="?", type=int)
    one = command("page", write_page, "write a page of the book as a notebook")
    one.add_argument("name")
    one.add_argument("--out", default="")
    command("demo", demo, "three proofs and a broken one, in less than a minute")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status, 0 where all that was asked for is green."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console that lacks a sign shows another
            stream.reconfigure(errors="replace")
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except BrokenPipeError:  # the reader of our output has left: `runproofs list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:  # of an extra, from `break_library`
        if error.name not in EXTRAS:
            raise
        sys.exit(str(error))
