"""What `make lab` opens: JupyterLab shows pages as plain notebooks, and runs them on copies."""

import hashlib
import os
import re
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import nbformat
import pytest

from booksite import lab_copies
from booksite.notebooks import FOR_LAB
from browser import browse

RAW = re.compile(r"\{[a-z:+-]+\}`|^[\s>]*:::|`{3}\s*\{", re.M)  # a role, a directive
CHAPTER = "Dropout in shallow linear networks"


def raw(notebook: Path) -> list[str]:
    """The roles and directives of MyST that a notebook shows as they are typed."""
    texts = [c.source for c in nbformat.read(notebook, 4).cells if c.cell_type == "markdown"]
    return [
        text[max(0, m.start() - 40) : m.end() + 40] for text in texts for m in RAW.finditer(text)
    ]


@pytest.fixture(scope="module")
def copies(pytestconfig, tmp_path_factory):
    """The notebooks that `make lab` would open, in a folder of their own."""
    folder = tmp_path_factory.mktemp("lab")
    lab_copies.renew(browse.site(pytestconfig).parent / FOR_LAB, folder)
    return folder


def test_no_copy_shows_raw_myst(copies, tmp_path):
    notebooks = sorted(copies.rglob("*.ipynb"))
    assert len(notebooks) > 80
    assert {str(path): found for path in notebooks if (found := raw(path))} == {}


def test_no_downloaded_notebook_shows_raw_myst(pytestconfig):
    html = browse.site(pytestconfig)
    notebooks = sorted((html / "_sources").rglob("*.ipynb"))
    assert len(notebooks) > 80
    assert {str(path): found for path in notebooks if (found := raw(path))} == {}


@pytest.mark.parametrize("text", ["see {ref}`a`", "> :::{prf:lemma} L", "```{exercise} E", ":::"])
def test_raw_myst_is_seen(tmp_path, text):
    cells = [nbformat.v4.new_markdown_cell(f"Words,\n{text}\nwords.")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert raw(tmp_path / "a.ipynb")


@contextmanager
def jupyterlab(folder: Path):
    """JupyterLab on a free port of 127.0.0.1, as `make lab` starts it but for the password."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", folder / "index.ipynb", "--no-browser"]
    command += ["--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", "--ServerApp.quit_button=False"]
    config = os.environ | {"JUPYTER_CONFIG_DIR": str(folder / ".config")}
    log = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=log, stderr=log, env=config)
    home = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{home}api/status").close()
                break
            except OSError:
                time.sleep(0.25)
        yield home
    finally:
        server.terminate()
        server.wait()


def digest(folder: Path) -> dict[Path, str]:
    files = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_from_the_first_notebook_to_a_card(context, pytestconfig, copies):
    """Open it, read it, click to a chapter, run its cells until a card is there."""
    # Not in the window: JupyterLab shows what is near, and the number stands far below.
    text = (copies / "index.ipynb").read_text("utf-8")
    assert re.search(r"\d{3} registered claims", text)
    book = pytestconfig.rootpath / "book"
    before = digest(book)
    with jupyterlab(copies) as home:
        page = context.new_page()
        page.set_viewport_size({"width": 1400, "height": 2400})
        page.goto(f"{home}lab/tree/index.ipynb")
        first = page.locator(".jp-NotebookPanel:visible")
        first.locator("h1", has_text="Proofs You Can Run").wait_for(timeout=90_000)
        assert not RAW.search(first.locator(".jp-Notebook").inner_text())
        first.locator("a:visible", has_text=CHAPTER).first.click()
        chapter = page.locator(".jp-NotebookPanel:visible")
        chapter.locator("h1", has_text=CHAPTER).wait_for(timeout=60_000)
        assert not RAW.search(chapter.locator(".jp-Notebook").inner_text())
        chapter.locator("h1").first.click()
        card = chapter.locator(".claim-card").first
        for _ in range(40):  # as a reader does: from cell to cell, which also scrolls
            page.keyboard.press("Shift+Enter")
            page.wait_for_timeout(1000)
            if card.count() and card.is_visible():
                break
        assert "must fail, and does" in card.inner_text()
        rows = card.locator("li").all_inner_texts()
        assert len(rows) > 1
        assert [row for row in rows if not re.fullmatch(r"[✓✗] \S.* · \S.*", row, re.S)] == []
        assert chapter.locator(".jp-OutputArea-output[data-mime-type*='stderr']").count() == 0
        page.keyboard.press("Control+s")
        page.wait_for_timeout(2000)
        page.close()
    assert digest(book) == before
