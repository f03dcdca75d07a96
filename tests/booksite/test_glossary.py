"""The glossary has every definition of the register, with a line and a link to its statement."""

import re

from booksite.glossary import opening, terms
from helpers.books import build
from runproofs.book.register import register


def test_every_definition_is_a_term_and_leads_to_its_statement(tmp_path):
    (tmp_path / "index.md").write_text("# A page\n\n```{glossary-of-terms}\n```\n", "utf-8")
    page = (build(tmp_path)[0] / "index.html").read_text("utf-8")
    for entry in register().values():
        defined = entry.kind in {"definition", "assumption"}
        assert len(re.findall(rf'<p><b><a href="[^"]*#claim-{entry.slug}"', page)) == defined


def test_terms_are_in_the_order_of_letters():
    titles = [entry.title for entry in terms()]
    assert titles.index("Dropout aversion") < titles.index("Reflected loss")
    assert titles.index("Retentiveness") < titles.index("Standard architecture")


def test_a_line_is_whole_sentences():
    for entry in terms():
        line = opening(entry.statement)
        assert line.count("$") % 2 == 0
        assert len(line) >= min(80, len(entry.statement.strip()) - 1)
    assert "remark-5.2" not in opening(register()["thesis/definition-5.4-competitor"].statement)
