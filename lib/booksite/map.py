"""The directives `map`, `carrying` and `without`: what rests on what, drawn and counted.

`{map}` draws all claims of which the register says what they rest on, chapter by chapter, and lists
them in a table; `{map} ch2` draws one chapter, folded. What a claim rests on stands above it; the
order in each layer, with few crossings, is igraph's (the method of Sugiyama). Each claim leads to
its statement; map.js lights what it rests on and what rests on it, and filters. `{carrying} 10`
lists the results on which most rests; `{without} thesis/assumption-2` tells what stands if a claim
falls.
"""

import re
from collections import Counter
from graphlib import TopologicalSorter
from html import escape
from itertools import groupby

import igraph
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from runproofs.book.register import CHAPTERS, Claim, register

from .back_matter import address
from .failures import RED
from .ledger import choice
from .references import inline
from .results import SLIPS, verdict
from .search import anchor
from .uses import carried, links, used_by

WIDTH, ROW = 900, 38  # of the picture, and of a layer
BOX, HIGH = 34, 17  # of a claim
PAGE = "book/back/map"
LETTERS = {
    "Algorithm": "A", "Assumption": "As", "Claim": "Cl", "Corollary": "C", "Definition": "D",
    "Figure": "F", "Lemma": "L", "Proposition": "P", "Remark": "R", "Table": "T.", "Theorem": "T",
}  # fmt: skip
SOURCES = {
    "thesis": "the thesis", "icml": "the paper of 2018", "vidal": "Vidal", "beyond": "beyond them",
    "helmbold-long": "Helmbold and Long",
}  # fmt: skip
VERDICTS = {
    "holds": "holds or reproduced", "slip": "holds, with a correction or a question",
    "wrong": "printed wrongly, or not reproduced", "told": "told, not checked",
}  # fmt: skip


def label(entry: Claim) -> str:
    """What fits into the box of a claim.

    >>> names = ("thesis/theorem-6", "thesis/equation-2.14", "thesis/setup-2", "vidal/landscape")
    >>> [label(register()[name]) for name in names]
    ['T6', '2.14', '§2', 'fig']
    """
    if found := re.match(rf"({'|'.join(LETTERS)}) ([\w.-]+)", entry.number):
        return LETTERS[found[1]] + found[2]
    if found := re.match(r"\(([\d.]+)\)$", entry.number):
        return found[1]
    number = re.match(r"[\dA]\.?[1-9]?", entry.section)
    return f"§{number[0].rstrip('.')}" if number else entry.kind[:3]


def plain(entry: Claim) -> str:
    r"""The number and the title, for who hears or points: formulas without their marks.

    >>> plain(register()["thesis/equation-2.3"])
    '(2.3): The dropout regularizer is the squared l2 path norm'
    """
    title = re.sub(r"\\([A-Za-z]+) ?", r"\1 ", entry.title)
    return f"{entry.name}: {re.sub('[${}]', '', title)}"


def look(entry: Claim, red: set[str]) -> str:
    """Which of VERDICTS the picture shows, or that the check is red on this build."""
    if entry.id in red:
        return "red"
    if entry.status != "checked":
        return "told"
    word = verdict(entry)[0]
    if word == SLIPS["major"] or word == "not reproduced":
        return "wrong"
    return "holds" if word in {"holds", "shown", "reproduced"} else "slip"


# The picture ------------------------------------------------------------------------------------


def layers(entries: list[Claim]) -> list[list[str]]:
    """The claims of a chapter in rows: what one rests on stands above it; the loose ones last."""
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
    places = graph.layout_sugiyama([level[name] for name in tied]) if tied else []  # and of bends
    across = sorted((level[name], x, name) for name, (x, _) in zip(tied, places, strict=False))
    rows = [[name for *_, name in row] for _, row in groupby(across, key=lambda found: found[0])]
    rows.append([entry.id for entry in entries if entry.id not in tied])
    most = WIDTH // (BOX + 2)
    return [row[k : k + most] for row in rows for k in range(0, len(row), most)]


