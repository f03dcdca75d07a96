"""The directives `dependency-graph`, `most-used` and `dependents`: which claims rest on which.

`{dependency-graph}` draws all claims, chapter by chapter, and lists them in a table;
`{dependency-graph} ch2` draws one chapter, folded. The claims on which a claim rests are above it;
map.js highlights and filters them. `{most-used} 10` lists the results on which most claims rest.
`{dependents} thesis/assumption-2` lists what remains if a claim is false.
"""

import re
from collections import Counter
from functools import partial
from graphlib import TopologicalSorter
from itertools import groupby

import igraph

from runproofs.claims.registry import CHAPTERS, LEVELS, Claim, register

from .dependencies import dependents, links, used_by
from .failures import RED
from .markup import (
    add_directive,
    address,
    choice,
    folded,
    inline,
    link,
    plain,
    render,
    row,
    site,
    table,
)
from .results import SLIPS, verdict
from .statement_index import address_of, link_to

WIDTH, ROW = 900, 38  # width of the picture, height of a layer
BOX, HIGH = 34, 17  # width and height of a claim's box
PAGE = "book/back/map"
VERDICTS = {
    "holds": "holds or reproduced", "slip": "holds, with a correction or a question",
    "wrong": "printed wrongly, or not reproduced", "told": "told, not checked",
}  # fmt: skip


def label(entry: Claim) -> str:
    """A label short enough for the box of a claim.

    >>> names = ("thesis/theorem-6", "thesis/equation-2.14", "thesis/setup-2", "vidal/landscape")
    >>> [label(register()[name]) for name in names]
    ['T6', '2.14', '§2', 'fig']
    """
    kind, _, rest = entry.number.partition(" ")
    if kind in site()["letters"] and (number := re.match(r"[\w.-]+", rest)):
        return site()["letters"][kind] + number[0]
    if number := re.match(r"\(([\d.]+)\)$", entry.number):
        return number[1]
    number = re.match(r"[\dA]\.?[1-9]?", entry.section)
    return f"§{number[0].rstrip('.')}" if number else entry.kind[:3]


def state(entry: Claim, red: set[str]) -> tuple[str, str]:
    """The state of a claim in the picture (one of VERDICTS, or red on this build), and its word."""
    if entry.id in red:
        return "red", RED
    if entry.status != "checked":
        return "told", "told"
    word = verdict(entry)[0]
    if word in {SLIPS["major"], "not reproduced"}:
        return "wrong", word
    return "holds" if word in {"holds", "shown", "reproduced"} else "slip", word


# The picture ------------------------------------------------------------------------------------


def layers(entries: list[Claim]) -> list[list[str]]:
    """The claims of a chapter in rows, each below what it rests on; unconnected claims last."""
    ids = {entry.id for entry in entries}
    within = {entry.id: [name for name in entry.uses if name in ids] for entry in entries}
    level = {}
    for name in TopologicalSorter(within).static_order():
        level[name] = max((level[used] + 1 for used in within[name]), default=0)
    edges = [(used, name) for name, rests in within.items() for used in rests]
    tied = list(dict.fromkeys(name for edge in edges for name in edge))
    graph = igraph.Graph(directed=True)
    graph.add_vertices(tied)
    graph.add_edges(edges)
    places = graph.layout_sugiyama([level[name] for name in tied]) if tied else []  # also of bends
    across = sorted((level[name], x, name) for name, (x, _) in zip(tied, places, strict=False))
    rows = [[name for *_, name in row] for _, row in groupby(across, key=lambda found: found[0])]
    rows.append([entry.id for entry in entries if entry.id not in tied])
    most = WIDTH // (BOX + 2)
    return [row[k : k + most] for row in rows for k in range(0, len(row), most)]


