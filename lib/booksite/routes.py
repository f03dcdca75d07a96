"""Ways through the book (book/routes.yml): on the first page, and under the title of each step.

The directive `routes` lists them, each with the minutes of its steps, which are counted as those of
a page are (page_head). A page on a route says which step it is, and what comes before and next.
"""

import re
from functools import cache
from html import escape
from typing import NamedTuple

import yaml
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from runproofs.book.register import BOOK

from .back_matter import address
from .page_head import WORDS_A_MINUTE, words

logger = logging.getLogger(__name__)


OPENING = "the opening"


class Step(NamedTuple):
    """A page, and which of its sections are read, after its opening; none: all of it."""

    page: str
    read: tuple[str, ...]

    @property
    def document(self) -> str:
        return f"book/{self.page}"


class Route(NamedTuple):
    name: str
    about: str
    given: tuple[str, ...]
    steps: tuple[Step, ...]


@cache
def routes() -> tuple[Route, ...]:
    """Those of the book."""
    return tuple(
        Route(
            route["name"],
            route["about"],
            tuple(route["given"]),
            tuple(Step(step["page"], tuple(step.get("read", ()))) for step in route["steps"]),
        )
        for route in yaml.safe_load((BOOK / "routes.yml").read_text("utf-8"))
    )


class Section(NamedTuple):
    """A section of a page, its opening or all of it (""): words that are seen, and the anchor."""

    title: str
    words: int
    anchor: str


class route_list(nodes.Element):
    """Stands for the routes until the lengths of all pages are known."""


def plain(title: str) -> str:
    """A title as routes.yml writes it: with straight quotes, and without the marks of code.

    >>> plain("The attacker\N{RIGHT SINGLE QUOTATION MARK}s `p`")
    "The attacker's p"
    """
    return re.sub(
        "[\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]", "'", title
    ).replace("`", "")


class Routes(SphinxDirective):
    def run(self):
        return [route_list()]


def measure(app, doctree):
    """Keep the lengths of a page and its sections."""
    after = sum(map(words, doctree.findall(is_below_the_title)))
    opening = Section(OPENING, words(doctree) - after, "")
    found = {"": Section("", words(doctree), ""), OPENING: opening}
    for heading in doctree.findall(nodes.title):
        if isinstance(section := heading.parent, nodes.section):
            title = plain(heading.astext())
            found.setdefault(title, Section(title, words(section), section["ids"][0]))
    lengths(app.env)[app.env.docname] = found


def is_below_the_title(node: nodes.Node) -> bool:
    """Whether a node is a section of a page, and in no other one."""
    parents = [node.parent, getattr(node.parent, "parent", None)]
    inside = isinstance(parents[0], nodes.section) and isinstance(parents[1], nodes.document)
    return isinstance(node, nodes.section) and inside


def lengths(env) -> dict[str, dict[str, Section]]:
    if not hasattr(env, "section_lengths"):
        env.section_lengths = {}
    return env.section_lengths


def forget(app, env, document):
    lengths(env).pop(document, None)


def merge(app, env, documents, other):
    lengths(env).update(
        {name: lengths(other)[name] for name in documents if name in lengths(other)}
    )


def sections(env, step: Step) -> list[Section]:
    """What is read of a page."""
    known = lengths(env).get(step.document, {})
    titles = [OPENING, *step.read] if step.read else [""]
    return [known[title] for title in titles if title in known]


def check_sections(app, env):
    """Warn of a section that a page does not have."""
    for step in (step for route in routes() for step in route.steps):
        known = lengths(env).get(step.document)
        for title in set(step.read) - set(known or step.read):
            message = "a route leads to %r, which is no section"
            logger.warning(message, title, location=step.document)


def outdated(app, env):
    """The first page and the steps are written again when something of a step has changed."""
    steps = {step.document for route in routes() for step in route.steps}
    now = {document: lengths(env).get(document) for document in steps}
    before, env.route_lengths = getattr(env, "route_lengths", now), now
    return [] if before == now else [env.config.root_doc, *steps & env.found_docs]


def minutes(env, route: Route) -> int:
    count = sum(section.words for step in route.steps for section in sections(env, step))
    return max(1, round(count / WORDS_A_MINUTE))


