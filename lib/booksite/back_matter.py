"""The role `claim`, the check that register and pages agree, and what the back matter shares."""

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.osutil import relative_uri

from runproofs.book.pages import checks_in
from runproofs.book.register import Claim, misstated, register

LEDGER, ERRATA = "book/back/ledger", "book/back/errata"
FORMULA = re.compile(r"(?s:\$\$.*?\$\$)|\$[^$]*\$|`[^`]*`")  # or code
RAW = re.compile(
    r"\|\||_\{|\^\{|\b[A-Za-z]\^[\dT*]|[A-Za-z]_[a-z0-9]\b|<=|>=|\bsqrt\b"
    r"|\b(alpha|epsilon|kappa|lambda|nu|rho|sigma|theta)\b"
)
logger = logging.getLogger(__name__)


def address(page: str, other: str) -> str:
    """Where a page links to another, whichever builder reads it (latex.py turns it around)."""
    return relative_uri(f"{page}.html", f"{other}.html")


def pages_checking(env) -> dict[str, list[str]]:
    """For each id the documents with a `claim` block of it."""
    found: dict[str, list[str]] = {}
    for document in sorted(env.found_docs):
        path = Path(env.doc2path(document))
        for identifier in _checks_of(path, path.stat().st_mtime_ns):
            pages = found.setdefault(identifier, [])
            if document not in pages:
                pages.append(document)
    return found


@cache
def _checks_of(path: Path, changed: int) -> list[str]:
    """Parsing all pages for each entry of the ledger would take minutes."""
    return checks_in(path.read_text("utf-8"))


def check_register(app, env):
    """Warn of a claim that is checked but not registered so, or registered but not checked."""
    found = pages_checking(env)
    for identifier, documents in found.items():
        if identifier not in register():
            logger.warning("%r is not in the register", identifier, location=documents[0])
        elif (status := register()[identifier].status) != "checked":
            message = "%r is checked here, but the register says %s"
            logger.warning(message, identifier, status, location=documents[0])
    for sentence in misstated():
        logger.warning(sentence, location=LEDGER)
    for entry in register().values():
        if entry.status == "checked" and entry.id not in found:
            logger.warning("%r is registered, but no page checks it", entry.id, location=LEDGER)
        for field in raw_formulas(entry):
            logger.warning("%r has a formula without $: %s", entry.id, field, location=LEDGER)


def raw_formulas(entry: Claim) -> Iterator[str]:
    """The fields of an entry that have a formula between no dollar signs, and not as code."""
    fields = {"title": entry.title, "statement": entry.statement}
    if entry.erratum:
        fields |= entry.erratum._asdict()
    for name, text in fields.items():
        if found := RAW.search(FORMULA.sub("", text)):
            yield f"{name}: {found[0]}"


class FromRegister(SphinxDirective):
    """Builds a part of the back matter; markdown of the register is parsed as on any page."""

    def html(self, text: str) -> nodes.raw:
        return nodes.raw("", text, format="html")

    def markdown(self, text: str) -> list[nodes.Node]:
        text = re.sub(r"\b[a-z-]+/[A-Za-z0-9.-]*[A-Za-z0-9]", self.link_if_registered, text)
        container = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), 0, container)
        return container.children

    @staticmethod
    def link_if_registered(match: re.Match) -> str:
        return f"{{claim}}`{match[0]}`" if match[0] in register() else match[0]

    def inline(self, text: str) -> list[nodes.Node]:
        return [child for node in self.markdown(text) for child in node.children]

    def links(self, entry: Claim) -> str:
        """HTML links to the pages that check the entry."""
        links = []
        for document in pages_checking(self.env).get(entry.id, []):
            uri = self.uri(document)
            source = Path(self.env.doc2path(document)).read_text("utf-8")
            title = next(line[2:] for line in source.splitlines() if line.startswith("# "))
            links.append(f'<a href="{uri}#check-{entry.slug}">{escape(title)}</a>')
        return ", ".join(links)

    def uri(self, document: str) -> str:
        return address(self.env.docname, document)


class ClaimRole(SphinxRole):
    """{claim}`thesis/theorem-6` links to the claim in the ledger."""

    def run(self):
        if self.text not in register():
            message = f"{self.text!r} is not in the register of claims."
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        entry = register()[self.text]
        uri = address(self.env.docname, LEDGER)
        return [nodes.reference("", entry.name, refuri=f"{uri}#claim-{entry.slug}")], []


def back_matter_is_outdated(app, env, added, changed, removed):
    """The errata depend on every page; what is printed was built before."""
    return {ERRATA} & env.found_docs if app.builder.format == "html" else set()


def setup(app):
    app.add_role("claim", ClaimRole())
    app.connect("env-get-outdated", back_matter_is_outdated)
    app.connect("env-check-consistency", check_register)
