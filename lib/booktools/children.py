"""Runs pages in children of this process, each with something changed that would outlive it.

What knobs and saboteur have in common. Children are forked: they inherit the imports, and end.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
from tqdm import tqdm

from runproofs.book import figures

# In the child -------------------------------------------------------------------------------------


class Running:
    """A page whose cells run in this process, from its folder; `animate` stands for players."""

    def __init__(self, path: Path, animate: Callable):
        self.names: dict = {"__name__": "__main__"}
        figures.animate = animate
        os.chdir(path.parent)

    def run(self, code: str, where: str, asserts: bool = True) -> str:
        """Run the code of a cell, called `where`; what fails, in a phrase, or nothing."""
        try:
            exec(compile(code, where, "exec", optimize=0 if asserts else 1), self.names)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            plt.close("all")
        return ""


def limit(seconds: int) -> None:
    """Raise TimeoutError in this process when the time is over, whatever it does then."""

    def stop(*_):
        raise TimeoutError(f"{seconds} s are over")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)


# In the parent ------------------------------------------------------------------------------------


def in_children(work: Callable, tasks: list[tuple], jobs: int) -> Iterator[tuple]:
    """Yield (task, work(*task), seconds) for each task as it ends, in a silent child of its own."""
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        yield from tqdm(
            pool.imap_unordered(partial(_timed, work), tasks), total=len(tasks), disable=None
        )


def _timed(work, task):
    start = time.perf_counter()
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, the process ends
    return task, work(*task), time.perf_counter() - start


def command(module: str, description: str) -> argparse.ArgumentParser:
    """The command line of a module, with the options that all of them have."""
    parser = argparse.ArgumentParser(f"python -m {module}", description=description)
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    return parser


def tenth(tasks: list, k: int | None) -> list:
    """Every tenth task, from the one of index k modulo 10; all if k is None."""
    return tasks if k is None else tasks[k % 10 :: 10]


def concluded(wrong: list[str], green: str) -> int:
    """Print what is wrong, or that all is green; returns what the command ends with, 1 or 0."""
    print("\n".join(wrong) or green)
    return int(bool(wrong))
