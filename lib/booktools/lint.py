"""Style of the code cells of the book and of the course: ruff's rules, its format; --fix mends.

And no row of a card compares an expression with itself.

Ruff knows notebooks: it sorts the imports of a cell by themselves, looks for their uses on the
whole page, and lets the last line of a cell be its output. So each page becomes one for a moment.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runproofs.book.pages import cells, with_code

ROOT = Path(__file__).resolve().parents[2]
# Imports stand where they are first needed, and white space at the end of a cell is ours.
CHECK = ["check", "--extend-ignore", "E402,W391"]
FORMAT = ["format", "--config", "format.skip-magic-trailing-comma = true"]
SIDES = {"expected", "upper", "other", "target", "right", "bound"}  # second sides of a row
WIDTHS = {
    "book": 88,  # what fits beside the table of contents
    "coursework": 100,  # an assignment is a notebook, and has the window to itself
    "tests": 88,  # the pages of the small book
}


def ruff(arguments: list[str], notebooks: Iterable[Path]) -> str:
    """What ruff prints about the notebooks, with the settings of the library."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        *arguments,
        "--config",
        "pyproject.toml",
        *notebooks,
    ]
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


def with_cells_of(notebook: str, page: str) -> str:
    """The page with the cells of the notebook in place of its own."""
    sources = ("".join(cell["source"]) for cell in json.loads(notebook)["cells"])
    return with_code(page, (code + "\n" * bool(code) for code in sources))


def first_lines(page: str) -> list[int]:
    """For each cell the number of its first line of code on the page."""
    return [cell.line for cell in cells(page)]


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


@contextmanager
def notebooks_of(folder: Path) -> Iterator[dict[Path, Path]]:
    """The pages of the folder by their notebooks, which exist for the time of the block."""
    pages = [path for path in folder.rglob("*.md") if ".ipynb_checkpoints" not in path.parts]
    if not pages:  # ruff would take every file of the project
        sys.exit(f"There is no page in {folder}.")
    with tempfile.TemporaryDirectory() as temporary:
        where = Path(temporary).resolve()
        notebooks = {where / f"{k}.ipynb": page for k, page in enumerate(sorted(pages))}
        for notebook, page in notebooks.items():
            notebook.write_text(as_notebook(page.read_text("utf-8")), "utf-8")
        yield notebooks


def mend(folder: Path, width: int = WIDTHS["book"]) -> None:
    """Mend the cells of the pages in a folder and format them, in `width` columns, as ruff can."""
    with notebooks_of(folder) as notebooks:
        ruff([*CHECK, "--fix", "--exit-zero"], notebooks)
        ruff([*FORMAT, f"--line-length={width}"], notebooks)
        for notebook, path in notebooks.items():
            page = path.read_text("utf-8")
            better = with_cells_of(notebook.read_text("utf-8"), page)
            if better != page:
                path.write_text(better, "utf-8")


def lint(folder: Path, width: int = WIDTHS["book"]) -> list[str]:
    """What is wrong with the cells of the pages in a folder, one line each."""
    found = []
    with notebooks_of(folder) as notebooks:
        for item in json.loads(ruff([*CHECK, "--output-format=json"], notebooks)):
            path, place = notebooks[Path(item["filename"])], item["location"]
            line = first_lines(path.read_text("utf-8"))[item["cell"] - 1] + place["row"] - 1
            found.append((path, line, f"{place['column']}: {item['code']} {item['message']}"))
        for path in notebooks.values():
            for line in with_themselves(path.read_text("utf-8")):
                found.append((path, line, " the row compares an expression with itself"))
        ruff([*FORMAT, f"--line-length={width}"], notebooks)
        for notebook, path in notebooks.items():
            page = path.read_text("utf-8")
            before, after = as_notebook(page), notebook.read_text("utf-8")
            pairs = zip(json.loads(before)["cells"], json.loads(after)["cells"], strict=True)
            for line, (cell, better) in zip(first_lines(page), pairs, strict=True):
                if cell["source"] != "".join(better["source"]):
                    found.append((path, line, " the cell is not formatted; --fix formats it"))
    return [f"{os.path.relpath(path, ROOT)}:{line}:{text}" for path, line, text in sorted(found)]


if __name__ == "__main__":
    if "--fix" in sys.argv[1:]:
        for folder, width in WIDTHS.items():
            mend(ROOT / folder, width)
    found = [line for folder, width in WIDTHS.items() for line in lint(ROOT / folder, width)]
    sys.exit("\n".join(found) or 0)
