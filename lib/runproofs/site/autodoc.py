"""The pages "The library": the directive `library`.

One page lists the rooms and their modules. A page for each room shows every public class and
function with its docstring and the pages that use it, found in the imports and the calls of their
cells. What has no docstring is a warning.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import runproofs

from .back_matter import address

LIBRARY = "book/back/library"
BASE = "base"  # what lies in no folder
ROOMS = (BASE, "linear", "networks", "adversarial", "bounds", "book", "reproductions")
MACHINERY = {"register", "results", "site"}  # of the build: no page needs them
CELL = re.compile(r"^(`{3,})\{code-cell\}.*\n(---\n(?s:.*?)\n---\n|(?::.*\n)*)((?s:.*?))^\1$", re.M)
logger = logging.getLogger(__name__)


# What the library has -----------------------------------------------------------------------


def modules(package: ModuleType = runproofs) -> Iterator[ModuleType]:
    """The public modules below a package; one with `__all__` stands for all that is below it."""
    for _, name, is_package in pkgutil.iter_modules(package.__path__):
        if name.startswith("_") or name in MACHINERY:
            continue
        module = importlib.import_module(f"{package.__name__}.{name}")
        if not is_package or hasattr(module, "__all__"):
            yield module
        else:
            yield from modules(module)


def identity(item) -> str:
    """The full name of a function or class where it is defined; empty for anything else."""
    if not callable(item) or not hasattr(item, "__qualname__"):
        return ""
    return f"{item.__module__}.{item.__qualname__}"


def members(holder: ModuleType | type) -> dict[str, object]:
    """Public functions and classes of a module, or the documented methods of a class."""
    if hasattr(holder, "__path__"):  # a package
        return {name: getattr(holder, name) for name in holder.__all__}
    start = holder.__name__ if isinstance(holder, ModuleType) else identity(holder)
    found = {name: item for name, item in vars(holder).items() if not name.startswith("_")}
    if isinstance(holder, type):
        return {name: f for name, f in found.items() if inspect.isfunction(f) and f.__doc__}
    return {name: item for name, item in found.items() if identity(item) == f"{start}.{name}"}


def signature(item) -> str:
    """The names and defaults of the arguments, without types; empty where there are none."""
    try:
        found = inspect.signature(item)
    except ValueError:
        return ""
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


# Who uses it --------------------------------------------------------------------------------


def used_in(page: str) -> set[str]:
    """The identities of what the cells of a page name and `from runproofs... import` brought."""
    trees, known, used = [], {}, set()
    for cell in CELL.finditer(page):
        try:
            trees.append(ast.parse(cell[3]))
        except SyntaxError:  # a magic command of IPython
            continue
    items = [item for tree in trees for item in ast.walk(tree)]
    for item in items:
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith("runproofs"):
            known |= {name.asname or name.name: f"{item.module}.{name.name}" for name in item.names}
    for item in items:
        if isinstance(item, ast.Name | ast.Attribute):
            first, *rest = ast.unparse(item).split(".")
            if first in known:
                used.add(identity(resolved(".".join([known[first], *rest]))))
    return used - {""}


def resolved(name: str):
    """What a dotted name stands for; None if it is nothing that can be imported."""
    try:
        return pkgutil.resolve_name(name)
    except (AttributeError, ImportError, ValueError):
        return None


# The pages ----------------------------------------------------------------------------------


class Library(SphinxDirective):
    """Without argument the rooms and their modules; with a room its functions, foldable."""

    optional_arguments = 1

    def run(self):
        rooms = defaultdict(list)
        for module in modules():
            rooms["".join(module.__name__.split(".")[1:-1][:1]) or BASE].append(module)
        self.anchors = {
            identity(item): (room, f"{module.__name__}.{name}")
            for room, found in rooms.items()
            for module in found
            for name, item in members(module).items()
        }
        if not self.arguments:
            return [self.summary(room, rooms[room]) for room in sorted(rooms, key=order)]
        self.pages = defaultdict(list)
        for document in sorted(self.env.found_docs):
            for name in used_in(Path(self.env.doc2path(document)).read_text("utf-8")):
                self.pages[name].append(document)
        return [self.module(module) for module in rooms[self.arguments[0]]]

    def summary(self, room: str, found: list[ModuleType]) -> nodes.section:
        """A room in the list of all: what it is for, and its modules."""
        package = importlib.import_module(f"runproofs.{room}" if room != BASE else "runproofs")
        title = nodes.literal("", room) if room != BASE else nodes.Text("What everything stands on")
        section = nodes.section("", nodes.title("", "", title), ids=[f"room-{room}"])
        section["support_smartquotes"] = False
        if room != BASE:
            section += nodes.paragraph("", inspect.getdoc(package).partition("\n\n")[0])
        listed = nodes.bullet_list()
        for module in found:
            name = nodes.literal("", module.__name__.removeprefix("runproofs."))
            first, *_ = self.text(module, module.__name__)
            line = nodes.paragraph("", "", self.entry_of(room, module.__name__, name))
            line += [nodes.Text(": "), *first.children]
            listed += nodes.list_item("", line, ids=[module.__name__])
        section += listed
        return section

    def entry_of(self, room: str, anchor: str, text: nodes.Node) -> nodes.reference:
        """A link to what stands on the page of a room."""
        page = f"{LIBRARY}/{room}"
        uri = address(self.env.docname, page) if self.env.docname != page else ""
        return nodes.reference("", "", text, internal=True, refuri=f"{uri}#{anchor}")

    def module(self, module: ModuleType) -> nodes.section:
        name = module.__name__.removeprefix("runproofs.")
        title = nodes.title("", "", nodes.literal("", name))
        section = nodes.section("", title, ids=[module.__name__])
        section["support_smartquotes"] = False
        section += self.text(module, module.__name__)
        pages = {page for item in members(module).values() for page in self.pages[identity(item)]}
        section += self.used(sorted(pages))
        for member, item in members(module).items():
            section += self.entry(f"{module.__name__}.{member}", member, item)
        return section

    def entry(self, anchor: str, name: str, item) -> list[nodes.Node]:
        if not inspect.getdoc(item):
            logger.warning("%s has no docstring", anchor, location=self.env.docname)
        summary, *body = self.text(item, item.__module__)
        call = f"<code><b>{name}</b>{escape(signature(item))}</code>"
        opening = f'<details class="api" id="{anchor}"><summary>{call} '
        if isinstance(item, type):
            for method, function in members(item).items():
                body += self.entry(f"{anchor}.{method}", f".{method}", function)
        body += self.used(self.pages[identity(item)])
        inline = nodes.inline("", "", *summary.children)
        for link in list(
            inline.findall(lambda node: isinstance(node, nodes.reference | pending_xref))
        ):
            link.replace_self(link.children)  # a click on the line opens the entry
        return [html(opening), inline, html("</summary>"), *body, html("</details>")]

    def used(self, pages: list[str]) -> list[nodes.Node]:
        """The line that links to the pages; nothing where there is none."""
        links = []
        for page in pages:
            links += [nodes.Text(", " if links else "Used on: "), self.link(page)]
        return [nodes.paragraph("", "", *links, classes=["used"])] if links else []

    def link(self, page: str) -> nodes.Node:
        options = {"refdomain": "std", "reftype": "doc", "refexplicit": False}
        options |= {"refdoc": self.env.docname, "reftarget": f"/{page}"}
        return pending_xref("", nodes.inline(), **options)

    def text(self, item, home: str) -> list[nodes.Node]:
        """The paragraphs of a docstring, each argument one; formulas and examples as they are."""
        names = "|".join(re.findall(r"\w+", signature(item))) if callable(item) else ""
        argument = rf"(?:{names or '(?!)'})(?:, \w+)*(?=:\s)"
        text = re.sub(r"\n(?= *>>> )", "\n\n", inspect.getdoc(item) or "", count=1)
        found = []
        for block in re.split(r"\n\n+", text):
            if block.startswith((" ", ">>>")):
                code = dedent(block)
                found.append(nodes.literal_block("", code, language=language(code)))
                continue
            for part in re.split(
                rf"(?<=\.)\s(?={argument}|Returns |Raises |Cost: |Source: )", block
            ):
                coded = re.sub(rf"(?:^|(?<=, )){argument}", r"`\g<0>`", part)
                found.append(nodes.paragraph("", "", *self.inline(coded, home)))
        return found

    def inline(self, text: str, home: str) -> Iterator[nodes.Node]:
        """Text with `code` and *emphasis*; names of the library are links to their entry."""
        for piece in re.split(r"(`[^`]+`|(?<!\w)\*\w[\w ]*\w\*(?!\w))", text):
            if re.fullmatch(r"\*\w.*\w\*", piece):
                yield nodes.emphasis("", piece[1:-1])
            elif piece[:1] != "`":
                yield nodes.Text(piece)
            elif where := self.anchors.get(identity(resolved(f"{home}.{piece[1:-1]}"))):
                yield self.entry_of(*where, nodes.literal("", piece[1:-1]))
            else:
                yield nodes.literal("", piece[1:-1])


def language(code: str) -> str:
    """What the highlighter calls an example, Python, or a formula."""
    if code.startswith(">>>"):
        return "pycon"
    try:
        ast.parse(code)
    except SyntaxError:
        return "text"
    return "python"


def order(room: str) -> int:
    return ROOMS.index(room) if room in ROOMS else len(ROOMS)


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def library_is_outdated(app, env, added, changed, removed):
    """Its pages depend on every page and on the library; what is printed was built before."""
    if app.builder.format != "html":
        return set()
    return {name for name in env.found_docs if name == LIBRARY or name.startswith(f"{LIBRARY}/")}


def setup(app):
    app.add_directive("library", Library)
    app.connect("env-get-outdated", library_is_outdated)
