"""Pages as plain notebooks: everything of MyST is Markdown, and copies of a reader are kept."""

import json
import re
from types import SimpleNamespace

import nbformat
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx import addnodes

from booksite import lab, markdown
from booksite.notebooks import FOR_LAB, inside
from helpers.books import build

HEAD = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
PICTURE = """from IPython.display import SVG
SVG('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')"""
PAGE = """(sec:here)=
# A page with *everything*

See {ref}`sec:there`, {doc}`other`, {numref}`fig-line`, {eq}`eq-one`, {claim}`thesis/theorem-6`,
{ref}`ex-one` and [the web](https://example.org). It costs \\\\$5 and 2\\\\*3 < 7.

:::{prf:theorem} Theorem 7: it $\\\\le$ holds
:label: thm
:nonumber:
For $x$:

$$
x = {} & |y| \\\\\\\\
  \\\\ge 0
$$ (eq-one)

- first
- second with {eq}`eq-one`
:::

:::{prf:proof}
By {prf:ref}`thm`.
:::

````{dropdown} Proof of $x$, folded
Long.

$$a$$
````

:::{admonition} A remark
:class: note
Remarkable.
:::

| a | $b$ |
|---|-----|
| 1 | $2$ |

```{code-cell} ipython3
:tags: [remove-cell]
import math
```

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-line
    caption: "A line of $x$."
  image:
    alt: "A line that_rises."
tags: [hide-input]
---
%(picture)s
```

```{exercise} A task
:label: ex-one
Do it.
```

````{solution-start} ex-one
:class: dropdown
````

Before.

```{code-cell} ipython3
solved = 1
```

After.

````{solution-end}
````
""".replace("\\\\", "\\").replace("%(picture)s", PICTURE)
EXTENSIONS = ("sphinx_proof", "sphinx_exercise", "sphinx_design")
RAW = re.compile(r"\{[a-z:+-]+\}`|^[\s>]*:::|`{3}\s*\{", re.M)


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """The notebooks that a book of two pages has for `make lab`, by name."""
    folder = tmp_path_factory.mktemp("book")
    page = PAGE + "\n```{toctree}\nother\n```\n"
    (folder / "index.md").write_text(HEAD + page, "utf-8")
    (folder / "other.md").write_text("(sec:there)=\n# Elsewhere\n\n$$z$$ (eq-two)\n", "utf-8")
    settings = {
        "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
        "nb_execution_mode": "cache",
        "numfig": True,
        "proof_title_format": "%t",
        "html_title": "The Book",
    }
    _, warnings, _ = build(folder, *EXTENSIONS, **settings)
    assert "no Markdown for" not in warnings
    found = (folder / "_build" / FOR_LAB).glob("*.ipynb")
    return {path.stem: nbformat.read(path, as_version=4) for path in found}


@pytest.fixture(scope="module")
def cells(notebooks):
    return notebooks["index"].cells


@pytest.fixture(scope="module")
def text(cells):
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_a_notebook_is_valid_and_has_every_cell_once(notebooks, cells):
    for notebook in notebooks.values():
        nbformat.validate(notebook)
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert code == ["import math", PICTURE, "solved = 1"]


def test_nothing_raw_is_left(text):
    assert not RAW.search(text)
    assert RAW.search("see {eq}`a`")
    assert RAW.search("> :::{note}")
    assert RAW.search("```{code-cell}")


@pytest.mark.parametrize(
    "expected",
    [
        "# A page with *everything*",
        "[Elsewhere](other.ipynb)",
        "Fig. 1",
        "(1)",
        "Theorem 6",
        "[the web](https://example.org)",
        r"\$5 and 2\*3 &lt; 7",
        "> **Theorem 7: it $\\le$ holds**\n>\n> For $x$:",
        r"> $$x = {} & |y| \\ \ge 0\tag{1}$$",
        "> - first\n> - second with (1)",
        "Proof. By ",
        "<details><summary>Proof of $x$, folded</summary>\n\nLong.\n\n$$a$$\n\n</details>",
        "> **A remark**\n>\n> Remarkable.",
        "| a | $b$ |\n| --- | --- |\n| 1 | $2$ |",
        "**Picture 1.** A line of $x$.",
        "<details><summary>The picture in words</summary>\n\nA line that\\_rises.\n\n</details>",
        "> **Exercise 1 (A task)**\n>\n> Do it.",
        "<details><summary>Solution to Exercise 1 (A task)</summary>\n\nBefore.\n\n</details>",
        "<details><summary>Solution to Exercise 1 (A task), continued</summary>\n\nAfter.",
    ],
)
def test_what_a_page_has_is_plain_markdown(text, expected):
    assert expected in text


