"""The tools of those who maintain the book: `python -m booktools NAME ...`, each with --help.

Before a page is published:
    page            check a page whole: run it, break it, sweep its parameters, round, lint
    break           break each claim on purpose: its card must turn red
    sweep           run pages at both ends of their parameters, and each cell a second time
    mutate pages    plant automatic errors in what a page reaches: do its cards notice?
    mutate library  plant automatic errors in the library: do its tests notice?
    rounding        run pages with the rounding of other machines
    lint            the style of the cells of the pages, and of the library's docstrings

Of the whole book:
    test            style, tests, examples, all pages: what `make test` runs
    check-outputs   run the published notebooks again, and compare every output
    pdf             print the built pages as one book: what `make pdf` runs
    spread          measure and record how far other arithmetic moves stored runs
    revalidate      record that today's code reproduces a stored run
    lighthouse      scores of Google's Lighthouse for the built pages on a phone
    optional        tests that need more than `make test` sets up
    newest          build the book with the newest Sphinx and its extensions
    lock            write the exact versions of all packages into constraints.txt
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # helpers.stored, browser.browse
