"""A statement, its entry in the ledger and its check lead to each other."""

import re

from browser import browse
from runproofs.claims.breaks import invitations
from runproofs.claims.registry import register

OLD = "book/back/ledger.html#claim-thesis-theorem-6"  # as cards and readers have it
ENTRY = "#claim-thesis-theorem-6"
NEW = f"book/back/ledger/ch2.html{ENTRY}"


def in_view(page, selector):
    box = page.locator(selector).bounding_box()
    return 0 <= box["y"] < 200


def test_an_old_address_shows_the_statement_at_once(context, home):
    with browse.visit(context, home, OLD) as (page, _):
        page.wait_for_url(f"**/{NEW}")
        page.wait_for_selector(f"{ENTRY} mjx-container")
        assert page.locator(f"{ENTRY} details.evidence").get_attribute("open") is not None
        assert in_view(page, ENTRY)
        assert page.locator(f"{ENTRY} .headerlink").evaluate("a => a.href") == home + NEW


def test_the_statement_its_entry_and_its_check_lead_to_each_other(context, home):
    with browse.visit(context, home, "book/ch2_shallow_linear/two_layer.html") as (page, _):
        statement = page.locator("div.proof", has_text="Theorem 6, corrected")
        assert (
            page.locator(".claim-card .title a")
            .first.evaluate("a => a.href")
            .startswith(f"{home}book/back/ledger/ch2.html#claim-")
        )
        statement.locator(".in-ledger a").click()
        page.wait_for_url(f"**/{NEW}")
        links = page.locator(f"{ENTRY} .about a").evaluate_all("all => all.map(a => a.href)")
        stated, checked = (link for link in links if "two_layer" in link)
        assert checked.endswith("#check-thesis-theorem-6")
        page.goto(stated)
        assert page.locator(":target").first.inner_text().startswith("Theorem 6")


def test_every_checked_claim_shows_its_tolerances_its_controls_and_how_to_break_it(pytestconfig):
    folder, missing = browse.site(pytestconfig) / "book" / "back" / "ledger", []
    for entry in register().values():
        html = (folder / f"{entry.chapter}.html").read_text("utf-8")
        start = html.index(f'id="claim-{entry.slug}"')
        text = html[start : html.find('class="claim-entry"', start)]
        if entry.status == "checked" and not (
            text.count('<ul class="positive">') >= 1
            and "must fail" in text
            and text.count('class="break"')
            == len(invitations(entry.id)) * text.count("The check: ")
            and not re.search(r'<span class="measured"></span>', text)
        ):
            missing.append(entry.id)
    assert missing == []


def test_every_statement_leads_to_the_ledger(pytestconfig):
    boxes = linked = 0
    for path in (browse.site(pytestconfig) / "book").rglob("*.html"):
        html = path.read_text("utf-8")
        boxes += len(re.findall(r'<div class="proof (?!admonition)[a-z]+ admonition"', html))
        linked += html.count('<p class="in-ledger">')
    assert boxes == linked > 400


def test_the_filter_keeps_its_choice_in_the_address(context, home):
    with browse.visit(context, home, "book/back/ledger.html") as (page, _):
        assert page.locator("div.claim").count() == len(register())
        assert page.locator("div.claim:visible").count() == 0  # each chapter folded
        page.select_option(".ledger-filter [name=chapter]", "ch5")
        page.select_option(".ledger-filter [name=about]", "erratum")
        slips = page.locator("div.claim:visible").count()
        assert 0 < slips < 30
        page.fill(".ledger-filter [name=words]", "no such word")
        assert page.locator("div.claim:visible").count() == 0
        address = page.url
    with browse.visit(context, "", address) as (page, _):
        assert page.input_value(".ledger-filter [name=words]") == "no such word"
        page.fill(".ledger-filter [name=words]", "")
        assert page.locator("div.claim:visible").count() == slips
        page.select_option(".ledger-filter [name=chapter]", "")
        page.select_option(".ledger-filter [name=about]", "not-reproduced")
        missed = sum("not reproduced" in entry.verdicts for entry in register().values())
        assert page.locator("div.claim:visible").count() == missed > 0
