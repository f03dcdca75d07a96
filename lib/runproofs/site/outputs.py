"""What the pages print: when they run again, side by side, and where it is published."""

import hashlib
import os
import platform
import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import joblib
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.executors import load_executor
from sphinx.util import logging

from ..book.register import BOOK

SOURCES = (Path(__file__).parents[1], *(BOOK / name for name in ("claims", "sabotage", "results")))
THIS = Path(__file__).parent.name  # no page imports what builds the site
TRACKED = {".py", ".yml", ".json", ".npz"}  # what else lies there, an editor or a system put there
PACKAGES = ("matplotlib", "numpy", "pillow", "scikit-learn", "scipy", "sympy", "torch")
logger = logging.getLogger(__name__)


def fingerprint() -> str:
    """A digest of all that the output of a page depends on, besides its own cells."""
    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    digest = hashlib.sha256(repr((versions, os.environ.get("SCALE", "quick"))).encode())
    for folder in SOURCES:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if name.parts[0] == THIS and folder == SOURCES[0]:
                continue
            if path.suffix in TRACKED and not any(part.startswith(".") for part in name.parts):
                digest.update(f"{folder.name}/{name.as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def cache_folder(app) -> Path:
    """Where myst_nb keeps the executed pages."""
    return Path(app.config.nb_execution_cache_path or Path(app.outdir).parent / ".jupyter_cache")


def forget_stale_outputs(app, config):
    config.book_fingerprint = fingerprint()  # an "env" value: when it changes, pages are read again
    cache = cache_folder(app)
    stamp = cache / "fingerprint"
    if cache.exists() and not (
        stamp.exists() and stamp.read_text("utf-8") == config.book_fingerprint
    ):
        shutil.rmtree(cache)
    cache.mkdir(parents=True, exist_ok=True)
    stamp.write_text(config.book_fingerprint, "utf-8")
    forget_broken_outputs(get_cache(cache))


def forget_broken_outputs(cache):
    """Drop the records whose notebook is missing or damaged, so that these pages run again."""
    for record in cache.list_cache_records():
        try:
            cache.get_cache_bundle(record.pk)
        except Exception:  # whatever a damaged file makes the reader of notebooks say
            shutil.rmtree(cache.path / "executed" / record.hashkey, ignore_errors=True)
            NbCacheRecord.remove_record(record.pk, cache.db)


def run_side_by_side(app, env, docnames):
    """Run and cache the pages that will be read; Sphinx would run them one after another.

    A page that fails is not cached: Sphinx runs it again, and reports the error.
    """
    if app.config.nb_execution_mode != "cache":
        return
    paths = [str(env.doc2path(name)) for name in docnames]
    pages = [path for path in paths if "{code-cell}" in Path(path).read_text("utf-8")]
    folder, reader = cache_folder(app), {"name": "myst_nb_md", "type": "plugin"}
    for page in pages:
        get_cache(folder).add_nb_to_project(page, read_data=reader)

    def run(page):
        executor = load_executor("local-serial", get_cache(folder))
        executor.run_and_cache(filter_uris=[page], timeout=app.config.nb_execution_timeout)

    # The work is done by the kernels; here threads wait for them, and an interrupt is not lost.
    cores = joblib.cpu_count()  # those that a container grants, unlike os.cpu_count()
    logger.info("running the pages without stored output, %d at a time ...", cores)
    with ThreadPoolExecutor(cores) as threads:
        list(threads.map(run, pages))


def notebook_of(app, docname) -> Path:
    """Where myst_nb writes the notebook of a page."""
    return Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"


def publish_outputs(app, doctree):
    """Write the outputs into the notebook of the page that was read.

    myst_nb writes it as it was before it took the outputs from the cache.
    """
    path = notebook_of(app, app.env.docname)
    if app.config.nb_execution_mode != "cache" or not path.exists():
        return
    notebook = nbformat.read(path, as_version=4)
    if any(cell.cell_type == "code" for cell in notebook.cells):
        _, notebook = get_cache(cache_folder(app)).merge_match_into_notebook(notebook)
        nbformat.write(notebook, path)


def setup(app):
    app.add_config_value("book_fingerprint", "", "env", [str])
    app.connect("config-inited", forget_stale_outputs, 100)
    app.connect("env-before-read-docs", run_side_by_side)
    app.connect("doctree-read", publish_outputs)
