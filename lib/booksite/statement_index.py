"""Where each claim is stated and checked: the boxes of the pages, and the cards of the checks.

A box names the claims that it states, `:claim: thesis/lemma-2`; a step toward a claim that is
checked below has `:for: thesis/theorem-1`. Each box links to the ledger, and the ledger and the
search link back. The boxes and cards of a page are in its metadata, which Sphinx drops with the
page.
"""

import re
from html import escape
from typing import NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx_proof.directive import ElementDirective

from runproofs.claims.pages import Box
from runproofs.claims.registry import Claim, on_pages, register

from .markup import LEDGER, address, link

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


class Card(NamedTuple):
    """The card that a check displayed when its page ran."""

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


def collect(app, doctree):
    """Store the cards of a page, each with the anchor of its claim in the ledger."""
    page, cards = app.env.docname, []
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") == "mime_bundle":
            texts = {part["mime_type"]: part.astext() for part in bundle.children}
            html = texts.get("text/html", "")
            slug = re.search(r'ledger\.html#claim-([\w-]+)"', html)
            if slug and "claim-card" in html:  # excludes tables that link to the ledger
                cards.append((slug[1], Card(page, html, texts.get("text/plain", ""))))
    app.env.metadata[page]["cards"] = cards


class Places:
    """Where each claim is stated and shown.

    boxes: by page and label; stated: the page and the label of each claim that has a box; cards: by
    the anchor of the ledger.
    """

    def __init__(self, metadata: dict[str, dict]):
        self.boxes = {(f"book/{page}", box.label): box
                      for page, found in on_pages().items() for box in found}  # fmt: skip
        self.stated = {claim: at for at, box in self.boxes.items() for claim in box.claims}
        self.cards: dict[str, list[Card]] = {}
        for page in sorted(metadata):
            for slug, card in metadata[page].get("cards", ()):
                self.cards.setdefault(slug, []).append(card)


def places(app) -> Places:
    """The statements and cards of this build."""
    if not hasattr(app, "places"):
        app.places = Places(app.env.metadata)
    return app.places


def anchor(app, entry: Claim) -> tuple[str, str]:
    """The page and place at which a reader meets a claim: its box, its card, or the ledger."""
    if entry.id in places(app).stated:
        return places(app).stated[entry.id]
    for card in places(app).cards.get(entry.slug, []):
        return card.document, f"check-{entry.slug}"
    return f"{LEDGER}/{entry.chapter}", f"claim-{entry.slug}"


def address_of(app, page: str, entry: Claim) -> str:
    return address(page, *anchor(app, entry))


def link_to(app, page: str, entry: Claim, text: str = "") -> str:
    """An HTML link to the `anchor` of a claim."""
    return link(address_of(app, page, entry), text or entry.name)


def boxes_of(app, doctree, page: str) -> list[tuple[nodes.Element, Box]]:
    """The boxes of a page, each with its node."""
    found = [node for node in doctree.findall(nodes.Element) if "realtype" in node]
    known = places(app).boxes
    return [
        (node, known[page, node["ids"][0]]) for node in found if (page, node["ids"][0]) in known
    ]


def link_boxes(app, doctree, page):
    """Link each box to its claims in the ledger."""
    ledger = address(page, LEDGER)
    for node, box in boxes_of(app, doctree, page):
        leads = box.claims or [box.leads_to]  # an id that the register lacks is a warning
        entries = [register()[claim] for claim in leads if claim in register()]
        links = [
            f'<a class="reference" href="{ledger}#claim-{entry.slug}" '
            f'title="{escape(entry.name)} in the ledger: statement, check, how to break it">'
            f"{escape(entry.number) if len(entries) > 1 else 'ledger'}</a>"
            for entry in entries
        ]
        if links:
            html = f'<p class="in-ledger">{" ".join(links)}</p>'
            node.insert(1, nodes.raw("", html, format="html", classes=["in-ledger"]))


def setup(app):
    ElementDirective.option_spec |= {"claim": directives.unchanged, "for": directives.unchanged}
    app.connect("doctree-read", collect)
    app.connect("doctree-resolved", link_boxes)
