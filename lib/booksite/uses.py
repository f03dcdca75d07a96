"""What rests on what: the field `uses` of the register, asked for neighbors, and shown at a box.

Under each statement stands what it rests on and what it carries. The register knows; no page says
it by hand, and none runs again when it changes.
"""

from functools import cache
from html import escape

from docutils import nodes

from runproofs.book.register import register

from .back_matter import address
from .search import anchor
from .statements import places


@cache
def used_by() -> dict[str, tuple[str, ...]]:
    """For each claim the claims whose statement or proof rests on it, in the register's order."""
    found = {claim: [] for claim in register()}
    for entry in register().values():
        for claim in entry.uses:
            found[claim].append(entry.id)
    return {claim: tuple(users) for claim, users in found.items()}


@cache
def carried(claim: str) -> frozenset[str]:
    """All that rests on a claim, through others, too.

    >>> "thesis/theorem-6" in carried("thesis/theorem-1")
    True
    """
    users = used_by()[claim]
    return frozenset(users).union(*map(carried, users))


def links(app, document: str, claims: list[str]) -> str:
    """HTML links to where claims are stated."""

    def link(entry):
        page, place = anchor(app, entry)
        uri = f"#{place}" if page == document else f"{address(document, page)}#{place}"
        return f'<a class="reference" href="{uri}">{escape(entry.name)}</a>'

    return ", ".join(link(register()[claim]) for claim in claims)


def neighbors(app, document: str, claims: list[str]) -> str:
    """What a box that states these claims has on its lower edge, folded; "" if there is nothing."""
    rests = dict.fromkeys(name for claim in claims for name in register()[claim].uses)
    carries = dict.fromkeys(name for claim in claims for name in used_by()[claim])
    sides = {"Rests on": [name for name in rests if name not in claims],
             "Used by": [name for name in carries if name not in claims]}  # fmt: skip
    sides = {words: found for words, found in sides.items() if found}
    if not sides:
        return ""
    told = [f"{words} {links(app, document, found)}" for words, found in sides.items()]
    short = ", ".join(f"{words.lower()} {len(found)}" for words, found in sides.items())
    body = "".join(f"<p>{line}.</p>" for line in told)
    return f'<details class="rests"><summary>{short.capitalize()}</summary>{body}</details>'


def show_neighbors(app, doctree, document):
    if app.builder.name != "html":
        return
    stating = {box.label: box.claims for box in places(app).boxes.get(document, [])}
    for node in list(doctree.findall(nodes.Element)):
        claims = stating.get(node["ids"][0]) if "realtype" in node else None
        if claims and (line := neighbors(app, document, claims)):
            node += nodes.raw("", line, format="html", classes=["site-only"])


def setup(app):
    app.connect("doctree-resolved", show_neighbors)
