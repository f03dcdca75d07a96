"""The key of a page: a digest of everything that its stored output depends on, except its cells.

The cells are read, not run. The key covers

- the modules of the library that they import directly, by a name of `rp` or through other modules;
  comments in them do not count;
- the entries and the breaks of the claims that they check;
- the stored runs that they name, or that a module of experiments names which they reach;
- the files that they name by a path relative to the page, and modules beside the page;
- the versions of Python and of the numeric packages, SCALE, and the place of the page.

A page depends on all files and modules if a cell names one of ANYTHING, may show a traceback, or is
not Python.
"""

import ast
import hashlib
import os
import pkgutil
import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import runproofs
from runproofs import experiments
from runproofs.claims.breaks import invitations
from runproofs.claims.pages import NOT_RUN, cells
from runproofs.claims.registry import BOOK, register
from runproofs.experiments.base import RESULTS
from runproofs.experiments.provenance import imported_names, reached

PACKAGES = ("matplotlib", "numpy", "pillow", "scikit-learn", "scipy", "sympy", "torch")
READING = {"BOOK", "glob", "open", "os", "pathlib"}
IMPORTING = {"__import__", "discover", "exec", "import_module", "importlib", "runpy", "subprocess"}
SHOWING = {"__doc__", "help", "inspect", "traceback"}  # these show source code as it is typed
ANYTHING = READING | IMPORTING | SHOWING
EXPERIMENTS = f"{experiments.__name__}."


def keys(pages: dict[str, Path]) -> dict[str, str]:
    """The keys of the pages that have cells."""
    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    common = repr((versions, os.environ.get("SCALE", "quick")))
    found = {}
    for name, path in pages.items():
        text = path.read_text("utf-8")
        if "{code-cell}" in text:
            reaches = sorted(reach(text, path.parent).items())
            found[name] = _digest(repr((from_book(path), common, reaches)))
    return found


def reach(text: str, folder: Path) -> dict[str, str]:
    """Digests of the modules, claims and files (relative to `book/`) that the cells reach.

    text: the text of the page; folder: its folder, in which its cells run.
    """
    code = read(text)
    imported, claims = code.imported, code.strings & register().keys()
    files = {folder / name for name in code.strings if "." in name and len(name) < 200}
    files |= {folder / f"{name.replace('.', '/')}.py" for name in imported}
    if code.everything:
        imported = imported | below(runproofs)
        files |= {path for path in BOOK.rglob("*") if not is_stray(path.relative_to(BOOK))}
        files |= set(Path(runproofs.__file__).parent.rglob("*.py"))
    if code.everything or code.claims_are_computed or code.names & {"register", "registry"}:
        claims = register().keys()
    modules = reached(imported, everything=True)
    declared = {module for name, module in modules.items() if name.startswith(EXPERIMENTS)}
    for path in [*RESULTS.glob("*.npz"), *RESULTS.glob("*.yml")]:
        if "RESULTS" in code.names or any(path.stem in where for where in declared | code.strings):
            files.add(path)

    found = {name: _digest(module) for name, module in modules.items()}
    for name in claims:
        on_card = register()[name]._replace(uses=(), mentions=(), told="")  # not on the card
        found |= {name: repr(on_card), f"break {name}": repr(invitations(name))}
    for path in filter(Path.is_file, files):
        found[from_book(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found | {"not run": code.not_run}


class Code(NamedTuple):
    """The facts that a static reading of the cells gives."""

    imported: set[str]  # names that may be modules
    names: set[str]  # of variables and attributes
    strings: set[str]
    claims_are_computed: bool  # whether `claim` occurs other than as `claim("...")`
    not_run: str  # the tags of the cells that do not run
    everything: bool  # whether they may reach any file or module


@cache
def read(text: str) -> Code:
    """The facts about the cells of a page with this text."""
    found = cells(text)
    program = "\n".join(cell.code for cell in found)
    try:
        tree = ast.parse(program if text.count("{code-cell}") == len(found) else "(")
    except SyntaxError:  # a command of IPython
        tree = ast.parse("importlib")
    imported, names, strings, claims = set(), set(), set(), 0
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                imported.update(imported_names(node))
            case ast.Name(name) | ast.Attribute(attr=name):
                names.add(name)
                claims += name == "claim"
            case ast.alias("claim", str()):
                claims += 1
            case ast.Constant(str(string)):
                strings.add(string)
            case ast.Call(ast.Name("claim") | ast.Attribute(attr="claim"), [ast.Constant(), *_]):
                claims -= 1
    front = set(re.findall(r"\b(?:rp|runproofs)\.(\w+)", program)) & runproofs.NAMES.keys()
    imported |= {f"runproofs.{runproofs.NAMES[name].rpartition('.')[0]}" for name in front}
    names |= {part for name in imported for part in name.split(".")}
    not_run = repr([NOT_RUN.findall(cell.options) for cell in found])
    everything = bool(names & ANYTHING) or "raises-exception" in not_run
    return Code(imported, names, strings, claims > 0, not_run, everything)


def below(package) -> set[str]:
    """The names of all modules below a package."""
    return {m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")}


def is_stray(path: Path) -> bool:
    """Whether a file is an editor's backup, hidden, or compiled."""
    return path.name.endswith(("~", ".pyc")) or any(part.startswith(".") for part in path.parts)


def from_book(path: Path) -> str:
    try:
        return Path(os.path.relpath(path, BOOK)).as_posix()
    except ValueError:  # on another drive, as Windows has them
        return path.as_posix()


@cache
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
