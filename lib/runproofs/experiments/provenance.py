"""What ties a run to its making: the code that it reaches, the data that it reads, the machine."""

import ast
import hashlib
import inspect
import os
import platform
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from pathlib import Path

from runproofs.claims.registry import BOOK

LIBRARY = "runproofs."
PARTS = ("answers", "claims", "figures", *(f"experiments.{name}" for name in (
    "base", "protocol", "provenance", "results")))  # fmt: skip
MACHINERY = tuple(f"{LIBRARY}{part}." for part in PARTS)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PACKAGES = ("runproofs", "numpy", "scikit-learn", "scipy", "torch")


# Code --------------------------------------------------------------------------------------------


def identity(function: Callable) -> str:
    """A digest of the code that a function reaches, as a reader of the programs would see it.

    That is its own module and all modules of the library that are imported from there, directly or
    through others, less the `MACHINERY` of the book, which computes nothing.

    Parameters
    ----------
    function : callable
        Defined in a file, or in a cell.

    Returns
    -------
    str
        SHA-256. Comments, docstrings and layout do not count.

    Notes
    -----
    An import that only happens at run time is not seen.
    """
    start = function.__module__
    file = getattr(sys.modules.get(start), "__file__", None)
    own = Path(file).read_text("utf-8") if file else textwrap.dedent(inspect.getsource(function))
    code, imported = _read(own, start.rpartition(".")[0])
    digest = hashlib.sha256()
    for name, found in sorted({**reached(imported), start: code}.items()):
        digest.update(f"{name}: {found}\n".encode())
    return digest.hexdigest()


def reached(imported: Iterable[str], everything: bool = False) -> dict[str, str]:
    """The code of the modules of the library that are imported, directly or through others.

    Parameters
    ----------
    imported : iterable of str
        Names that may be modules.
    everything : bool, optional
        Also the `MACHINERY`, and the packages around each module, which Python runs first.

    Returns
    -------
    dict of str
        By name of the module, its syntax tree without docstrings.

    Notes
    -----
    Cost: one parse of each module, then cached.
    """
    found, waiting, seen = {}, set(imported), set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        if (spec := _spec(name, everything)) is not None:
            found[name], imported = _read(Path(spec.origin).read_text("utf-8"), spec.parent)
            waiting |= imported - seen
        if everything and (around := name.rpartition(".")[0]) not in seen:
            waiting.add(around)
    return found


@cache
def _read(text: str, package: str) -> tuple[str, frozenset[str]]:
    """The code of a module, and the names that it imports."""
    tree = ast.parse(text)
    return _canonical(tree), frozenset(imported_names(tree, package))


def imported_names(tree: ast.AST, package: str = "") -> Iterator[str]:
    """Names that may be modules: in ``from a import b``, both a and a.b.

    Parameters
    ----------
    tree : ast.AST
        The code.
    package : str, optional
        Package that relative imports start from.

    Yields
    ------
    str
        A name.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))


def _spec(name: str, machinery: bool):
    """Where the module lies, or None outside the library and, unless asked for, in machinery."""
    full = f"{name}."
    if not full.startswith(LIBRARY) or (
        (full == LIBRARY or full.startswith(MACHINERY)) and not machinery
    ):
        return None
    try:
        return find_spec(name)
    except ModuleNotFoundError:  # a.b of `from a import b`, where b is no module
        return None


def _canonical(node) -> str:
    """The syntax tree as text, without docstrings; the same for every version of Python.

    `ast.dump` is not: versions differ in the fields that a node has and in how empty ones show.
    """
    if isinstance(node, list):
        return f"[{','.join(map(_canonical, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    shown = (
        f"{key}={_canonical(value)}" for key, value in fields.items() if value not in (None, [])
    )
    return f"{type(node).__name__}({','.join(shown)})"


# Everything else ---------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that compute.

    Returns
    -------
    dict of str
        By name; "" for a package that is not there.
    """

    def found(name):
        try:
            return version(name)
        except PackageNotFoundError:
            return ""

    return {"python": platform.python_version(), **{name: found(name) for name in PACKAGES}}


def commit() -> str:
    """The commit of the clone that the book lies in.

    Returns
    -------
    str
        Ends in "dirty" if the library differs; empty without a clone.
    """

    def git(*command: str) -> str:
        ran = subprocess.run(
            ["git", *command], cwd=BOOK.parent, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")) != BOOK.parent.resolve():
            return ""  # an installed copy below the clone of something else
        return git("rev-parse", "HEAD") + (" dirty" if git("status", "--porcelain", "lib") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine() -> dict[str, str]:
    """Device, processor, threads and system of this process.

    Returns
    -------
    dict of str
        "machine" ("cpu" or "cuda"), "cpu", "threads" and "system".
    """
    torch = sys.modules.get("torch")  # who has not loaded it has not computed with it
    threads = (
        torch.get_num_threads() if torch else os.environ.get("OMP_NUM_THREADS", os.cpu_count())
    )
    return {
        "machine": "cuda" if torch and torch.cuda.is_initialized() else "cpu",
        "cpu": _processor(),
        "threads": str(threads),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def data_read(settings: dict) -> dict[str, str]:
    """The files of data that a run with these settings reads.

    Parameters
    ----------
    settings : dict
        Of an experiment; its images, ratings or network may name files.

    Returns
    -------
    dict of str
        By file, its SHA-256; `runproofs.data` accepts no other. Neither the digits, which come with
        scikit-learn, nor what is invented has a file.
    """
    known = {"images": ("mnist", "cifar-10", "cifar-10-first"), "ratings": ("100k", "1m", "10m")}
    known["network"] = ("certified",)
    named = [settings[key] for key, names in known.items() if settings.get(key) in names]
    if not named:
        return {}
    from runproofs import (
        data,  # here, since its packages load slowly
        published,
    )
    from runproofs.experiments.first_images import FIRST

    sources = {"mnist": (*data.MNIST["train"], *data.MNIST["test"]), "cifar-10": (data.CIFAR_10,)}
    sources |= {"cifar-10-first": (FIRST,), "100k": (data.MOVIELENS_100K,)}
    sources["certified"] = (*data.MNIST["test"], *published.SOURCES)
    sources |= {name: (source,) for name, (source, _) in data.MOVIELENS.items()}
    files = [source for name in named for source in sources[name]]
    return {source.path: source.sha256 for source in files}
