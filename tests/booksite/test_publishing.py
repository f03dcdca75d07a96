"""One setting publishes the book; without it no button, link or file points to nowhere."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from docutils import nodes
from docutils.utils import new_document

from booksite import launch, meta_tags, notebooks, publishing
from helpers.books import build

PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, language: python}
---
# A *page* & more

> Is $1-\\alpha$ "large"?

It is, by $\\sum_i x_i$. That is all <there> is.

```{code-cell} ipython3
1 + 1
```

```{toctree}
next
```
"""
REPOSITORY = "https://github.com/Example/proofs"
HOME = "https://example.github.io/proofs/"


def built(folder, **theme_options):
    """The warnings and the output folder of a book of two pages, built with the book's theme."""
    (folder / "book").mkdir(parents=True)
    (folder / "book" / "first.md").write_text(PAGE, "utf-8")
    (folder / "book" / "next.md").write_text("# Next\n\n$$x$$\n", "utf-8")
    settings = {
        "myst_enable_extensions": ["dollarmath"],
        "root_doc": "book/first",
        "html_theme": "sphinx_book_theme",
        "html_title": "The Book",
        "html_theme_options": theme_options,
    }
    output, warnings, _ = build(folder, "sphinx_book_theme", "sphinx.ext.githubpages", **settings)
    others = re.compile("registered, but|already registered")  # the claims; a second Sphinx here
    return [line for line in warnings.splitlines() if not others.search(line)], output


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    options = {"repository_url": REPOSITORY + "/", "repository_branch": "main"}
    return built(tmp_path_factory.mktemp("published"), **options)


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    return built(tmp_path_factory.mktemp("private"), repository_url="")


class Tags(HTMLParser):
    """What a page says in its head, and where it leads."""

    def __init__(self, path):
        super().__init__()
        self.meta, self.links, self.canonical = {}, [], None
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "meta" and (values.get("property") or values.get("name")):
            self.meta[values.get("property") or values["name"]] = values["content"]
        if tag == "link" and values.get("rel") == "canonical":
            self.canonical = values["href"]
        if tag == "a":
            self.links.append(values.get("href", ""))

    def outside(self):
        ours = ("github.com/Example", "mybinder", "colab", "example.github.io")
        return {link for link in self.links if any(name in link for name in ours)}


@pytest.mark.parametrize("book", ["published", "private"])
def test_a_page_describes_itself(book, request):
    warnings, output = request.getfixturevalue(book)
    assert warnings == []
    first, second = (Tags(output / "book" / f"{name}.html").meta for name in ("first", "next"))
    said = "Is 1-α “large”? That is all <there> is."
    assert first["description"] == first["og:description"] == said
    assert (first["og:title"], first["og:type"]) == ("A page & more", "website")
    assert (second["og:title"], second["og:type"]) == ("Next", "article")
    assert first["og:site_name"] == second["og:site_name"] == "The Book"
    assert second["description"] == said, "a page without a sentence has those of the first"
    assert (output / ".nojekyll").exists()


def test_whoever_shares_the_bare_address_shares_the_book(published, private):
    for _, output in (published, private):
        bare, first = Tags(output / "index.html"), Tags(output / "book" / "first.html")
        assert bare.meta["og:description"] == first.meta["og:description"]
        assert bare.links == ["book/first.html"]


def test_one_setting_publishes_the_book(published):
    _, output = published
    page = Tags(output / "book" / "first.html")
    assert page.canonical == page.meta["og:url"] == HOME + "book/first.html"
    assert page.meta["og:image"] == HOME + meta_tags.PREVIEW
    assert page.outside() == {
        REPOSITORY,
        f"{REPOSITORY}/edit/main/book/first.md",
        f"{REPOSITORY}/issues/new?title=Issue%20on%20page%20%2Fbook/first.html"
        "&body=Your%20issue%20content%20here.",
        "https://colab.research.google.com/github/Example/proofs/blob/notebooks/book/first.ipynb",
        "https://mybinder.org/v2/gh/Example/proofs/notebooks?urlpath=lab/tree/book/first.ipynb",
    }
    assert (output / "_sources" / "book" / "first.ipynb").exists(), "what both open"
    assert {"colab", "mybinder"}.isdisjoint(
        re.findall("colab|mybinder", (output / "book" / "next.html").read_text("utf-8"))
    ), "a page without code has nothing to launch"


def test_the_header_has_a_switch_for_the_code_and_words_for_the_downloads(private):
    header = (private[1] / "book" / "first.html").read_text("utf-8")
    assert "fold-code-button" in header
    assert "Notebook (.ipynb)" in header
    assert "fold-code-button" not in (private[1] / "book" / "next.html").read_text("utf-8")


