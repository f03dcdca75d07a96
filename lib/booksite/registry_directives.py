"""The role `claim`, the check that register and pages agree, and helpers of the back matter."""

import re
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from runproofs.claims.pages import checks_in
from runproofs.claims.registry import Claim, misstated, register

from .markup import ERRATA, LEDGER, address, link

logger = logging.getLogger(__name__)


def pages_checking(env) -> dict[str, list[str]]:
    """For each id, the documents that contain a `claim` block with it."""
    found: dict[str, dict[str, None]] = {}
    for document in sorted(env.found_docs):
        path = Path(env.doc2path(document))
        for identifier in _checks_of(path, path.stat().st_mtime_ns):
            found.setdefault(identifier, {})[document] = None
    return {identifier: list(documents) for identifier, documents in found.items()}


@cache
def _checks_of(path: Path, changed: int) -> list[str]:
    """Parsing all pages for each entry of the ledger would take minutes."""
    return checks_in(path.read_text("utf-8"))


def check_register(app, env):
    """Warn of claims that are checked but not registered as checked, and the reverse."""
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


class FromRegister(SphinxDirective):
    """Builds a part of the back matter; parses Markdown of the register as on any page."""

    def html(self, text: str) -> nodes.raw:
        return nodes.raw("", text, format="html")

    def markdown(self, text: str) -> list[nodes.Node]:
        def to_claim(match: re.Match) -> str:
            return f"{{claim}}`{match[0]}`" if match[0] in register() else match[0]

        text = re.sub(r"\b[a-z-]+/[A-Za-z0-9.-]*[A-Za-z0-9]", to_claim, text)
        container, lines = nodes.Element(), StringList(text.splitlines(), self.env.docname)
        self.state.nested_parse(lines, 0, container)
        return container.children

    def inline(self, text: str) -> list[nodes.Node]:
        return [child for node in self.markdown(text) for child in node.children]

    def links(self, entry: Claim) -> str:
        """HTML links to the pages that check the entry."""
        links = []
        for document in pages_checking(self.env).get(entry.id, []):
            source = Path(self.env.doc2path(document)).read_text("utf-8")
            title = re.search(r"^# (.*)", source, re.M)[1]
            links.append(link(f"{self.uri(document)}#check-{entry.slug}", title))
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
        uri = address(self.env.docname, LEDGER, f"claim-{entry.slug}")
        return [nodes.reference("", entry.name, refuri=uri)], []


def is_outdated(app, env, added, changed, removed):
    """The ledger and the errata depend on every page."""
    return {name for name in env.found_docs if name == ERRATA or name.startswith(LEDGER)}


def setup(app):
    app.add_role("claim", ClaimRole())
    app.connect("env-get-outdated", is_outdated)
    app.connect("env-check-consistency", check_register)
