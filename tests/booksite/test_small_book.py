"""A small book in which everything stands once, built as the book is, reads as it did before.

small_book/ has its pages, its register and its course; small_book/expected what the site, the
notebooks and the paper say of them, but for digests, sizes and times. Other words there are either
a mistake or meant; what is meant is written down by `make small-book`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).with_name("small_book")
EXPECTED = SMALL / "expected"
REPOSITORY = "https://github.com/an-owner/a-book"
OURS = ("book/_static", "book/_templates", "coursework/tools", "lib")  # what it borrows
HEAD = re.compile(r'<(?:meta|script)\b[^>]+="[^>]*>|<link rel="canonical"[^>]*>')
BUTTON = re.compile(r'<a href="[^>]*dropdown-item"[^>]*>')
ARTICLE = re.compile(r"<article\b.*?</article>", re.S)
CODE = re.compile(r"(?<=<pre>).*?(?=</pre>)", re.S)
UNSTEADY = {  # digests, what is drawn, times, the release
    r"\?(?:digest|v)=\w+": "",
    r"[\w+/]{80,}={0,2}": "BASE64",
    r"\b[0-9a-f]{32,64}\b|(?<=_anim_img)[0-9a-f]+|(?<=\banim)[0-9a-f]{32}": "DIGEST",
    r"cells run in \d+ s": "cells run in 1 s",
    r"runproofs-[\d.]+\d": "runproofs-0",
    r"(?<=\\release\{)[^}]*": "0",
}


def built(folder):
    """Builds the small book in a folder; what readers get there, by names of files."""
    old = shutil.ignore_patterns("__pycache__", "expected")
    shutil.copytree(SMALL, folder, dirs_exist_ok=True, ignore=old)
    for part in OURS:
        shutil.copytree(ROOT / part, folder / part, ignore=old)
    for part in ("LICENSE", "README.md", "pyproject.toml", "book/claims/schema.json"):
        shutil.copy(ROOT / part, folder / part)
    config = (ROOT / "_config.yml").read_text("utf-8")
    config, found = re.subn(r"(?m)^  url: .*$", f"  url: {REPOSITORY}", config)
    assert found == 1
    (folder / "_config.yml").write_text(config, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(folder / "lib"), "OMP_NUM_THREADS": "1"}
    tool = str(Path(sys.executable).with_name("jupyter-book"))
    for builder in ("html", "latex"):
        told = subprocess.run(
            [tool, "build", "--builder", builder, "."],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert told.returncode == 0, told.stdout + told.stderr
    return {name: steady(text) for name, text in written(folder / "_build")}


def written(build):
    """Names and texts of what a reader opens; of a page what is not the theme's."""
    html = build / "html"
    for path in sorted(html.glob("book/**/*.html")):
        page = path.read_text("utf-8")
        head, _, body = page.partition("</head>")
        parts = [*HEAD.findall(head), *BUTTON.findall(body), *ARTICLE.findall(body)]
        text = CODE.sub(lambda code: re.sub("<[^>]*>", "", code[0]), "\n".join(parts))
        yield path.relative_to(html).as_posix(), text
    for folder in (html / "_sources", build / ".notebooks"):
        for path in sorted(folder.rglob("*.ipynb")):
            cells = json.loads(path.read_text("utf-8"))["cells"]
            told = (f"-- {cell['cell_type']}\n{''.join(cell['source'])}" for cell in cells)
            yield path.relative_to(build).as_posix(), "\n".join(told)
    for name in ("html/sitemap.xml", "html/404.html", "latex/book.tex"):
        yield name, (build / name).read_text("utf-8").rpartition(r"\begin{document}")[2]
    for path in sorted((html / "_static" / "players").glob("*.js")):
        yield "player.js", path.read_text("utf-8")


def steady(text):
    """A tag a line, without what differs between machines."""
    for pattern, word in UNSTEADY.items():
        text = re.sub(pattern, word, text)
    lines = re.sub(r"\s*(?=<(?!/))", "\n", text).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.strip())


def expected():
    found = sorted(EXPECTED.rglob("*.txt"))
    return {path.relative_to(EXPECTED).as_posix().removesuffix(".txt"): path for path in found}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return built(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize("name", expected())
def test_it_reads_as_it_did(book, name):
    assert book[name] == expected()[name].read_text("utf-8")


def test_nothing_else_is_in_it(book):
    assert book.keys() == expected().keys()


def test_what_is_steady_is_what_is_written():
    """A digest and a time are left out, and no word with them."""
    page = 'a.js?v=1f <a href="b">cells run in 7 s</a>' + "0123456789abcdef" * 4
    assert steady(page) == 'a.js\n<a href="b">cells run in 1 s</a>DIGEST\n'


if __name__ == "__main__":
    shutil.rmtree(EXPECTED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in built(Path(folder)).items():
            path = EXPECTED / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
