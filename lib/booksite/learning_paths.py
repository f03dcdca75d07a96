"""Reading paths (book/learning_paths.yml): their list on the first page, and a line on each step.

The directive `learning-paths` lists them with the minutes of their steps, counted as page_info
counts them for a page. A page on a path says which step it is, and what comes before and next.
"""

import re
from functools import cache
from html import escape
from typing import NamedTuple

import yaml
from docutils import nodes

from runproofs.claims.registry import BOOK

from .markup import add_directive, address, folded, link
from .page_info import WORDS_A_MINUTE, below_title, reading_time, words

QUOTES = str.maketrans(dict.fromkeys("‘’", "'") | {"`": ""})


class Step(NamedTuple):
    """A page and the sections to read after its opening; no sections: the whole page."""

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
    end: str

    @property
    def slug(self) -> str:
        return nodes.make_id(self.name)

    @property
    def query(self) -> str:
        """The part of a link by which the next page knows the reader's path."""
        return f"?path={self.slug}"


@cache
def routes() -> tuple[Route, ...]:
    """The reading paths of the book."""
    return tuple(
        Route(way["name"], way["about"], tuple(way["given"]),
              tuple(Step(step["page"], tuple(step.get("read", ()))) for step in way["steps"]),
              way["end"])
        for way in yaml.safe_load((BOOK / "learning_paths.yml").read_text("utf-8"))
    )  # fmt: skip


# How long they are --------------------------------------------------------------------------------


def measure(app, doctree):
    """Store the word counts of a page and, by title, of its sections in the metadata."""
    found, below = {}, 0
    for heading in doctree.findall(nodes.title):
        if isinstance(section := heading.parent, nodes.section):
            found[heading.astext().translate(QUOTES)] = words(section)
            if isinstance(section.parent.parent, nodes.document):  # a section at the top level
                below += words(section)
    app.env.metadata[app.env.docname]["words"] = words(doctree), below, found


def length(env, step: Step) -> int:
    whole, below, sections = env.metadata.get(step.document, {}).get("words", (0, 0, {}))
    return (
        whole - below + sum(sections.get(title, 0) for title in step.read) if step.read else whole
    )


def duration(count: int) -> str:
    """
    >>> duration(118), duration(1000)
    ('118 minutes', '17 hours')
    """
    return f"{count} minutes" if count < 150 else f"{round(count / 60)} hours"


# Where they are shown -----------------------------------------------------------------------------


def to(env, page: str, document: str, query: str = "") -> str:
    return link(address(page, document, query=query), env.titles[document].astext())


def to_sections(page: str, step: Step, query: str = "") -> str:
    """Links to the sections to read; "" for a whole page."""
    places = {"the opening": "", **{title: nodes.make_id(title) for title in step.read}}
    links = (link(address(page, step.document, at, query), title) for title, at in places.items())
    return ", ".join(links) if step.read else ""


RATE = (
    f"Counted at {WORDS_A_MINUTE} words a minute: the text, the cards as they open, and the proofs "
    "that are not folded."
)


def write(app, page: str, _: str) -> str:
    """All paths: names and minutes, with their steps folded."""
    env, html, labels = app.env, "", app.env.get_domain("std").labels
    for route in routes():
        lines = [
            (to(env, page, step.document, route.query), to_sections(page, step, route.query))
            for step in route.steps
        ]
        body = "".join(f"<li>{': '.join(filter(None, line))}</li>" for line in lines)
        body = f"<ol>{body}</ol>"
        if route.given:
            given = "; ".join(to(env, page, labels[label][0]) for label in route.given)
            body += f"<p>Taken on trust: {given}</p>"
        minutes = duration(reading_time(sum(length(env, step) for step in route.steps)))
        about = f"<b>{escape(route.name)}</b> · {minutes} to read · {escape(route.about)}"
        html += folded("route", about, body)
    return f"{html}<p>{RATE}</p>"


def place(env, page: str) -> str:
    """A line per path to which a page belongs: the step, the sections to read, the next step.

    paths.js unfolds the line of the reader's path, and reads its data there.
    """
    lines = {}
    for route in routes():
        pages = [step.document for step in route.steps]
        if page in pages:
            k = pages.index(page)
            read = to_sections(page, route.steps[k])
            line = f"{escape(route.name)}, step {k + 1} of {len(pages)}"
            line += f": read here {read}" * bool(read)
            for name, near in (("before", pages[:k][-1:]), ("next", pages[k + 1 :][:1])):
                for other in near:
                    there = to(env, page, other, route.query)
                    line += f' · {name} <span class="{name}">{there}</span>'
            lines[route] = f'<p class="page-route" data-path="{route.slug}">{line}</p>'
    if not lines:
        return ""
    paths = "a path" if len(lines) == 1 else f"{len(lines)} paths"
    names = ", ".join(route.name for route in lines)
    summary = escape(f"On {paths} through the book: {names}")
    return folded("page-routes", summary, "".join(lines.values()))


def endings(env, page: str) -> str:
    """The closing words of the paths that end on a page, folded."""
    labels, html = env.get_domain("std").labels, ""

    def to_label(match: re.Match) -> str:
        *at, title = labels[match[1]]
        return link(address(page, *at), title)

    for route in routes():
        if page == route.steps[-1].document:
            text = re.sub(r"{(.+?)}", to_label, escape(route.end))
            summary = f"The end of the path “{escape(route.name)}”"
            html += folded("path-end", summary, f'<p data-path="{route.slug}">{text}</p>')
    return html


def show_place(app, doctree, page):
    """Put the folded lines of `place` under the title of a page, and `endings` at its foot."""
    if html := place(app.env, page):
        below_title(doctree, nodes.raw("", html, format="html"), after="page-head")
    if html := endings(app.env, page):
        next(doctree.findall(nodes.section)).append(nodes.raw("", html, format="html"))


def note_routes(app, config):
    """Record the paths as an "env" value: if they change, all pages are read again."""
    config.book_routes = repr(routes())


def setup(app):
    app.add_config_value("book_routes", "", "env", [str])
    app.connect("config-inited", note_routes)
    add_directive(app, "learning-paths", write)
    app.connect("doctree-read", measure)
    app.connect("env-updated", lambda app, env: [env.config.root_doc])  # which shows all lengths
    app.connect("doctree-resolved", show_place)
