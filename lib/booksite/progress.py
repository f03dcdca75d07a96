"""What a build says while it goes on: a line for each page that has run, and how long it will take.

Sphinx' own hundreds of lines are left to `jupyter-book build` without -q.
"""

import shutil
from pathlib import Path
from statistics import fmean

from .page_info import running_time


def tell(line: str):
    """Print it now, also where nobody but a file is listening."""
    print(line, flush=True)


def pages(count: int) -> str:
    return f"{count} page{'s' * (count != 1)}"


def title(path: Path) -> str:
    """That of a page that Sphinx has not read yet."""
    lines = path.read_text("utf-8").splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), path.stem)


class Progress:
    """Of pages that run side by side.

    seconds: those of each page's last run, None where there was none; it counts as the mean of
    those that have ended.
    """

    def __init__(self, seconds: dict[str, float | None], cores: int):
        self.waiting, self.cores, self.total = dict(seconds), cores, len(seconds)
        self.ran: list[float] = []

    def longest_first(self) -> list[str]:
        """So that no long page is left for the end, and what is unknown is known soon."""
        return sorted(self.waiting, key=lambda name: -(self.waiting[name] or float("inf")))

    def ended(self, name: str, told: str, seconds: float) -> str:
        """The line for a page that has ended, told by its title; as wide as a terminal at most.

        >>> progress = Progress({"a": None, "b": None, "c": 300}, cores=2)
        >>> progress.ended("a", "Coins", 20)
        '[1/3] Coins, 20 s, about 3 min left'
        """
        self.ran.append(seconds)
        del self.waiting[name]
        done = f"[{len(self.ran):{len(str(self.total))}}/{self.total}] "
        times = f", {running_time(seconds)}"
        if self.waiting:
            left = sum(known or fmean(self.ran) for known in self.waiting.values()) / self.cores
            times += f", about {running_time(left)} left"
        room = shutil.get_terminal_size().columns - len(done) - len(times) - 1
        return done + (told if len(told) <= room else f"{told[: room - 3]}...") + times


def setup(app):
    def say_reading(app, env, docnames):
        if docnames:
            tell(f"Reading {pages(len(docnames))}.")

    app.connect("env-before-read-docs", say_reading, 900)  # after they have run
    app.connect("env-check-consistency", lambda app, env: tell("Writing the site."))
