"""Mutation testing: plant automatic errors, one at a time, and see whether a check notices.

`mutate pages` derives the errors from a recorded run of a page (recorded.py), and its cards judge
them. An error is *seen* if a positive row of a card turns red. Otherwise it is *loud* if an assert
fails or an exception is raised, *unseen* if it changes what a positive row compares, and *reaches
nothing* in the other cases. The rate is seen / (seen + unseen). If somebody has examined an unseen
error and found it harmless, its name and the reason are in page.yml (`accepted`), and it does not
count.

`mutate library` plants mutants of the syntax tree (syntax.py), which pytest judges
(judge_by_pytest.py).

Both print the unseen errors, and fail if there are too many. Errors that authors write, `breaks`,
have their own tool, because each of them must be seen: `python -m booktools break`.
"""

import random
import re
from collections import Counter
from pathlib import Path

import yaml

from . import judge_by_pytest as library
from .children import command, in_child, in_children, name_of, paths_of, tenth
from .judge import outcomes
from .plant import functions
from .recorded import errors_of, record
from .running import Page

REASONS = ("the claim stays true: ", "equivalent: ", "unseen: ")  # how an explanation begins
# The share of unexplained errors that must be seen. At a true rate of 95%, a tenth of the pages
# with N=8 (about 45 errors that reach a card) falls below it by chance once in 150 days.
NEEDED = 0.85


def judged(path, n: int, seed: int, only: str = "") -> list[tuple]:
    """Kind, name, outcome (one word) and claims of n errors of a page. Call it in a child process.

    only: a regular expression that the "kind | name" of an error must contain. Raises RuntimeError
    if the page is not green without an error.
    """
    recorded = in_child(lambda: record(path), 1800)
    if not recorded or recorded.wrong:
        raise RuntimeError(f"{path.name} is not green as it stands: {recorded and recorded.wrong}")
    made = [e for e in errors_of(recorded) if re.search(only, f"{e.kind} | {e.name}")]
    planted = library.sample(made, n, random.Random(seed), lambda error: error.kind)
    firsts = [error for error in planted if error.kind == "first"]
    others = [error for error in planted if error.kind != "first"]
    page, limit = Page(path), 20 + 4 * recorded.seconds
    found = list(outcomes(page, others, max(recorded.rows.values()), 1, limit))
    if page.red or page.failures:
        raise RuntimeError(f"{path.name} is not green twice: {page.red or page.failures}")
    words = [(error, recorded.firsts[error.make], [error.make[0]]) for error in firsts]
    words += [(error, *outcome.word(page.rows)) for error, outcome, _ in found]
    return [(error.kind, error.name, word, claims) for error, word, claims in words]


def accepted(page: Path) -> dict[str, str]:
    """The reasons under `accepted` beside the page, by name; ValueError if one has another form."""
    path = page.with_suffix(".yml")
    found = yaml.safe_load(path.read_text("utf-8")).get("accepted", {}) if path.exists() else {}
    for name, reason in found.items():
        if not reason.startswith(REASONS):
            raise ValueError(f"{path.name}, {name!r}: a reason begins with one of {REASONS}.")
    return found


def share(counts: Counter) -> float:
    """The share of seen errors among those that reach a card; 0 if none does."""
    return counts["seen"] / (counts["seen"] + counts["unseen"] or 1)


def said(counts: Counter) -> str:
    found = ", ".join(f"{n} {word}" for word, n in counts.most_common())
    return f"{share(counts):.0%} seen: {found}"


def pages(arguments: list[str]) -> int:
    """Plant n errors in each page and print the unseen; 1 if a page is red or too many pass."""
    parser = command("mutate pages", pages.__doc__)
    parser.add_argument("pages", nargs="*", help="such as book/ch2_shallow_linear/index.md; or all")
    parser.add_argument("-n", type=int, default=60, help="errors per page (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--only", default="", help='a regular expression in "kind | name"')
    options = parser.parse_args(arguments)
    counts, unseen, wrong = Counter(), [], []
    functions()  # imports the library once for all the children
    paths = tenth(paths_of(options.pages), options.tenth)
    tasks = [(path, options.n, options.seed, options.only) for path in paths]

    def answered(*task):
        try:
            return judged(*task)
        except RuntimeError as error:
            return str(error)

    for (path, *_), found, seconds in in_children(answered, tasks, options.jobs):
        if not isinstance(found, list):
            wrong.append(found or f"{path.name}: its run died.")
            continue
        page, here = name_of(path), Counter()
        reasons = accepted(path)
        for kind, name, word, claims in found:
            word = "accepted" if word == "unseen" and name in reasons else word
            here[word] += 1
            if word == "unseen":
                unseen.append(f"{page} | {kind} | {name} | {', '.join(claims)}")
        print(f"{page}: {said(here)}, {seconds:.0f} s", flush=True)
        counts += here
    print("\n".join([*unseen, *wrong, f"All pages: {said(counts)}"]))
    return int(bool(wrong) or share(counts) < NEEDED)


def main(arguments: list[str]) -> int:
    what = {"pages": pages, "library": library.main}.get(arguments[0] if arguments else "")
    if not what:
        print(__doc__)
        return 2
    return what(arguments[1:])
