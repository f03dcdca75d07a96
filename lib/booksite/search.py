"""The search finds a statement by its number or its name, where it is stated.

Sphinx ranks a title of which the query is at least half. So each claim has short titles in the
index: its number, "Theorem 16" or "(2.14)"; what its source calls it, as in "Section 1.1.3, PGD";
and, if it is a definition, what it defines. They lead to the box of the claim, or to its card where
the text states it without a box, or to its entry in the ledger. search.js does the rest.
"""

import re
from itertools import chain

from sphinx.util import logging

from runproofs.book.register import Claim, register

from .ledger import chapter_page
from .statements import Box, numbers, places

NAMING = {"algorithm", "assumption", "definition"}
# What everybody looks for and no statement is called; the label of a section or a statement.
TERMS = {
    "nuclear norm": "sec:two-layer",
    "dropout": "sec:autoencoders",
    "adversarial training": "a0-algorithm-6",
    "matrix completion": "sec:completion",
    "notation": "sec:notation",
    "CIFAR": "sec:many-classes",
    "errata": "sec:errata",
    "erratum": "sec:errata",
    "how to run": "sec:run",
    "weight decay": "sec:weight-decay",
    "batch normalization": "sec:homogeneity",
    "beyond the thesis": "back:beyond",
    "nn.Dropout": "sec:your-code",
    "p = 0.5": "sec:your-code",
    "p=0.5": "sec:your-code",
    "p=.5": "sec:your-code",
    "dropout rate 0.5": "sec:your-code",
    "false theorem": "sec:errata",
    "wrong theorem": "sec:errata",
    "which theorem is false": "sec:errata",
    "run one page": "sec:run",
    "homework": "sec:assignments",
}
logger = logging.getLogger(__name__)


def names(entry: Claim, box: Box | None) -> set[str]:
    """The short titles of a claim; one about two others, "Lemma 18 / Theorem 16", has not theirs.

    >>> sorted(names(register()["thesis/lemma-11"], None))
    ['(5.1)', 'Equation (5.1)', 'Lemma 11']
    >>> sorted(names(register()["thesis/lemma-18-scope"], None))
    []
    >>> sorted(names(register()["thesis/algorithm-pgd"], None))
    ['PGD', 'Projected gradient attack']
    """
    found = set() if " / " in entry.number else numbers(entry.number)
    found |= {f"Equation {number}" for number in found if number.startswith("(")}
    if called := re.fullmatch(r"Section [\d.]+, (?:unnumbered \()?([^()]+)\)?", entry.number):
        found |= {called[1]} - {"unnumbered"}
    if entry.kind in NAMING:
        about = [entry.title, *(box.title.split(": ")[1:] if box else [])]
        found |= set(chain(*(re.split(", | and ", text) for text in about)))
    return {name.removeprefix("the ") for name in found if "$" not in name}


def anchor(app, entry: Claim) -> tuple[str, str]:
    """The document and the place in it where a claim is met."""
    if box := places(app).stated.get(entry.id):
        return box.document, box.label
    for card in places(app).cards.get(entry.slug, []):
        return card.document, f"check-{entry.slug}"
    return chapter_page(entry), f"claim-{entry.slug}"


def labeled(app) -> dict[str, tuple[str, str]]:
    """The places that have a label."""
    boxes = chain(*places(app).boxes.values())
    labels = app.env.get_domain("std").anonlabels
    return {**labels, **{box.label: (box.document, box.label) for box in boxes}}


def name_statements(app):
    """Just before the index is written: add the short titles."""
    indexer = getattr(app.builder, "indexer", None)
    if not indexer or not places(app).cards:
        return []
    wanted = [(name, anchor(app, entry)) for entry in register().values()
              for name in sorted(names(entry, places(app).stated.get(entry.id)))]  # fmt: skip
    labels = labeled(app)
    for term, label in TERMS.items():
        if label in labels:
            wanted.append((term, labels[label]))
        else:
            logger.warning("the search finds no %r: there is no label %r", term, label)
    for name, (document, place) in wanted:
        titles = indexer._all_titles.get(document)
        if titles is not None and (name, place) not in titles:
            titles.append((name, place))
    return []


def help_search(app, pagename, templatename, context, doctree):
    if pagename == "search":
        app.add_js_file("search.js", loading_method="defer")


def setup(app):
    app.connect("html-collect-pages", name_statements)
    app.connect("html-page-context", help_search)
