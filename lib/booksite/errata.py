"""The directives `as-printed`, `errata` and `errata-summary`: the errors found in the sources.

An error is written once, under `erratum` beside the page of its claim: the page shows it in a box
(`as-printed`), and the page *Errata* lists all of them.
"""

import re
from html import escape

from docutils import nodes

from runproofs.claims.registry import Claim

from . import registry_directives as back_matter

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
    """The part under which an author looks: a chapter of the thesis, its appendix, or a source."""
    if entry.source != "thesis":
        return entry.source
    return "appendix" if entry.section.startswith("Appendix") else entry.chapter


def slips() -> dict[str, dict[str, list[Claim]]]:
    """The errata by weight (likely ones count as questions), then by part.

    They follow the order of the text: by section numbers in the thesis, in the register's order in
    the other sources.
    """
    found = {weight: {name: [] for name in PARTS} for weight in WEIGHTS}
    for entry in back_matter.register().values():
        slip = entry.erratum
        if slip is None or slip.grade == "extraction artifact":
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
    """The text with a capital and a full stop, since the register also has phrases."""
    return text[0].upper() + text[1:] + "." * (text[-1] not in ".?!")


class AsPrinted(back_matter.FromRegister):
    """A box with the printed errors of these claims: what is wrong, and what is right.

    The page *Errata* has the evidence. A claim without an erratum in the register is an error.
    """

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        names = self.arguments[0].split()
        entries = [back_matter.register().get(name) for name in names]
        if not all(entry and entry.erratum for entry in entries):
            raise self.error(f"One of {names} is no claim with an erratum.")
        unsure = all(entry.erratum.grade == "likely" for entry in entries)
        title = "As printed: a question" if unsure else "As printed"
        box = nodes.admonition("", nodes.title("", title), classes=["warning"])
        for entry in entries:
            slip = entry.erratum
            box += self.markdown(sentence(slip.problem.strip()))
            if slip.corrected.strip():
                label = "Proposed reading" if slip.grade == "likely" else "Correction"
                box += self.markdown(f"**{label}.** {sentence(slip.corrected.strip())}")
        return [box]


class ErrataContents(back_matter.FromRegister):
    """How many errata each weight has; links to each major one and to the parts of the others."""

    def run(self):
        listed = nodes.bullet_list(classes=["errata-contents"])
        for weight, parts in slips().items():
            links = [
                f'<a href="#{weight}-{name}">{escape(PARTS[name])}</a>&nbsp;({len(entries)})'
                for name, entries in parts.items()
            ]
            every = [entry for entries in parts.values() for entry in entries]
            if weight == "major":
                links = [
                    f'<a href="#erratum-{entry.slug}">{escape(entry.number)}</a>' for entry in every
                ]
            line = f"<strong>{WEIGHTS[weight]}</strong> ({len(every)}): "
            line += ", ".join(links) or "none"
            listed += nodes.list_item("", nodes.paragraph("", "", self.html(line)))
        return [listed]


class Errata(back_matter.FromRegister):
    """The errata of one weight, by parts; each is a line that unfolds.

    The major ones are unfolded and show what is printed and what is right.
    """

    required_arguments = 1

    def run(self):
        (weight,) = self.arguments
        sections = []
        for name, entries in slips()[weight].items():
            label = f"{weight}-{name}"
            section = nodes.section(ids=[label], names=[label])
            section += nodes.title("", PARTS[name])
            for entry in entries:
                section += self.fold(entry, weight)
            sections.append(section)
        return sections or [nodes.paragraph("", "None in the chapters written so far.")]

    def fold(self, entry: Claim, weight: str) -> list[nodes.Node]:
        """One erratum; the line of a slip of wording says what is printed and what is meant."""
        slip = entry.erratum
        unsure = slip.grade == "likely"
        line = self.inline(entry.title)
        print_and_mend = {
            "As printed": slip.printed,
            "Proposed reading" if unsure else "Correction": slip.corrected,
        }
        if weight == "wording":
            line = [*self.inline(slip.printed.strip()), nodes.Text(" → "),
                    *self.inline(slip.corrected.strip())]  # fmt: skip
            print_and_mend = {}
        body = self.told(print_and_mend)
        why = self.told({"Doubt" if unsure else "Problem": slip.problem, "Evidence": slip.evidence})
        why.append(self.html(f"<p>{self.places(entry)}</p>"))
        state = ""
        if weight == "major":
            state = " open"
            opening = self.html('<details class="reason"><summary>Why, and the evidence</summary>')
            why = [opening, *why, self.html("</details>")]
        return [
            self.html(
                f'<details class="erratum" id="erratum-{entry.slug}"{state}>'
                f"<summary><b>{escape(entry.number)}</b>: "
            ),
            nodes.inline("", "", *line),
            self.html("</summary>"),
            *body,
            *why,
            self.html("</details>"),
        ]

    def told(self, labels: dict[str, str]) -> list[nodes.Node]:
        """The nonempty fields, each after its label."""
        body = []
        for label, text in labels.items():
            if text := text.strip():
                told = text if label == "As printed" else sentence(text)
                body += self.markdown(f"**{label}.** {told}")
        return body

    def places(self, entry: Claim) -> str:
        """Links to the pages where the check runs, and to the ledger."""
        ledger = f"{self.uri(back_matter.LEDGER)}#claim-{entry.slug}"
        line = f'In the ledger: <a href="{ledger}">{escape(entry.number)}</a>.'
        if links := self.links(entry):
            running = "The counterexample, running" if entry.needs_counterexample else "The check"
            line = f"{running}: {links}. {line}"
        return line


def setup(app):
    app.add_directive("as-printed", AsPrinted)
    app.add_directive("errata", Errata)
    app.add_directive("errata-summary", ErrataContents)