def spread(rows: list[list[str]], top: int) -> dict[str, tuple[float, int]]:
    """The middle of the box of each claim."""
    return {
        name: (WIDTH * (k + 0.5) / len(row), top + ROW * n + HIGH)
        for n, row in enumerate(rows)
        for k, name in enumerate(row)
    }


def picture(app, document: str, chapters: list[str]) -> str:
    known, at, bands, top = register().values(), {}, "", 0
    for chapter in chapters:
        entries = [entry for entry in known if entry.chapter == chapter]
        rows = layers(entries)
        bands += f'<text x="0" y="{top + 14}">{escape(CHAPTERS[chapter])}</text>'
        at |= spread(rows, top + 24)
        top += 24 + ROW * len(rows) + 20
    index = {name: k for k, name in enumerate(at)}
    boxes = lines = ""
    for name, (x, y) in at.items():
        entry, uses = register()[name], [used for used in register()[name].uses if used in at]
        for used in uses:
            x0, y0 = at[used]
            y1, y2 = y0 + HIGH / 2, y - HIGH / 2  # what is used stands above
            bend = (y1 + y2) / 2
            lines += (
                f'<path data-e="{index[used]} {index[name]}" '
                f'd="M{x0:.0f} {y1:.0f}C{x0:.0f} {bend:.0f} {x:.0f} {bend:.0f} {x:.0f} {y2:.0f}"/>'
            )
        page, place = anchor(app, entry)
        boxes += (
            f'<a href="{address(document, page)}#{place}" class="{look(entry, app.env.book_red)}" '
            f'data-n="{index[name]}" data-uses="{" ".join(str(index[used]) for used in uses)}" '
            f'data-source="{entry.source}" data-kind="{entry.kind}">'
            f"<title>{escape(plain(entry))}</title>"
            f'<rect x="{x - BOX / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{BOX}" height="{HIGH}"/>'
            f'<text x="{x:.0f}" y="{y + 3:.0f}">{escape(label(entry))}</text></a>'
        )
    return (
        '<div class="claim-map" role="region" aria-label="map of the claims" tabindex="0">'
        f'<svg viewBox="-2 0 {WIDTH + 4} {top}" role="group" aria-label="claims and what they rest '
        f'on"><g class="bands">{bands}</g><g class="lines">{lines}</g>{boxes}</svg></div>'
    )


def legend(red: set[str]) -> str:
    shown = VERDICTS | ({"red": RED} if red else {})
    keys = "".join(f'<span class="{name}">{words}</span>' for name, words in shown.items())
    return f'<p class="claim-map-legend">{keys}</p>'


def form() -> str:
    """The filters; map.js shows them."""
    known = register().values()
    sources = [(name, words) for name, words in SOURCES.items()
               if any(entry.source == name for entry in known)]  # fmt: skip
    kinds = sorted({entry.kind for entry in known})
    selects = (
        choice("source", "source", [("", "all sources"), *sources]),
        choice("kind", "kind", [("", "all kinds"), *zip(kinds, kinds, strict=True)]),
    )
    return (
        f'<div class="claim-map-filter" role="search" hidden>{"".join(selects)} '
        '<output aria-live="polite"></output></div>'
    )


def table(app, document: str) -> str:
    rows = ""
    for entry in register().values():
        page, place = anchor(app, entry)
        cells = (
            f'<a href="{address(document, page)}#{place}">{escape(entry.name)}</a>',
            inline(entry.title),
            RED
            if entry.id in app.env.book_red
            else verdict(entry)[0]
            if entry.status == "checked"
            else "told",
            short_links(entry.uses),
            short_links(used_by()[entry.id]),
        )
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        rows += (
            f'<tr id="map-{entry.slug}" data-source="{entry.source}" data-kind="{entry.kind}">'
            f"{row}</tr>"
        )
    names = ("claim", "says", "verdict", "rests on", "used by")
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        '<details class="claim-map-table"><summary>The same as a table</summary>'
        f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</details>"
    )


