"""The index of the search has the short titles of statements (booksite.search)."""

import re

import nbformat
from nbformat import v4

from helpers.books import build
from runproofs.claims.registry import register, stated

CLAIM = next(
    entry for entry in register().values() if entry.number[0] == "(" and entry.id not in stated()
)


def test_a_claim_is_found_by_its_number_where_it_is_checked(tmp_path):
    """In a book of one page, which has run and has no box for it."""
    link = f'<a href="back/ledger.html#claim-{CLAIM.slug}">2.1</a>'
    card = {"text/html": f'<div class="claim-card">{link}</div>'}
    cell = v4.new_code_cell(f'with claim("{CLAIM.id}"): pass', execution_count=1)
    cell.outputs = [v4.new_output("display_data", data=card)]
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# A page"), cell]),
                   tmp_path / "index.ipynb")  # fmt: skip
    index = (build(tmp_path)[0] / "searchindex.js").read_text("utf-8")
    for name in (CLAIM.number, f"Equation {CLAIM.number}"):
        assert re.search(rf'"{re.escape(name)}": ?\[\[0, ?"check-{CLAIM.slug}"\]\]', index), index
