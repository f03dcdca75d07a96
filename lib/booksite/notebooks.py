"""Pages as plain notebooks, which need nothing of the book but the library (markdown, cells here).

Statements and proofs are Markdown that every notebook shows; the code that the page folds is folded
(in JupyterLab and VS Code). What a page offers for download says first what it is and what to
install: the library's wheel, which lies on the site, under `_static`. `make lab` opens copies (lab)
of the same notebooks, whose links lead from one to the other.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell, new_notebook

from .markdown import Cell, Writer, links_of_html
from .outputs import notebook_of
from .publishing import site_address
from .wheel import wheel

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FOR_LAB = ".notebooks"  # the folder beside the site that `make lab` copies
Link = Callable[[str], str | None]


# The notebook of a page -------------------------------------------------------------------------


def plain(app, docname: str, doctree: nodes.document, link: Link, executed):
    """The notebook of a resolved page; `executed` is the one that holds its code and outputs."""
    numbers = app.env.toc_fignumbers.get(docname, {})

    def number(kind: str, identifier: str) -> str:
        return ".".join(map(str, numbers.get(kind, {}).get(identifier, ())))

    code = {k: cell for k, cell in enumerate(executed.cells) if is_for_reader(cell)}
    waiting, text, cells = sorted(code), [], []

    def code_cells(last: int, folded: bool, hidden: bool):
        """The cells up to one of the page; those before it stand on no page, and are folded."""
        while waiting and waiting[0] <= last:
            k = waiting.pop(0)
            yield code_cell(code[k], folded or k < last, hidden, link)

    def close_text():
        if text:
            cells.append(new_markdown_cell("\n\n".join(text)))
            text.clear()

    for part in Writer(link, number).flow(doctree):
        if isinstance(part, Cell):
            close_text()
            cells += code_cells(part.index, part.folded, part.hidden)
        elif part:
            text.append(part)
    close_text()
    cells += code_cells(max(code, default=-1) + 1, True, False)
    return with_names(new_notebook(cells=cells, metadata=KERNEL))


def is_for_reader(cell) -> bool:
    """Not code that fills numbers into the text: here they stand in it, without myst_nb."""
    return cell.cell_type == "code" and "from myst_nb import glue" not in cell.source


def code_cell(cell, folded: bool, hidden: bool, link: Link):
    cell = nbformat.from_dict(cell)
    cell.metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
    if folded:
        cell.metadata["jupyter"] = {"source_hidden": True}
        if hidden:
            cell.metadata["jupyter"]["outputs_hidden"] = True
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html")
        if html:
            output.data["text/html"] = links_of_html(html, link)
    return nbformat.from_dict(cell)


def with_names(notebook):
    """Cells named by their place, so that the same page makes the same file."""
    for k, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{k}"
    return notebook


def is_elsewhere(href: str) -> bool:
    return bool(urlsplit(href).scheme)


# For make lab -----------------------------------------------------------------------------------


def inside(href: str) -> str | None:
    """Links lead from notebook to notebook; Jupyter knows no places inside of them."""
    if is_elsewhere(href):
        return href
    return urldefrag(href).url.replace(".html", ".ipynb") or None


def write_for_lab(app, pagename, templatename, context, doctree):
    """Every page as a notebook, also one without code; `book/a/b` becomes `a/b.ipynb`."""
    if doctree is None:  # a page that Sphinx makes
        return
    executed = notebook_of(app, pagename)
    executed = nbformat.read(executed, as_version=4) if executed.exists() else new_notebook()
    target = Path(app.outdir).parent / FOR_LAB / f"{pagename.removeprefix('book/')}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(plain(app, pagename, doctree, inside, executed), target)


# For download -----------------------------------------------------------------------------------


def online(app, docname: str) -> Link:
    """Links lead to the site, if its address is known; without one they are plain text."""
    home = site_address(app.config)

    def link(href: str) -> str | None:
        if is_elsewhere(href) or href.startswith("#"):
            return href if is_elsewhere(href) else None
        return home and urljoin(home + app.builder.get_target_uri(docname), href)

    return link


def head(app, docname: str) -> str:
    """The first cell: what this is, and what to install.

    Never the library's bare name: on a package index it may be a stranger's.
    """
    home, title = site_address(app.config), app.env.titles[docname].astext()
    page = f" ([read it there]({home}{app.builder.get_target_uri(docname)}))" if home else ""
    what = "This is the first page" if title == app.config.html_title else f"*{title}* is a page"
    lines = [f"{what} of the book **{app.config.html_title}**{page}."]
    if packed := wheel(app):
        what = f"{home}_static/{packed.name}" if home else packed.name
        lines += [
            "Its cells run in Python 3.11.5 or newer, once the library of the book is installed:",
            f"```\npip install {what}\n```",
            "(in a cell: `%pip install ...`).",
        ]
        if not home:
            lines[-1] = (
                "(in a cell: `%pip install ...`). The page offers this file for download beside "
                "the notebook; it lies under `_static` on the site. Name it with its folder if "
                "it is not in yours."
            )
    return "\n\n".join(lines)


def offer(app, pagename, templatename, context, doctree):
    """The theme shows a download button for `ipynb_source`, which needs a launch button else."""
    executed = notebook_of(app, pagename)
    if "kernelspec" not in app.env.metadata.get(pagename, {}) or not executed.exists():
        return
    notebook = nbformat.read(executed, as_version=4)
    notebook = plain(app, pagename, doctree, online(app, pagename), notebook)
    notebook.cells.insert(0, new_markdown_cell(head(app, pagename)))
    target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(with_names(notebook), target)
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
    app.connect("html-page-context", write_for_lab)
    app.connect("html-page-context", offer)
    app.connect("html-page-context", offer_library, 502)  # after the theme's buttons
