"""Child processes for work with lasting side effects, and the shared parts of the command lines.

Children are forked, so they inherit the imports and the state of this process. Windows cannot fork.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path

from tqdm import tqdm

from runproofs.claims.registry import BOOK, demand_clone


def in_children(
    work: Callable, tasks: list[tuple], jobs: int = 1, limit: float = 3600
) -> Iterator[tuple]:
    """Run each task in a silent child; yield (task, work(*task), seconds) as the tasks end.

    The answer is None if the child dies or takes more than `limit` seconds. Raises RuntimeError if
    work raises an exception. Processes that a child starts end with it.
    """
    context, waiting, running = multiprocessing.get_context("fork"), list(tasks), {}
    outermost = multiprocessing.parent_process() is None
    with tqdm(total=len(tasks), disable=None) as bar:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    reader, writer = context.Pipe(duplex=False)
                    task = waiting.pop(0)
                    child = context.Process(target=_answer, args=(writer, work, task, outermost))
                    child.start()
                    writer.close()
                    running[reader] = task, child, time.monotonic()
                ready = wait(running, timeout=0.5)
                for reader, (task, child, start) in list(running.items()):
                    seconds = time.monotonic() - start
                    if reader in ready or seconds > limit:
                        answer = error = None
                        with suppress(EOFError):
                            answer, error = reader.recv() if reader in ready else (None, None)
                        _end(child)
                        reader.close()
                        del running[reader]
                        if error:
                            raise RuntimeError(error)
                        bar.update()
                        yield task, answer, seconds
        finally:
            for _, child, _ in running.values():
                _end(child)


def _answer(writer, work, task, outermost):
    if outermost:
        os.setpgrp()  # its own group, for itself and the processes it starts
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, the process ends
    answer = error = None
    try:
        answer = work(*task)
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    writer.send((answer, error))


def _end(child):
    with suppress(ProcessLookupError):  # it leads no group, or has already ended
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


def in_child(work: Callable, limit: float = 3600):
    """Run work() in a child and return its answer; None and RuntimeError as in `in_children`."""
    [(_, answer, _)] = in_children(work, [()], 1, limit)
    return answer


# Command lines ------------------------------------------------------------------------------------


def command(name: str, description: str) -> argparse.ArgumentParser:
    """A command line with the options that most tools share."""
    parser = argparse.ArgumentParser(f"python -m booktools {name}", description=description)
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="children at a time")
    return parser


def tenth(tasks: list, k: int | None) -> list:
    """Every tenth task, beginning at index k modulo 10; all tasks if k is None."""
    return tasks if k is None else tasks[k % 10 :: 10]


def paths_of(pages: list[str]) -> list[Path]:
    """The files of pages such as book/index.md; of all pages with a card if none is named."""
    demand_clone("What runs pages")
    if pages:
        return [Path(page).resolve() for page in pages]
    return [p for p in sorted(BOOK.rglob("*.md")) if "\nwith claim(" in p.read_text("utf-8")]


def name_of(path: Path) -> str:
    """The name of a page: its path from `book/` without suffix; elsewhere, that of the file."""
    inside = path.is_relative_to(BOOK)
    return (path.relative_to(BOOK) if inside else Path(path.name)).with_suffix("").as_posix()


def concluded(wrong: list[str], green: str) -> int:
    """Print what is wrong, or that all is green; return the exit status, 1 or 0."""
    print("\n".join(wrong) or green)
    return int(bool(wrong))
