"""The ledger's entries show, of each row of a card, what was demanded of it (booksite.ledger)."""

import re

from booksite.ledger import demands
from booksite.statement_index import Card
from runproofs.claims.block import claim


def test_the_demands_stand_in_place_of_what_was_measured():
    """With a reason that has TeX and brackets: it stands in the sentence, where it is typeset."""
    with claim("thesis/equation-2.1", evidence="computed") as check:
        check("the identity").equal(3.0, 3.0, tol=1e-9)
        check("the bound").at_most(
            0.1, 1, tightness=0.1, why_loose="terms in $[-1,1]$, as [4] allows"
        )
        check("the wrong bound").exceeds(2, 1)
    html = demands(Card("a/page", check._repr_html_(), check._text(measured=False)))
    shown = re.findall(r'<span class="measured">(.*?)</span></li>', html)
    computed = '<span class="level same">computed:</span> '
    assert shown == [computed + s for s in ("error ≤ 1e-09", "at most, reaching 0.1", "exceeds")]
    assert r'terms in <span class="unbroken">\([-1,1]\),</span> as [4] allows' in html
    assert "2 rows hold, 1 must fail" in html
