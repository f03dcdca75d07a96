"""The book on paper: what a small book becomes in LaTeX, and HTML by itself."""

import re
from base64 import b64encode
from importlib.metadata import version
from types import SimpleNamespace

import nbformat
import pytest
from docutils import nodes
from nbformat import v4
from PIL import Image
from sphinx.addnodes import start_of_file

from booksite.autodoc import LIBRARY
from booksite.html_to_latex import Converter
from booksite.latex import STYLE, Pages
from helpers.books import build

LANDING = """# The book

Welcome.

## On this book

```{toctree}
:caption: Chapters
:numbered:
page
```

```{toctree}
:caption: Back
last
```
"""
PAGE = r"""# A page

## Its section

```{prf:theorem} Theorem 1: All is well
:label: thm:one
Every $a$ is one.
```

```{prf:proof}
It is *one*.
```

::::{dropdown} A proof by pictures
:name: folded
Look.
::::

```{exercise}
:label: ex:one
Do it.
```

```{solution} ex:one
:label: done
Done.
```

$$a = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$$ (eq:one)

$$a &= b \\ c &= d$$

<details class="erratum">

A $slip$.

</details>

[Elsewhere](https://example.org/a.html), [there](last.md), [nowhere](x.html).

::::{grid}
:::{grid-item-card} Title
:link: https://example.org/card
Words.
:::
::::

```{figure} dot.png
:alt: A dot.
:name: dot
A dot.
```
"""
MOVING = """<img alt="It moves." id="_anim_imgabc">
<script>frames[0] = "data:image/png;base64,{}"</script>"""


def cell(source, html="", *tags):
    told = {"text/plain": "for a terminal", "text/html": html}
    outputs = [v4.new_output("display_data", told)] if html else []
    return v4.new_code_cell(source, metadata={"tags": [*tags]}, outputs=outputs)


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The folder of a small book on paper."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "index.md").write_text(LANDING, "utf-8")
    (folder / "last.md").write_text("# The last page\n\n## Lower\n\nWords.\n", "utf-8")
    Image.new("1", (1, 1)).save(folder / "dot.png")
    cells = [
        v4.new_markdown_cell(PAGE),
        cell("shown"),
        cell("one\ntwo", "", "hide-input"),
        cell("three", "", "hide-cell"),
        cell("four", "<p>A <b>row</b></p>", "hide-input"),
        cell("five", MOVING.format(b64encode(b"a picture").decode()), "remove-input"),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python"}}
    nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), folder / "page.ipynb")
    syntax = ["colon_fence", "dollarmath"]
    return build(
        folder, "sphinx_design", "sphinx_proof", "sphinx_exercise", builder="latex",
        myst_enable_extensions=syntax, proof_title_format="%t", latex_engine="xelatex",
        latex_documents=[("index", "book.tex", "The book", "its authors", "manual")],
    )[0]  # fmt: skip


@pytest.fixture(scope="module")
def text(paper):
    """Its LaTeX without the preamble; one space where it has any."""
    latex = (paper / "book.tex").read_text("utf-8")
    return " ".join(latex.split(r"\begin{document}")[1].split())


def test_the_look_comes_with_it(paper):
    """And says which version of the book it is."""
    style = STYLE.read_text("utf-8")
    assert "@VERSION@" in style
    expected = style.replace("@VERSION@", version("runproofs"))
    assert (paper / "book.sty").read_text("utf-8") == expected


def test_the_tables_of_contents_become_parts(text):
    marks = r"\\(?:un)?numberedchapters|\\bookpart\{\w+\}|\\(?:chapter|(?:sub)?section)\{.*?\}"
    assert re.findall(marks, text) == [
        r"\unnumberedchapters", r"\chapter{About this book}", r"\subsection{On this book}",
        r"\bookpart{Chapters}", r"\numberedchapters", r"\chapter{A page}",
        r"\subsection{Its section}", r"\bookpart{Back}", r"\unnumberedchapters",
        r"\chapter{The last page}", r"\subsection{Lower}",
    ]  # fmt: skip
    assert text.index("This is the book on paper.") < text.index("Welcome.")


@pytest.mark.parametrize(
    "printed",
    [
        r"\begin{statement}{Theorem 1: All is well}",
        r"\phantomsection\label{\detokenize{page:thm:one}} "
        r"\sphinxAtStartPar Every \(a\) is one. \end{statement}",
        r"\begin{bookproof}{Proof.} \sphinxAtStartPar It is \sphinxstyleemphasis{one}.",
        r"\begin{bookproof}{A proof by pictures.} "
        r"\phantomsection\label{\detokenize{page:folded}} \sphinxAtStartPar Look.",
        r"\begin{bookexercise}{Exercise 1.1}} \phantomsection\label{\detokenize{page:ex:one}} "
        r"\label{exercise:ex:one} \sphinxAtStartPar Do it. \end{bookexercise}",
        r"\bookdisplay{\tag{1}\label{equation:page:eq:one}}"
        r"{% a = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}}",
        r"\bookdisplay{}{% \begin{aligned}a &= b \\ c &= d\end{aligned}}",
        r"\begin{erratum} \sphinxAtStartPar A \(slip\). \end{erratum}",
        r"\sphinxhref{https://example.org/a.html}{Elsewhere}",
        r"\hyperref[\detokenize{last::doc}]",
        r"\sphinxstylestrong{Title}. ",
        r"\renewcommand{\thefigure}{1.1} \begin{figure}",
    ],
)
def test_what_stands_on_a_page_is_printed(text, printed):
    assert printed in text


