"""`python -m runproofs.site`: the pages as notebooks to open, change and run, in `_build/lab`.

They are copies: what a reader does to them changes no page. Each is renewed when its page changes,
until the reader has changed it, too; then it stays, and the terminal says so.

Sphinx makes them (the builder `notebooks`) and runs no page, but the one that prints numbers of its
cells in its text. So it takes a minute, and then seconds. Outputs are there where `make book` has
stored them.
"""

import hashlib
import json
import shutil
from pathlib import Path
from urllib.parse import urldefrag

import nbformat
from jupyter_book.sphinx import build_sphinx
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.readers import get_reader
from nbformat.v4 import new_notebook, new_output
from sphinx.builders import Builder

from .notebooks import is_elsewhere, plain
from .outputs import cache_folder, notebook_of

STORE = "_build/.jupyter_cache"  # of make book
PIXEL = (  # a picture without content
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Notebooks(Builder):
    """Every page as a notebook, whose links lead to the others; `book/a/b` becomes `a/b.ipynb`."""

    name = "notebooks"
    format = "html"  # what extensions resolve for it
    epilog = ""
    math_renderer_name = "mathjax"
    supported_image_types = ("image/png", "image/svg+xml", "image/jpeg")

    def get_target_uri(self, docname, typ=None):
        return f"{docname.removeprefix('book/')}.ipynb"

    def get_outdated_docs(self):
        for docname in self.env.found_docs:
            source, target = Path(self.env.doc2path(docname)), self.path(docname)
            if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
                yield docname

    def path(self, docname: str) -> Path:
        return Path(self.outdir, self.get_target_uri(docname))

    def prepare_writing(self, docnames):
        Path(self.outdir, "_static").mkdir(exist_ok=True)  # extensions write there when it is over

    def write_doc(self, docname, doctree):
        path = notebook_of(self.app, docname)
        executed = nbformat.read(path, as_version=4) if path.exists() else new_notebook()
        self.path(docname).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(plain(self.app, docname, doctree, inside, executed), self.path(docname))


def inside(href: str) -> str | None:
    """Links lead from notebook to notebook; Jupyter knows no places inside of them."""
    if is_elsewhere(href):
        return href
    return urldefrag(href).url.replace(".html", ".ipynb") or None


def stored_or_stub(app, env, docnames):
    """Give each page that will be read its stored outputs; where there are none, a stub.

    A stub holds an empty picture for each figure, so that it has its number and its caption. A page
    that prints numbers of its cells gets none, and runs.
    """
    if app.builder.name != Notebooks.name:
        return
    store, mine = get_cache(Path(app.srcdir, STORE)), get_cache(cache_folder(app))
    read = get_reader({"name": "myst_nb_md", "type": "plugin"})
    for path in map(env.doc2path, docnames):
        text = Path(path).read_text("utf-8")
        if "{code-cell}" not in text:
            continue
        notebook = read(path)
        data = {}
        try:
            data = store.match_cache_notebook(notebook).data
            _, notebook = store.merge_match_into_notebook(notebook)
        except KeyError:
            if "{glue:" in text:
                continue
            for cell in notebook.cells:
                if "figure" in cell.metadata.get("mystnb", {}):
                    cell.outputs = [
                        new_output("display_data", {"image/png": PIXEL}, metadata={"stub": True})
                    ]
        bundle = CacheBundleIn(notebook, path, data=data)
        mine.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def convert(root: Path, folder: Path) -> None:
    """Write the notebooks of the book at `root` into a folder; raises RuntimeError if it fails."""
    built, before = root / "_build" / ".complete", folder.parent
    if built.exists() and before.exists() and before.stat().st_ctime < built.stat().st_ctime:
        shutil.rmtree(before)  # now there are outputs
    shown = ("text/html", "image/svg+xml", "image/png", "text/plain")
    settings = {
        "latex_individualpages": False,
        "nb_execution_cache_path": str(before / "cache"),
        "nb_mime_priority_overrides": [(Notebooks.name, kind, k) for k, kind in enumerate(shown)],
    }
    ended = build_sphinx(
        root, folder, path_config=root / "_config.yml", confoverrides=settings,
        builder=Notebooks.name, doctreedir=before / "doctrees", noconfig=True, quiet=True,
    )  # fmt: skip
    if ended != 0:
        raise RuntimeError(f"Sphinx could not convert the pages: {ended}.")


def text_of(content: bytes) -> str:
    """A digest of the cells as they are typed: to open a notebook and to run it changes nothing."""
    cells = json.loads(content)["cells"]
    typed = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return hashlib.sha256(repr(typed).encode()).hexdigest()


def renew(made: Path, copies: Path) -> tuple[list[str], list[str]]:
    """Copy what was made; returns what is new or renewed, and what is kept as a reader left it."""
    ledger = copies / ".made.json"  # of each copy the digests, of all and of its text, when made
    known = json.loads(ledger.read_text("utf-8")) if ledger.exists() else {}
    renewed, kept = [], []
    for path in sorted(made.rglob("*.ipynb")):
        name, content = path.relative_to(made).as_posix(), path.read_bytes()
        copy, now = copies / name, [hashlib.sha256(content).hexdigest(), text_of(content)]
        before = known.get(name)
        if copy.exists():
            if before == now:
                continue
            if before is None or text_of(copy.read_bytes()) != before[1]:
                kept.append(name)
                continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        known[name] = now
        renewed.append(name)
    ledger.write_text(json.dumps(known, indent=0), "utf-8")
    return renewed, kept


def main(root: Path = Path()) -> None:
    root = root.resolve()
    made, copies = root / "_build" / ".lab" / "notebooks", root / "_build" / "lab"
    convert(root, made)
    copies.mkdir(parents=True, exist_ok=True)
    renewed, kept = renew(made, copies)
    print(
        f"_build/lab: {len(renewed)} notebooks are new. They are yours: no page changes with them."
    )
    if kept:
        print(
            f"Kept as you changed them, though their pages have changed since: {', '.join(kept)}. "
            "Delete or rename one to get it anew."
        )


def setup(app):
    app.add_builder(Notebooks)
    app.connect("env-before-read-docs", stored_or_stub, 400)  # before the others run
