"""Write a resolved page as Markdown that any notebook can show.

A statement becomes a quotation under its bold title; a folded part (a proof, a solution) becomes
HTML's `<details>`; references keep the numbers and words of the page. An unknown node is a warning,
so that nothing is lost unnoticed.

Each formula is on one line: in a quotation or a list, Jupyter would read the marks at the beginning
of further lines as part of the formula.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from docutils import nodes
from sphinx.locale import admonitionlabels
from sphinx.util import logging

from .interactive_figure import interactive_figure

logger = logging.getLogger(__name__)


class Cell(NamedTuple):
    """A code cell between parts of the text: its index in the notebook, and what is folded."""

    index: int
    folded: bool  # whether its code is
    hidden: bool = False  # whether its output is, too, as in a solution


Flow = Iterator[str | Cell]
Link = Callable[[str], str | None]

SKIPPED = (
    nodes.target, nodes.comment, nodes.substitution_definition, nodes.system_message,
    interactive_figure,
)  # fmt: skip
INLINE = {
    "emphasis": "*{}*", "strong": "**{}**", "literal_emphasis": "*{}*", "literal_strong": "**{}**",
}  # fmt: skip
PLAIN = {  # what stands for its children
    "math_block", "term", "caption", "PassthroughTextElement", "rubric", "label", "dropdown_title",
}  # fmt: skip
LANGUAGES = {"ipython3": "python", "none": "", "default": ""}


class Writer:
    """Writes one page.

    link: the address to which a reference leads; None makes it plain text. An address on the page
      itself begins with #.
    number: the number of a figure or an exercise, by kind and id; "" if it has none.
    """

    def __init__(self, link: Link, number: Callable[[str, str], str]):
        self.link, self.number, self.level = link, number, 0

    # Blocks ---------------------------------------------------------------------------------

    def flow(self, parent: nodes.Element, *left_out: nodes.Node) -> Flow:
        """Blocks of Markdown and cells, in the order of the page."""
        for node in parent.children:
            name = type(node).__name__
            if isinstance(node, SKIPPED) or any(node is other for other in left_out):
                continue
            if write := getattr(self, f"block_{name}", None):
                yield from write(node)
            elif isinstance(node, nodes.Text | nodes.Inline) or name in PLAIN:
                yield self.inline(node)
            else:
                logger.warning("no Markdown for %s", name, location=node)

    def blocks(self, parent: nodes.Element) -> str:
        """The Markdown of a node that holds no cell."""
        return "\n\n".join(part for part in self.flow(parent) if isinstance(part, str) and part)

    block_compound = flow

    def block_section(self, node) -> Flow:
        self.level += 1
        yield from self.flow(node)
        self.level -= 1

    def block_title(self, node) -> Flow:
        yield f"{'#' * max(self.level, 1)} {self.inline(node)}"

    def block_paragraph(self, node) -> Flow:
        yield re.sub(r"^(\s*\d*)([#+>.)-])(?=\s)", r"\1\\\2", self.inline(node))

    block_citation = block_compact_paragraph = block_paragraph

    def block_literal_block(self, node) -> Flow:
        language = node.get("language", "")
        yield f"```{LANGUAGES.get(language, language)}\n{node.astext()}\n```"

    block_doctest_block = block_literal_block

    def block_desc(self, node) -> Flow:
        """A function of the library: its signature without the link to the source, its text."""
        signature, text = node
        parts = (part.astext() for part in signature if not isinstance(part, nodes.reference))
        yield f"**`{''.join(parts)}`**"
        yield from self.flow(text)

    def block_raw(self, node) -> Flow:
        if node.get("format") == "html" and not {"in-ledger", "site-only"} & {*node["classes"]}:
            yield links_of_html(node.astext(), self.link)

    def block_transition(self, node) -> Flow:
        yield "---"

    def block_block_quote(self, node) -> Flow:
        yield quotation(self.blocks(node))

    def block_bullet_list(self, node) -> Flow:
        yield "\n".join(item("- ", self.blocks(child)) for child in node)

    def block_enumerated_list(self, node) -> Flow:
        first = node.get("start", 1)
        yield "\n".join(item(f"{k}. ", self.blocks(child)) for k, child in enumerate(node, first))

    def block_definition_list(self, node) -> Flow:
        parts = [(self.inline(child[0]), self.blocks(child[-1])) for child in node]
        yield "\n".join(item("- ", f"**{term}**\n\n{text}") for term, text in parts)

    block_field_list = block_definition_list

    def block_table(self, node) -> Flow:
        rows = [[in_column(self.blocks(entry)) for entry in row] for row in node.findall(nodes.row)]
        if next(node.findall(nodes.thead), None) is None:
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        yield "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def block_figure(self, node) -> Flow:
        yield self.inline(next(node.findall(nodes.image)))
        yield from self.caption(node)

    def caption(self, figure) -> Flow:
        """What stands under a picture, and what is seen in it in words."""
        number = self.number("figure", figure["ids"][0]) if figure["ids"] else ""
        for caption in figure.findall(nodes.caption):
            yield f"**Picture {number}.** " * bool(number) + self.inline(caption)
        for image in figure.findall(nodes.image):
            yield details("The picture in words", escaped(image.get("alt", "")))

    def block_container(self, node) -> Flow:
        part = node.get("design_component")
        if node.get("nb_element") == "cell_code":
            yield Cell(node["cell_index"], folded=bool(node.get("hide_mode")))
            for figure in node.findall(nodes.figure):
                yield from self.caption(figure)
        elif part == "card-title":
            yield f"**{self.inline(node)}**"
        elif part == "card":
            yield quotation(self.blocks(node))
        else:
            yield from self.flow(node)

    # Statements, proofs, exercises ----------------------------------------------------------

    def titled(self, node, title: str, *left_out: nodes.Node) -> Flow:
        """A quotation under its bold title; or folded under it, with the cells that are in it."""
        fold = "dropdown" in node["classes"] or type(node).__name__ == "dropdown_main"
        text, first = [], True
        for part in [*self.flow(node, *left_out), None]:
            if isinstance(part, str):
                text += [part] * bool(part)
                continue
            if text:
                body = "\n\n".join(text)
                if fold:
                    yield details(title if first else f"{title}, continued", body)
                else:
                    yield quotation(f"**{title}**\n\n{body}" if first else body)
                text, first = [], False
            if part:
                yield part._replace(folded=True, hidden=True) if fold else part

    def block_admonition(self, node) -> Flow:
        title = node.next_node(nodes.title)
        own = title in node.children
        words = self.inline(title) if own else str(admonitionlabels[node.tagname])
        yield from self.titled(node, words, title)

    block_unenumerable_node = block_exercise_node = block_solution_node = block_admonition
    block_seealso = block_admonition

    def block_enumerable_node(self, node) -> Flow:
        kind = node.get("type") or node["realtype"]
        number = self.number(node.get("countertype", kind), node["ids"][0])
        title = f"{kind.capitalize()} {number} {self.inline(node[0]).strip()}".strip()
        yield from self.titled(node, title, node[0])

    block_exercise_enumerable_node = block_enumerable_node

    def block_proof_node(self, node) -> Flow:
        """Its first words are "Proof."."""
        if "dropdown" in node["classes"]:
            yield from self.titled(node, "Proof")
        else:
            yield from self.flow(node[0] if len(node) == 1 else node)

    def block_dropdown_main(self, node) -> Flow:
        yield from self.titled(node, self.inline(node[0]), node[0])

    # Within a line --------------------------------------------------------------------------

    def inline(self, node: nodes.Node) -> str:
        """The Markdown of a node and all that is in it, on one line."""
        match node:
            case nodes.Text():
                return escaped(" ".join(re.split(r"\s+", node.astext())))
            case nodes.math():
                return f"${one_line(node.astext())}$"
            case nodes.math_block():
                tag = rf"\tag{{{node['number']}}}" if node.get("label") else ""
                return f"$${bare(one_line(node.astext()))}{tag}$$"
            case nodes.literal():
                text = node.astext()
                return f"`` {text} ``" if "`" in text else f"`{text}`"
            case nodes.raw():
                return node.astext() if "<svg" not in node.astext() else ""
            case nodes.image():
                return f"![{node.get('alt', '')}]({node['uri']})"
        if isinstance(node, SKIPPED):
            return ""
        text = "".join(map(self.inline, node.children))
        if isinstance(node, nodes.reference):
            address = self.link(node.get("refuri", "#"))
            return re.sub(r"\S(.*\S)?", rf"[\g<0>]({address})", text) if address else text
        return INLINE.get(type(node).__name__, "{}").format(text) if text.strip() else text


# Pieces of Markdown -----------------------------------------------------------------------------


def escaped(text: str) -> str:
    r"""
    >>> escaped("2 * 3 < $x_1")
    '2 \\* 3 &lt; \\$x\\_1'
    """
    return re.sub(r"([\\`*_\[\]$~|])", r"\\\1", text).replace("<", "&lt;")


def one_line(tex: str) -> str:
    return " ".join(re.sub(r"(?<!\\)%.*", "", tex).split())


def in_column(text: str) -> str:
    """Text of a table on one line; a stroke, which would end its column, is spelt out in TeX."""

    def spelt(formula: re.Match) -> str:
        return formula[0].replace(r"\|", r"\Vert ").replace("|", r"\vert ")

    return re.sub(r"(?<!\\)\$(?:[^$\\]|\\.)*\$", spelt, text).replace("\n\n", "<br>")


def bare(tex: str) -> str:
    r"""A displayed environment as one that may stand between $$.

    >>> bare(r"\begin{align*} a &= b \end{align*}")
    '\\begin{aligned} a &= b \\end{aligned}'
    """
    tex = re.sub(r"\\(begin|end)\{(align|gather)(?:at)?\*?\}", r"\\\1{\2ed}", tex)
    return re.sub(r"\\(begin|end)\{equation\*?\}", "", tex).strip()


def quotation(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def item(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def details(title: str, text: str) -> str:
    """Folded text. Blank lines let Markdown go on inside of HTML, but not in its title."""
    title = re.sub(r"\[((?:[^\]\\]|\\.)*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", title)
    title = re.sub(r"(?<!\\)\*(?!\*)([^*]+)(?<!\\)\*", r"<em>\1</em>", title)
    title = re.sub(r"\\([`*_\[\]~|])", r"\1", title)
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def links_of_html(html: str, link: Link) -> str:
    """HTML whose links lead where they lead for the reader; one that leads nowhere is its text."""

    def lead(match: re.Match) -> str:
        address = link(match["href"])
        return f'{match["start"]}"{address}"{match["end"]}' if address else match["text"]

    anchor = r'(?P<start><a\s[^>]*?href=)"(?P<href>[^"]*)"(?P<end>[^>]*>(?P<text>.*?)</a>)'
    return re.sub(anchor, lead, html, flags=re.S)
