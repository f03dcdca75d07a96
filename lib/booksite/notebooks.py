"""Write pages as plain notebooks that need only the library.

markdown.py writes the text between the cells.

The first cell of a download says what the notebook is and what to install: the library's wheel,
which the site has under `_static`. `make lab` opens copies of the same notebooks, linked to each
other. Code that is folded on the page is folded in JupyterLab and VS Code.
"""

import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell, new_notebook

from .execution import notebook_of
from .markdown import Cell, Link, Writer, links_of_html
from .publishing import site_address

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
EXTRAS = "[torch,data]"  # of the library; some pages need neither, all together both
FOR_LAB = ".notebooks"  # the folder beside the site that `make lab` copies


def plain(app, docname: str, doctree: nodes.document, link: Link, executed, *first: str) -> dict:
    """The notebook of a resolved page; `executed` is the one that holds its code and outputs.

    first: what stands above, in Markdown.
    """
    numbers = app.env.toc_fignumbers.get(docname, {})

    def number(kind: str, identifier: str) -> str:
        return ".".join(map(str, numbers.get(kind, {}).get(identifier, ())))

    # not code that fills numbers into the text: here they stand in it, without myst_nb
    code = {
        k: cell
        for k, cell in enumerate(executed.cells)
        if cell.cell_type == "code" and "from myst_nb import glue" not in cell.source
    }
    waiting, text, cells = sorted(code), [], [new_markdown_cell(source) for source in first]
    end = Cell(max(code, default=-1) + 1, folded=True)
    for part in [*Writer(link, number).flow(doctree), end]:
        if isinstance(part, str):
            text += [part] * bool(part)
            continue
        if text:
            cells.append(new_markdown_cell("\n\n".join(text)))
            text = []
        while waiting and waiting[0] <= part.index:  # those before it stand on no page
            k = waiting.pop(0)
            cells.append(code_cell(code[k], part.folded or k < part.index, part.hidden, link))
    for k, cell in enumerate(cells):  # so that the same page makes the same file
        cell["id"] = f"cell-{k}"
    return new_notebook(cells=cells, metadata=KERNEL)


def code_cell(cell, folded: bool, hidden: bool, link: Link):
    cell = nbformat.from_dict(cell)
    cell.metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
    if folded:
        cell.metadata["jupyter"] = {"source_hidden": True} | (
            {"outputs_hidden": True} if hidden else {}
        )
    for output in cell.outputs:
        if html := output.get("data", {}).get("text/html"):
            output.data["text/html"] = links_of_html(html, link)
    return nbformat.from_dict(cell)


def write(notebook, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


def inside(href: str) -> str | None:
    """For `make lab`: from notebook to notebook; Jupyter knows no places inside of them."""
    if urlsplit(href).scheme:
        return href
    return urlsplit(href).path.replace(".html", ".ipynb") or None


def online(app, docname: str) -> Link:
    """For download: to the site, if its address is known; without one they are plain text."""
    home = site_address(app.config)

    def link(href: str) -> str | None:
        if urlsplit(href).scheme or href.startswith("#"):
            return href if urlsplit(href).scheme else None
        return home and urljoin(home + app.builder.get_target_uri(docname), href)

    return link


def wheel(app) -> Path | None:
    """The wheel on the site, if the book has a library of its own."""
    return next(Path(app.outdir, "_static").glob("runproofs-*.whl"), None)


def pack_library(app):
    """Put the wheel on the site and remove older ones; raises OSError if it cannot be built."""
    root, target = Path(app.srcdir), Path(app.outdir, "_static")
    if app.builder.name != "html" or not (root / "pyproject.toml").exists():
        return
    for old in target.glob("runproofs-*.whl"):
        old.unlink()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target.resolve()]
    packed = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    if packed.returncode:
        why = (packed.stderr or packed.stdout).strip().splitlines()[-1:]
        raise OSError(f"The library cannot be packed for the site: {''.join(why)}")


def head(app, docname: str) -> str:
    """The first cell of a download: what this is, and what to install.

    It never names the library alone: on a package index, that name may be a stranger's.
    """
    home, title = site_address(app.config), app.env.titles[docname].astext()
    page = f" ([read it there]({home}{app.builder.get_target_uri(docname)}))" if home else ""
    what = "This is the first page" if title == app.config.html_title else f"*{title}* is a page"
    lines = [f"{what} of the book **{app.config.html_title}**{page}."]
    if packed := wheel(app):
        wanted = f"{packed.name}{EXTRAS}"
        if home:
            wanted = f"runproofs{EXTRAS} @ {home}_static/{packed.name}"
        where = "." if home else (
            ". The page offers this file for download beside the notebook; it lies under `_static` "
            "on the site. Name it with its folder if it is not in yours."
        )  # fmt: skip
        lines += [
            "Its cells run in Python 3.11.5 or newer, once the library of the book is installed:",
            f'```\npip install "{wanted}"\n```',
            f"(in a cell: `%pip install ...`){where}",
        ]
    return "\n\n".join(lines)


def write_notebooks(app, pagename, templatename, context, doctree):
    """Every page for `make lab`, `book/a/b` as `a/b.ipynb`; one with cells for download, too.

    The theme shows a download button for `ipynb_source`, which needs a launch button else.
    """
    if doctree is None:  # a page that Sphinx makes
        return
    path, site = notebook_of(app, pagename), Path(app.outdir)
    executed = nbformat.read(path, as_version=4) if path.exists() else new_notebook()
    target = site.parent / FOR_LAB / f"{pagename.removeprefix('book/')}.ipynb"
    write(plain(app, pagename, doctree, inside, executed), target)
    if path.exists() and "kernelspec" in app.env.metadata.get(pagename, {}):
        first = head(app, pagename)
        notebook = plain(app, pagename, doctree, online(app, pagename), executed, first)
        write(notebook, site / "_sources" / f"{pagename}.ipynb")
        context["ipynb_source"] = f"{pagename}.ipynb"


def offer_library(app, pagename, templatename, context, doctree):
    """Beside the notebook, in the theme's menu of downloads: the library that it needs."""
    packed = wheel(app)
    for group in context.get("header_buttons", []) if "ipynb_source" in context else []:
        if group.get("label") == "download-buttons" and packed:
            place = 1 + [button["text"] for button in group["buttons"]].index(".ipynb")
            button = {"type": "link", "text": "library", "icon": "fas fa-box"}
            button |= {"url": context["pathto"](f"_static/{packed.name}", 1)}
            button |= {"tooltip": "Download the library that the notebook needs, for pip install"}
            group["buttons"].insert(place, button | {"label": "download-library-button"})


def setup(app):
    app.connect("builder-inited", pack_library)
    app.connect("html-page-context", write_notebooks)
    app.connect("html-page-context", offer_library, 502)  # after the theme's buttons