def picture(app, page: str, chapters: list[str], whole: bool) -> str:
    """The picture of some chapters; for all chapters, with filters and a table."""
    known, at, bands, top = register(), {}, {}, 0  # at: the middle of the box of each claim
    for chapter in chapters:
        bands[CHAPTERS[chapter]] = top + 14
        top += 24
        for names in layers([e for e in known.values() if e.chapter == chapter]):
            for k, name in enumerate(names):
                at[name] = WIDTH * (k + 0.5) / len(names), top + HIGH
            top += ROW
        top += 20
    index, boxes, lines = {name: k for k, name in enumerate(at)}, [], []
    for name, (x, y) in at.items():
        uses = [used for used in known[name].uses if used in at]
        boxes.append((known[name], x, y, [index[used] for used in uses]))
        for used in uses:
            x0, y0 = at[used]
            start, end = y0 + HIGH / 2, y - HIGH / 2  # a claim stands below what it uses
            lines.append((index[used], index[name], x0, start, (start + end) / 2, x, end))
    sources, red = {known[name].source for name in at}, app.env.book_red
    return render(
        "map.html", whole=whole, bands=bands, boxes=boxes, lines=lines, known=known,
        used_by=used_by(), width=WIDTH, height=top, box=BOX, high=HIGH,
        sources={name: words for name, words in site()["sources"].items() if name in sources},
        kinds=sorted({known[name].kind for name in at}),
        legend=VERDICTS | ({"red": RED} if red else {}),
        levels=LEVELS, address=partial(address_of, app, page), state=partial(state, red=red),
        choice=choice, inline=inline, label=label, plain=plain,
    )  # fmt: skip


def whole_map(app, page: str, chapter: str) -> str:
    drawn = [name for name in CHAPTERS if any(e.chapter == name for e in register().values())]
    if not chapter:
        return picture(app, page, drawn, whole=True)
    whole = f"<p>The {link(address(page, PAGE), 'whole map')} has the other chapters.</p>"
    body = f"{picture(app, page, [chapter], whole=False)}{whole}" if chapter in drawn else ""
    return body and folded("results", "The map: what rests on what", body)


# Two questions ----------------------------------------------------------------------------------


def heaviest(count: int) -> list[Claim]:
    """The results (not definitions or settings) on which most claims rest."""
    proved = {"corollary", "lemma", "proposition", "theorem"}
    found = [entry for entry in register().values() if entry.kind in proved]
    return sorted(found, key=lambda entry: -len(dependents(entry.id)))[:count]


def carrying(app, page: str, count: str) -> str:
    rows = [
        row(link_to(app, page, e), inline(e.title), len(used_by()[e.id]), len(dependents(e.id)))
        for e in heaviest(int(count))
    ]
    return table(("result", "says", "rest on it at once", "in all"), rows)


def without(app, page: str, claim: str) -> str:
    source = register()[claim].source
    own = [entry for entry in register().values() if entry.source == source]
    fallen = [entry for entry in own if entry.id in dependents(claim)]
    counts = Counter(entry.chapter for entry in fallen)
    where = ", ".join(f"{CHAPTERS[chapter]} ({count})" for chapter, count in counts.items())
    return (
        f"<p>Of the other {len(own) - 1} claims of {site()['sources'][source]} {len(fallen)} rest "
        f"on {links(app, page, [claim])}, at once or through others, and "
        f"{len(own) - 1 - len(fallen)} do not. With it fall {where}: "
        f"{links(app, page, [entry.id for entry in fallen])}. Of the results of other sources "
        f"and of this book {len(dependents(claim)) - len(fallen)} fall, too.</p>"
    )


def bring_script(app, pagename, templatename, context, doctree):
    if 'class="claim-map"' in context.get("body", ""):
        app.add_js_file("map.js", loading_method="defer")


def setup(app):
    add_directive(app, "dependency-graph", whole_map, known={"", *CHAPTERS}, kind=["site-only"])
    add_directive(app, "most-used", carrying, kind=["site-only"])
    add_directive(app, "dependents", without, known=register().keys(), kind=["site-only"])
    app.connect("html-page-context", bring_script)
