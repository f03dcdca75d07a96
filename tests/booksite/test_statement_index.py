"""Where claims are stated and shown (booksite.statement_index)."""

from booksite import statement_index
from runproofs.claims.pages import Box


def test_a_claim_is_stated_in_its_box_and_shown_by_its_cards(monkeypatch):
    box = Box("A title", "two", "So.", ["thesis/one", "thesis/two"], "")
    monkeypatch.setattr(statement_index, "on_pages", lambda: {"a/one": [box]})
    card = statement_index.Card("b/one", "<p>", "")
    shown = {"b/one": {"cards": [("slug", card)]}, "b/two": {"cards": [("slug", card)]}, "c": {}}
    found = statement_index.Places(shown)
    assert found.boxes == {("book/a/one", "two"): box}
    assert found.stated == dict.fromkeys(box.claims, ("book/a/one", "two"))
    assert found.cards == {"slug": [card, card]}
