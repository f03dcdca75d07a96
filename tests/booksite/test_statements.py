"""Where claims are stated and shown (booksite.statements)."""

from booksite import statements
from runproofs.book.pages import Box


def test_a_claim_is_stated_in_its_box_and_shown_by_its_cards(monkeypatch):
    box = Box("A title", "two", "So.", ["thesis/one", "thesis/two"], "")
    monkeypatch.setattr(statements, "on_pages", lambda: {"a/one": [box]})
    card = statements.Card("b/one", "<p>", "")
    shown = {"b/one": {"cards": [("slug", card)]}, "b/two": {"cards": [("slug", card)]}, "c": {}}
    found = statements.Places(shown)
    assert found.boxes == {("book/a/one", "two"): box}
    assert found.stated == dict.fromkeys(box.claims, ("book/a/one", "two"))
    assert found.cards == {"slug": [card, card]}
