"""How to cite the book and each of its pages: CITATION.cff as BibTeX and as citation meta tags.

Reference managers read the tags. A book without CITATION.cff gets neither.
"""

import re
from functools import cache
from html import escape, unescape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


@cache
def book(folder: str) -> dict:
    """The fields of CITATION.cff; {} if there is no such file."""
    path = Path(folder, "CITATION.cff")
    return yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}


def bibtex(config, folder: str, title: str = "", page: str = "", url: str = "") -> str:
    """The BibTeX entry of the book or of one page; without url if the address is unknown."""
    said = book(folder)
    key = "-".join(re.findall(r"\w+", said["title"].partition(":")[0].lower()))
    authors = " and ".join(f"{{{author['name']}}}" for author in said["authors"])
    whole = f"{{{said['title']}}}"
    fields = {
        "author": authors,
        "title": f"{{{title}}}" if title else whole,
        "booktitle": title and whole,
        "year": config.copyright,
        "edition": f"Version {said['version']}",
        "url": url,
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{'inbook' if title else 'book'}{{{key}{page and f'-{page}'},\n{lines}}}"


class Cite(SphinxDirective):
    """The BibTeX entry of the book, with a copy button."""

    def run(self):
        entry = bibtex(self.config, self.env.srcdir, url=self.config.html_baseurl)
        return [nodes.literal_block(entry, entry, language="bibtex")]


def below(app, pagename, templatename, context, doctree):
    """Put the tags into the head of a page, and its BibTeX entry, folded, below its text."""
    if doctree is None or not book(app.srcdir):
        return
    said, url = book(app.srcdir), context.get("pageurl") or ""
    title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
    tags = {"title": title, "inbook_title": said["title"]}
    tags |= {"publication_date": app.config.copyright, "public_url": url}
    tags = [*tags.items(), *(("author", author["name"]) for author in said["authors"])]
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n<meta name="citation_{name}" content="{escape(value)}" />'
        for name, value in tags
        if value
    )
    entry = bibtex(app.config, app.srcdir, title, pagename.rpartition("/")[2], url)
    context["body"] += (
        '\n<details class="cite"><summary>Cite this page</summary>'
        f'<div class="highlight"><pre>{escape(entry)}</pre></div></details>\n'
    )


def setup(app):
    app.add_directive("cite-book", Cite)
    app.connect("html-page-context", below)