def test_a_notebook_says_where_page_and_library_are(published, private, monkeypatch):
    for (_, output), there in ((published, True), (private, False)):
        path = output / "_sources" / "book" / "first.ipynb"
        said = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        assert said.startswith("*A page & more* is a page of the book **The Book**")
        assert (f" ([read it there]({HOME}book/first.html))." in said) == there
    monkeypatch.setattr(notebooks, "wheel", lambda app: Path("runproofs.whl"))
    config = SimpleNamespace(html_title="The Book", html_baseurl="", html_theme_options={})
    env = SimpleNamespace(titles={"book/next": nodes.title("", "Next")})
    said = notebooks.head(SimpleNamespace(config=config, env=env), "book/next")
    assert said.split("\n\n") == [
        "*Next* is a page of the book **The Book**.",
        "Its cells run in Python 3.11.5 or newer, once the library of the book is installed:",
        "```\npip install runproofs.whl\n```",
        "(in a cell: `%pip install ...`). The page offers this file for download beside the "
        "notebook; it lies under `_static` on the site. Name it with its folder if it is not in "
        "yours.",
    ]


def test_the_map_names_every_page(published):
    tree = ElementTree.parse(published[1] / "sitemap.xml")
    assert [place.text for place in tree.findall(".//{*}loc")] == [
        HOME + "book/first.html",
        HOME + "book/next.html",
    ]


def test_the_page_for_lost_readers_needs_nothing_from_where_it_stands(published):
    page = (published[1] / "404.html").read_text("utf-8")
    found = re.findall(r'(?:href|src|action|url)\s*[=(]\s*"?([^"\s>)]+)', page)
    assert found == ["data:,", HOME, HOME + "search.html"]


def test_without_the_setting_nothing_dangles(private):
    _, output = private
    for path in output.rglob("*.html"):
        if "_static" not in path.parts:
            page = Tags(path)
            assert page.canonical is None
            assert not {"og:url", "og:image"} & set(page.meta)
            assert page.outside() == set()
    for name in ("sitemap.xml", "404.html", "CNAME"):
        assert not (output / name).exists()
    first = (output / "book" / "first.html").read_text("utf-8")
    assert not re.search("source-(repository|issues|edit)|launch-buttons", first)


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


def test_only_github_is_launched():
    assert launch.links(settings("https://gitlab.com/example/proofs"), "book/a") == {}
    assert launch.links(settings(""), "book/a") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The thesis [Mia22] is long. Lemma 2 of [Mia22] is short.", "The thesis is long."),
        ("One. " + "Two words. " * 30, ("One. " + "Two words. " * 30)[:192].strip()),
        ("A" + " word" * 60 + ".", "A" + " word" * 39 + " …"),
        ("No [A] here [B]. [C] says so.", "No here."),
    ],
)
def test_a_description_is_whole_sentences_of_plain_text(text, said):
    needs = nodes.paragraph("", "Needs a page.", classes=["page-head"])
    section = nodes.section("", nodes.title("", "T"), needs, nodes.paragraph("", text))
    found = meta_tags.description(nodes.container("", section))
    assert found == said
    assert len(found) <= meta_tags.LONGEST


def described(*paragraphs):
    """The description of a page with these paragraphs, after one of a class of its own."""
    document = new_document("page")
    section = nodes.section("", nodes.title("", "A page"), nodes.paragraph("", "x", classes=["y"]))
    section += [nodes.paragraph("", "", *parts) for parts in paragraphs]
    document += section
    return meta_tags.description(document)


def test_a_description_has_whole_sentences_that_plain_text_can_say():
    short, long = "A short one.", "B" + 78 * "b" + "."  # 80 letters
    unsaid = nodes.math("", r"\sum_i x_i")
    assert described([nodes.Text(short)]) == short
    assert described([nodes.Text("It is "), unsaid, nodes.Text(". " + short)]) == short
    assert described([nodes.Text(long + " It is "), unsaid, nodes.Text(". " + short)]) == long
    text = long[1:] + " It is "  # a letter less: too little to stop at
    assert described([nodes.Text(text), unsaid, nodes.Text(". " + short)]) == f"{long[1:]} {short}"
    assert described([nodes.Text(f"{long} {long}"), nodes.Text(" " + long)]) == f"{long} {long}"
    assert described([nodes.Text(f"By J. Doe {long}")]) == f"By J. Doe {long}"
    words = "word " * 60
    cut = described([nodes.Text(words)])
    assert cut == "word " * 39 + "…"
    exact = "w" * 199 + "."
    assert described([nodes.Text(exact)]) == exact
