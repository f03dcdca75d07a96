"""The directives `errata` and `errata-contents`: the slips found in the sources."""

import re
from html import escape

from docutils import nodes

from runproofs.book.register import Claim

from . import back_matter

WEIGHTS = {
    "major": "Major",
    "minor": "Minor",
    "question": "Questions",
    "typo": "Misprints",
    "wording": "Wording",
}
PARTS = {f"ch{k}": f"Chapter {k}" for k in range(1, 7)} | {
    "appendix": "Appendix",
    "icml": "ICML paper",
    "vidal": "Vidal’s slides",
    "helmbold-long": "Helmbold and Long",
}


def part(entry: Claim) -> str:
    """Where an author looks for the entry: a chapter of the thesis, its appendix, or a source."""
    if entry.source != "thesis":
        return entry.source
    return "appendix" if entry.section.startswith("Appendix") else entry.chapter


def slips() -> dict[str, dict[str, list[Claim]]]:
    """The errata of what is written, by weight (the likely ones are questions), then by part.

    In the order of the text: the sections of the thesis have numbers, the other sources stand in
    the register as they are read.
    """
    found = {weight: {name: [] for name in PARTS} for weight in WEIGHTS}
    for entry in back_matter.register().values():
        slip = entry.erratum
        if slip is None or entry.status == "planned" or slip.grade == "extraction artefact":
            continue
        weight = "question" if slip.grade == "likely" else slip.weight
        found[weight][part(entry)].append(entry)
    return {
        weight: {name: sorted(some, key=_section) for name, some in parts.items() if some}
        for weight, parts in found.items()
    }


def _section(entry: Claim) -> list[int]:
    numbered = entry.source == "thesis"
    return [int(number) for number in re.findall(r"\d+", entry.section)] if numbered else []


def sentence(text: str) -> str:
    """With a capital and a full stop: the register has phrases, too."""
    return text[0].upper() + text[1:] + "." * (text[-1] not in ".?!")


class ErrataContents(back_matter.FromRegister):
    """How many errata of each weight each part has, as links."""

    def run(self):
        listed = nodes.bullet_list(classes=["errata-contents"])
        for weight, parts in slips().items():
            links = [
                f'<a href="#{weight}-{name}">{escape(PARTS[name])}</a>&nbsp;({len(entries)})'
                for name, entries in parts.items()
            ]
            count = sum(map(len, parts.values()))
            line = f"<strong>{WEIGHTS[weight]}</strong> ({count}): {', '.join(links) or 'none'}"
            listed += nodes.list_item("", nodes.paragraph("", "", self.html(line)))
        return [listed]


class Errata(back_matter.FromRegister):
    """The errata of one weight, a section for each part that has some."""

    required_arguments = 1

    def run(self):
        (weight,) = self.arguments
        show = self.line if weight == "wording" else self.full
        sections = []
        for name, entries in slips()[weight].items():
            label = f"{weight}-{name}"
            section = nodes.section(ids=[label], names=[label])
            section += nodes.title("", PARTS[name])
            for entry in entries:
                section += show(entry)
            sections.append(section)
        return sections or [nodes.paragraph("", "None in the chapters written so far.")]

    def heading(self, entry: Claim, anchor: str = "") -> str:
        ledger = f"{self.uri(back_matter.LEDGER)}#claim-{entry.slug}"
        return f'<a {anchor}href="{ledger}">{escape(entry.number)}</a>'

    def told(self, entry: Claim, labels: dict[str, str]) -> list[nodes.Node]:
        """The fields named, each after its label, and the pages where the check runs."""
        body = []
        for label, text in labels.items():
            if text := text.strip():
                told = text if label == "As printed" else sentence(text)
                body += self.markdown(f"**{label}.** {told}")
        if links := self.links(entry):
            running = "The counterexample, running" if entry.needs_counterexample else "The check"
            body.append(self.html(f"<p>{running}: {links}.</p>"))
        return body

    def full(self, entry: Claim) -> list[nodes.Node]:
        slip = entry.erratum
        unsure = slip.grade == "likely"
        labels = {
            "As printed": slip.printed,
            "Doubt" if unsure else "Problem": slip.problem,
            "Proposed reading" if unsure else "Correction": slip.corrected,
            "Evidence": slip.evidence,
        }
        heading = self.heading(entry, f'id="erratum-{entry.slug}" ')
        return [
            self.html(f'<div class="erratum"><p class="erratum-title">{heading}: '),
            nodes.inline("", "", *self.inline(entry.title)),
            self.html("</p>"),
            *self.told(entry, labels),
            self.html("</div>"),
        ]

    def line(self, entry: Claim) -> list[nodes.Node]:
        """A slip of wording, in a line that unfolds."""
        slip = entry.erratum
        printed, corrected = slip.printed.strip(), slip.corrected.strip()
        text = [*self.inline(printed), nodes.Text(" → "), *self.inline(corrected)]
        opening = f'<details class="erratum" id="erratum-{entry.slug}"><summary>'
        return [
            self.html(f"{opening}<b>{escape(entry.number)}</b>: "),
            nodes.inline("", "", *text),
            self.html(f"</summary><p>In the ledger: {self.heading(entry)}.</p>"),
            *self.told(entry, {"Problem": slip.problem, "Evidence": slip.evidence}),
            self.html("</details>"),
        ]


def setup(app):
    app.add_directive("errata", Errata)
    app.add_directive("errata-contents", ErrataContents)
