"""The directive `api`, on top of Sphinx's autodoc, napoleon and viewcode: "The library".

One page lists the packages and their modules. The page of a package has every public class and
function with its signature, its source, its docstring and the pages whose cells use it.
"""

import ast
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.ext.autodoc import FunctionDocumenter
from sphinx.util.docutils import SphinxDirective

from runproofs.claims.pages import cells
from runproofs.experiments.base import Experiment

from .markup import site

LIBRARY = "book/back/library"
BASE = "base"  # the modules that lie in no folder


class Library(SphinxDirective):
    """Without argument, all packages and modules; with a package, the contents of its modules."""

    optional_arguments = 1

    def run(self):
        if self.arguments:
            return [
                self.section(
                    nodes.literal("", short(module)),
                    module.__name__,
                    [f".. automodule:: {module.__name__}", "   :members:"],
                )
                for module in modules(self.arguments[0])
            ]
        sections = []
        for room in site()["library"]:
            lines = [] if room == BASE else [inspect.getdoc(package(room)), ""]
            lines += [f"- :py:mod:`{short(module)} <{module.__name__}>`: {summary(module)}"
                      for module in modules(room)]  # fmt: skip
            base = nodes.Text("What everything stands on")
            title = base if room == BASE else nodes.literal("", room)
            sections.append(self.section(title, f"room-{room}", lines))
        return sections

    def section(self, title: nodes.Node, anchor: str, lines: list[str]) -> nodes.section:
        section = nodes.section("", nodes.title("", "", title), ids=[anchor])
        section["support_smartquotes"] = False
        text = StringList(["```{eval-rst}", *lines, "```"], self.env.docname)
        self.state.nested_parse(text, 0, section)
        return section


def package(room: str) -> ModuleType:
    return import_module("runproofs" if room == BASE else f"runproofs.{room}")


def modules(room: str) -> Iterator[ModuleType]:
    """The public modules of a package; a subpackage with `__all__` represents all modules below."""
    home = package(room)
    for _, name, is_package in pkgutil.iter_modules(home.__path__, f"{home.__name__}."):
        module = import_module(name)
        if "._" not in name and (not is_package or hasattr(module, "__all__")):
            yield module


def short(module: ModuleType) -> str:
    return module.__name__.removeprefix("runproofs.")


def summary(module: ModuleType) -> str:
    return inspect.getdoc(module).partition("\n")[0]


class ExperimentDocumenter(FunctionDocumenter):
    """Documents an experiment, an object that is called like the function it was made from."""

    objtype, directivetype = "experiment", "function"

    @classmethod
    def can_document_member(cls, member, *arguments) -> bool:
        return isinstance(member, Experiment)


# Entries ------------------------------------------------------------------------------------


def add_uses(app, what, name, item, options, lines):
    """Add the pages that use the object or a member of it."""
    place, uses = f"{origin(name)}.", app.env.library[1].items()
    if pages := [page for page, used in uses if any(f"{one}.".startswith(place) for one in used)]:
        links = ", ".join(f":doc:`/{page}`" for page in pages)
        lines += ["", ".. container:: used", "", f"   Used on: {links}"]


def skip_fields(app, what, name, item, skip, options) -> bool:
    """Skip the fields of a NamedTuple, about which autodoc knows only their index."""
    return skip or type(item).__name__ == "_tuplegetter"


def fold(app, domain, kind, content):
    """Fold an entry under its first sentence."""
    if domain == "py" and len(content) > 1:
        first, *rest = content
        for link in list(first.findall(pending_xref)):
            link.replace_self(link.children)
        parts = ('<details class="api"><summary>', "</summary>", "</details>")
        start, between, end = (nodes.raw("", part, format="html") for part in parts)
        content[:] = [start, nodes.inline("", "", *first.children), between, *rest, end]


# Who uses it --------------------------------------------------------------------------------


def origin(name: str) -> str:
    """The dotted name under which an object is defined; "" if the name leads to no object."""
    try:
        item = pkgutil.resolve_name(name)
    except (AttributeError, ImportError, ValueError):
        return ""
    return f"{item.__module__}.{item.__qualname__}" if hasattr(item, "__qualname__") else name


def used_in(page: str) -> set[str]:
    """The origins of the library's objects that the cells of a page import and name."""
    items, known = [], {}
    for cell in cells(page):
        try:
            items += ast.walk(ast.parse(cell.code))
        except SyntaxError:  # a magic command of IPython
            continue
    for item in items:
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith("runproofs"):
            known |= {name.asname or name.name: f"{item.module}.{name.name}" for name in item.names}
        elif isinstance(item, ast.Import):
            known |= {name.asname: name.name for name in item.names if name.name == "runproofs"}
    named = [ast.unparse(item) for item in items if isinstance(item, ast.Name | ast.Attribute)]
    places = [name.partition(".") for name in named]
    found = {origin(known[first] + dot + rest) for first, dot, rest in places if first in known}
    return found - {""}


def find_uses(app, env, added, changed, removed):
    """Read the library's pages again if a module is new or a page uses other objects.

    Autodoc itself notices when the source of a module changes.
    """
    pages = sorted(env.found_docs)
    now = (
        [module.__name__ for room in site()["library"] for module in modules(room)],
        {page: used_in(Path(env.doc2path(page)).read_text("utf-8")) for page in pages},
    )
    before, env.library = getattr(env, "library", None), now
    return {page for page in pages if page.startswith(LIBRARY) and before != now}


def setup(app):
    app.setup_extension("sphinx.ext.napoleon")  # before our own change of a docstring
    app.setup_extension("sphinx.ext.viewcode")
    app.add_directive("api", Library)
    app.add_autodocumenter(ExperimentDocumenter)
    app.connect("autodoc-process-docstring", add_uses)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("object-description-transform", fold)
    app.connect("env-get-outdated", find_uses)
