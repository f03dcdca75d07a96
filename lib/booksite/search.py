"""Let the search find statements by number or name, on the page that states them.

Sphinx ranks a title if the query is at least half of it. So each claim has short titles in the
index: its number, its name in the source, and the term that it defines. search.js does the rest.
"""

import re

from sphinx.util import logging

from runproofs.claims.registry import Claim, register, stated

from .markup import site
from .statement_index import anchor, numbers, places

NAMING = {"algorithm", "assumption", "definition"}
logger = logging.getLogger(__name__)


def names(entry: Claim) -> set[str]:
    """The short titles of a claim; "Lemma 18 / Theorem 16" gets neither of the two numbers.

    >>> sorted(names(register()["thesis/lemma-11"]))
    ['(5.1)', 'Equation (5.1)', 'Lemma 11']
    >>> sorted(names(register()["thesis/lemma-18-scope"]))
    []
    """
    found = set() if " / " in entry.number else numbers(entry.number)
    found |= {f"Equation {number}" for number in found if number.startswith("(")}
    if called := re.fullmatch(r"Section [\d.]+, (?:unnumbered \()?([^()]+)\)?", entry.number):
        found |= {called[1]} - {"unnumbered"}
    if entry.kind in NAMING:
        box = stated().get(entry.id)
        about = [entry.title, *(box.title.split(": ")[1:] if box else [])]
        found |= {name for text in about for name in re.split(", | and ", text)}
    return {name.removeprefix("the ") for name in found if "$" not in name}


def name_statements(app):
    """Add the short titles just before the index is written."""
    indexer, known = getattr(app.builder, "indexer", None), places(app)
    if not indexer or not known.cards:
        return []
    wanted = [(name, *anchor(app, entry)) for entry in register().values()
              for name in sorted(names(entry))]  # fmt: skip
    labels = {**app.env.get_domain("std").anonlabels}
    labels |= {label: (page, label) for page, label in known.boxes}
    for label, terms in site()["search"].items():
        if label in labels:
            wanted += [(term, *labels[label]) for term in terms]
        else:
            logger.warning("the search finds no %s: there is no label %r", terms, label)
    for name, page, place in wanted:
        titles = indexer._all_titles.get(page)
        if titles is not None and (name, place) not in titles:
            titles.append((name, place))
    return []


def help_search(app, pagename, templatename, context, doctree):
    if pagename == "search":
        app.add_js_file("search.js", loading_method="defer")


def setup(app):
    app.connect("html-collect-pages", name_statements)
    app.connect("html-page-context", help_search)
