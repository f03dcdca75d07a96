"""The directive `ledger`: every registered claim on a line, or one part of the register in full.

The page "Ledger" has the lines, and filters (book.js). Each leads to the entry on the page of its
chapter: the statement, the box that states it, and what its check displayed when the page ran, with
the demand of each row (a tolerance) in place of the measured value, which differs between machines.

A card of a stored output links to the first of these pages, whichever has the entry: on built pages
such links are led on.
"""

import re
from collections import Counter
from html import escape

from docutils import nodes

from runproofs.book.register import CHAPTERS, STATUSES, Claim, register

from .back_matter import ERRATA, FORMULA, LEDGER, FromRegister, address
from .failures import RED
from .statements import Card, places


class evidence(nodes.Element):
    """Stands for what the pages say about a claim, until all pages are read."""


def chapter_page(entry: Claim) -> str:
    return f"{LEDGER}/{entry.chapter}"


def has_slip(entry: Claim) -> bool:
    return bool(entry.erratum) and entry.erratum.grade != "extraction artifact"


class Ledger(FromRegister):
    """Without argument the lines of all claims, by chapter; with a chapter its entries, folded."""

    optional_arguments = 1

    def run(self):
        if not self.arguments:
            return [self.html(form()), *(self.lines(chapter) for chapter in CHAPTERS)]
        entries = [e for e in register().values() if e.chapter == self.arguments[0]]
        counted = nodes.paragraph("", f"{told(entries)}.")
        return [counted, *(node for e in entries for node in self.entry(e))]

    def lines(self, chapter: str) -> nodes.section:
        entries = [entry for entry in register().values() if entry.chapter == chapter]
        section = nodes.section(ids=[f"claims-{chapter}"], names=[f"claims-{chapter}"])
        section += nodes.title("", CHAPTERS[chapter])
        section += self.html(f'<details class="claims"><summary>{told(entries)}</summary>')
        for entry in entries:
            section += self.line(entry)
        section += self.html("</details>")
        return section

    def line(self, entry: Claim) -> list[nodes.Node]:
        about = ["beyond"] * (entry.source == "beyond") + ["erratum"] * has_slip(entry)
        title = nodes.inline("", "", *self.inline(entry.title))
        return [
            self.html(
                f'<div class="claim" id="claim-{entry.slug}" data-chapter="{entry.chapter}" '
                f'data-kind="{entry.kind}" data-status="{entry.status}" '
                f'data-about="{" ".join(about)}" data-words="{escape(spoken(entry))}">'
                f'<a href="{self.uri(chapter_page(entry))}#claim-{entry.slug}">'
                f"{escape(entry.number)}</a> "
            ),
            title,
            self.html(f"{tags(entry, self.env.book_red)}</div>"),
        ]

    def entry(self, entry: Claim) -> list[nodes.Node]:
        """The heading, the statement, and the evidence."""
        anchor = f"claim-{entry.slug}"
        opening = f'<details class="claim-entry" id="{anchor}"><summary><b>'
        heading = [
            self.html(f"{opening}{escape(entry.number)}</b> "),
            nodes.inline("", "", *self.inline(entry.title), classes=["of-fold"]),
            self.html(f"{tags(entry, self.env.book_red)}</summary>"),
        ]
        slip = ""
        if has_slip(entry):
            slip = f' · <a href="{self.uri(ERRATA)}#erratum-{entry.slug}">erratum</a>'
        here = f'<a class="headerlink" href="#{anchor}" title="Link to this claim">#</a>'
        about = f"<code>{entry.id}</code>{here} · {entry.kind}, "
        about += f"section {escape(entry.section)}{slip}"
        shown = evidence(claim=entry.id, about=about)
        return [*heading, *self.markdown(entry.statement), shown, self.html("</details>")]


def told(entries: list[Claim]) -> str:
    """How many claims have each status."""
    counts = Counter(entry.status for entry in entries)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def tags(entry: Claim, red: set[str]) -> str:
    """What is not the rule: a claim that no block checks, one with a slip, and a red check."""
    found = [entry.status] * (entry.status != "checked") + ["erratum"] * has_slip(entry)
    found += [RED] * (entry.id in red)
    return "".join(f' <span class="tag{" red" * (tag == RED)}">{tag}</span>' for tag in found)


def spoken(entry: Claim) -> str:
    """The words of the id, the number and the statement, without formulas: what a reader types."""
    text = re.sub(r"\{\w+\}", " ", FORMULA.sub(" ", entry.statement)).lower()
    found = dict.fromkeys(re.findall(r"[^\W\d_][\w'-]{2,}", text))
    return " ".join([entry.id, *found])


def choice(name: str, label: str, options: list[tuple[str, str]]) -> str:
    """A filter of these values, each with its words."""
    shown = "".join(f'<option value="{key}">{escape(text)}</option>' for key, text in options)
    return f'<select name="{name}" aria-label="{label}">{shown}</select>'


