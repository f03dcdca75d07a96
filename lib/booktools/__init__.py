"""The tools of those who maintain the book: `python -m booktools NAME ...`, each with --help.

Before a page is published:
    page            all that can be known of a page in a minute: run it once and broken, sweep, lint
    break           break each claim on purpose: its card must turn red
    sweep           run pages at both ends of their parameters, and each cell a second time
    mutate pages    plant errors that nobody picked in what a page reaches: do its cards see them?
    mutate library  plant errors in the library: do its tests see them?
    rounding        run pages as machines that round otherwise
    lint            the style of the cells of the pages, and of the library's docstrings

Of the whole book:
    test            style, tests, examples, all pages: what `make test` runs
    check-outputs   run the published notebooks again, and compare every output
    pdf             print the built pages as one book: what `make pdf` runs
    spread          measure how far other arithmetic takes stored runs, and write it down
    revalidate      record that today's code makes a stored run again
    lighthouse      what Google's Lighthouse thinks of the built pages on a phone
    optional        tests that need more than `make test` sets up
    newest          build the book with the newest Sphinx and its extensions
    lock            write the exact versions of everything, constraints.txt
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # helpers.stored, browser.browse