def test_a_card_that_is_a_link_has_no_second_text(text):
    assert "example.org/card" not in text


def test_code_that_a_page_folds_is_counted(text):
    assert "shown" in text
    assert not re.findall("one two|three|four|five", text)
    assert re.findall(r"\\codeleftout\{(\d)\}", text) == ["4"]
    assert r"A \textbf{row}" in text
    assert "for a terminal" not in text


def test_a_player_shows_its_first_picture(paper, text):
    assert (paper / "abc.png").read_bytes() == b"a picture"
    assert r"\sphinxincludegraphics{{abc}.png} \movingpicture\end{center}" in text


# HTML by itself -----------------------------------------------------------------------------------


def told(nodes_):
    """Nodes in words: LaTeX as it is, a formula between dollars."""
    return "".join(
        f"${node}$" if isinstance(node.parent, nodes.math) else str(node)
        for parent in nodes_
        for node in parent.findall(nodes.Text)
    )


def latex(*pieces):
    convert = Converter("back/ledger")
    return "".join(told(convert.nodes(piece)) for piece in pieces)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (r"<b>so</b> \(a\) and \(b\)", r"\textbf{so} $a$ and $b$"),
        ("<p>one<br>two</p>", "\n\none\\newline two\n\n"),
        ('<span class="tag">new</span> <span class="other">old</span>', r"\booktag{new} old"),
        ('<ul class="control"><li class="a"><span class="mark">-</span>x</li></ul>',
         r"\cardrow{-}{x"),
        ('<span class="mark">-</span>', "-"),
        ('a<pre>code <b>and</b> <br> code</pre><select><option>1</option></select>b', "ab"),
        ('a<span class="dot">.</span><input>b', "ab"),
        ('<b id="top">x</b>', r"\textbf{\phantomsection\label{\detokenize{back/ledger:top}}x}"),
        ('<a href="https://a.org/b.html">x</a>', r"\sphinxhref{https://a.org/b.html}{x}"),
        ('<a href="../ch/one.html#two">x</a>', r"\hyperref[\detokenize{ch/one:two}]{x}"),
        ('<a href="../ch/one.html">x</a>', r"\hyperref[\detokenize{ch/one::doc}]{x}"),
        ('<a href="#two">x</a>', r"\hyperref[\detokenize{back/ledger:two}]{x}"),
        ('<a class="tag" href="#two">x</a>',
         r"\hyperref[\detokenize{back/ledger:two}]{\booktag{x}}"),
        ("<a>x</a>", "x"),
    ],
)  # fmt: skip
def test_a_tag_is_printed(html, expected):
    assert latex(html) == expected


def test_of_the_library_the_list_of_modules_stays():
    room = start_of_file(
        "", nodes.section("", nodes.title("", "A room")), docname=f"{LIBRARY}/base"
    )
    lines = nodes.bullet_list("", nodes.list_item("", nodes.reference("", "linalg", refid="x")))
    section = nodes.section("", nodes.title("", "The library"), nodes.section("", lines))
    section += nodes.compound("", room)
    document = nodes.section("", start_of_file("", section, docname=LIBRARY))
    Pages.leave_out_pages(SimpleNamespace(document=document))
    assert "linalg" in document.astext()
    assert "A room" not in document.astext()
    assert not list(document.findall(nodes.reference))


def test_a_tag_may_be_closed_in_a_later_piece():
    assert (
        latex('<details class="erratum">', "words", "</details>")
        == r"\begin{erratum}words\end{erratum}"
    )


@pytest.mark.parametrize(
    ("html", "message"),
    [("<video>", "back/ledger: nobody said what <video> is"), ("<b></i>", "<b> is closed by </i>")],
)
def test_a_tag_that_would_be_lost_is_an_error(html, message):
    with pytest.raises(ValueError, match=message):
        latex(html)


def table(rows):
    html = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (whole,) = Converter("page").nodes(f"<table>{html}</table>")
    return next(whole.findall(nodes.table))


def widths(found):
    return [column["colwidth"] for column in found.findall(nodes.colspec)]


def test_a_table_keeps_its_cells_and_a_head():
    found = table([["a", "b"], [r"<b>c</b> \(d\)", "e"], ["", "f"]])
    head, body = (next(found.findall(kind)) for kind in (nodes.thead, nodes.tbody))
    cells = [[[told([entry]) for entry in row] for row in part] for part in (head, body)]
    assert cells == [[["a", "b"]], [[r"\textbf{c} $d$", "e"], ["", "f"]]]


def test_a_column_is_as_wide_as_a_short_line_or_its_longest_word():
    few, words, word = "one", "word " * 12, "w" * 40
    found = table([["", few, words, f"{few} {word}"], ["", "", few, few]])
    assert widths(found) == [0 + 3, 3 + 3, 32 + 3, 40 + 3]


@pytest.mark.parametrize(
    ("rows", "first", "classes"),
    [
        (8, 57, []),
        (9, 57, ["longtable", "colwidths-given"]),
        (8, 58, ["colwidths-given"]),
    ],
)
def test_a_long_or_wide_table_is_said_to_be_one(rows, first, classes):
    found = table([["w" * (first - 3), "w" * 30]] * rows)
    assert widths(found) == [first, 33]
    assert found["classes"] == classes
