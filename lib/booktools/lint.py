"""Check the code cells of the book and of the course with ruff; --fix corrects what ruff can.

In addition, no row of a card may compare an expression with itself, and no public function of the
theory may use an array that has not gone through `_arguments` or `_tensors`. Numpydoc checks the
docstrings of the library.

Ruff understands notebooks: it sorts the imports cell by cell, looks for their uses on the whole
page, and accepts an output as the last line of a cell. So each page is turned into a notebook.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from runproofs.claims.pages import cells, with_code

from . import ROOT

# Imports may come where they are first needed; the book sets white space at the end of a cell.
CHECK = ["check", "--extend-ignore", "E402,W391"]
FORMAT = ["format", "--config", "format.skip-magic-trailing-comma = true"]
SIDES = {"expected", "upper", "other", "target", "right", "bound"}  # second sides of a row
THEORY = ("adversarial", "bounds", "linear", "networks", "linalg", "masks", "training")
ENTRANCES = {  # of arrays, less those that check them
    "np": {"array", "asanyarray", "asarray", "ascontiguousarray", "reshape"},
    "torch": {"as_tensor", "asarray", "from_numpy", "tensor"},
}
WIDTHS = {
    "book": 88,  # what fits beside the table of contents
    "coursework": 100,  # an assignment is a notebook, and has the window to itself
    "tests": 88,  # the pages of the small book
}


def ruff(*arguments) -> str:
    """The output of ruff with the settings of the library."""
    command = [sys.executable, "-m", "ruff", *arguments, "--config", "pyproject.toml"]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    if result.returncode > 1 and arguments[0] == "check":  # which reports syntax errors with 1
        sys.exit(result.stderr)
    return result.stdout


def as_notebook(page: str) -> str:
    """The code cells of the page as a notebook."""
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    code = [{**empty, "source": cell.code.removesuffix("\n")} for cell in cells(page)]
    metadata = {"language_info": {"name": "python"}}
    notebook = {"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(notebook)


def with_themselves(page: str) -> Iterator[int]:
    """The lines of `check(...).method(a, b)` whose a and b are the same expression."""
    for cell in cells(page):
        with suppress(SyntaxError):  # which ruff reports
            for node in ast.walk(ast.parse(cell.code)):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("check")))):
                        named = [word.value for word in node.keywords if word.arg in SIDES]
                        sides = [ast.dump(side) for side in [*node.args[:2], *named]]
                        if len(set(sides)) < len(sides):
                            yield cell.line + node.lineno - 1


def unchecked(code: str) -> Iterator[tuple[int, str]]:
    """The lines where a public function gives its own parameter to one of the ENTRANCES."""
    for function in ast.walk(ast.parse(code)):
        if not isinstance(function, ast.FunctionDef) or re.match("_(?!_)", function.name):
            continue
        given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        for node in ast.walk(function):
            match node:
                case ast.Call(ast.Attribute(ast.Name(package), entrance), [ast.Name(name), *_]):
                    if name in given and entrance in ENTRANCES.get(package, ()):
                        yield node.lineno, f"{package}.{entrance} takes {name} unchecked"


def lint_theory(root: Path = ROOT / "lib" / "runproofs") -> list[str]:
    """One line for each `unchecked` array in the theory."""
    return [
        f"{os.path.relpath(path, ROOT)}:{line}: {what}: use arguments.array or _tensors.tensor"
        for path in sorted(root.rglob("[!_]*.py"))
        if path.relative_to(root).parts[0].removesuffix(".py") in THEORY
        for line, what in unchecked(path.read_text("utf-8"))
    ]


def pages_in(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*.md")) if ".ipynb_checkpoints" not in p.parts]


def lint(pages: list[Path], width: int = WIDTHS["book"], fix: bool = False) -> list[str]:
    """One line per fault in the cells of the pages; with fix, of those that ruff cannot correct."""
    if not pages:  # ruff would take every file of the project
        sys.exit("There is no page.")
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        where = Path(temporary).resolve()
        notebooks = {where / f"{k}.ipynb": page for k, page in enumerate(pages)}
        texts = {page: page.read_text("utf-8") for page in pages}
        for notebook, page in notebooks.items():
            notebook.write_text(as_notebook(texts[page]), "utf-8")
        for item in json.loads(ruff(*CHECK, *["--fix"] * fix, "--output-format=json", *notebooks)):
            page, place = notebooks[Path(item["filename"])], item["location"]
            line = cells(texts[page])[item["cell"] - 1].line + place["row"] - 1
            found.append((page, line, f"{place['column']}: {item['code']} {item['message']}"))
        ruff(*FORMAT, f"--line-length={width}", *notebooks)
        for notebook, page in notebooks.items():
            for line in with_themselves(texts[page]):
                found.append((page, line, " the row compares an expression with itself"))
            better = [
                "".join(c["source"]) for c in json.loads(notebook.read_text("utf-8"))["cells"]
            ]
            if fix:
                text = with_code(texts[page], [code + "\n" * bool(code) for code in better])
                if text != texts[page]:
                    page.write_text(text, "utf-8")
                continue
            for cell, code in zip(cells(texts[page]), better, strict=True):
                if cell.code.removesuffix("\n") != code:
                    found.append((page, cell.line, " the cell is not formatted; --fix formats it"))
    return [f"{os.path.relpath(page, ROOT)}:{line}:{text}" for page, line, text in sorted(found)]


def lint_docstrings() -> int:
    """Print what numpydoc finds, with the settings in pyproject.toml; 1 if it finds a fault."""
    modules = [str(p.relative_to(ROOT)) for p in sorted((ROOT / "lib/runproofs").rglob("*.py"))]
    return subprocess.run([sys.executable, "-m", "numpydoc", "lint", *modules], cwd=ROOT).returncode


def main(arguments: list[str]) -> int:
    """Lint all cells, the theory's arguments and the docstrings; 1 if something is wrong."""
    parser = argparse.ArgumentParser("python -m booktools lint", description=main.__doc__)
    parser.add_argument("--fix", action="store_true", help="correct what ruff can")
    fix = parser.parse_args(arguments).fix
    found = lint_theory()
    for folder, width in WIDTHS.items():
        found += lint(pages_in(ROOT / folder), width, fix)
    print("\n".join(found), end="\n" * bool(found), flush=True)
    return int(bool(found)) | lint_docstrings()
