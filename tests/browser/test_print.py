"""A page on paper (Ctrl+P): its proofs stand open, what steers the screen is gone."""

from io import BytesIO

from pypdf import PdfReader

from browser import browse

PAGE = "book/ch2_shallow_linear/two_layer.html"
ERRATA = "book/back/errata.html"


def printed(page) -> str:
    pages = PdfReader(BytesIO(page.pdf(format="A4"))).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_proofs_are_open_and_the_screen_is_gone(context, home):
    with browse.visit(context, home, PAGE) as (page, _):
        folded = "details.sd-dropdown:not([open])"
        proofs = page.locator(folded).count()
        words = page.locator(f"{folded} em").first.text_content()
        sidebar = page.locator(".bd-sidebar-primary .toctree-l1 a").first.text_content()
        text = printed(page)
        assert proofs
        assert words in text
        assert sidebar.strip()
        assert sidebar.strip() not in text
        assert "How this is checked" not in text
        assert page.locator(folded).count() == proofs  # as the reader had them


def test_errata_are_whole(context, home):
    """Nothing is cut off at the right: each word of an erratum is on paper."""
    with browse.visit(context, home, ERRATA) as (page, _):
        words = page.locator(".erratum").first.evaluate("(e) => e.lastElementChild.innerText")
        assert " ".join(words.split()) in printed(page)
