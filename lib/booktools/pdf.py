"""The book on paper: `make pdf` prints the built pages with Chromium, and joins them.

Chromium prints each page as a reader's browser would: proofs and solutions open, the code of checks
left out (book.css, book.js). Then the sheets get numbers and running titles, the book contents and
an outline, and links from page to page lead to a sheet of the book.
"""

import argparse
import html
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag

from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link
from pypdf.generic import Fit
from sphinx_external_toc.parsing import parse_toc_yaml

from . import ROOT
from .browser import launched

LEFT_OUT = ("book/back/map", "book/back/library")  # made for a screen
PAPER = {"format": "A4", "print_background": True}
MARGIN = dict.fromkeys(("top", "bottom", "left", "right"), "20mm")
SCALE = 0.78  # of the letters on a screen
STILL = """() => { for (const image of document.images) image.loading = "eager";
  return Promise.all([window.typesetFormulas?.(), document.fonts.ready,
    ...[...document.images].map((image) => image.decode().catch(() => {}))]).then(() => true); }"""
STYLE = "#jb-print-toc { display: none } a { text-decoration: none !important }"
# Chromium names a place of a page if a link of the same page leads to it.
NAME = """(ids) => { for (const id of ids) if (document.getElementById(id)) {
  const link = document.createElement("a");
  link.href = "#" + id; link.textContent = "."; link.style = "position: absolute; opacity: 0";
  document.querySelector("article.bd-article").append(link); } }"""
# References to other pages get the numbers of their sheets.
REFER = """([here, numbers]) => { for (const link of document.querySelectorAll(%s)) {
  const page = link.href.split("#")[0], place = decodeURIComponent(link.href);
  if (page === here || !(page in numbers) || link.closest(".claim-card, .toctree-wrapper"))
    continue;
  const number = document.createElement("small");
  number.textContent = ` (p. ${numbers[place] ?? numbers[page]})`;
  link.after(number); } }""" % (LINK := '"article.bd-article a[href]:not(svg a)"')
TITLE = """() => { const title = document.querySelector("article.bd-article h1").cloneNode(true);
  title.querySelectorAll(".headerlink").forEach((e) => e.remove());
  return title.innerText.trim(); }"""
LINKS = f"() => [...document.querySelectorAll({LINK})].map((a) => a.href)"
CONTENTS = """<style>body { font: 11pt/1.5 serif } h1 { margin: 7cm 0 1cm; text-align: center }
div { text-align: center; break-after: page } p { display: flex; margin: 0 }
p.part { margin-top: 1em; font-weight: bold } p.deep { margin-left: 1.5em }
i { flex: 1; border-bottom: 1px dotted #999; margin: 0 .5em .4em }</style>"""
COVER = """<h1>Proofs You Can Run</h1><div>The book on paper. On the screen its pages can be changed
and run, and the code of the checks, left out here, opens at a click.</div><h2>Contents</h2>"""
MARKS = """<style>@page { margin: 0 } body { margin: 0; font: 9pt serif; color: #555 }
section { height: 297mm; position: relative; break-after: page; overflow: hidden }
b, u { position: absolute; font-weight: normal; text-decoration: none } b { top: 9mm; left: 20mm }
u { top: 9mm; right: 20mm }</style>"""


class Page(NamedTuple):
    """A page of the table of contents: its name, its depth, and the part that it opens."""

    name: str
    deep: bool
    part: str


class Printed(NamedTuple):
    """A page on paper: its title, its sheets, and the number of the first one."""

    page: Page
    title: str
    sheets: PdfReader
    first: int


def pages(root: Path = ROOT) -> Iterator[Page]:
    """The pages of the book in order, without those made for a screen."""
    toc = parse_toc_yaml(root / "_toc.yml")

    def below(name, deep, part=""):
        if not name.startswith(LEFT_OUT):
            yield Page(name, deep, part)
            for tree in toc[name].subtrees:
                for k, child in enumerate(tree.items):
                    yield from below(
                        child, name != toc.root.docname, "" if k else tree.caption or ""
                    )

    return below(toc.root.docname, False)


