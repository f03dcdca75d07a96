"""Runs a page of the book, and prints as JSON what it really reached: `python audit.py page.md`.

modules: of the library, imported. files: of the project, opened, and folders, listed; but for the
library's programs and the files beside pages, of which it prints the entries: claims and broken.
"""

import json
import os
import sys
import sysconfig
from pathlib import Path

seen = {"modules": set(), "files": set(), "claims": set(), "broken": set()}


def hook(event, arguments):
    match event, arguments:
        case "open" | "os.listdir" | "os.scandir", [str() | os.PathLike() as path, *_]:
            seen["files"].add(os.path.abspath(path))


sys.addaudithook(hook)

import matplotlib  # noqa: E402, after the hook

from runproofs.claims import (  # noqa: E402
    breaks,
    pages,
    registry,
)


class Register(dict):
    """The register, which knows what it was asked for."""

    def __getitem__(self, name):
        seen["claims"].add(name)
        return super().__getitem__(name)

    def values(self):
        seen["claims"].update(self)
        return super().values()

    def items(self):
        seen["claims"].update(self)
        return super().items()


entries, invitations = Register(registry.register()), breaks.invitations
registry.register = lambda: entries


def asked(claim):
    seen["broken"].add(claim)
    return invitations(claim)


breaks.invitations = asked
breaks.all_breaks()
seen["files"].clear()  # of what was read for the register

before = set(sys.modules)
path = Path(sys.argv[1]).resolve()
os.chdir(path.parent)
cells = [cell.code for cell in pages.cells(path.read_text("utf-8"))]
seen["files"].discard(str(path))  # unless a cell opens it, too
names = {"__name__": "__main__"}
output, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
for cell in cells:
    exec(compile(cell, "<cell>", "exec"), names)

BOOK = registry.BOOK
known = [Path(__file__), Path(registry.__file__).parents[1]]
known += [Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")]
known += [Path(matplotlib.get_configdir()), Path(matplotlib.get_cachedir())]
seen["files"] = {
    Path(os.path.relpath(file, BOOK)).as_posix()
    for file in map(Path, seen["files"] - {os.path.abspath(folder) for folder in sys.path})
    if file.is_relative_to(BOOK.parent) and not any(file.is_relative_to(one) for one in known)
}
seen["modules"] = {name for name in sys.modules if f"{name}.".startswith("runproofs.")} - before
print(json.dumps({kind: sorted(found) for kind, found in seen.items()}), file=output)
