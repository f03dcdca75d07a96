"""The ledger's entries show, of each row of a card, what was demanded of it (booksite.ledger)."""

import re
from types import SimpleNamespace

from docutils import nodes
from docutils.utils import new_document

from booksite import ledger
from booksite.ledger import demands, form
from booksite.statements import Card
from runproofs.book.claims import Check
from runproofs.book.register import register


def test_the_demands_stand_in_place_of_what_was_measured():
    """With a reason that has TeX and brackets: it stands in the sentence, where it is typeset."""
    with Check(register()["thesis/equation-2.1"]) as check:
        check("the identity").equal(3.0, 3.0, tol=1e-9)
        check("the bound").at_most(0.1, 1, reaching=0.1, far="terms in $[-1,1]$, as [4] allows")
        check("the wrong bound").exceeds(2, 1)
    html = demands(Card("a/page", check._repr_html_(), check._text(measured=False)))
    shown = re.findall(r'<span class="measured">(.*?)</span>', html)
    assert shown == ["error ≤ 1e-09", "at most, reaching 0.1", "exceeds"]
    assert r"far from equality: terms in \([-1,1]\), as [4] allows" in html
    assert "2 rows hold (tolerance 1e-09), 1 must fail" in html


def test_the_filter_offers_each_kind_once_and_in_order():
    (choices,) = re.findall(r'<select name="kind".*?</select>', form())
    kinds = sorted({entry.kind for entry in register().values()})
    assert re.findall('<option value="(.*?)">', choices) == ["", *kinds]


def test_an_entry_leads_to_its_statement_and_to_its_checks_by_their_pages_titles(monkeypatch):
    entry = register()["thesis/theorem-6"]
    box = SimpleNamespace(document="book/one", label="t6")
    cards = [Card("book/two", "", ""), Card("book/one", "", "")]
    found = SimpleNamespace(cards={entry.slug: cards}, stated={entry.id: box})
    monkeypatch.setattr(ledger, "places", lambda app: found)
    titles = {"book/one": nodes.title("", "One & all"), "book/two": nodes.title("", "Two")}
    builder = SimpleNamespace(format="latex")
    app = SimpleNamespace(env=SimpleNamespace(titles=titles), builder=builder)
    document = new_document("book/back/ledger")
    document += ledger.evidence(claim=entry.id, about="a theorem")
    ledger.show_evidence(app, document, "book/back/ledger")
    assert document.astext() == (
        '<p class="about">a theorem · stated on <a href="../one.html#t6">One &amp; all</a>'
        f' · checked <a href="../one.html#check-{entry.slug}">there</a>'
        f' · checked on <a href="../two.html#check-{entry.slug}">Two</a></p>'
    )


def test_a_link_to_an_entry_goes_to_the_page_that_has_it():
    slug = register()["thesis/theorem-6"].slug
    body = (
        f'<a href="../back/ledger.html#claim-{slug}">6</a> <a href="ledger.html#claim-none">?</a>'
    )
    context = {"body": body}
    ledger.lead_on(None, "page", "", context, None)
    assert context["body"] == body.replace(
        f"ledger.html#claim-{slug}", f"ledger/ch2.html#claim-{slug}"
    )
    ledger.lead_on(None, "page", "", {}, None)  # a page without a text
