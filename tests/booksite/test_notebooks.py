"""Pages as plain notebooks: what no page of the small book has, and the copies of `make lab`."""

import json
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx import addnodes

from booksite import lab_copies, markdown
from booksite.notebooks import inside


def test_links_of_html_lead_on_or_are_their_text():
    html = '<p><a class="x" href="../back/a.html#b">one</a> <a href="https://c.d">two</a></p>'
    assert markdown.links_of_html(html, inside) == (
        '<p><a class="x" href="../back/a.ipynb">one</a> <a href="https://c.d">two</a></p>'
    )
    assert markdown.links_of_html(html, lambda href: None) == "<p>one two</p>"


RST = """
- one

  more
- two

3. third
#. fourth

term
    What *it* is.

..

    Said by ``x``.

+---+---+
| c | d |
+---+---+

1) a list

\\2. not so this

::

   plain
"""


def written(node):
    return markdown.Writer(lambda *_: None, lambda *_: "").blocks(node)


def test_what_docutils_reads_is_written():
    """Lists, terms, quotations, a table without a head, code of no language."""
    assert written(publish_doctree(RST, settings_overrides={"report_level": 5})) == (
        "- one\n  \n  more\n- two\n\n"
        "3. third\n4. fourth\n\n"
        "- **term**\n  \n  What *it* is.\n\n"
        "> Said by `x`.\n\n"
        "|  |  |\n| --- | --- |\n| c | d |\n\n"
        "1. a list\n\n"
        "2\\. not so this\n\n"
        "```\nplain\n```"
    )


def test_what_has_no_markdown_is_left_out_and_named(monkeypatch):
    said = []
    warn = SimpleNamespace(warning=lambda text, name, location: said.append(text % name))
    monkeypatch.setattr(markdown, "logger", warn)
    page = nodes.section("", nodes.sidebar("", nodes.paragraph("", "Aside.")), nodes.Text("Text."))
    assert written(page) == "Text."
    assert said == ["no Markdown for sidebar"]


def test_a_function_is_its_signature_without_the_link_and_its_text():
    signature = addnodes.desc_signature()
    signature += [addnodes.desc_name("", "rate"), addnodes.desc_addname("", "(x)")]
    signature += nodes.reference("", "[source]")
    text = addnodes.desc_content("", nodes.paragraph("", "Half of x."))
    entry = nodes.section("", addnodes.desc("", signature, text))
    assert written(entry) == "**`rate(x)`**\n\nHalf of x."


@pytest.mark.parametrize(
    ("form", "classes", "expected"),
    [
        ("html", [], "<b>a</b>"),
        ("html", ["site-only"], ""),
        ("html", ["in-ledger", "x"], ""),
        ("latex", [], ""),
    ],
)
def test_html_of_a_page_is_kept_unless_only_the_site_can_use_it(form, classes, expected):
    raw = nodes.raw("", "<b>a</b>", format=form, classes=classes)
    assert written(nodes.section("", raw)) == expected


# Copies -----------------------------------------------------------------------------------------


def write(path, *sources, outputs=()):
    cells = [{"cell_type": "code", "source": source, "outputs": outputs} for source in sources]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), "utf-8")


@pytest.fixture
def renew(tmp_path):
    """Makes a notebook anew, and renews the copy; returns what was renewed and what kept."""

    def again(*sources):
        write(tmp_path / "made" / "a.ipynb", *sources)
        return lab_copies.renew(tmp_path / "made", tmp_path / "copies")

    return again


def test_a_copy_is_made_once_and_renewed_with_its_page(renew, tmp_path):
    assert renew("a = 1") == (["a.ipynb"], [])
    assert renew("a = 1") == ([], [])
    assert renew("a = 2") == (["a.ipynb"], [])
    assert "a = 2" in (tmp_path / "copies" / "a.ipynb").read_text("utf-8")


def test_what_a_reader_saved_is_kept(renew, tmp_path):
    renew("a = 1")
    write(tmp_path / "copies" / "a.ipynb", "a = 1", outputs=["1"])
    assert renew("a = 1") == ([], [])  # it was run, and its page is as it was
    assert renew("a = 2") == renew("a = 2") == ([], ["a.ipynb"])
    (tmp_path / "copies" / "a.ipynb").unlink()
    assert renew("a = 2") == (["a.ipynb"], [])


def test_make_lab_says_what_it_did(tmp_path, capsys):
    with pytest.raises(SystemExit, match="make book"):
        lab_copies.main(tmp_path)
    write(tmp_path / lab_copies.FOR_LAB / "a.ipynb", "a = 1")
    lab_copies.main(tmp_path)
    write(tmp_path / "lab" / "a.ipynb", "a = 3")
    lab_copies.main(tmp_path)
    said = capsys.readouterr().out
    assert f"{tmp_path / 'lab'}: 1 notebooks are new." in said
    assert ": 0 notebooks are new." in said
    assert "Kept as you saved them, unlike their pages: a.ipynb." in said