def short_links(claims) -> str:
    """Links to rows of the table."""
    named = ((register()[claim].slug, register()[claim].name) for claim in claims)
    return ", ".join(f'<a href="#map-{slug}">{escape(name)}</a>' for slug, name in named)


# The two questions ------------------------------------------------------------------------------


def heaviest(count: int) -> list[Claim]:
    """The results, no definitions or settings, on which most rests."""
    proved = {"corollary", "lemma", "proposition", "theorem"}
    found = [entry for entry in register().values() if entry.kind in proved]
    return sorted(found, key=lambda entry: -len(carried(entry.id)))[:count]


def carrying(app, document: str, count: str) -> str:
    rows = "".join(
        f"<tr><td>{links(app, document, [entry.id])}</td><td>{inline(entry.title)}</td>"
        f"<td>{len(used_by()[entry.id])}</td><td>{len(carried(entry.id))}</td></tr>"
        for entry in heaviest(int(count))
    )
    names = ("result", "says", "rest on it at once", "in all")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def without(app, document: str, claim: str) -> str:
    source = register()[claim].source
    own = [entry for entry in register().values() if entry.source == source]
    fallen = [entry for entry in own if entry.id in carried(claim)]
    counts = Counter(entry.chapter for entry in fallen)
    where = ", ".join(f"{CHAPTERS[chapter]} ({count})" for chapter, count in counts.items())
    others = len(carried(claim)) - len(fallen)
    return (
        f"<p>Of the other {len(own) - 1} claims of {SOURCES[source]} {len(fallen)} rest on "
        f"{links(app, document, [claim])}, at once or through others, and "
        f"{len(own) - 1 - len(fallen)} do not. With it fall {where}: "
        f"{links(app, document, [entry.id for entry in fallen])}. Of the results of other sources "
        f"and of this book {others} fall, too.</p>"
    )


# The directives ---------------------------------------------------------------------------------


class map_part(nodes.Element):
    """Stands for what is drawn and counted, until all pages are read."""


class Drawn(SphinxDirective):
    optional_arguments = 1

    def run(self):
        what, argument = self.name, "".join(self.arguments)
        known = {"map": {"", *CHAPTERS}, "without": register().keys(), "carrying": [argument]}
        if argument not in known[what]:
            raise self.error(f"The register knows no {argument!r}.")
        return [map_part(what=what, argument=argument)]


def whole(app, document: str, chapter: str) -> str:
    if chapter:
        if not any(entry.chapter == chapter for entry in register().values()):
            return ""
        return (
            '<details class="results"><summary>The map: what rests on what</summary>'
            f'{picture(app, document, [chapter])}{legend(app.env.book_red)}<p>The <a href="'
            f'{address(document, PAGE)}">whole map</a> has the other chapters.</p></details>'
        )
    chapters = [c for c in CHAPTERS if any(e.chapter == c for e in register().values())]
    drawn = picture(app, document, chapters)
    return f"{form()}{legend(app.env.book_red)}{drawn}{table(app, document)}"


SHOWN = {"map": whole, "carrying": carrying, "without": without}


def show(app, doctree, document):
    for place in list(doctree.findall(map_part)):
        if app.builder.format != "html":  # paper has the words around
            place.parent.remove(place)
            continue
        html = SHOWN[place["what"]](app, document, place["argument"])
        place.replace_self(nodes.raw("", html, format="html", classes=["site-only"]))


def bring_script(app, pagename, templatename, context, doctree):
    if 'class="claim-map"' in context.get("body", ""):
        app.add_js_file("map.js", loading_method="defer")


def setup(app):
    app.add_node(map_part)
    for name in SHOWN:
        app.add_directive(name, Drawn)
    app.connect("doctree-resolved", show)
    app.connect("html-page-context", bring_script)
