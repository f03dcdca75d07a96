"""What a text names leads to where it is stated."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes

from booksite import auto_links
from booksite.auto_links import mentions, preview, source_of
from runproofs.claims.registry import register


@pytest.mark.parametrize(
    ("text", "source", "named"),
    [
        ("Theorem\N{NO-BREAK SPACE}16, Assumption 3", "thesis", "theorem-16 assumption-3"),
        ("Lemmas 2, 3 and 4; (2.14)", "thesis", "lemma-2 lemma-3 lemma-4 equation-2.14"),
        ("Theorem 6 of the thesis", "vidal", "theorem-6"),
        ("the thesis’ Theorem 6", "vidal", "theorem-6"),
        ("Theorem 6 of the paper and Theorem 6 of ", "thesis", ""),
        ("Theorem 4 of Chapter 2, Lemma 13 (2)", "vidal", "theorem-4"),
        ("Lemma 13 (2) and ICML Theorem 3.6, Theorem 4.12", "thesis", "lemma-13"),
        ("Theorem 4.F, 9.66 replaces 16", "helmbold-long", ""),
        ("Theorem 66, a Theorem, (9.99) and f(2.2x)", "thesis", ""),
        ("Figure 2\N{NON-BREAKING HYPHEN}1", "thesis", "figure-2-1"),
    ],
)
def test_what_a_text_names(text, source, named):
    found = [m.claim.id for m in mentions(text, source) if m.claim.source == "thesis"]
    assert found == [f"thesis/{name}" for name in named.split()]


def test_a_result_of_ours_is_found_by_its_letter_on_any_page():
    (mention,) = mentions("see Theorem 6.C.", "vidal")
    assert (mention.claim.source, mention.claim.number[:11]) == ("beyond", "Theorem 6.C")
    assert (mention.start, mention.end) == (4, 15)


def test_the_same_number_is_another_result_in_another_source():
    pages = ("ch3_deep_linear/gaps", "companions/surprises/index", "back/ledger/vidal")
    sources = [source_of(f"book/{page}") for page in pages]
    assert sources == ["thesis", "helmbold-long", "vidal"]
    assert source_of("book/back/beyond") == ""
    found = [next(mentions("Theorem 4", source)).claim for source in sources[:2]]
    assert [claim.source for claim in found] == sources[:2]


def test_the_line_at_which_something_unfolds_has_no_link():
    line = nodes.inline("", "", nodes.Text("Theorem 6"), classes=["of-fold"])
    open_line = nodes.inline("", "", nodes.Text("Lemma 2"))
    section = nodes.section("", line, nodes.paragraph("", "", open_line))
    assert list(auto_links.open_texts(section)) == ["Lemma 2"]


def test_a_preview_has_the_statement_with_its_formulas():
    labels = {"sec:landscape": ("page", "anchor", "The landscape")}
    domain = SimpleNamespace(
        equations={"tl-problem": ("page", 7), "tl-rho": ("page", 5)}, labels=labels, citations=[]
    )
    env = SimpleNamespace(get_domain=lambda name: domain, domains={})
    app = SimpleNamespace(env=env)
    shown = preview(app, register()["thesis/equation-2.2"])
    assert "<b>(2.2)</b>" in shown
    assert r'<span class="math inline">\(' in shown
    assert r'<div class="math block">' in shown
    six = preview(app, register()["thesis/theorem-6"])
    assert six.count(r"\tag{5}") == 1
    assert "set in (5)" in six
    assert "Problem (7)" in preview(app, register()["thesis/theorem-5"])
    assert "The landscape" in preview(app, register()["thesis/contribution-1-path-norm"])
    for entry in register().values():
        assert not re.search(r"[$`]|\{(eq|ref|cite)\}", preview(app, entry)), entry.id


def test_pages_are_written_again_where_a_claim_has_moved_or_is_red(monkeypatch):
    env = SimpleNamespace(found_docs={"index"}, book_red=set())
    app = SimpleNamespace(builder=SimpleNamespace(name="html"), env=env)
    monkeypatch.setattr(auto_links, "anchor", lambda app, entry: ("index", "here"))
    assert auto_links.pages_to_write(app, env) == []
    monkeypatch.setattr(auto_links, "anchor", lambda app, entry: ("index", "there"))
    assert auto_links.pages_to_write(app, env) == ["index"]
    assert auto_links.pages_to_write(app, env) == []
    env.book_red = {"thesis/lemma-2"}
    assert auto_links.pages_to_write(app, env) == ["index"]
