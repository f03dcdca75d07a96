"""A small book in which everything stands once, built as the book is, reads as it did before.

small_book/ has its pages, its register and its course; small_book/expected has what the site and
the notebooks say of them, without digests, sizes and times. A difference is either a mistake or
meant; `pytest tests/booksite/test_small_book.py --regen-all` writes down what is meant.
"""

import json
import re
import zipfile

import pytest

from helpers import books

EXPECTED = books.SMALL / "expected"
HEAD = re.compile(r'<(?:meta|script)\b[^>]+="[^>]*>|<link rel="canonical"[^>]*>')
BUTTON = re.compile(r'<a href="[^>]*dropdown-item"[^>]*>')
ARTICLE = re.compile(r"<article\b.*?</article>", re.S)
CODE = re.compile(r"(?<=<pre>).*?(?=</pre>)", re.S)
UNSTEADY = {  # digests, what is drawn, times, the release
    r"\?(?:digest|v)=\w+": "",
    r"[\w+/]{80,}={0,2}": "BASE64",
    r"\b[0-9a-f]{32,64}\b": "DIGEST",
    r'(?<= height=")\d+(?=" alt=)': "1",  # Matplotlib 3.11 draws text a pixel lower
    r"cells run in \d+ s": "cells run in 1 s",
    r"runproofs-[\d.]+\d": "runproofs-0",
}


def built(folder):
    """Builds the small book in a folder; what readers get there, by names of files."""
    books.copy_small(folder)
    told = books.jupyter_book(folder)
    assert told.returncode == 0, told.stdout + told.stderr
    (folder / "html.log").write_text(told.stdout, "utf-8")
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
    for name in ("html/sitemap.xml", "html/404.html"):
        yield name, (build / name).read_text("utf-8")


def steady(text):
    """A tag a line, without what differs between machines."""
    for pattern, word in UNSTEADY.items():
        text = re.sub(pattern, word, text)
    lines = re.sub(r"\s*(?=<(?!/))", "\n", text).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.strip())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def forged(folder):
    """The first build, of a book in which a row is false: what it says, and what is written."""
    books.copy_small(folder)
    coins = folder / "book" / "ch2" / "coins.md"
    coins.write_text(coins.read_text("utf-8").replace("1 - q, 0.75)", "1 - q, 0.76)"), "utf-8")
    told = books.jupyter_book(folder, "-q")
    html = folder / "_build" / "html" / "book"
    paths = {path.relative_to(html).as_posix(): path for path in html.rglob("*.html")}
    return told, {name: path.read_text("utf-8") for name, path in paths.items()}


@pytest.fixture(scope="module")
def book(folder, forged):
    """The second build, of the book as it is."""
    return built(folder)


def test_a_false_row_stands_where_it_is_and_costs_nobody_the_book(forged):
    told, pages = forged
    row = "On this machine this row is false: a quarter"
    measured = "(demanded: equal; measured: 1 of 1 differ: 0.75 is not 0.76)"
    line = f"Coins, and what they cost (book/ch2/coins), (2.1): {row} {measured}"
    assert told.returncode == 1
    assert told.stdout.splitlines().count(line) == 1
    assert "Arithmetic: " in told.stdout
    assert "Traceback" not in told.stdout + told.stderr
    assert "without encryption" not in told.stderr
    card = re.search(
        r'<div class="claim-card[^>]*check-thesis-equation-2-1".*?</div>', pages["ch2/coins.html"]
    )
    assert card[0].count(row) == 1
    assert card[0].count('<li class="failed">') == 1
    assert pages["ch2/coins.html"].count('class="claim-card') == 3  # as below it, once each
    notice = pages["ch2/coins.html"].partition("Red on this build")[2].partition("</div>")[0]
    assert f"{row} {measured}" in notice
    assert pages["back/ledger.html"].count("red on this build") == 1
    assert pages["back/ledger/ch2.html"].count(">red on this build<") == 1
    assert "The check: 1 row is red on this build, 1 must fail<" in pages["back/ledger/ch2.html"]
    assert re.findall(r'class="red" [^>]*><title>(.*?):', pages["back/map.html"]) == ["(2.1)"]
    assert pages["back/map.html"].count("<td>red on this build</td>") == 1


def test_the_next_build_runs_the_page_again_that_failed_and_no_other(book, folder):
    told = (folder / "html.log").read_text("utf-8")
    assert "Running 1 page, " in told
    assert "[1/1] Coins, and what they cost, " in told


def test_the_notebooks_of_the_course_are_offered_without_answers_and_checks(book, folder):
    with zipfile.ZipFile(folder / "_build" / "html" / "_static" / "assignments.zip") as archive:
        assert archive.namelist() == ["coins.ipynb"]
        cells = json.loads(archive.read("coins.ipynb"))["cells"]
    source = (folder / "coursework" / "coins" / "coins.md").read_text("utf-8")
    assert "p = 1 - q" in source
    text = "\n".join("".join(cell["source"]) for cell in cells)
    assert "def price(q):\n    ..." in text
    assert not re.search(r"grader|SOLUTION|p = 1 - q", text)
    assert 'href="../../_static/assignments.zip"' in book["book/course/index.html"]


def test_it_reads_as_it_did(book, file_regression, subtests):
    for name, text in book.items():
        with subtests.test(name):
            file_regression.check(text, encoding="utf-8", fullpath=EXPECTED / f"{name}.txt")
    known = {path.relative_to(EXPECTED).as_posix() for path in EXPECTED.rglob("*.txt")}
    assert known == {f"{name}.txt" for name in book}
