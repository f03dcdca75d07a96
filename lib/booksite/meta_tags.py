"""Meta tags for search engines and link previews: a description, and Open Graph's tags."""

import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes

from .markup import render, site
from .publishing import site_address

LONGEST = 200  # characters of a description; search engines show about 160, previews more
ENOUGH = 80
SENTENCES = re.compile(r'(?<=[.?!])(?<!\b[A-Z]\.) (?=[A-Z0-9"“\ufffc])')  # but not after an initial
UNSAID = "\ufffc"  # replaces what plain text cannot show


def plain_text(part: nodes.Element) -> str:
    """The text of a part of a page, with simple formulas only and without citations."""
    part = part.deepcopy()
    for formula in list(part.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))):
        text = formula.astext()
        formula.parent.replace(formula, nodes.Text(UNSAID if re.search(r"[\\_{}]", text) else text))
    text = " ".join(part.astext().split())
    text = re.sub(r"(?<!\bof)(?<!\bin)(?<!\bby)(?<!\bis)(?<!\bafter)(?<=\w) \[[^]]*\]", "", text)
    return re.sub(r"\[[^]]*\]", UNSAID, text)


def description(document: nodes.document) -> str:
    """The first sentences of a page, up to the first that plain text cannot show.

    A page opens with a question, set as a quotation, or with its first paragraph.
    """
    section = next(document.findall(nodes.section), nodes.section())
    parts = (part for part in section if isinstance(part, nodes.block_quote | nodes.paragraph))
    prose = " ".join(
        plain_text(part) for part in parts if not part["classes"]
    )  # page_info's has one
    said = ""
    for sentence in SENTENCES.split(prose):
        if UNSAID in sentence:
            if len(said) < ENOUGH:
                continue
            break
        if said and len(said) + len(sentence) >= LONGEST:
            break
        said = f"{said} {sentence}".strip()
    return said if len(said) <= LONGEST else said[: LONGEST - 1].rpartition(" ")[0] + " …"


def describe(app, pagename, templatename, context, doctree):
    """Put the tags into every page; a page without text takes the words of the landing page."""
    root, config = app.config.root_doc, app.config
    own = doctree is not None and description(doctree)
    text = own or description(app.env.get_doctree(root))
    title = unescape(re.sub(r"<[^>]*>", "", context.get("title", ""))) or config.html_title
    kind = "website" if pagename == root else "article"
    said = {"title": title, "type": kind, "site_name": config.html_title, "description": text}
    if context.get("pageurl"):
        picture = site()["preview"]
        said |= {"url": context["pageurl"], "image": site_address(config) + picture["image"]}
        said |= {"image:alt": picture["alt"]}
    tags = f'\n<meta name="description" content="{escape(text)}" />' + "".join(
        f'\n<meta property="og:{name}" content="{escape(value)}" />' for name, value in said.items()
    )
    context["metatags"] = context.get("metatags", "") + tags
    if pagename == root and root != "index":  # index.html leads to the first page
        first = app.builder.get_target_uri(root)
        page = render("index.html", title=title, first=first, tags=tags)
        Path(app.outdir, "index.html").write_text(page, "utf-8")


def setup(app):
    app.connect("html-page-context", describe)
