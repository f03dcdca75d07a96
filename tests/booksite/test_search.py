"""The index of the search has the short titles of statements (booksite.search)."""

import re

import nbformat
from nbformat import v4

from helpers.books import build
from runproofs.book.register import register

CLAIM = register()["thesis/equation-2.1"]


def test_a_claim_is_found_by_its_number_where_it_is_checked(tmp_path):
    """In a book of one page, which has run; in the index as the browser loads it."""
    card = {"text/html": f'<a href="back/ledger.html#claim-{CLAIM.slug}">2.1</a>'}
    cell = v4.new_code_cell(f'with claim("{CLAIM.id}"): pass', execution_count=1)
    cell.outputs = [v4.new_output("display_data", data=card)]
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# A page"), cell]),
                   tmp_path / "index.ipynb")  # fmt: skip
    index = (build(tmp_path)[0] / "searchindex.js").read_text("utf-8")
    for name in ("(2.1)", "Equation (2.1)"):
        assert re.search(rf'"{re.escape(name)}": ?\[\[0, ?"check-{CLAIM.slug}"\]\]', index), index
