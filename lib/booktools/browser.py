"""The installed Chromium, which shows and prints the built pages."""

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
    # requests to other hosts are recorded and blocked
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def chromium() -> str | None:
    """Path of the browser: $CHROMIUM, or the first known name that is found; None otherwise."""
    names = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else []
    names = names or ["chromium", "chromium-browser", "google-chrome"]
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched(playwright):
    """Launch it headless through Playwright; raises SystemExit if none is installed."""
    if not (path := chromium()):
        raise SystemExit("Chromium is missing; on Debian: apt install chromium")
    browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()
