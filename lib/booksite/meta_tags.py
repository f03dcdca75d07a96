"""What search engines and previews read of a page: its description, and Open Graph's tags."""

import re
from html import escape, unescape
from pathlib import Path
from string import Template
from unicodedata import lookup

from docutils import nodes

from .publishing import site_address

PREVIEW = "_static/tour/equal.png"
PREVIEW_ALT = "The importance of the hidden units of a network: uneven before training, equal after"
LONGEST = 200  # characters of a description; search engines show some 160, previews more
ENOUGH = 80
SENTENCES = re.compile(r'(?<=[.?!])(?<!\b[A-Z]\.) (?=[A-Z0-9"“\ufffc])')  # but not after an initial
UNSAID = "\ufffc"  # stands for what plain text cannot say
SIGNS = {r"\^\\top": "ᵀ", r"\\[dt]?frac(\w)(\w)": r"\1/\2", r"\\approx\b ?": "≈", r"\\infty\b": "∞"}
SIGNS |= {r"\\leq?\b ?": "≤", r"\\geq?\b ?": "≥"}
WELCOME = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<title>$title</title>
<meta http-equiv="refresh" content="0; url=$first" />$tags
</head>
<body><p><a href="$first">$title</a></p></body>
</html>
""")


def spoken(formula: str) -> str:
    """A formula in plain letters.

    >>> [spoken(tex) for tex in (r"UV^\\top", r"1-\\alpha", r"\\frac12", "2^r")]
    ['UVᵀ', '1-α', '1/2', '2^r']
    """

    def letter(command: re.Match) -> str:
        case = "CAPITAL" if command[1][0].isupper() else "SMALL"
        try:
            return lookup(f"GREEK {case} LETTER {command[1].removeprefix('var')}")
        except KeyError:
            return UNSAID

    for tex, sign in SIGNS.items():
        formula = re.sub(tex, sign, formula)
    text = re.sub(r"\\([A-Za-z]+) ?", letter, formula)
    return UNSAID if re.search(r"[\\_{}\ufffc]", text) else text


def plain(part: nodes.Element) -> str:
    """The text of a part of a page; a citation after a word is dropped."""
    part = part.deepcopy()
    for formula in list(part.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))):
        formula.parent.replace(formula, nodes.Text(spoken(formula.astext())))
    text = " ".join(part.astext().split())
    text = re.sub(r"(?<!\bof)(?<!\bin)(?<!\bby)(?<!\bis)(?<!\bafter)(?<=\w) \[[^]]*\]", "", text)
    return re.sub(r"\[[^]]*\]", UNSAID, text)


def description(document: nodes.document) -> str:
    """The first sentences of a page, up to the first one that plain text cannot say.

    A page opens with a question, set as a quotation, or with its first paragraph.
    """
    section = next(document.findall(nodes.section), nodes.section())
    parts = (part for part in section if isinstance(part, nodes.block_quote | nodes.paragraph))
    prose = [part for part in parts if not part["classes"]]  # page_head's line has one
    said = ""
    for sentence in SENTENCES.split(" ".join(plain(part) for part in prose)):
        if UNSAID in sentence:
            if len(said) < ENOUGH:
                continue
            break
        if said and len(said) + len(sentence) >= LONGEST:
            break
        said = f"{said} {sentence}".strip()
    return said if len(said) <= LONGEST else said[: LONGEST - 1].rpartition(" ")[0] + " …"


def head(app, title: str, text: str, kind: str, address: str | None) -> str:
    """The tags that describe a page to search engines and to previews."""
    tags = {"title": title, "type": kind, "site_name": app.config.html_title, "description": text}
    if address:
        tags |= {"url": address, "image": site_address(app.config) + PREVIEW}
        tags |= {"image:alt": PREVIEW_ALT}
    lines = [f'<meta name="description" content="{escape(text)}" />']
    lines += [f'<meta property="og:{k}" content="{escape(v)}" />' for k, v in tags.items()]
    return "\n".join(["", *lines])


def describe(app, pagename, templatename, context, doctree):
    """Put the head matter into every page; a page without text has the words of the first one."""
    root = app.config.root_doc
    own = doctree is not None and description(doctree)
    text = own or description(app.env.get_doctree(root))
    title = unescape(re.sub(r"<[^>]*>", "", context.get("title", ""))) or app.config.html_title
    kind = "website" if pagename == root else "article"
    tags = head(app, title, text, kind, context.get("pageurl"))
    context["metatags"] = context.get("metatags", "") + tags
    if pagename == root and root != "index":
        welcome(app, title, tags)


def welcome(app, title: str, tags: str):
    """index.html, which leads to the first page; whoever shares the bare address shares it."""
    first = app.builder.get_target_uri(app.config.root_doc)
    page = WELCOME.substitute(title=escape(title), first=first, tags=tags)
    Path(app.outdir, "index.html").write_text(page, "utf-8")


def setup(app):
    app.connect("html-page-context", describe)
