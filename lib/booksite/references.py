"""Where a page names a numbered result, an equation or a definition of a source, it is a link.

"Theorem 16", "Lemmas 2 and 3" and "(2.14)" lead to their statements, or to what shows them: of the
source that the page is about, unless the words around name another one. The register knows the
numbers, and statements.py the places; pages are not rewritten. Nothing is a link in a title, in
code, in another link, and in the statement itself. What leads to a preview, the statement as the
register has it, goes with the page (previews.js); notebooks and paper show the words alone.
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

from runproofs.book.register import LABELED, Claim, register, stated

from .back_matter import address
from .search import anchor
from .statements import NAMES, ONE, numbers

RESULTS = re.compile(rf"\b({NAMES})s? ({ONE}(?:(?:, | and |, and ){ONE})*)")
EQUATIONS = re.compile(r"\(\d\.\d+\)")
CLOSED = (
    nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw, nodes.reference, nodes.title,
    dropdown_title,
)  # fmt: skip
UNLINKED = {"headerlink", "of-fold"}  # classes; of-fold: the line at which something unfolds
PARTS = {"surprises": "helmbold-long", "homogeneous": "vidal"}  # folders; the ledger has the names
SOURCES = {  # how the words around name one; the thesis alone has chapters
    "Chapter": "thesis", "Helmbold": "helmbold-long", "slides": "vidal", "thesis": "thesis",
}  # fmt: skip
AFTER = re.compile(r"\s+(?:of|in) (?:the |its |their )?([^\W\d_]+|$)")
BEFORE = re.compile(
    r"\b(?:(thesis|slides)|(Helmbold) and Long)['\N{RIGHT SINGLE QUOTATION MARK}]s? $"
)


ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]*?) ?<)?(?P<to>[^`<>]+)>?`")


def _formula(content: str, how: dict) -> str:
    left, right = (r"\[", r"\]") if how["display_mode"] else (r"\(", r"\)")
    return f"{left}{escape(content, quote=False)}{right}"


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=_formula)


class Mention(NamedTuple):
    """Which part of a text names a claim."""

    start: int
    end: int
    claim: Claim


@cache
def numbered() -> dict[tuple[str, str], Claim]:
    """The claim that a source calls by a number; ours have their letters in no other source."""
    found = {}
    for entry in register().values():
        if " / " in entry.number:  # of what two others have in common
            continue
        for number in numbers(entry.number):
            known = found.setdefault((entry.source, number), entry)
            if number == entry.number and known.number != number:
                found[entry.source, number] = entry
    return found


def source_of(document: str) -> str:
    """The source that a page is about; "" for the back matter, which is about all of them."""
    parts = set(document.split("/"))
    if "back" in parts and "ledger" not in parts:
        return ""
    return next((PARTS.get(part, part) for part in parts if part in {*PARTS, *PARTS.values()}),
                "thesis")  # fmt: skip


def mentions(text: str, source: str) -> Iterator[Mention]:
    """What a text names, in its order; what it names of a source unknown to us is left out.

    >>> text = "Lemmas 2 and 3, not Theorem 9 of the paper"
    >>> [found.claim.id for found in mentions(text, "thesis")]
    ['thesis/lemma-2', 'thesis/lemma-3']
    """
    text = text.replace("\N{NON-BREAKING HYPHEN}", "-").replace("\N{NO-BREAK SPACE}", " ")
    named = []
    for match in RESULTS.finditer(text):
        ones = list(re.finditer(ONE, match[2]))
        for one in ones:  # the first has the word with it
            start = match.start() if one is ones[0] else match.start(2) + one.start()
            named.append((start, match.start(2) + one.end(), f"{match[1]} {one[0]}", match))
    named += [(*match.span(), match[0], match) for match in EQUATIONS.finditer(text)]
    for start, end, number, match in sorted(named, key=lambda found: found[:2]):
        where = source
        if said := BEFORE.search(text[: match.start()]):
            where = SOURCES[said[1] or said[2]]
        elif said := AFTER.match(text, match.end()):
            where = SOURCES.get(said[1], None if said[1] in {"", "paper"} else source)
        whole = re.sub(r" \(\d\)$", "", number)  # of which a part may have no entry of its own
        if where is None:
            continue
        names = [(one, n) for one in (where, "beyond") for n in (number, whole)]
        if found := next((name for name in names if name in numbered()), None):
            yield Mention(start, end, numbered()[found])


def open_texts(node: nodes.Element) -> Iterator[nodes.Text]:
    """The texts of a part of a page in which a link may stand."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            if isinstance(node, nodes.TextElement):
                yield child
        elif not isinstance(child, CLOSED) and not UNLINKED & {*child.get("classes", [])}:
            yield from open_texts(child)