def link(env, document: str, page: str, anchor: str = "", text: str = "") -> nodes.reference:
    on_paper = env.app.builder.format == "latex"
    uri = (f"%{page}" if on_paper else address(document, page)) + (anchor and f"#{anchor}")
    text = text or env.titles[page].astext()
    return nodes.reference("", "", nodes.inline("", text), internal=True, refuri=uri)


def sections_read(env, document: str, step: Step, words: str) -> list[nodes.Node]:
    """Words, then links to what is read of a page, with commas; none if that is all of it."""
    found = []
    for section in sections(env, step) if step.read else ():
        found += [nodes.Text(", " if found else words),
                  link(env, document, step.document, section.anchor, section.title)]  # fmt: skip
    return found


def show(app, doctree, document):
    """Fill the directive, and say under the title of a step, folded, where the reader is."""
    for place in list(doctree.findall(route_list)):
        place.replace_self([node for route in routes() for node in told(app, document, route)])
    if app.builder.format != "html":
        return
    lines = {route.name: place_on(app.env, document, route) for route in routes()}
    if lines := {name: line for name, line in lines.items() if line}:
        title = next(doctree.findall(nodes.title))
        at = title.parent.index(title) + 1
        at += "page-head" in title.parent[at].get("classes", [])
        ways = "a way" if len(lines) == 1 else f"{len(lines)} ways"
        summary = escape(f"On {ways} through the book: {', '.join(lines)}")
        opening = f'<details class="page-routes"><summary>{summary}</summary>'
        title.parent[at:at] = [
            nodes.raw("", opening, format="html"),
            *lines.values(),
            nodes.raw("", "</details>", format="html"),
        ]


def told(app, document: str, route: Route) -> list[nodes.Node]:
    """A route on the first page: its name and its minutes, its steps folded."""
    name, length = escape(route.name), spoken(minutes(app.env, route))
    steps = nodes.enumerated_list(enumtype="arabic", prefix="", suffix=".")
    for step in route.steps:
        line = nodes.paragraph("", "", link(app.env, document, step.document))
        line += sections_read(app.env, document, step, ": ")
        steps += nodes.list_item("", line)
    parts = [steps]
    if route.given:
        parts.append(nodes.paragraph("", "Taken on trust: "))
        for label in route.given:
            page = app.env.get_domain("std").labels[label][0]
            comma = nodes.Text("; " if label != route.given[0] else "")
            parts[-1] += [comma, link(app.env, document, page)]
    if app.builder.format != "html":
        line = f" · {length} to read · {route.about}"
        return [nodes.paragraph("", "", nodes.strong("", route.name), nodes.Text(line)), *parts]
    about = f"{length} to read · {escape(route.about)}"
    opening = f'<details class="route"><summary><b>{name}</b> · {about}</summary>'
    closed = nodes.raw("", "</details>", format="html")
    return [nodes.raw("", opening, format="html"), *parts, closed]


def spoken(count: int) -> str:
    """
    >>> spoken(50), spoken(118), spoken(1000)
    ('50 minutes', '2 hours', '17 hours')
    """
    return f"{count} minutes" if count < 100 else f"{max(2, round(count / 60))} hours"


def place_on(env, document: str, route: Route) -> nodes.paragraph | None:
    """The line of a page that is a step of a route."""
    pages = [step.document for step in route.steps]
    if document not in pages:
        return None
    k = pages.index(document)
    line = nodes.paragraph("", classes=["page-route"])
    line += nodes.Text(f"{route.name}, step {k + 1} of {len(pages)}")
    line += sections_read(env, document, route.steps[k], ": read here ")
    for word, other in (("before", k - 1), ("next", k + 1)):
        if 0 <= other < len(pages):
            first = sections(env, route.steps[other])[:1]
            anchor = first[0].anchor if first else ""
            line += [nodes.Text(f" · {word} "), link(env, document, pages[other], anchor)]
    return line


def note_routes(app, config):
    """An "env" value: when the routes change, all pages are read again."""
    config.book_routes = repr(routes())


def setup(app):
    app.add_config_value("book_routes", "", "env", [str])
    app.connect("config-inited", note_routes)
    app.add_node(route_list)
    app.add_directive("routes", Routes)
    app.connect("doctree-read", measure)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", outdated)
    app.connect("env-check-consistency", check_sections)
    app.connect("doctree-resolved", show)