def print_pages(browser, site: Path, contents: list[Page]) -> list[Printed]:
    """The pages as Chromium prints them, twice: the second time references have the numbers of
    sheets, for which the first one leaves room."""
    titles, targets, tab = {}, {}, browser.new_page()
    for page in contents:
        tab.goto((site / f"{page.name}.html").as_uri())
        titles[page] = tab.evaluate(TITLE)
        for address, place in map(urldefrag, tab.evaluate(LINKS)):
            targets.setdefault(address, set()).add(unquote(place))
    numbers: dict[str, int | str] = {
        (site / f"{page.name}.html").as_uri(): "000" for page in contents
    }
    for _ in range(2):
        printed, first = [], 1
        for page in contents:
            address = (site / f"{page.name}.html").as_uri()
            tab.goto(address)
            tab.add_style_tag(content=STYLE)
            tab.evaluate(STILL)
            tab.evaluate(REFER, [address, numbers])
            tab.evaluate(NAME, sorted(targets.get(address, ())))
            sheets = PdfReader(BytesIO(tab.pdf(**PAPER, margin=MARGIN, scale=SCALE)))
            printed.append(Printed(page, titles[page], sheets, first))
            first += len(sheets.pages)
        numbers = {address: k + 1 for address, (k, _) in places(printed, site).items()}
    return printed


def places(printed: list[Printed], site: Path) -> dict[str, tuple[int, Fit]]:
    """Where the book has each page, and each place that a link leads to: which sheet, from 0."""
    found = {}
    for page, _, sheets, first in printed:
        address = (site / f"{page.name}.html").as_uri()
        found[address] = first - 1, Fit.fit()
        for name, target in sheets.named_destinations.items():
            k = first - 1 + sheets.get_destination_page_number(target)
            found[f"{address}#{name.lstrip('/')}"] = k, Fit.xyz(top=target.top)
    return found


def print_html(browser, text: str, **options) -> PdfReader:
    """The sheets of a page made from this HTML."""
    tab = browser.new_page()
    tab.set_content(text)
    return PdfReader(BytesIO(tab.pdf(**PAPER, **options)))


def bound(browser, printed: list[Printed], site: Path) -> PdfWriter:
    """The book: cover, contents, and the pages with numbers, running titles, outline and links."""
    lines = [COVER]
    for page, title, _, first in printed:
        if page.part:
            lines.append(f'<p class="part">{html.escape(page.part)}</p>')
        deep = ' class="deep"' if page.deep else ""
        lines.append(f"<p{deep}>{html.escape(title)}<i></i>{first}</p>")
    contents = print_html(browser, CONTENTS + "".join(lines), margin=MARGIN)
    marks = print_html(
        browser,
        MARKS
        + "".join(
            f"<section><b>{html.escape(one.title)}</b><u>{one.first + k}</u></section>"
            for one in printed
            for k in range(len(one.sheets.pages))
        ),
    )
    book, before = PdfWriter(), len(contents.pages)
    lead = places(printed, site)
    for sheet in contents.pages:
        book.add_page(sheet)
    part = chapter = None
    for page, title, sheets, first in printed:
        for k, sheet in enumerate(sheets.pages):
            book.add_page(sheet).merge_page(marks.pages[first - 1 + k])
        if page.part:
            part = book.add_outline_item(page.part, before + first - 1)
        parent = chapter if page.deep else part
        entry = book.add_outline_item(title, before + first - 1, parent)
        chapter = chapter if page.deep else entry
    for k, sheet in enumerate(book.pages):
        for annotation in list(sheet.get("/Annots", [])):
            link = annotation.get_object()
            address = unquote(link.get("/A", {}).get("/URI", ""))
            if target := lead.get(address) or lead.get(urldefrag(address)[0]):
                sheet["/Annots"].remove(annotation)
                index, fit = target
                where = Link(rect=link["/Rect"], target_page_index=before + index, fit=fit)
                book.add_annotation(k, where)
    book.set_page_label(0, before - 1, style="/r")
    book.set_page_label(before, len(book.pages) - 1, style="/D")
    book.add_metadata({"/Title": "Proofs You Can Run"})
    return book


def main(arguments: list[str]) -> int:
    """Print the built book as _build/book.pdf."""
    argparse.ArgumentParser("python -m booktools pdf", description=main.__doc__).parse_args(
        arguments
    )
    root, site = ROOT, ROOT / "_build" / "html"
    with sync_playwright() as playwright, launched(playwright) as browser:
        book = bound(browser, print_pages(browser, site, list(pages(root))), site)
    for sheet in book.pages:
        sheet.compress_content_streams()
    book.write(root / "_build" / "book.pdf")
    print(f"The book on paper: _build/book.pdf, {len(book.pages)} sheets")
    return 0
