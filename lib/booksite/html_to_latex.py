"""From HTML to nodes that LaTeX can print: cards, tables, and the raw parts of the back matter.

Only the tags that this book writes are known; another one is an error, so that nothing is lost.
"""

import posixpath
import re
from html.parser import HTMLParser

from docutils import nodes
from sphinx.util.texescape import tex_replace_map

# LaTeX before and after a tag, by the tag it stands in, the tag and its first class
TAGS = {
    "div": ("\n\n", "\n\n"),
    "p": ("\n\n", "\n\n"),
    "span": ("", ""),
    "b": (r"\textbf{", "}"),
    "strong": (r"\textbf{", "}"),
    "i": (r"\emph{", "}"),
    "em": (r"\emph{", "}"),
    "code": (r"\sphinxcode{\sphinxupquote{", "}}"),
    "sup": (r"\textsuperscript{", "}"),
    "sub": (r"\textsubscript{", "}"),
    "small": (r"{\footnotesize ", "}"),
    "br": (r"\newline ", ""),
    "span.tag": (r"\booktag{", "}"),
    "a.tag": (r"\booktag{", "}"),
    # the card of a claim
    "div.claim-card": (r"\begin{claimcard}", r"\end{claimcard}"),
    "ul.positive": ("", ""),
    "ul.control": ("", ""),
    "li": (r"\cardrow", ""),
    "li span.mark": ("{", "}{"),
    "li span.measured": ("}{", "}"),
    "p.heading": (r"\cardheading{", "}"),
    "p.title": (r"\cardtitle{", "}"),
    "details": (r"\cardbreak{", "}"),
    "details.protocol": ("", ""),  # a table, which no argument can hold
    "summary": (r"\booksummary{", "}"),
    # the back matter
    "div.claim": ("", r"\par "),
    "details.claims": ("", ""),
    "details.claim-entry": (r"\begin{ledgerentry}", r"\end{ledgerentry}"),
    "details.erratum": (r"\begin{erratum}", r"\end{erratum}"),
    "details.reason": ("", ""),
}
LONG, WIDE = 8, 90  # rows, and letters of a row, that a simple table has at most
SKIPPED = {"pre", "select", "input", "output", "option", "script", "style", "button"}
LEFT_OUT = {"dot", "headerlink"}  # between the parts of a card's row; beside a title
VOID = {"br", "input", "img", "hr"}
FORMULA = re.compile(r"\\\((.+?)\\\)", re.S)


def latex(text: str) -> nodes.raw:
    return nodes.raw("", text, format="latex")


def label(page: str, name: str) -> str:
    """The name that Sphinx gives to a place on a page."""
    name = f"{page}:{name}".translate(tex_replace_map)
    name = name.encode("ascii", "backslashreplace").decode().replace("\\", "_")
    return f"\\detokenize{{{name}}}"


def link_to(page: str, name: str) -> nodes.raw:
    return latex(f"\\phantomsection\\label{{{label(page, name)}}}")


class Converter(HTMLParser):
    """The nodes of the pieces of HTML of one page; a tag may be closed in a later piece."""

    def __init__(self, docname: str):
        super().__init__()
        self.docname = docname
        self.open: list[tuple[str, str]] = []  # tags, and what closes them in LaTeX
        self.skipping = 0
        self.rows: list[list[list[nodes.Node]]] = []

    def nodes(self, html: str) -> list[nodes.Node]:
        self.found: list[nodes.Node] = []
        self.feed(html)
        return [nodes.inline("", "", *self.found)]  # in which LaTeX gets no line breaks of its own

    def page(self, address: str) -> str:
        """page#name of the book for a relative address; empty if it leads elsewhere."""
        path, _, name = address.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.docname), path))
        page = path.removesuffix(".html") if path.endswith(".html") else self.docname
        return f"{page}#{name}" if name else page

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if self.skipping or tag in SKIPPED or attributes.get("class") in LEFT_OUT:
            self.skipping += tag not in VOID
            return
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.outside, self.found = self.found, []
        if tag in {"table", "thead", "tbody", "tr", "td", "th"}:
            return
        if tag == "a" and attributes.get("href"):
            before, after = self.link(attributes["href"])
            if "tag" in (attributes.get("class") or ""):
                before, after = before + r"\booktag{", "}" + after
        elif tag == "a":
            before, after = "", ""
        else:
            parent = self.open[-1][0] if self.open else ""
            first = f"{tag}.{(attributes.get('class') or '').partition(' ')[0]}"
            names = [name for name in (f"{parent} {first}", first, tag) if name in TAGS]
            if not names:
                raise ValueError(f"{self.docname}: nobody said what <{tag}> is on paper.")
            before, after = TAGS[names[0]]
        if name := attributes.get("id"):
            before += f"\\phantomsection\\label{{{label(self.docname, name)}}}"
        self.found.append(latex(before))
        if tag not in VOID:
            self.open.append((tag, after))

    def link(self, address: str) -> tuple[str, str]:
        if "://" in address:
            return rf"\sphinxhref{{{address}}}{{", "}"
        page, _, name = self.page(address).partition("#")
        return rf"\hyperref[{label(page, name or ':doc')}]{{", "}"

    def handle_endtag(self, tag):
        if self.skipping:
            self.skipping -= 1
        elif tag in {"td", "th"}:
            self.rows[-1].append(self.found)
            self.found = self.outside
        elif tag == "table":
            self.found.append(table(self.rows))
        elif tag not in {"thead", "tbody", "tr", *VOID}:
            opened, after = self.open.pop()
            if opened != tag:
                raise ValueError(f"{self.docname}: <{opened}> is closed by </{tag}>.")
            self.found.append(latex(after))

    def handle_data(self, data):
        if self.skipping:
            return
        for k, piece in enumerate(FORMULA.split(data)):
            if piece:
                self.found.append(nodes.math(piece, piece) if k % 2 else nodes.Text(piece))


def table(rows: list[list[list[nodes.Node]]]) -> nodes.table:
    """A table whose first row is its head; columns as wide as their text, and across pages."""
    texts = [[text_of(cell) for cell in row] for row in rows]
    widths = [width([row[k] for row in texts]) for k in range(len(rows[0]))]
    group = nodes.tgroup(cols=len(widths))
    group += [nodes.colspec(colwidth=width) for width in widths]
    lines = [
        nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in row))
        for row in rows
    ]
    group += [nodes.thead("", lines[0]), nodes.tbody("", *lines[1:])]
    long = ["longtable"] * (len(rows) > LONG)
    wide = ["colwidths-given"] * (sum(widths) > WIDE or bool(long))
    return nodes.table("", group, classes=[*long, *wide])


def text_of(cell: list[nodes.Node]) -> str:
    return "".join(node.astext() for node in cell if not isinstance(node, nodes.raw))


def width(column: list[str]) -> int:
    """How much of the line a column asks for: its longest word, and not more than a short line."""
    words = max(len(word) for text in column for word in [*text.split(), ""])
    return max(words, min(max(map(len, column)), 32)) + 3  # and the space between two
