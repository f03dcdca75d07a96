"""Turn the names of numbered results, equations and definitions into links to their statements.

"Theorem 16", "Lemmas 2 and 3" and "(2.14)" belong to the source that the page is about, unless the
words around them name another source. Titles, code, other links and the statement itself get no
links. The page carries a preview of each linked statement (previews.js).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import NamedTuple

from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx_design.dropdown import dropdown_title

from runproofs.claims.registry import AUTHORS, FOLDERS, LABELED, Claim, register, stated

from .markup import address, inline, site
from .statement_index import NAMES, ONE, anchor, numbers

RESULTS = re.compile(rf"\b({NAMES})s? ({ONE}(?:(?:, | and |, and ){ONE})*)")
EQUATIONS = re.compile(r"\(\d\.\d+\)")
CLOSED = (
    nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw, nodes.reference, nodes.title,
    dropdown_title,
)  # fmt: skip
UNLINKED = {"headerlink", "of-fold"}  # of-fold: the class of the line that unfolds something
AFTER = re.compile(r"\s+(?:of|in) (?:the |its |their )?([^\W\d_]+|$)")
BEFORE = re.compile(
    rf"\b({'|'.join(site()['named'])})(?: and \w+)?['\N{{RIGHT SINGLE QUOTATION MARK}}]s? $"
)
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]*?) ?<)?(?P<to>[^`<>]+)>?`")


def _formula(content: str, how: dict) -> str:
    left, right = (r"\[", r"\]") if how["display_mode"] else (r"\(", r"\)")
    return f"{left}{escape(content, quote=False)}{right}"


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=_formula)


class Mention(NamedTuple):
    """The part of a text that names a claim."""

    start: int
    end: int
    claim: Claim


@cache
def numbered() -> dict[tuple[str, str], Claim]:
    """The claims by source and number; the letters of our own numbers occur in no other source."""
    found = {}
    for entry in register().values():
        if " / " in entry.number:  # an entry about two others
            continue
        for number in numbers(entry.number):
            known = found.setdefault((entry.source, number), entry)
            if number == entry.number and known.number != number:
                found[entry.source, number] = entry
    return found


def source_of(document: str) -> str:
    """The source that a page is about; "" for the back matter, which is about all sources."""
    parts = document.split("/")
    if "back" in parts and "ledger" not in parts:
        return ""
    sources = (FOLDERS.get(part, part) for part in parts)
    return next((source for source in sources if source in AUTHORS), "thesis")


def mentions(text: str, source: str) -> Iterator[Mention]:
    """The claims that a text names, in order; names from unknown sources are left out.

    >>> text = "Lemmas 2 and 3, not Theorem 9 of the paper"
    >>> [found.claim.id for found in mentions(text, "thesis")]
    ['thesis/lemma-2', 'thesis/lemma-3']
    """
    text = text.replace("\N{NON-BREAKING HYPHEN}", "-").replace("\N{NO-BREAK SPACE}", " ")
    named = [(*match.span(), match[0], match) for match in EQUATIONS.finditer(text)]
    for match in RESULTS.finditer(text):
        for one in re.finditer(ONE, match[2]):
            start = match.start(2) + one.start() if one.start() else match.start()  # with the word
            named.append((start, match.start(2) + one.end(), f"{match[1]} {one[0]}", match))
    for start, end, number, match in sorted(named, key=lambda found: found[:2]):
        where = source
        if said := BEFORE.search(text[: match.start()]):
            where = site()["named"][said[1]]
        elif said := AFTER.match(text, match.end()):
            where = site()["named"].get(said[1], None if said[1] in {"", "paper"} else source)
        whole = re.sub(r" \(\d\)$", "", number)  # a part of a claim may have no entry of its own
        for name in ((one, n) for one in (where, "beyond") for n in (number, whole)):
            if where and name in numbered():
                yield Mention(start, end, numbered()[name])
                break


def ancestors(node: nodes.Node) -> Iterator[nodes.Element]:
    while node := node.parent:
        yield node


def open_texts(part: nodes.Element) -> list[nodes.Text]:
    """The texts of a part of a page that may contain links."""

    def is_closed(node):
        return isinstance(node, CLOSED) or UNLINKED & {*node.get("classes", [])}

    texts = [
        text for text in part.findall(nodes.Text) if isinstance(text.parent, nodes.TextElement)
    ]
    return [text for text in texts if not any(map(is_closed, ancestors(text)))]


def link_mentions(app, doctree, page):
    """Make links of the claims that the page names, and record these claims by address."""
    source = source_of(page)
    led = app.env.claims_linked[page] = {}
    for text in open_texts(doctree) if source and app.builder.name == "html" else []:
        boxes = {name for node in ancestors(text) if "realtype" in node for name in node["ids"]}
        parts, done = [], 0
        for start, end, entry in mentions(text, source):
            document, place = anchor(app, entry)
            if document not in app.env.found_docs or place in boxes:
                continue
            uri, words = address(page, document, place), text[start:end]
            parts += [nodes.Text(text[done:start])] * (start > done)
            parts.append(nodes.reference("", "", nodes.inline("", words), internal=True,
                                         refuri=uri, classes=["to-claim"]))  # fmt: skip
            led.setdefault(uri, {})[entry.id] = entry
            done = end
        if parts:
            parts += [nodes.Text(text[done:])] * (done < len(text))
            text.parent.replace(text, parts)


# The previews -----------------------------------------------------------------------------------


def preview(app, entry: Claim) -> str:
    """HTML of the name, the title and the statement; MathJax typesets its formulas."""
    title = f'<p class="title"><b>{escape(entry.name)}</b> {inline(entry.title)}</p>'
    box, equations = stated().get(entry.id), app.env.get_domain("math").equations

    def numbered(end):
        return f"\\tag{{{equations[end[1]][1]}}}\n$$" if end[1] in equations else "$$"

    text = LABELED.sub(numbered, box.text) if box else entry.told
    return title + rendered(app, text)


def rendered(app, text: str) -> str:
    """HTML of a statement, with words instead of links for its references."""
    equations = app.env.get_domain("math").equations
    labels, cites = app.env.get_domain("std").labels, getattr(app.env, "domains", {}).get("cite")
    cited = {one.key: one.formatted_entry.label for one in getattr(cites, "citations", ())}

    def said(role):
        words = role["words"] or role["to"]
        if role["role"] == "eq" and role["to"] in equations:
            return f"({equations[role['to']][1]})"
        if role["role"] == "cite":
            return f"\\[{cited.get(words, words)}\\]"
        return words if role["words"] or role["to"] not in labels else labels[role["to"]][2]

    return MARKDOWN.render(ROLE.sub(said, text))


def bring_previews(app, pagename, templatename, context, doctree):
    """Append the previews to the page, for previews.js."""
    if found := app.env.claims_linked.get(pagename):
        texts = {uri: "".join(preview(app, one) for one in led.values())
                 for uri, led in found.items()}  # fmt: skip
        content = json.dumps(texts, ensure_ascii=False).replace("</", r"<\/")
        context["body"] += f'<script type="application/json" id="previews">{content}</script>'


def pages_to_write(app, env):
    """Write all pages again if the address of a claim or the set of red claims has changed."""
    env.claims_linked = {}
    now = {entry.id: anchor(app, entry) for entry in register().values()}, env.book_red
    before, env.claims_before = getattr(env, "claims_before", now), now
    return [] if before == now else list(env.found_docs)


def setup(app):
    app.connect("env-updated", pages_to_write)
    app.connect("doctree-resolved", link_mentions, 600)  # after the references of Sphinx
    app.connect("html-page-context", bring_previews)
