"""The directive `ledger`: one line per registered claim, or one chapter of the register in full.

The page "Ledger" has the lines, and filters (book.js). Each leads to the entry on the page of its
chapter: the statement, the box that states it, and the card of its check. A row there shows what
was demanded instead of the measured value, which differs between machines.
"""

import re
from collections import Counter
from html import escape

from docutils import nodes

from runproofs.claims.registry import CHAPTERS, LEVELS, STATUSES, Claim, register

from .failures import RED
from .markup import ERRATA, LEDGER, WRITERS, address, choice, folded, later, link
from .registry_directives import FromRegister
from .statement_index import Card, places

FORMULA = re.compile(r"(?s:\$\$.*?\$\$)|\$[^$]*\$|`[^`]*`")  # or code


def has_slip(entry: Claim) -> bool:
    return bool(entry.erratum) and entry.erratum.grade != "extraction artifact"


def is_false(entry: Claim) -> bool:
    """Whether the printed form is certainly false, beyond a slip."""
    return has_slip(entry) and (entry.erratum.grade, entry.erratum.weight) == ("certain", "major")


class Ledger(FromRegister):
    """Without argument, a line per claim, by chapter; with a chapter, its entries, folded."""

    optional_arguments = 1

    def run(self):
        if not self.arguments:
            return [self.html(filters()), *map(self.lines, CHAPTERS)]
        entries, counted = of_chapter(self.arguments[0])
        return [
            nodes.paragraph("", f"{counted}."),
            *(node for e in entries for node in self.entry(e)),
        ]

    def lines(self, chapter: str) -> nodes.section:
        entries, counted = of_chapter(chapter)
        section = nodes.section(ids=[f"claims-{chapter}"], names=[f"claims-{chapter}"])
        section += nodes.title("", CHAPTERS[chapter])
        section += self.html(f'<details class="claims"><summary>{counted}</summary>')
        for entry in entries:
            about = ["beyond"] * (entry.source == "beyond") + ["erratum"] * has_slip(entry)
            about += ["false"] * is_false(entry)
            about += [verdict.replace(" ", "-") for verdict in entry.verdicts]
            page = self.uri(f"{LEDGER}/{entry.chapter}")
            section += self.html(
                f'<div class="claim" id="claim-{entry.slug}" data-chapter="{entry.chapter}" '
                f'data-kind="{entry.kind}" data-status="{entry.status}" '
                f'data-evidence="{entry.evidence}" '
                f'data-about="{" ".join(about)}" data-words="{escape(words(entry))}">'
                f"{link(f'{page}#claim-{entry.slug}', entry.number)} "
            )
            section += nodes.inline("", "", *self.inline(entry.title))
            section += self.html(f"{tags(entry, self.env.book_red)}</div>")
        section += self.html("</details>")
        return section

    def entry(self, entry: Claim) -> list[nodes.Node]:
        """The heading, the statement, and the evidence."""
        opening = f'<details class="claim-entry" id="claim-{entry.slug}"><summary>'
        return [
            self.html(f"{opening}<b>{escape(entry.number)}</b> "),
            nodes.inline("", "", *self.inline(entry.title), classes=["of-fold"]),
            self.html(f"{tags(entry, self.env.book_red)}</summary>"),
            *self.markdown(entry.statement),
            later(writer="evidence", argument=entry.id),
            self.html("</details>"),
        ]


def of_chapter(chapter: str) -> tuple[list[Claim], str]:
    """The claims of a chapter, and how many have each status."""
    entries = [entry for entry in register().values() if entry.chapter == chapter]
    counts = Counter(entry.status for entry in entries)
    return entries, ", ".join(f"{counts[name]} {name}" for name in STATUSES if counts[name])


def tags(entry: Claim, red: set[str]) -> str:
    """The level of evidence, and any exception: stated without a check, a slip, a red check."""
    found = [entry.status] * (entry.status != "checked") + ["erratum"] * has_slip(entry)
    html = f' <span class="level">{LEVELS[entry.evidence]}</span>' if entry.evidence else ""
    html += "".join(f' <span class="tag">{tag}</span>' for tag in found)
    return html + f' <span class="tag red">{RED}</span>' * (entry.id in red)


def words(entry: Claim) -> str:
    """The words of the id and the statement without formulas, in which the filter searches."""
    text = re.sub(r"\{\w+\}", " ", FORMULA.sub(" ", entry.statement)).lower()
    return " ".join([entry.id, *dict.fromkeys(re.findall(r"[^\W\d_][\w'-]{2,}", text))])


