"""python published.py PAGES NOTEBOOKS: is every page with code published, with outputs and cards?

nbval compares nothing where the reference cell has not run, hence this check before it.
"""

import sys
from pathlib import Path

import nbformat

from runproofs.book.register import checks_in, register


def unpublished(pages: Path, notebooks: Path) -> list[str]:
    """A sentence for each page with code whose notebook is missing, or has a cell that never ran.

    Nor is a notebook without a single output a page of this book, nor one in which a claim that
    the page checks has no card.
    """
    found = []
    for page in sorted(pages.rglob("*.md")):
        name = page.relative_to(pages).with_suffix(".ipynb")
        if "{code-cell}" not in page.read_text("utf-8") or ".ipynb_checkpoints" in name.parts:
            continue
        if not (notebooks / name).exists():
            found.append(f"{name} is missing.")
            continue
        cells = nbformat.read(notebooks / name, as_version=4).cells
        code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
        if not_run := sum(cell.execution_count is None for cell in code):
            found.append(f"{name}: {not_run} of {len(code)} cells have not run.")
        elif not any(cell.outputs for cell in code):
            found.append(f"{name} has no outputs.")
        shown = "".join(str(cell.outputs) for cell in code)
        found += [
            f"{name}: {claim} has no card."
            for claim in checks_in(page.read_text("utf-8"))
            if f'"check-{register()[claim].slug}"' not in shown
        ]
    return found


if __name__ == "__main__":
    sys.exit("\n".join(unpublished(*map(Path, sys.argv[1:]))) or 0)
