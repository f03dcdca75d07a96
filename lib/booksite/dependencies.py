"""Which claims rest on which: the field `uses` of the register, and the line in each box."""

from functools import cache

from docutils import nodes

from runproofs.claims.registry import register

from .markup import folded
from .statement_index import boxes_of, link_to


@cache
def used_by() -> dict[str, tuple[str, ...]]:
    """For each claim, those whose statement or proof rests on it, in register order."""
    known = register().values()
    return {name: tuple(e.id for e in known if name in e.uses) for name in register()}


@cache
def dependents(claim: str) -> frozenset[str]:
    """All claims that rest on a claim, directly or through others.

    >>> "thesis/theorem-6" in dependents("thesis/theorem-1")
    True
    """
    users = used_by()[claim]
    return frozenset(users).union(*map(dependents, users))


def links(app, page: str, claims) -> str:
    return ", ".join(link_to(app, page, register()[claim]) for claim in claims)


def show_neighbors(app, doctree, page):
    """Add a folded line to each box: the claims below its claims, and those that use them."""
    for node, box in boxes_of(app, doctree, page):
        claims = [claim for claim in box.claims if claim in register()]
        uses = [name for claim in claims for name in register()[claim].uses]
        users = [name for claim in claims for name in used_by()[claim]]
        sides = {
            words: [name for name in dict.fromkeys(found) if name not in box.claims]
            for words, found in (("Rests on", uses), ("Used by", users))
        }
        sides = {words: found for words, found in sides.items() if found}
        if sides:
            short = ", ".join(f"{words.lower()} {len(found)}" for words, found in sides.items())
            lines = (f"<p>{words} {links(app, page, found)}.</p>" for words, found in sides.items())
            html = folded("rests", short.capitalize(), "".join(lines))
            node += nodes.raw("", html, format="html", classes=["site-only"])


def setup(app):
    app.connect("doctree-resolved", show_neighbors)
