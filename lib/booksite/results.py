"""The directive `results-table`: the results and experiments of one part of a source, in a table.

Each line is made from the register: the number in the source, what it says, whether it holds as it
is printed, with which evidence, and the page that states it. The role `verdict` is the word on a
figure, a table or an experiment: {verdict}`thesis/figure-2-3`, or {verdict}`thesis/figure-2-3 2`
for the second word.
"""

from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from runproofs.claims.registry import LEVELS, SHOWN, Claim, register

from .ledger import has_slip
from .markup import ERRATA, address, inline
from .statement_index import anchor

SCOREBOARD = "book/back/scoreboard"
PROVED = {"algorithm", "assumption", "corollary", "lemma", "proposition", "theorem"}
SLIPS = {
    "major": "printed wrongly",
    "minor": "holds, with a correction",
    "typo": "holds, a slip of the pen",
    "wording": "holds, worded too widely",
}


def verdict(entry: Claim) -> tuple[str, str, str]:
    """The verdict on a claim, and the page and place that explain it; "" if its own page does.

    >>> verdict(register()["thesis/corollary-4"])
    ('holds', '', '')
    """
    if words := list(dict.fromkeys(entry.verdicts)):
        return "in parts: " * (len(words) > 1) + ", ".join(words), SCOREBOARD, ""
    if not has_slip(entry):
        return "shown" if entry.kind in SHOWN else "holds", "", ""
    slip = entry.erratum
    word = SLIPS[slip.weight] if slip.grade == "certain" else "holds, with a question on the print"
    return word, ERRATA, f"#erratum-{entry.slug}"


def listed(chapter: str) -> list[Claim]:
    """The checked results and experiments of a part of a source."""
    return [entry for entry in register().values()
            if entry.chapter == chapter and entry.source != "beyond"
            and entry.status == "checked" and entry.kind in PROVED | SHOWN]  # fmt: skip


class VerdictRole(SphinxRole):
    """The verdict on a figure, table or experiment: the first one, unless a number follows."""

    def run(self):
        claim, _, number = self.text.partition(" ")
        try:
            word = register()[claim].verdicts[int(number or 1) - 1]
        except (KeyError, IndexError, ValueError):
            message = self.inliner.reporter.error(f"No verdict {self.text!r}.", line=self.lineno)
            return [], [message]
        return [nodes.Text("reproduced " * (word == "with a qualification") + word)], []


class result_table(nodes.Element):
    """A placeholder for the table until all pages are read."""


class Results(SphinxDirective):
    required_arguments = 1

    def run(self):
        (chapter,) = self.arguments
        if not listed(chapter):
            raise self.error(f"The register has no chapter {chapter!r}.")
        return [result_table(chapter=chapter)]


def show(app, doctree, document):
    for place in list(doctree.findall(result_table)):
        place.replace_self(nodes.raw("", table(app, document, place["chapter"]), format="html"))


def table(app, document: str, chapter: str) -> str:
    rows = ""
    for entry in listed(chapter):
        page, at = anchor(app, entry)
        word, where, slip = verdict(entry)
        if where:
            word = f'<a href="{address(document, where)}{slip}">{word}</a>'
        number = f'<a href="{address(document, page, at)}">{escape(entry.number)}</a>'
        title = escape(app.env.titles[page].astext())
        rows += (
            f"<tr><td>{number}</td><td>{inline(entry.title)}</td><td>{word}</td>"
            f"<td>{LEVELS.get(entry.evidence, '')}</td><td>{title}</td></tr>"
        )
    summary = f"All {len(listed(chapter))} results by number: what they say, and whether they hold"
    head = "".join(f"<th>{name}</th>" for name in ("number", "says", "verdict", "evidence", "page"))
    return (
        f'<details class="results"><summary>{summary}</summary><table class="dataframe">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def setup(app):
    app.add_node(result_table)
    app.add_directive("results-table", Results)
    app.add_role("verdict", VerdictRole())
    app.connect("doctree-resolved", show)