def within(node: nodes.Node, label: str) -> bool:
    """Whether a text stands in what has this label."""
    while node := node.parent:
        if "realtype" in node and label in node["ids"]:
            return True
    return False


def link_mentions(app, doctree, document):
    """Make links of what the page names, and note of which claims."""
    source, led = source_of(document), {}
    if app.builder.name != "html" or not source:
        return
    for text in list(open_texts(doctree)):
        parts, done = [], 0
        for start, end, entry in mentions(text, source):
            page, place = anchor(app, entry)
            if page not in app.env.found_docs or within(text, place):
                continue
            uri = f"#{place}" if page == document else f"{address(document, page)}#{place}"
            parts += [nodes.Text(text[done:start])] * (start > done)
            words = text[start:end]
            parts.append(nodes.reference("", "", nodes.inline("", words), internal=True,
                                         refuri=uri, classes=["to-claim"]))  # fmt: skip
            led.setdefault(uri, {})[entry.id] = entry
            done = end
        if parts:
            parts += [nodes.Text(text[done:])] * (done < len(text))
            text.parent.replace(text, parts)
    linked(app)[document] = led


def linked(app) -> dict[str, dict]:
    """Of each page that was written: by address the claims to which it leads."""
    if not hasattr(app, "linked_claims"):
        app.linked_claims = {}
    return app.linked_claims


# The previews -----------------------------------------------------------------------------------


def preview(app, entry: Claim) -> str:
    """The name, the title and the statement, as HTML whose formulas MathJax typesets."""
    title = f'<p class="title"><b>{escape(entry.name)}</b> {inline(entry.title)}</p>'
    box, equations = stated().get(entry.id), app.env.get_domain("math").equations

    def numbered(end):
        return f"\\tag{{{equations[end[1]][1]}}}\n$$" if end[1] in equations else "$$"

    text = LABELED.sub(numbered, box.text) if box else entry.told
    return title + rendered(app, text)


def rendered(app, text: str) -> str:
    """HTML of a statement; where it refers to something, there are words and no link."""
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


def inline(text: str) -> str:
    r"""
    >>> inline("at $x<1$ of `f`")
    'at <span class="math">\\(x&lt;1\\)</span> of <code>f</code>'
    """
    text = re.sub(r"\$([^$]+)\$", r'<span class="math">\\(\1\\)</span>', escape(text, quote=False))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def bring_previews(app, pagename, templatename, context, doctree):
    """Put the previews of a page at its end, for previews.js."""
    if not (found := linked(app).get(pagename)) or "body" not in context:
        return
    texts = {
        uri: "".join(preview(app, one) for one in entries.values())
        for uri, entries in found.items()
    }
    content = json.dumps(texts, ensure_ascii=False).replace("</", r"<\/")
    context["body"] += f'<script type="application/json" id="previews">{content}</script>'


def pages_that_lead_elsewhere(app, env):
    """All pages are written again where a claim has come to stand in another place."""
    if app.builder.name != "html":
        return []
    found = {entry.id: anchor(app, entry) for entry in register().values()}
    before, env.claim_anchors = getattr(env, "claim_anchors", found), found
    return [] if before == found else list(env.found_docs)


def setup(app):
    app.connect("env-updated", pages_that_lead_elsewhere)
    app.connect("doctree-resolved", link_mentions, 600)  # after the references of Sphinx
    app.connect("html-page-context", bring_previews)
