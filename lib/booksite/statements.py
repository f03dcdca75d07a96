"""Where each claim is stated and checked: the boxes of the pages, and the cards of the checks.

A box names the claims that it states, `:claim: thesis/lemma-2`; a step on the way to one that is
checked below says `:for: thesis/theorem-1`. Each box links to the ledger. The ledger (ledger.py)
and the search (search.py) lead back.
"""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx_proof.directive import ElementDirective

from runproofs.book.pages import boxes
from runproofs.book.register import register

from .back_matter import LEDGER, address

NAMES = (
    "Algorithm|Assumption|Claim|Corollary|Definition|Example|Figure|Footnote|Key Property"
    "|Lemma|Observation|Proposition|Remark|Table|Theorem"
)
ONE = r"(?:\d+-[\dIVX]+|[\dHS]\.[A-Z]\b|\d+(?!\.?\d)(?: \(\d\))?)"
NUMBERED = re.compile(rf"\b({NAMES})s? #?({ONE}(?:(?:, | and ){ONE})*)")
EQUATION = re.compile(
    r"\((\d\.\d+)\)|(?:eq\. |Equation |Display |with )\(?(\d(?:\.\d+)?)\b|^\((\d+)\)$"
)
UNNUMBERED = ("Section", "Chapter", "Footnote 2 of", "ICML", "Proof of", "proof of", "slide")


class Box(NamedTuple):
    """A statement on a page; `label` is its anchor."""

    document: str
    label: str
    title: str
    claims: tuple[str, ...]
    leads_to: str

    def leads(self) -> list[str]:
        """The claims to which the box leads: those that it states, or the one that needs it."""
        return [*self.claims] or [self.leads_to] * bool(self.leads_to)


class Card(NamedTuple):
    """What the check of a claim displayed when its page ran."""

    document: str
    html: str
    text: str


def numbers(title: str) -> set[str]:
    """The numbers of statements before the colon of a title, or in the number of a claim.

    >>> sorted(numbers("Lemmas 2, 3 and (2.8): see Theorem 1")), numbers("Section 4, after (2.8)")
    (['(2.8)', 'Lemma 2', 'Lemma 3'], set())
    """
    if title.startswith(UNNUMBERED):
        return set()
    head = title.split(": ")[0]
    named = NUMBERED.findall(head)
    found = {f"{name} {one}" for name, ones in named for one in re.findall(ONE, ones)}
    return found | {f"({''.join(one)})" for one in EQUATION.findall(head)}


# What stands on the pages -----------------------------------------------------------------------


def collect(app, doctree):
    """Keep the boxes of a page, in their order, and its cards."""
    document, cards = app.env.docname, {}
    for node in doctree.findall(nodes.Element):
        if node.get("nb_element") == "mime_bundle":
            texts = {part["mime_type"]: part.astext() for part in node.children}
            if card := re.search(r'ledger\.html#claim-([\w-]+)"', texts.get("text/html", "")):
                cards.setdefault(card[1], []).append(
                    Card(document, texts["text/html"], texts.get("text/plain", ""))
                )
    source = Path(app.env.doc2path(document)).read_text("utf-8")
    found = []
    for box in boxes(source):  # what they name and the register lacks is a warning (back_matter)
        claims = tuple(name for name in box.claims if name in register())
        leads_to = box.leads_to if box.leads_to in register() else ""
        found.append(Box(document, box.label, box.title, claims, leads_to))
    pages(app.env)[document] = (found, cards)


def pages(env) -> dict[str, tuple[list[Box], dict[str, list[Card]]]]:
    if not hasattr(env, "statements"):
        env.statements = {}
    return env.statements


def forget(app, env, document):
    pages(env).pop(document, None)


def merge(app, env, documents, other):
    pages(env).update({name: pages(other)[name] for name in documents if name in pages(other)})


class Places:
    """Where each claim is stated and shown.

    boxes: of each document; stated: the box of a claim, for those that have one; cards: by the
    anchor of the ledger.
    """

    def __init__(self, pages: dict[str, tuple[list[Box], dict[str, list[Card]]]]):
        self.boxes = {name: pages[name][0] for name in sorted(pages)}
        self.stated = {
            claim: box for found in self.boxes.values() for box in found for claim in box.claims
        }
        self.cards: dict[str, list[Card]] = {}
        for name in sorted(pages):
            for slug, found in pages[name][1].items():
                self.cards.setdefault(slug, []).extend(found)


def places(app) -> Places:
    """Those of this build."""
    if not hasattr(app, "places"):
        app.places = Places(pages(app.env))
    return app.places


# The links of the boxes -------------------------------------------------------------------------


def link_boxes(app, doctree, document):
    """On a built page each box says where its claims stand in the ledger."""
    if app.builder.name != "html":
        return
    boxes = {box.label: box for box in places(app).boxes.get(document, [])}
    ledger = address(document, LEDGER)
    for node in list(doctree.findall(nodes.Element)):
        if "realtype" not in node or node["ids"][0] not in boxes:
            continue
        entries = [register()[claim] for claim in boxes[node["ids"][0]].leads()]
        links = [
            f'<a class="reference" href="{ledger}#claim-{entry.slug}" '
            f'title="{escape(entry.name)} in the ledger: statement, check, how to break it">'
            f"{escape(entry.number) if len(entries) > 1 else 'ledger'}</a>"
            for entry in entries
        ]
        if links:
            link = f'<p class="in-ledger">{" ".join(links)}</p>'
            node.insert(1, nodes.raw("", link, format="html", classes=["in-ledger"]))


def setup(app):
    ElementDirective.option_spec |= {"claim": directives.unchanged, "for": directives.unchanged}
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", link_boxes)
