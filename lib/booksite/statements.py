"""Which statement box of a page states which claim, and the card that its check displayed.

A box is named as in its source: "Lemma 2, (2.2) and (2.8): the explicit regularizer". So it states
the claims whose number stands in front of its colon, first those that its own page checks, then
those of its folder. What has no number, or one that says only a section, belongs to the claim that
is checked after it and shares most words with its title. A box that is left, such as a lemma of
ours on the way to a theorem, goes with the next check of its page. One for which there is none is a
warning.

Each box links to the ledger. The ledger (ledger.py) and the search (search.py) lead back.
"""

import re
from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx.util import logging

from runproofs.book.register import checks_in, register

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
COMMON = {"section", "unnumbered", "the", "of", "a", "an", "and", "is", "in", "with"}
logger = logging.getLogger(__name__)


class Box(NamedTuple):
    """A statement on a page; `label` is its anchor."""

    document: str
    label: str
    title: str


class Card(NamedTuple):
    """What the check of a claim displayed when its page ran."""

    document: str
    html: str
    text: str


# What stands on the pages -----------------------------------------------------------------------


def collect(app, doctree):
    """Keep the boxes and the checks of a page, in their order, and its cards."""
    document, found, cards = app.env.docname, [], {}
    for node in doctree.findall(nodes.Element):
        if "realtype" in node:  # of sphinx_proof, but a proof
            found.append(Box(document, node["ids"][0], node["title"]))
        elif node.get("nb_element") == "cell_code":
            code = next(node.findall(nodes.literal_block)).astext()
            found += checks_in(f"```{{code-cell}}\n{code}\n```\n")
        elif node.get("nb_element") == "mime_bundle":
            texts = {part["mime_type"]: part.astext() for part in node.children}
            if card := re.search(r'ledger\.html#claim-([\w-]+)"', texts.get("text/html", "")):
                cards.setdefault(card[1], []).append(
                    Card(document, texts["text/html"], texts.get("text/plain", ""))
                )
    pages(app.env)[document] = (found, cards)


def pages(env) -> dict[str, tuple[list, dict]]:
    if not hasattr(env, "statements"):
        env.statements = {}
    return env.statements


def forget(app, env, document):
    pages(env).pop(document, None)


def merge(app, env, documents, other):
    pages(env).update({name: pages(other)[name] for name in documents if name in pages(other)})


# Which box states which claim -------------------------------------------------------------------


def head(title: str) -> str:
    return title.split(": ")[0]


def numbers(title: str) -> set[str]:
    """The numbers of statements before the colon of a title, or in the number of a claim.

    >>> sorted(numbers("Lemmas 2, 3 and (2.8): see Theorem 1")), numbers("Section 4, after (2.8)")
    (['(2.8)', 'Lemma 2', 'Lemma 3'], set())
    """
    if title.startswith(UNNUMBERED):
        return set()
    named = NUMBERED.findall(head(title))
    found = {f"{name} {one}" for name, ones in named for one in re.findall(ONE, ones)}
    return found | {f"({''.join(one)})" for one in EQUATION.findall(head(title))}


def words(text: str) -> set[str]:
    """What can tell a title from others; endings are cut off, so "flow" is near to "flows"."""
    return {word[:6] for word in re.findall(r"[^\W_]+", text.lower()) if word not in COMMON}


class Places:
    """Where each claim is stated, checked and shown.

    stated: the box of a claim, for those that have one; beside: for the label of any other box the
    claim that is checked next; checked: the page of each block; cards: by the anchor of the ledger.
    """

    def __init__(self, pages: dict[str, tuple[list, dict]]):
        self.stated: dict[str, Box] = {}
        self.beside: dict[str, str] = {}
        self.cards: dict[str, list[Card]] = {}
        self.boxes, checks, folders = {}, {}, {}
        for name in sorted(pages):
            items, cards = pages[name]
            self.boxes[name] = [item for item in items if isinstance(item, Box)]
            checks[name] = [item for item in items if item in register()]
            folders.setdefault(name.rpartition("/")[0], []).extend(self.boxes[name])
            for slug, found in cards.items():
                self.cards.setdefault(slug, []).extend(found)
        for name, boxes in self.boxes.items():
            self._by_number(checks[name], boxes)
        for name in self.boxes:
            left = [claim for claim in checks[name] if claim not in self.stated]
            numbered = [claim for claim in left if numbers(register()[claim].number)]
            self._by_number(numbered, folders[name.rpartition("/")[0]])
        for name in self.boxes:
            self._by_words(pages[name][0])
        self._told([box for boxes in self.boxes.values() for box in boxes])
        self.claims: dict[str, list[str]] = {}
        for claim, box in self.stated.items():
            self.claims.setdefault(box.label, []).append(claim)
        for name in self.boxes:
            self._beside(pages[name][0])

    def _by_number(self, claims: list[str], boxes: list[Box]):
        for claim in claims:
            number = register()[claim].number

            def likeness(box, number=number):
                return head(box.title) == number, len(numbers(number) & numbers(box.title))

            best = max(boxes, key=likeness, default=None)
            if best and any(likeness(best)):
                self.stated[claim] = best

    def _by_words(self, items: list):
        taken, waiting = set(self.stated.values()), []
        for item in items:
            if isinstance(item, Box):
                waiting += [item] * (item not in taken)
            elif item in register() and item not in self.stated and waiting:
                about = words(f"{register()[item].number} {register()[item].title}")
                best = max(waiting, key=lambda box: len(about & words(box.title)))
                if about & words(best.title):
                    self.stated[item] = best
                    waiting = waiting[waiting.index(best) + 1 :]

    def _told(self, boxes: list[Box]):
        """What is told has the box that says its number and states nothing else."""
        taken = set(self.stated.values())
        by_head = {head(box.title): box for box in boxes if box not in taken}
        for entry in register().values():
            if entry.status == "told" and entry.number in by_head:
                self.stated[entry.id] = by_head[entry.number]

    def _beside(self, items: list):
        following = None
        for item in reversed(items):
            if not isinstance(item, Box):
                following = item
            elif item.label not in self.claims and following in register():
                self.beside[item.label] = following

    def of(self, box: Box) -> list[str]:
        """The claims to which the box leads: those that it states, or the one that needs it."""
        if box.label in self.claims:
            return self.claims[box.label]
        return [self.beside[box.label]] if box.label in self.beside else []


def places(app) -> Places:
    """Those of this build."""
    if not hasattr(app, "places"):
        app.places = Places(pages(app.env))
    return app.places


def find(app, env):
    app.places = Places(pages(env))
    for boxes in app.places.boxes.values():
        for box in boxes:
            if not app.places.of(box):
                message = "no claim is stated in %r, and none is checked after it"
                logger.warning(message, box.title, location=box.document)


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
        entries = [register()[claim] for claim in places(app).of(boxes[node["ids"][0]])]
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
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-check-consistency", find)
    app.connect("doctree-resolved", link_boxes)