def filters() -> str:
    """The filters, with the values that occur in the register."""
    entries = register().values()
    abouts = {"beyond": "beyond the sources", "erratum": "has an erratum"}
    abouts["false"] = "false as printed"
    for word in dict.fromkeys(word for entry in entries for word in entry.verdicts):
        abouts[word.replace(" ", "-")] = "reproduced " * (word == "with a qualification") + word
    found = {word for entry in entries for word in (entry.status, entry.evidence)}
    levels = {level: words for level, words in LEVELS.items() if level in found}
    return (
        f'<div class="ledger-filter" role="search">'
        f"{choice('chapter', 'chapter', 'all chapters', CHAPTERS)}"
        f"{choice('kind', 'kind', 'all kinds', sorted({entry.kind for entry in entries}))}"
        f"{choice('status', 'status', 'all states', [s for s in STATUSES if s in found])}"
        f"{choice('evidence', 'evidence', 'all evidence', levels)}"
        f"{choice('about', 'origin', 'all claims', abouts)}"
        '<input type="search" name="words" placeholder="words in the claim" '
        'aria-label="words in the claim"> <output></output></div>'
    )


# The evidence -----------------------------------------------------------------------------------


def evidence(app, page: str, claim: str) -> str:
    """The kind of a claim, where it is stated and checked, and the cards of its checks."""
    entry = register()[claim]
    box, cards = places(app).stated.get(claim), places(app).cards.get(entry.slug, [])
    home = box and box[0]

    def on(document: str, place: str, text: str = "") -> str:
        title = text or app.env.titles[document].astext()
        return link(address(page, document, place), title)

    anchor = f'<a class="headerlink" href="#claim-{entry.slug}" title="Link to this claim">#</a>'
    about = [f"<code>{claim}</code>{anchor}", f"{entry.kind}, section {escape(entry.section)}"]
    if has_slip(entry):
        about.append(on(ERRATA, f"erratum-{entry.slug}", "erratum"))
    if box:
        about.append(f"stated on {on(*box)}")
    for card in sorted(cards, key=lambda card: card.document != home):
        text = "there" if card.document == home else ""
        where = on(card.document, f"check-{entry.slug}", text)
        about.append(f"checked {where}" if text else f"checked on {where}")
    return f'<p class="about">{" · ".join(about)}</p>' + "".join(map(demands, cards))


def demands(card: Card) -> str:
    """The folded card: each row with its demand, and the ways to break it."""
    asked = iter(re.findall(r"^  [✓✗!] .* \[(?:.*: )?(.*)\]$", card.text, re.M))
    body = re.sub(r'<p class="title">.*?</p>', "", card.html, count=1, flags=re.S)
    body = re.sub(r' id="check-[\w-]+"', "", body, count=1)
    body, rows = re.subn(
        r'(<span class="measured">(?:<span class="level[^"]*">.*?</span> )?).*?(</span></li>)',
        lambda cell: f"{cell[1]}{escape(next(asked))}{cell[2]}",
        body,
    )
    controls, red, breaks = (body.count(w) for w in ("✗", '<li class="failed">', 'class="break"'))
    holds = rows - controls - red
    parts = {
        f"{red} {'row is' if red == 1 else 'rows are'} red on this build": red,
        f"{holds} {'row holds' if holds == 1 else 'rows hold'}": holds,
        f"{controls} must fail": controls,
        f"{breaks} {'way' if breaks == 1 else 'ways'} to break it": breaks,
    }
    said = ", ".join(words for words, count in parts.items() if count)
    return folded("evidence", f"The check: {said}", body)


def link_to_entries(app, pagename, templatename, context, doctree):
    """Let links to an entry lead to the page of its chapter instead of its line in the list."""
    chapters = {entry.slug: entry.chapter for entry in register().values()}

    def led(found):
        chapter = chapters.get(found[1])
        return f"ledger/{chapter}.html#claim-{found[1]}" if chapter else found[0]

    if "body" in context:
        context["body"] = re.sub(r"\bledger\.html#claim-([\w-]+)", led, context["body"])


def setup(app):
    WRITERS["evidence"] = evidence
    app.add_directive("ledger", Ledger)
    app.connect("html-page-context", link_to_entries)
