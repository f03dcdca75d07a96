"""The messages of a build: a line for each page that has run, and how long the rest will take.

`jupyter-book build` without -q shows Sphinx's own hundreds of lines, too.
"""

from pathlib import Path
from statistics import fmean

from .page_info import running_time


def tell(line: str):
    """Print a line at once, even into a file."""
    print(line, flush=True)


def pages(count: int) -> str:
    return f"{count} page{'s' * (count != 1)}"


def title(path: Path) -> str:
    """The title of a page that Sphinx has not read yet."""
    lines = path.read_text("utf-8").splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), path.stem)


def time_left(waiting: list[float | None], ran: list[float], cores: int) -> str:
    """For pages that wait, by the seconds of their last runs; the mean of `ran` is for new ones.

    >>> time_left([None, 300], [20], cores=2), time_left([], [20], cores=2)
    (', about 3 min left', '')
    """
    left = sum(known or fmean(ran) for known in waiting) / cores
    return f", about {running_time(left)} left" if waiting else ""


def setup(app):
    def say_reading(app, env, docnames):
        if docnames:
            tell(f"Reading {pages(len(docnames))}.")

    app.connect("env-before-read-docs", say_reading, 900)  # after they have run
    app.connect("env-check-consistency", lambda app, env: tell("Writing the site."))
