"""HTML that several parts of the site use: addresses, links, titles, tables, filters.

A directive made by `add_directive` writes its HTML when all pages are read, since only then it is
known where each claim stands.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from jinja2 import Environment, FileSystemLoader
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from runproofs.claims.registry import BOOK

LEDGER, ERRATA = "book/back/ledger", "book/back/errata"


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True
)


def render(template: str, **values) -> str:
    """HTML from a file in templates/; text is escaped."""
    return TEMPLATES.get_template(template).render(values)


@cache
def site() -> dict:
    """The settings of this book for the site (site.yaml)."""
    return yaml.safe_load((BOOK / "site.yaml").read_text("utf-8"))


def address(page: str, other: str, place: str = "", query: str = "") -> str:
    """The relative address of another page, or of a place on it."""
    return relative_uri(f"{page}.html", f"{other}.html") + query + (place and f"#{place}") or "#"


def link(href: str, text: str) -> str:
    return f'<a class="reference" href="{href}">{escape(text)}</a>'


def inline(text: str) -> str:
    r"""A title or a line of the register.

    >>> inline("at $x<1$ of `f`")
    'at <span class="math">\\(x&lt;1\\)</span> of <code>f</code>'
    """
    text = re.sub(r"\$([^$]+)\$", r'<span class="math">\\(\1\\)</span>', escape(text, quote=False))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def plain(text: str) -> str:
    r"""A title as plain text, with formulas without their markup.

    >>> plain(r"The $\ell_2$ path norm")
    'The ell _2 path norm'
    """
    return re.sub("[${}]", "", re.sub(r"\\([A-Za-z]+) ?", r"\1 ", text))


def table(head: Iterable[str], rows: Iterable[str], kind: str = "dataframe") -> str:
    """A table of these rows (`row`)."""
    cells = "".join(f"<th>{name}</th>" for name in head)
    return (
        f'<table class="{kind}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def row(*cells: object, attributes: str = "") -> str:
    return f"<tr{attributes}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def folded(kind: str, summary: str, body: str) -> str:
    return f'<details class="{kind}"><summary>{summary}</summary>{body}</details>'


def choice(name: str, label: str, every: str, options: Iterable | dict) -> str:
    """A filter that offers all, or one of these values, each with its label."""
    words = options if isinstance(options, dict) else {key: key for key in options}
    shown = "".join(
        f'<option value="{key}">{escape(text)}</option>'
        for key, text in {"": every, **words}.items()
    )
    return f'<select name="{name}" aria-label="{label}">{shown}</select>'


# HTML that needs all pages to be read -------------------------------------------------------------


class later(nodes.General, nodes.Element):
    """A placeholder for the HTML that WRITERS[node["writer"]] writes."""


WRITERS: dict[str, Callable] = {}


def add_directive(app, name: str, write: Callable, known: Collection[str] | None = None, kind=()):
    """A directive whose HTML is write(app, page, argument).

    known: the arguments that it may have, any if None; kind: classes of the HTML.
    """

    class Directive(SphinxDirective):
        optional_arguments = 1

        def run(self):
            argument = "".join(self.arguments)
            if known is not None and argument not in known:
                raise self.error(f"{name}: the register knows no {argument!r}.")
            return [later(writer=name, argument=argument, classes=[*kind])]

    WRITERS[name] = write
    app.add_directive(name, Directive)


def fill(app, doctree, page):
    for place in list(doctree.findall(later)):
        html = WRITERS[place["writer"]](app, page, place["argument"])
        place.replace_self(nodes.raw("", html, format="html", classes=place["classes"]))


def setup(app):
    app.add_node(later)
    app.connect("doctree-resolved", fill)