def test_what_the_page_folds_is_folded(cells):
    code = {cell.source: cell for cell in cells if cell.cell_type == "code"}
    assert code["import math"].metadata.jupyter == {"source_hidden": True}
    assert code[PICTURE].metadata.jupyter == {"source_hidden": True}
    assert code["solved = 1"].metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}
    assert "image/svg+xml" in code[PICTURE].outputs[0].data


def test_a_stroke_in_a_formula_ends_no_column():
    assert markdown.in_column(r"a \| $\|x\| + |y|$ \$") == (
        r"a \| $\Vert x\Vert  + \vert y\vert $ \$"
    )


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

======  =====
left    right
======  =====
a       ``b``
======  =====

+---+---+
| c | d |
+---+---+

1) a list

\\2. not so this

::

   plain
"""


def test_what_docutils_reads_is_written():
    """Lists, terms, quotations, tables with a head and without one, code of no language."""
    document = publish_doctree(RST, settings_overrides={"report_level": 5})
    assert markdown.Writer(lambda *_: None, lambda *_: "").blocks(document) == (
        "- one\n  \n  more\n- two\n\n"
        "3. third\n4. fourth\n\n"
        "- **term**\n  \n  What *it* is.\n\n"
        "> Said by `x`.\n\n"
        "| left | right |\n| --- | --- |\n| a | `b` |\n\n"
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
    assert markdown.Writer(lambda *_: None, lambda *_: "").blocks(page) == "Text."
    assert said == ["no Markdown for sidebar"]


def test_a_function_is_its_signature_without_the_link_and_its_text():
    signature = addnodes.desc_signature()
    signature += [addnodes.desc_name("", "rate"), addnodes.desc_addname("", "(x)")]
    signature += nodes.reference("", "[source]")
    text = addnodes.desc_content("", nodes.paragraph("", "Half of x."))
    entry = nodes.section("", addnodes.desc("", signature, text))
    written = markdown.Writer(lambda *_: None, lambda *_: "").blocks(entry)
    assert written == "**`rate(x)`**\n\nHalf of x."


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
    written = markdown.Writer(lambda *_: None, lambda *_: "").blocks(nodes.section("", raw))
    assert written == expected


# Copies -----------------------------------------------------------------------------------------


def write(path, *sources, outputs=()):
    cells = [{"cell_type": "code", "source": source, "outputs": outputs} for source in sources]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), "utf-8")


@pytest.fixture
def renew(tmp_path):
    """Makes a notebook anew, and renews the copy; returns what was renewed and what kept."""

    def again(*sources, **outputs):
        write(tmp_path / "made" / "a.ipynb", *sources, **outputs)
        (tmp_path / "copies").mkdir(exist_ok=True)
        return lab.renew(tmp_path / "made", tmp_path / "copies")

    return again


def test_a_copy_is_made_once_and_renewed_with_its_page(renew, tmp_path):
    assert renew("a = 1") == (["a.ipynb"], [])
    assert renew("a = 1") == ([], [])
    assert renew("a = 2") == (["a.ipynb"], [])
    assert "a = 2" in (tmp_path / "copies" / "a.ipynb").read_text("utf-8")


def test_to_run_a_copy_is_no_change(renew, tmp_path):
    renew("a = 1")
    write(tmp_path / "copies" / "a.ipynb", "a = 1", outputs=["1"])
    assert renew("a = 1") == ([], [])
    assert renew("a = 2") == (["a.ipynb"], [])


def test_what_a_reader_changed_is_kept(renew, tmp_path):
    renew("a = 1")
    write(tmp_path / "copies" / "a.ipynb", "a = 3")
    assert renew("a = 1") == ([], [])
    assert renew("a = 2") == renew("a = 2") == ([], ["a.ipynb"])
    assert "a = 3" in (tmp_path / "copies" / "a.ipynb").read_text("utf-8")
    (tmp_path / "copies" / "a.ipynb").unlink()
    assert renew("a = 2") == (["a.ipynb"], [])


def test_a_file_of_the_reader_is_no_copy(renew, tmp_path):
    write(tmp_path / "copies" / "a.ipynb", "mine")
    assert renew("a = 1") == ([], ["a.ipynb"])


def test_make_lab_says_what_it_did(tmp_path, capsys):
    with pytest.raises(SystemExit, match="make book"):
        lab.main(tmp_path)
    write(tmp_path / lab.FOR_LAB / "a.ipynb", "a = 1")
    lab.main(tmp_path)
    assert f"{tmp_path / 'lab'}: 1 notebooks are new." in capsys.readouterr().out
    write(tmp_path / "lab" / "a.ipynb", "a = 3")
    write(tmp_path / lab.FOR_LAB / "a.ipynb", "a = 2")
    lab.main(tmp_path)
    said = capsys.readouterr().out
    assert ": 0 notebooks are new." in said
    assert "Kept as you changed them, though their pages have changed since: a.ipynb." in said
