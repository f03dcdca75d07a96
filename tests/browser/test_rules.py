"""Each rule of browse.py bites: a page with one fault draws that complaint and no other."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from booktools.browser import chromium
from browser import browse

MATHJAX = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
TYPESET = '<script defer src="mathjax/tex-chtml.js"></script>'


def formula(tex):
    return rf'<span class="math">\({tex}\)</span>'


ICON = '<meta charset="utf-8"><link rel="icon" href="data:,">'
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HALF = r"\frac{1}{2} \text{ if } x > 0"
WIDE = '<div class="wide" style="width: 600px">wide</div>'


def drawn(style):
    """A picture that a cell draws, on a page of the book."""
    image = f'<img src="{PIXEL}" alt="a curve" style="{style}">'
    return f'<article class="bd-article"><p class="cell_output">{image}</p></article>'


@pytest.fixture
def complaints(context, tmp_path):
    """Build a site from the bodies of its pages and return what is said of page.html."""
    (tmp_path / "mathjax").symlink_to(MATHJAX)

    def found(body, **others):
        for name, content in {"page": body, **others}.items():
            html = f"<!DOCTYPE html><title>{name}</title>{ICON}<body>{content}</body>"
            (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
        with browse.serve(tmp_path) as home:
            return browse.complaints(context, tmp_path, home, "page.html")

    return found


def test_faultless_page(complaints):
    body = f"""
        {TYPESET} <h1 id="start">Title</h1> <p>It costs $5 and $6.</p> <pre>echo $HOME $$ \\(</pre>
        {formula(HALF)}
        <img src="{PIXEL}" alt="one pixel">
        <a href="#start">a</a> <a href="#">b</a> <a href="other.html#%CE%B8">c</a>
        <a href="https://example.org/unvisited">d</a> <a href="mailto:a@example.org">e</a>
        <div style="overflow-x: auto">{WIDE}</div>
        {drawn("--least: 300px; width: 300px")}
        <div style="visibility: hidden; height: 0; overflow: hidden">{WIDE}</div>
        <script>console.log("a remark"); console.warn("a warning")</script>
    """
    assert complaints(body, other='<p id="θ">here</p>') == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            '<img src="https://example.org/x.png" alt="x">',
            "request that leaves the site: https://example.org/x.png",
        ),
        (
            '<link rel="stylesheet" href="http://192.0.2.1/x.css">',
            "request that leaves the site: http://192.0.2.1/x.css",
        ),
        (
            "<style>@import url(https://example.org/x.css)</style>",
            "request that leaves the site: https://example.org/x.css",
        ),
        ('<script src="missing.js"></script>', "failed request: missing.js"),
        (
            f'{"<p>long</p>" * 500}<img src="missing.png" alt="x" loading="lazy">',
            "failed request: missing.png",
        ),
        ("<script>console.error('a mishap')</script>", "console error: a mishap"),
        (
            "<script>throw new Error('a slip')</script>",
            "page error: a slip",
        ),
        (
            "<script>Promise.reject(new Error('a broken promise'))</script>",
            "page error: a broken promise",
        ),
        (
            TYPESET + formula(r"\frac{1}"),
            r"unrendered math: \frac{1} (Missing argument for \frac)",
        ),
        (
            TYPESET + formula(r"\nosuchcommand x"),
            r"unrendered math: \nosuchcommand x (unknown command \nosuchcommand)",
        ),
        ("<math><merror>bad</merror></math>", "unrendered math: bad (error)"),
        (formula("x"), r"unrendered math: \(x\) (not typeset)"),
        ("<p>where $x$ is</p>", "unrendered math: where $x$ is (TeX in the text)"),
        (
            "<script>const promise = Promise.reject('no font'); promise.catch(() => {});"
            "window.MathJax = {startup: {promise}}</script>",
            "MathJax failed: no font",
        ),
        (
            '<a href="gone.html">to a page</a>',
            "broken link: 'to a page' -> gone.html (no such file)",
        ),
        (
            '<a href="page.html#gone">to a place</a>',
            "broken link: 'to a place' -> page.html#gone (no such anchor)",
        ),
        (
            '<meta http-equiv="refresh" content="0; url=gone.html">',
            "broken link: 'redirect' -> gone.html (no such file)",
        ),
        (
            '<a href="file:///home/me/x.html">to my disk</a>',
            "broken link: 'to my disk' -> file:///home/me/x.html (leaves the site)",
        ),
        (f'<img src="{PIXEL}">', f"image without alt text: {PIXEL[:80]}"),
        (f'<img src="{PIXEL}" alt=" ">', f"image without alt text: {PIXEL[:80]}"),
        (
            f'<img src="{PIXEL}" alt="_images/a.png">',
            "image whose alt text is a path: _images/a.png",
        ),
        (
            WIDE,
            'overflow: 608 px wide on a screen of 390 px: <div.wide> "wide"',
        ),
        (
            f"<details>{WIDE}</details>",
            'overflow: 608 px wide on a screen of 390 px: <div.wide> "wide"',
        ),
        (
            '<p id="narrow" style="width: 100px; white-space: nowrap"><span></span>'
            '<b style="display: inline-block; width: 500px"></b></p>',
            'overflow: 508 px wide on a screen of 390 px: <b> ""',
        ),
        (
            drawn("--least: 300px; width: 290px"),
            'text below 7 px in a picture: "a curve"',
        ),
        (drawn("width: 300px"), 'text below 7 px in a picture: "a curve"'),
    ],
)
def test_one_fault(complaints, body, complaint):
    assert complaints(body) == [complaint]


def test_link_to_the_top_of_the_host_leaves_the_site(complaints):
    (found,) = complaints('<a href="/page.html">up</a>')
    assert found.startswith("broken link: 'up' -> http://127.0.0.1:")
    assert found.endswith("/page.html (leaves the site)")


def test_anchor_in_another_page(complaints):
    body = '<a href="other.html#there">a</a> <a href="other.html#gone">b</a>'
    assert complaints(body, other='<p id="there">here</p>') == [
        "broken link: 'b' -> other.html#gone (no such anchor)"
    ]


def test_what_works_only_from_a_server(complaints):
    body = "<script>fetch('other.html').catch(() => console.error('no data'))</script>"
    found = complaints(body, other="data")
    assert "opened as a file: console error: no data" in found
    assert all(what.startswith("opened as a file: ") for what in found)


def test_formula_sticking_out_is_named_by_its_source(complaints):
    (found,) = complaints(TYPESET + formula("+".join(["x"] * 40)))
    assert found.startswith("overflow: ")
    assert found.endswith(': formula "' + "+".join(["x"] * 40) + '"')


def test_formulas_that_never_finish(complaints, monkeypatch):
    monkeypatch.setattr(browse, "PATIENCE", 0.5)
    body = "<script>window.MathJax = {startup: {promise: new Promise(() => {})}}</script>"
    assert complaints(body) == ["MathJax did not finish in 0.5 s"]


def test_every_complaint_about_a_page_is_listed(complaints):
    body = f"<script>console.error('a mishap')</script>{WIDE}<img src='gone.png'>"
    assert sorted(complaints(body)) == [
        "console error: a mishap",
        "failed request: gone.png",
        "image without alt text: gone.png",
        'overflow: 608 px wide on a screen of 390 px: <div.wide> "wide"',
    ]


def test_pages_are_found_and_templates_are_not(tmp_path):
    for name in ("index.html", "book/a.html", "_static/template.html", "book/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert browse.page_names(tmp_path) == ["book/a.html", "index.html"]


def test_browser_is_chosen_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert chromium() is None
    (tmp_path / "google-chrome").touch(mode=0o755)
    (tmp_path / "mine").touch(mode=0o755)
    assert chromium() == str(tmp_path / "google-chrome")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "mine"))
    assert chromium() == str(tmp_path / "mine")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "gone"))
    assert chromium() is None
