"""Without an address of the repository nothing points to nowhere; how a page describes itself."""

import json
import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from booksite import meta_tags, notebooks, publishing
from helpers.books import build

PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, language: python}
---
# A *page* & more

> Is $1-\\alpha$ "large"?

Is it? That is all <there> is.

```{code-cell} ipython3
1 + 1
```

```{toctree}
next
```
"""


def test_without_the_setting_nothing_dangles(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "first.md").write_text(PAGE, "utf-8")
    (tmp_path / "book" / "next.md").write_text("# Next\n\n$$x$$\n", "utf-8")
    output, *_ = build(
        tmp_path, "sphinx_book_theme", "sphinx.ext.githubpages", root_doc="book/first",
        myst_enable_extensions=["dollarmath"], html_theme="sphinx_book_theme",
        html_title="The Book", html_theme_options={"repository_url": ""},
    )  # fmt: skip
    ours = r'github\.com/|mybinder|colab|og:url|og:image|rel="canonical"|launch-buttons'
    for path in (path for path in output.rglob("*.html") if "_static" not in path.parts):
        assert not re.search(ours, path.read_text("utf-8").partition("sphinx-version")[0])
    for name in ("sitemap.xml", "404.html", "CNAME"):
        assert not (output / name).exists()
    first, following, bare = (
        (output / name).read_text("utf-8")
        for name in ("book/first.html", "book/next.html", "index.html")
    )
    said = 'content="Is it? That is all &lt;there&gt; is."'
    assert all(page.count(said) == 2 for page in (first, following, bare))
    assert 'property="og:title" content="A page &amp; more"' in first
    assert 'url=book/first.html"' in bare
    assert "fold-code-button" in first
    assert "fold-code-button" not in following
    notebook = json.loads((output / "_sources" / "book" / "first.ipynb").read_text("utf-8"))
    head = "".join(notebook["cells"][0]["source"])
    assert head == "*A page & more* is a page of the book **The Book**."


def test_a_notebook_says_what_to_install_and_where_it_is_if_the_site_has_no_address(monkeypatch):
    monkeypatch.setattr(notebooks, "wheel", lambda app: SimpleNamespace(name="runproofs.whl"))
    config = SimpleNamespace(html_title="The Book", html_baseurl="", html_theme_options={})
    env = SimpleNamespace(titles={"book/next": nodes.title("", "Next")})
    app = SimpleNamespace(config=config, env=env)
    said = notebooks.head(app, "book/next")
    assert '```\npip install "runproofs.whl[torch,data]"\n```' in said
    assert "it lies under `_static` on the site" in said
    config.html_baseurl = "https://proofs.example/"
    app.builder = SimpleNamespace(get_target_uri=lambda name: f"{name}.html")
    where = "https://proofs.example/_static/runproofs.whl"
    said = notebooks.head(app, "book/next")
    assert f'pip install "runproofs[torch,data] @ {where}"' in said
    assert "_static` on the site" not in said


def settings(url, base=""):
    return SimpleNamespace(html_theme_options={"repository_url": url}, html_baseurl=base)


@pytest.mark.parametrize(
    ("url", "base", "address"),
    [
        ("", "", None),
        ("https://github.com/Example/proofs", "", "https://example.github.io/proofs/"),
        ("https://github.com/example/Example.github.io/", "", "https://example.github.io/"),
        ("https://gitlab.com/example/proofs", "", None),
        ("", "https://example.org/proofs", "https://example.org/proofs/"),
        ("https://github.com/example/proofs", "https://example.org/", "https://example.org/"),
    ],
)
def test_the_address_of_the_site(url, base, address):
    assert publishing.site_address(settings(url, base)) == address


def test_only_notebooks_on_github_are_launched():
    for url, page in (
        ("https://gitlab.com/a/b", {"ipynb_source": 1}),
        ("https://github.com/a/b", {}),
    ):
        context = {"header_buttons": [], **page}
        app = SimpleNamespace(config=settings(url))
        publishing.add_buttons(app, "book/a", "", context, None)
        assert context["header_buttons"] == []


def described(*paragraphs):
    """The description of a page with these paragraphs, after one of a class of its own."""
    document = new_document("page")
    section = nodes.section("", nodes.title("", "A page"), nodes.paragraph("", "x", classes=["y"]))
    section += [nodes.paragraph("", "", *parts) for parts in paragraphs]
    document += section
    return meta_tags.description(document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The thesis [Mia22] is long. Lemma 2 of [Mia22] is short.", "The thesis is long."),
        ("One. " + "Two words. " * 30, ("One. " + "Two words. " * 30)[:192].strip()),
        ("A" + " word" * 60 + ".", "A" + " word" * 39 + " …"),
        ("No [A] here [B]. [C] says so.", "No here."),
        ("w" * 199 + ".", "w" * 199 + "."),
        ("By J. Doe, at last.", "By J. Doe, at last."),
    ],
)
def test_a_description_is_whole_sentences_of_plain_text(text, said):
    assert described([nodes.Text(text)]) == said


def test_a_description_has_no_sentence_that_plain_text_cannot_say():
    short, long = "A short one.", "B" + 78 * "b" + "."  # 80 letters: enough to stop at
    unsaid = nodes.math("", r"\sum_i x_i")
    for first, said in (("", short), (long, long), (long[1:], f"{long[1:]} {short}")):
        parts = nodes.Text(f"{first} It is "), unsaid, nodes.Text(". " + short)
        assert described(parts) == said
