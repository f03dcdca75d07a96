"""A page as Sphinx has resolved it, written as Markdown that any notebook shows.

Titles, lists, tables and formulas are written as Markdown has them; a statement is a quotation
under its bold title; what is folded on the page (a proof, a solution) is HTML's `<details>`. The
numbers and the words of references are those of the page. What leads nowhere outside the book is
plain text. A node that is not known here is a warning, so that nothing is lost unseen.

Formulas stand on one line each: within a quotation or a list Jupyter would take the marks at the
beginning of further lines for a part of the formula.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from docutils import nodes
from sphinx.util import logging

from .hand import hand

logger = logging.getLogger(__name__)


class Cell(NamedTuple):
    """A cell with code in its place among the text: which of the notebook, and what is folded."""

    index: int
    folded: bool  # its code
    hidden: bool = False  # its output, too: it belongs to a solution


Flow = Iterator[str | Cell]

SKIPPED = (
    nodes.target, nodes.comment, nodes.substitution_definition, nodes.system_message, nodes.colspec,
    hand,
)  # fmt: skip
INLINE = {
    "emphasis": "*{}*", "strong": "**{}**", "literal_emphasis": "*{}*", "literal_strong": "**{}**",
    "subscript": "<sub>{}</sub>", "superscript": "<sup>{}</sup>",
}  # fmt: skip
PLAIN = {  # what stands for its children
    "inline", "term", "caption", "PassthroughTextElement", "title_reference", "rubric", "label",
    "generated", "abbreviation", "dropdown_title",
}  # fmt: skip


class Writer:
    """Writes one page.

    link: where a reference of the page leads for the reader, or None: then it is plain text. One
      to the page itself begins with #.
    number: the number of a figure or an exercise, by its kind and its id; "" where it has none.
    """

    def __init__(self, link: Callable[[str], str | None], number: Callable[[str, str], str]):
        self.link, self.number, self.level = link, number, 0

    # Blocks ---------------------------------------------------------------------------------

    def flow(self, parent: nodes.Element) -> Flow:
        """Blocks of Markdown and cells, in the order of the page."""
        for node in parent.children:
            if isinstance(node, SKIPPED):
                continue
            write = getattr(self, f"block_{type(node).__name__}", None)
            if write:
                yield from write(node)
            elif isinstance(node, nodes.Text | nodes.Inline) or type(node).__name__ in PLAIN:
                yield self.inline(node)
            else:
                logger.warning("no Markdown for %s", type(node).__name__, location=node)

    def blocks(self, parent: nodes.Element) -> str:
        """The Markdown of a node that holds no cell."""
        return "\n\n".join(part for part in self.flow(parent) if isinstance(part, str) and part)

    def together(self, flow: Flow, wrap: Callable[[str, bool], str], **folded) -> Flow:
        """Each run of text in one piece, wrapped; the first is told. Cells are folded as said."""
        text, first = [], True
        for part in [*flow, None]:
            if isinstance(part, str):
                text += [part] * bool(part)
                continue
            if text:
                yield wrap("\n\n".join(text), first)
                text, first = [], False
            if part:
                yield part._replace(**folded)

    def block_section(self, node) -> Flow:
        self.level += 1
        yield from self.flow(node)
        self.level -= 1

    def block_title(self, node) -> Flow:
        yield f"{'#' * max(self.level, 1)} {self.inline(node)}"

    def block_paragraph(self, node) -> Flow:
        yield re.sub(r"^(\s*\d*)([#+>.)-])(?=\s)", r"\1\\\2", self.inline(node))

    block_citation = block_compact_paragraph = block_paragraph

    def block_math_block(self, node) -> Flow:
        yield self.inline(node)

    def block_literal_block(self, node) -> Flow:
        language = {"ipython3": "python", "none": "", "default": ""}.get(
            name := node.get("language", ""), name
        )
        yield f"```{language}\n{node.astext()}\n```"

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

    def block_table(self, node) -> Flow:
        rows = [[in_column(self.blocks(entry)) for entry in row] for row in node.findall(nodes.row)]
        if next(node.findall(nodes.thead), None) is None:
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        yield "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def block_figure(self, node) -> Flow:
        image = next(node.findall(nodes.image))
        yield f"![{image.get('alt', '')}]({image['uri']})"
        yield from self.caption(node)

    def caption(self, figure) -> Flow:
        """What stands under a picture, and what is seen in it in words."""
        number = self.number("figure", figure["ids"][0]) if figure["ids"] else ""
        for caption in figure.findall(nodes.caption):
            yield f"**Picture {number}.** " * bool(number) + self.inline(caption)
        for image in figure.findall(nodes.image):
            yield details("The picture in words", escaped(image.get("alt", "")))

    def block_compound(self, node) -> Flow:
        yield from self.flow(node)

    def block_container(self, node) -> Flow:
        if node.get("nb_element") == "cell_code":
            yield Cell(node["cell_index"], folded=bool(node.get("hide_mode")))
            for figure in node.findall(nodes.figure):
                yield from self.caption(figure)
        elif node.get("design_component") == "card-title":
            yield f"**{self.inline(node)}**"
        elif node.get("design_component") == "card":
            yield quotation(self.blocks(node))
        else:
            yield from self.flow(node)

    # Statements, proofs, exercises ----------------------------------------------------------

    def titled(self, node, title: str) -> Flow:
        """A quotation under its bold title, or folded under it."""
        body = self.flow(node)
        if "dropdown" in node["classes"] or type(node).__name__ == "dropdown_main":
            yield from self.together(
                body,
                lambda text, first: details(title if first else f"{title}, continued", text),
                folded=True,
                hidden=True,
            )
        else:
            bold = f"**{title}**"
            yield from self.together(
                body, lambda text, first: quotation(f"{bold}\n\n{text}" if first else text)
            )

    def block_admonition(self, node) -> Flow:
        title = node.next_node(nodes.title)
        words = self.inline(title) if title in node.children else ""
        yield from self.titled(without(node, title), words or node.tagname.capitalize())

    block_unenumerable_node = block_admonition

    def block_enumerable_node(self, node) -> Flow:
        yield from self.titled(without(node, node[0]), self.numbered(node))

    def block_exercise_enumerable_node(self, node) -> Flow:
        yield from self.block_enumerable_node(node)

    block_exercise_node = block_solution_node = block_admonition

    def numbered(self, node) -> str:
        kind = node.get("type") or node["realtype"]
        number = self.number(node.get("countertype", kind), node["ids"][0])
        return f"{kind.capitalize()} {number} {self.inline(node[0]).strip()}".strip()

    def block_proof_node(self, node) -> Flow:
        """Its first words are "Proof."."""
        if "dropdown" in node["classes"]:
            yield from self.titled(node, "Proof")
        else:
            yield from self.flow(node[0] if len(node) == 1 else node)

    def block_dropdown_main(self, node) -> Flow:
        title = node[0]
        yield from self.titled(without(node, title), self.inline(title))

    # Within a line --------------------------------------------------------------------------

    def inline(self, node: nodes.Node) -> str:
        """The Markdown of a node and all that is in it, on one line."""
        name = type(node).__name__
        if isinstance(node, nodes.Text):
            return escaped(" ".join(re.split(r"\s+", node.astext())))
        if isinstance(node, nodes.math):
            return f"${one_line(node.astext())}$"
        if isinstance(node, nodes.math_block):
            tag = rf"\tag{{{node['number']}}}" if node.get("label") else ""
            return f"$${bare(one_line(node.astext()))}{tag}$$"
        if isinstance(node, nodes.literal):
            text = node.astext()
            return f"`` {text} ``" if "`" in text else f"`{text}`"
        if isinstance(node, nodes.raw):
            return node.astext() if "<svg" not in node.astext() else ""
        if isinstance(node, nodes.image):
            return f"![{node.get('alt', '')}]({node['uri']})"
        if isinstance(node, SKIPPED):
            return ""
        text = "".join(map(self.inline, node.children))
        if isinstance(node, nodes.reference):
            address = self.link(node.get("refuri", "#"))
            return re.sub(r"\S(.*\S)?", rf"[\g<0>]({address})", text) if address else text
        return INLINE.get(name, "{}").format(text) if text.strip() else text


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
    """Folded text. Blank lines let Markdown go on inside of HTML."""
    return f"<details><summary>{in_html(title)}</summary>\n\n{text}\n\n</details>"


def in_html(text: str) -> str:
    """Markdown of one line that stands within a line of HTML."""
    text = re.sub(r"\[((?:[^\]\\]|\\.)*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"(?<!\\)\*(?!\*)([^*]+)(?<!\\)\*", r"<em>\1</em>", text)
    return re.sub(r"\\([`*_\[\]~|])", r"\1", text)


def without(node: nodes.Element, child: nodes.Node) -> nodes.Element:
    """The node less one of its children."""
    copy = node.copy()
    copy.children = [other for other in node.children if other is not child]
    return copy


def links_of_html(html: str, link: Callable[[str], str | None]) -> str:
    """HTML whose links lead where they lead for the reader; one that leads nowhere is its text."""

    def lead(match: re.Match) -> str:
        address = link(match["href"])
        return (
            f'<a{match["before"]}href="{address}"{match["after"]}>{match["text"]}</a>'
            * bool(address)
            or match["text"]
        )

    anchor = r'<a(?P<before>\s[^>]*?)href="(?P<href>[^"]*)"(?P<after>[^>]*)>(?P<text>.*?)</a>'
    return re.sub(anchor, lead, html, flags=re.S)
