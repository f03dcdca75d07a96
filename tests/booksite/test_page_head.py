"""What a page says under its title: what it needs, and how long it takes to read and to run."""

import re
from graphlib import TopologicalSorter

import jupytext
import pytest
import yaml
from docutils import nodes
from jupytext.config import load_jupytext_configuration_file

from booksite import page_head
from helpers.pages import PAGES, labeled, needs
from runproofs.book.register import BOOK


@pytest.mark.parametrize(
    ("node", "count"),
    [
        (nodes.paragraph("", "Half of it - or 2."), 5),
        (nodes.math("", "a + b"), 1),
        (nodes.math_block("", "a + b"), 10),
        (nodes.literal_block("", "a b"), 0),
        (nodes.raw("", "a b"), 0),
        (nodes.comment("", "a b"), 0),
        (nodes.container("", nodes.Text("a b"), nb_element="cell_code"), 0),
        (nodes.container("", nodes.Text("a b"), nb_element="other"), 2),
        (nodes.container("", nodes.Text("a b"), classes=["dropdown"]), 0),
        (nodes.container("", nodes.Text("a b"), design_component="dropdown"), 0),
        (nodes.section("", nodes.paragraph("", "a b"), nodes.paragraph("", "c")), 3),
    ],
)
def test_words_that_are_seen(node, count):
    assert page_head.words(node) == count


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_a_page_needs_what_its_words_say(path):
    assert needs(path) is not None
    said = re.search(r"\b(You need|page needs)\b.*?(?=\. |\.$|\n\n)", path.read_text("utf-8"), re.M)
    assert {*re.findall(r"\{ref\}`([^`]+)`", said[0] if said else "")} <= {*needs(path)}


def test_no_page_needs_itself_in_the_end():
    page = labeled()
    graph = {path: [page[label] for label in needs(path)] for path in PAGES}
    assert len([*TopologicalSorter(graph).static_order()]) == len(PAGES)


def test_teachers_are_told_which_chapters_begin_without_another():
    advice = (BOOK / "index.md").read_text("utf-8").split("begin without any other: ")[1]
    alone, others = (re.findall(r"`(ch:.*?)`", part) for part in advice.split(". ", 1))
    page = labeled()
    assert len(alone) == 5
    assert [label for label in alone if needs(page[label])] == []
    assert all(needs(page[label]) for label in others[:2])


def test_jupyter_keeps_the_front_matter_of_a_page():
    config = load_jupytext_configuration_file(str(BOOK / "jupytext.toml"))
    page = BOOK / "ch2_shallow_linear" / "digits.md"
    notebook = jupytext.read(page, config=config)
    assert notebook.metadata["needs"] == needs(page) != []
    written = jupytext.writes(notebook, "md:myst", config=config)
    assert yaml.safe_load(written.split("\n---\n")[0])["needs"] == needs(page)
    assert "needs" not in yaml.safe_load(
        jupytext.writes(jupytext.read(page), "md:myst").split("\n---\n")[0]
    )
