"""The book on paper: what a page shows in a browser, told to LaTeX (`make pdf`).

The transforms below act on the whole book, which Sphinx has put together, before LaTeX is written.
The look is in book.sty. What a browser unfolds stands open here: proofs, solutions, hints. The code
that a page folds is left out, with a word where it stood. Numbers of equations and pictures are
those of the pages. A display that is wider than the paper is made smaller by LaTeX.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node, unenumerable_node

from .autodoc import LIBRARY
from .html_to_latex import Converter, latex, link_to
from .map import PAGE as MAP

STYLE = Path(__file__).with_name("book.sty")
FIRST_FRAME = re.compile(r'frames\[0\] = "data:image/png;base64,([^"]+)"')
ALT = re.compile(r'<img alt="([^"]*)"')
STATEMENTS = (unenumerable_node, *NODE_TYPES.values())
EXERCISES = (exercise_node, exercise_enumerable_node, solution_node)
LEFT_OUT = {
    "book/back/glossary": "The list of terms is on the page of this name only.",
    MAP: "The map of all claims, and what it answers, is on the page of this name only.",
}
LOOKED_UP = {"book/back/ledger", LIBRARY}
ABOUT = """This is the book on paper. Its pages are notebooks, and there is more on the screen: what
runs can be changed and run again, what moves moves (here stands its first picture), and the code
of the checks and of the pictures, which is left out here, opens at a click. Proofs and solutions,
folded there, are open here."""
logger = logging.getLogger(__name__)


def is_part(node, element: str) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == element


def is_file(node) -> bool:
    return isinstance(node, addnodes.start_of_file)


def page_of(node) -> str:
    """The page that a node of the assembled book comes from."""
    while not (is_file(node) or (isinstance(node, nodes.document) and "docname" in node)):
        node = node.parent
    return node["docname"]


def environment(name: str, title: list[nodes.Node], body: list[nodes.Node]) -> list[nodes.Node]:
    """The nodes of a LaTeX environment with a title."""
    opening = nodes.inline("", "", latex(f"\\begin{{{name}}}{{"), *title, latex("}"))
    return [opening, *body, latex(f"\\end{{{name}}}")]


class Outputs(SphinxPostTransform):
    """What cells printed as HTML, before myst-nb takes plain text instead."""

    default_priority = 3
    formats = ("latex",)

    def run(self):
        for page in self.document.findall(addnodes.start_of_file):
            for child in page:
                child.parent = page  # Sphinx leaves them with the page's own document
        for bundle in [n for n in self.document.findall() if is_part(n, "mime_bundle")]:
            html = next((part for part in bundle if part["mime_type"] == "text/html"), None)
            if html is not None:
                bundle.replace_self(list(self.shown(html.astext(), page_of(bundle))))

    def shown(self, html: str, page: str) -> Iterator[nodes.Node]:
        if frame := FIRST_FRAME.search(html):
            name = re.search(r"_anim_img(\w+)", html)[1] + ".png"
            (Path(self.app.outdir) / name).write_bytes(b64decode(frame[1]))
            yield latex("\\begin{center}")
            yield nodes.image(uri=name, candidates={"*": name}, alt=ALT.search(html)[1])
            yield latex("\n\n\\movingpicture\\end{center}")
        else:
            yield from Converter(page).nodes(html)


class Pages(SphinxPostTransform):
    """Everything else that the pages have and LaTeX has not."""

    default_priority = 30  # the titles of exercises are resolved, references too
    formats = ("latex",)

    def run(self):
        self.leave_out_pages()
        self.shorten()
        self.parts()
        for node in list(self.document.findall(nodes.raw)):
            if "html" in node["format"]:
                self.convert_raw(node.parent)
        for node in [n for n in self.document.findall() if is_part(n, "cell_code")]:
            self.hide_code(node)
        for node in list(self.document.findall(nodes.Element)):
            if isinstance(node, (*STATEMENTS, *EXERCISES)):
                self.statement(node)
            elif isinstance(node, proof_node):
                self.proof(node)
            elif isinstance(node, nodes.container) and node.get("design_component") == "dropdown":
                self.unfold(node)
            elif isinstance(node, nodes.container) and node.get("design_component") == "card-title":
                node[:] = [nodes.strong("", "", *node.children), nodes.Text(". ")]
        for node in list(self.document.findall(nodes.math_block)):
            self.display(node)
        for node in list(self.document.findall(nodes.reference)):
            if "sd-hide-link-text" in node["classes"]:  # it lies over the whole of a card
                node.parent.remove(node)
            else:
                self.link(node)
        for node in list(self.document.findall(nodes.figure)):
            self.number_picture(node)

    # The book ---------------------------------------------------------------------------------

    def leave_out_pages(self):
        """Of the library the list of modules stays, which leads to no page here."""
        for page in list(self.document.findall(is_file)):
            if told := LEFT_OUT.get(page["docname"]):
                section = next(page.findall(nodes.section))
                section[:] = [section[0], nodes.paragraph("", told)]
            elif page["docname"] == LIBRARY:
                for toc in [n for n in page.findall(nodes.compound) if any(n.findall(is_file))]:
                    toc.parent.remove(toc)
                for link in list(page.findall(nodes.reference)):
                    link.replace_self(link.children)

    def shorten(self):
        """A shorter edition has not what one looks up on a screen; book.sty says when."""
        for page in [n for n in self.document.findall(is_file) if n["docname"] in LOOKED_UP]:
            page.replace_self([latex("\\iffulledition"), page, latex("\\fi")])

    def parts(self):
        """The landing page opens the book; its tables of contents become parts."""
        book = next(self.document.findall(nodes.section))
        root = self.env.get_doctree(self.config.root_doc)
        captions = list(root.findall(addnodes.toctree))
        tocs = [n for n in book.findall(nodes.compound) if "toctree-wrapper" in n["classes"]]
        tocs = [n for n in tocs if page_of(n) == self.config.root_doc]
        for toc in tocs:
            toc.parent.remove(toc)
        opening = nodes.section("", nodes.title("", "About this book"), ids=["about-this-book"])
        opening += nodes.paragraph("", ABOUT)
        opening += book.children[1:]
        book[1:] = [latex("\\unnumberedchapters"), opening]
        for caption, toc in zip(captions, tocs, strict=True):
            numbered = "numbered" if caption.get("numbered") else "unnumbered"
            book += [
                latex(f"\\bookpart{{{caption['caption']}}}\\{numbered}chapters"),
                *toc.children,
            ]
        for chapter in [
            opening,
            *(next(page.findall(nodes.section)) for page in book if is_file(page)),
        ]:
            self.lower_sections(chapter)

    def lower_sections(self, chapter):
        """The sections of a chapter's first page stand beside its pages; they come one lower."""
        for k, section in enumerate(chapter):
            if isinstance(section, nodes.section):
                chapter[k] = nodes.section("", section)

    # What stands on a page ----------------------------------------------------------------------

    def convert_raw(self, parent):
        """HTML and nodes between its tags, as the ledger has them."""
        convert = Converter(page_of(parent))
        found = []
        for child in parent:
            is_html = isinstance(child, nodes.raw) and "html" in child["format"]
            found += convert.nodes(child.astext()) if is_html else [child]
        parent[:] = found

    def hide_code(self, cell):
        """Leave out the code that a page folds; cells that show nothing else are counted as one."""
        tags = cell["cell_metadata"].get("tags", [])
        source = cell[0]
        if not (cell.get("hide_mode") in {"input", "all"} or {"hide-input", "hide-cell"} & {*tags}):
            return
        if not is_part(source, "cell_code_source"):
            return
        cell["lines"] = len(source.astext().splitlines())
        cell.remove(source)
        k = cell.parent.index(cell)
        before = cell.parent[k - 1]
        if k and is_part(before, "cell_code") and len(before) == 1 and "lines" in before:
            cell["lines"] += before["lines"]
            cell.parent.remove(before)
        where = nodes.literal("", f"{page_of(cell)}.md")
        opening = latex(f"\\codeleftout{{{cell['lines']}}}{{")
        cell.append(nodes.inline("", "", opening, where, latex("}")))

    def anchors(self, node) -> list[nodes.Node]:
        names = dict.fromkeys([*node["ids"], *(id for child in node[:1] for id in child["ids"])])
        return [link_to(page_of(node), name) for name in names]

    def statement(self, node):
        """A theorem and its kin, an exercise or its solution."""
        name = "statement"
        anchors = self.anchors(node)
        if isinstance(node, EXERCISES):
            name = "bookexercise"
            # sphinx-exercise refers to exercises by a name of its own
            anchors.append(latex(f"\\label{{exercise:{node['label']}}}"))
        title, *body = node.children
        inside = [n for part in body for n in (part if isinstance(part, nodes.section) else [part])]
        node.replace_self(environment(name, title.children, [*anchors, *inside]))

    def proof(self, node):
        body = node[0].children
        first = next(n for n in body[0].findall(nodes.Text))
        first.parent.replace(first, nodes.Text(first.removeprefix("Proof. ")))
        node.replace_self(environment("bookproof", [nodes.Text("Proof.")], body))

    def unfold(self, node):
        title, *body = node.children
        anchors = self.anchors(node)
        node.replace_self(
            environment("bookproof", [*title.children, nodes.Text(".")], [*anchors, *body])
        )

    def display(self, node):
        """A display with the number of the page, as wide as the paper at most."""
        content = node.astext().strip()
        if re.search(r"\\\\|&", re.sub(r"\\begin\{(\w+)\}.*?\\end\{\1\}", "", content, flags=re.S)):
            content = f"\\begin{{aligned}}{content}\\end{{aligned}}"
        number = ""
        if node.get("label"):
            number = (
                f"\\tag{{{node['number']}}}\\label{{equation:{node['docname']}:{node['label']}}}"
            )
        node.replace_self(latex(f"\\bookdisplay{{{number}}}{{%\n{content}}}"))

    def link(self, node):
        """Links made for HTML lead to places in the book."""
        if ".html" in node.get("refuri", "") and "://" not in node["refuri"]:
            page = Converter(page_of(node)).page(node["refuri"])
            if page:
                node["refuri"] = "%" + page
            else:
                node.replace_self(node.children)

    def number_picture(self, node):
        numbers = self.env.toc_fignumbers.get(page_of(node), {}).get("figure", {})
        for name in node["ids"]:
            if name in numbers:
                number = ".".join(map(str, numbers[name]))
                node.replace_self([latex(f"\\renewcommand{{\\thefigure}}{{{number}}}"), node])


def write_style(app):
    if app.builder.format == "latex":
        Path(app.outdir).mkdir(parents=True, exist_ok=True)
        style = STYLE.read_text("utf-8").replace("@VERSION@", version("runproofs"))
        (Path(app.outdir) / STYLE.name).write_text(style, "utf-8")


def setup(app):
    app.add_post_transform(Outputs)
    app.add_post_transform(Pages)
    app.connect("builder-inited", write_style)
