"""The Chromium that is installed, in which built pages are looked at and printed."""

import os
import shutil
from contextlib import contextmanager

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # whatever a page asks of another host is seen, and goes nowhere
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def chromium() -> str | None:
    """Path of the browser, or None: $CHROMIUM, else the first of Debian's and Google's names."""
    names = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else []
    names = names or ["chromium", "chromium-browser", "google-chrome"]
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched(playwright):
    """The browser of Playwright's, headless. Raises SystemExit where none is installed."""
    if not (path := chromium()):
        raise SystemExit("Chromium is missing; on Debian: apt install chromium")
    browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()