def form() -> str:
    """The filters; what they offer is what occurs in the register."""
    entries = register().values()
    kinds = sorted({entry.kind for entry in entries})
    statuses = [status for status in STATUSES if any(e.status == status for e in entries)]
    selects = [
        choice("chapter", "chapter", [("", "all chapters"), *CHAPTERS.items()]),
        choice("kind", "kind", [("", "all kinds"), *zip(kinds, kinds, strict=True)]),
        choice("status", "status", [("", "all states"), *zip(statuses, statuses, strict=True)]),
        choice("about", "origin", [("", "all claims"), ("beyond", "beyond the sources"),
                                   ("erratum", "has an erratum")]),
        '<input type="search" name="words" placeholder="words in the claim" '
        'aria-label="words in the claim">',
    ]  # fmt: skip
    return f'<div class="ledger-filter" role="search">{"".join(selects)} <output></output></div>'


# The evidence -----------------------------------------------------------------------------------


def show_evidence(app, doctree, document):
    """Fill the entries: where the claim is stated, and the cards of its checks."""

    def link(page, anchor, text=""):
        text = text or app.env.titles[page].astext()
        return f'<a href="{address(document, page)}#{anchor}">{escape(text)}</a>'

    for node in list(doctree.findall(evidence)):
        entry = register()[node["claim"]]
        cards = places(app).cards.get(entry.slug, [])
        about = [node["about"]]
        box = places(app).stated.get(entry.id)
        if box:
            about.append(f"stated on {link(box.document, box.label)}")
        for card in sorted(cards, key=lambda card: not box or card.document != box.document):
            there = box and card.document == box.document
            page = link(card.document, f"check-{entry.slug}", "there" if there else "")
            about.append(f"checked {page}" if there else f"checked on {page}")
        on_screen = cards if app.builder.format == "html" else []  # paper has the cards themselves
        html = [f'<p class="about">{" · ".join(about)}</p>', *map(demands, on_screen)]
        node.replace_self(nodes.raw("", "".join(html), format="html"))


def demands(card: Card) -> str:
    """The card, folded: each sentence with what was demanded of it, and what a reader may break."""
    asked = iter(re.findall(r"^  [✓✗!] .* \[(.*)\]$", card.text, re.M))
    body = re.sub(r'<p class="title">.*?</p>', "", card.html, count=1, flags=re.S)
    body = re.sub(r' id="check-[\w-]+"', "", body, count=1)
    body, rows = re.subn(
        r'(<span class="measured">).*?(</span></li>)',
        lambda cell: f"{cell[1]}{escape(next(asked))}{cell[2]}",
        body,
    )
    controls, red = body.count("✗"), body.count('<li class="failed">')
    breaks, holds = body.count("Break it"), rows - controls - red
    parts = [f"{counted(red, 'row is', 'rows are')} red on this build"] * bool(red)
    told = f"{counted(holds, 'row holds', 'rows hold')}{tolerance(card.text)}"
    parts += [told] * bool(holds or not red)
    parts += [f"{controls} must fail"] * bool(controls)
    parts += [counted(breaks, "way to break it", "ways to break it")] * bool(breaks)
    return (
        f'<details class="evidence"><summary>The check: {", ".join(parts)}</summary>'
        f"{body}</details>"
    )


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def tolerance(text: str) -> str:
    """The range of the tolerances of the rows `equal`."""
    found = sorted({float(tol) for tol in re.findall(r"\[error ≤ ([\d.e+-]+)\]", text)})
    if not found:
        return ""
    return f" (tolerance {found[0]:g}" + f" to {found[-1]:g}" * (len(found) > 1) + ")"


# The pages --------------------------------------------------------------------------------------


def lead_on(app, pagename, templatename, context, doctree):
    """Links to an entry go to the page that has it, and not by way of its line."""
    chapters = {entry.slug: entry.chapter for entry in register().values()}

    def led(link):
        if link[1] not in chapters:
            return link[0]
        return f"ledger/{chapters[link[1]]}.html#claim-{link[1]}"

    if "body" in context:
        context["body"] = re.sub(r"\bledger\.html#claim-([\w-]+)", led, context["body"])


def ledger_is_outdated(app, env, added, changed, removed):
    """Its pages depend on every page; what is printed was built before."""
    if app.builder.format != "html":
        return set()
    return {name for name in env.found_docs if name == LEDGER or name.startswith(f"{LEDGER}/")}


def setup(app):
    app.add_node(evidence)
    app.add_directive("ledger", Ledger)
    app.connect("env-get-outdated", ledger_is_outdated)
    app.connect("doctree-resolved", show_evidence)
    app.connect("html-page-context", lead_on)
