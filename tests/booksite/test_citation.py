"""The entries by which the book and its pages are cited."""

from types import SimpleNamespace

from booksite import citation
from helpers import books

CONFIG = SimpleNamespace(copyright="2026")


def test_an_entry_says_what_the_file_says():
    assert citation.bibtex(CONFIG, str(books.SMALL)) == (
        "@book{small,\n  author = {{Its authors}},\n  title = {{Small: a book for tests}},\n"
        "  year = {2026},\n  edition = {Version 1.2.3},\n}"
    )
    page = citation.bibtex(CONFIG, str(books.SMALL), "Coins", "coins", "https://a.org/coins.html")
    assert page.startswith("@inbook{small-coins,\n  author = {{Its authors}},\n")
    for line in (
        "title = {{Coins}}",
        "booktitle = {{Small: a book for tests}}",
        "url = {https://a.org/coins.html}",
    ):
        assert f"  {line},\n" in page


def test_the_book_itself_can_be_cited(pytestconfig):
    said = citation.book(str(pytestconfig.rootpath))
    assert said["authors"]
    assert citation.bibtex(CONFIG, str(pytestconfig.rootpath)).startswith("@book{proofs-you-can-")


def test_a_book_without_the_file_has_no_entry(tmp_path):
    assert citation.book(str(tmp_path)) == {}
