"""Run the pages whose outputs are outdated, in parallel, and publish the outputs."""

import hashlib
import logging
import shutil
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import joblib
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.executors.utils import single_nb_execution
from jupyter_cache.readers import get_reader
from jupyter_client import KernelManager
from nbformat import NotebookNode
from nbformat.v4 import new_output

from runproofs.claims.registry import on_pages, register

from . import failures
from .cache_keys import keys
from .kernels import fork_kernels
from .page_info import running_time
from .progress import pages, tell, time_left, title

KEY = "key"  # a file beside the stored notebook; storing another notebook removes it
READER = {"name": "myst_nb_md", "type": "plugin"}
KernelManager.transport_encryption.default_value = "auto"  # otherwise each kernel prints a warning
logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # of nbclient, after a timeout


def cache_of(app):
    """The cache in which myst_nb keeps the executed pages."""
    folder = app.config.nb_execution_cache_path or Path(app.outdir).parent / ".jupyter_cache"
    return get_cache(folder)


def note_register(app, config):
    """Record the register as an "env" value: if it changes, all pages are read again."""
    config.book_register = hashlib.sha256(repr((register(), on_pages())).encode()).hexdigest()


def pages_are_outdated(app, env, added, changed, removed):
    """The pages whose keys (cache_keys) have changed since they were read."""
    before, env.book_keys = getattr(env, "book_keys", {}), {}
    if app.config.nb_execution_mode == "cache":
        env.book_keys = keys({name: Path(env.doc2path(name)) for name in env.found_docs})
    return {name for name, key in env.book_keys.items() if before.get(name) != key}


def stored(cache, path) -> tuple[NbCacheRecord, Path]:
    """The stored record of a page, and the file with its key; KeyError if nothing is stored."""
    record = cache.match_cache_notebook(get_reader(READER)(path))
    return record, cache.path / "executed" / record.hashkey / KEY


def is_fresh(cache, path: Path, key: str) -> bool:
    """Whether the stored output of a page has this key; if not, it is dropped.

    Damaged output is not fresh, nor is output without a key: its run was interrupted, or a file
    that it reaches was changed while it ran.
    """
    try:
        record, file = stored(cache, path)
    except KeyError:
        return False
    try:
        cache.get_cache_bundle(record.pk)
        fresh = file.read_text("utf-8") == key
    except Exception:  # whatever a damaged file makes the reader of notebooks say
        fresh = False
    if not fresh:
        shutil.rmtree(file.parent, ignore_errors=True)
        NbCacheRecord.remove_record(record.pk, cache.db)
    return fresh


def run_side_by_side(app, env, docnames):
    """Run and cache the outdated pages in parallel; Sphinx would run them one after another.

    A page that fails is cached for this build only: it gets no key, so it counts as outdated.

    Worker threads wait for kernels. Only this thread writes to the cache: while the cache looks for
    old entries, it can drop one that another thread is writing.
    """
    cache, env.book_failures, env.book_red = cache_of(app), {}, set()
    seconds = {record.uri: record.data.get("execution_seconds")
               for record in NbCacheRecord.records_all(cache.db)}  # fmt: skip
    paths = {name: Path(env.doc2path(name)) for name in docnames if name in env.book_keys}
    waiting = {name: seconds.get(str(path)) for name, path in paths.items()
               if not is_fresh(cache, path, env.book_keys[name])}  # fmt: skip
    if not waiting:
        return

    count, cores = len(waiting), joblib.cpu_count()  # those that a container grants
    tell(f"Running {pages(count)}, {cores} at a time.")
    if count > 2 * cores:  # for fewer pages a fork costs more than it saves
        fork_kernels()
    threads, timeout, ran = ThreadPoolExecutor(cores), app.config.nb_execution_timeout, []
    longest_first = sorted(waiting, key=lambda name: -(waiting[name] or float("inf")))
    runs = {threads.submit(run, paths[name], timeout): name for name in longest_first}
    try:
        for done in as_completed(runs):
            name, (notebook, took) = runs[done], done.result()
            path = paths[name]
            failed, red = failures.show(notebook)
            bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": took})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            if failed:
                env.book_failures[name] = failed
                env.book_red |= red
                del env.book_keys[name]
            elif keys({name: path})[name] == env.book_keys[name]:
                stored(cache, path)[1].write_text(env.book_keys[name], "utf-8")
            ran.append(took)
            del waiting[name]
            said = f"{title(path)}{', red' * bool(failed)}, {running_time(took)}"
            left = time_left([*waiting.values()], ran, cores)
            tell(f"[{len(ran)}/{count}] {said}{left}")
    finally:  # an interrupted build begins no further page
        threads.shutdown(cancel_futures=True)


def run(path: Path, timeout: int) -> tuple[NotebookNode, float]:
    """The executed page, errors included, and the seconds that it took.

    A cell that ends Python or takes too long ends the page.
    """
    notebook, begun, start = get_reader(READER)(path), [], time.monotonic()
    try:
        error = single_nb_execution(
            notebook, path.parent, timeout, allow_errors=True, shutdown_kernel="immediate",
            on_cell_execute=lambda cell, cell_index: begun.append(cell),
        ).err  # fmt: skip
    except Exception as caught:
        error = caught
    if error:
        told = f"{error}".partition("\n")[0].rstrip(".") + "; the cells below did not run"
        begun += [cell for cell in notebook.cells if cell.cell_type == "code"][: not begun]
        begun[-1].outputs.append(new_output("error", ename="Stopped", evalue=told))
    return notebook, time.monotonic() - start


def notebook_of(app, docname) -> Path:
    """The file to which myst_nb writes the notebook of a page."""
    return Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"


def publish_outputs(app, doctree):
    """Write the outputs into the notebook of the page, which myst_nb writes without them."""
    path = notebook_of(app, app.env.docname)
    if app.config.nb_execution_mode != "cache" or not path.exists():
        return
    notebook = nbformat.read(path, as_version=4)
    if any(cell.cell_type == "code" for cell in notebook.cells):
        _, notebook = cache_of(app).merge_match_into_notebook(notebook)
        nbformat.write(notebook, path)


def setup(app):
    app.add_config_value("book_register", "", "env", [str])
    app.connect("config-inited", note_register)
    app.connect("env-get-outdated", pages_are_outdated)
    app.connect("env-before-read-docs", run_side_by_side)
    app.connect("doctree-read", publish_outputs)
