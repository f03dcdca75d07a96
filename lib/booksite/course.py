"""The directives `assignment-table`, `assignment` and `slides`: coursework/ on the site.

`{assignment-table}` has a line with the label `course:NAME` for each assignment, and offers all
notebooks as a zip. `{assignment} NAME`, on the page book/course/NAME, shows what a student opens.
Neither has the visible checks, because otter-grader, which makes them, is not needed to build the
book. `{slides} LABEL,LABEL` links to pages as slides (slides.js). course.js turns tables of weeks
into calendars.
"""

import sys
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from markupsafe import Markup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from .markup import WRITERS, add_directive, address, later, link, render

ABOUT = (
    "What a student opens: dots stand for an answer, and a cell `grader.check` says at once if "
    "it is one. The zip, with the checks and the library, is made from a clone of the book: "
    "{ref}`sec:hand-out`."
)
ZIP = "_static/assignments.zip"
logger = logging.getLogger(__name__)


def tools(env, name: str):
    """A module of coursework.tools, beside the book, and of the grader what it needs."""
    for folder in (str(env.srcdir), str(Path(env.srcdir, "coursework", "grader"))):
        if folder not in sys.path:
            sys.path.append(folder)
    return import_module(f"coursework.tools.{name}")


class Course(SphinxDirective):
    def run(self):
        course = tools(self.env, "course")
        for path in course.files():
            self.env.note_dependency(str(path))
        try:
            assignments = course.assignments()
        except ValueError as error:
            raise self.error(f"The course: {error}.") from None
        std = self.env.get_domain("std")
        for one in assignments:
            std.note_hyperlink_target(
                f"course:{one.name}", self.env.docname, anchor(one), one.title
            )
        offered = later(writer="course-zip", argument="", classes=["site-only", "screen-only"])
        return [later(writer="course", argument=""), offered]


def write(app, page: str, _: str) -> str:
    """The table of the assignments, with the totals of its columns."""
    labels = app.env.get_domain("std").labels

    def links(names: list[str]) -> Markup:
        for name in set(names) - labels.keys():
            logger.warning("undefined label: %r", name, location=page)
        known = (labels[name] for name in names if name in labels)
        return Markup("; ".join(link(address(page, *at), title) for *at, title in known))

    return render(
        "course.html", assignments=tools(app.env, "course").assignments(),
        address=partial(address, page), anchor=anchor, links=links,
    )  # fmt: skip


def offer(app, page: str, _: str) -> str:
    """Pack the notebooks of all assignments for the site, and link to the zip."""
    path = Path(app.outdir, ZIP)
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in tools(app.env, "course").assignments():
            source = tools(app.env, "sources").read(one.name)
            cells = [
                {"code": new_code_cell, "markdown": new_markdown_cell}[kind](text)
                for kind, text in tools(app.env, "student_view").cells(source)
                if not text.startswith("grader.check(")
            ]
            kernel = {"kernelspec": source.notebook.metadata["kernelspec"]}
            notebook = new_notebook(cells=cells, metadata=kernel)
            archive.writestr(f"{one.name}.ipynb", nbformat.writes(notebook))
    what = "All notebooks, without their checks (.zip)"
    return f"<p>{link(relative_uri(f'{page}.html', ZIP), what)}</p>"


def slides(app, page: str, argument: str) -> str:
    """Links to the pages of these labels, as slides."""
    labels = app.env.get_domain("std").labels
    pages = (labels[label] for label in argument.split(","))
    links = "; ".join(
        link(address(page, document, query="?slides"), title) for document, _, title in pages
    )
    return f"<p>As slides, turned with the arrow keys: {links}.</p>"


def bring_script(app, pagename, templatename, context, doctree):
    if 'class="course table"' in context.get("body", ""):
        app.add_js_file("course.js", loading_method="defer")


def anchor(one) -> str:
    return nodes.make_id(f"course-{one.name}")


# An assignment ------------------------------------------------------------------------------------


class Assignment(SphinxDirective):
    """The sections of an assignment, whose title the page already has."""

    required_arguments = 1

    def run(self):
        (name,) = self.arguments
        source = tools(self.env, "sources").read(name)
        self.env.note_dependency(f"coursework/{name}/{name}.md")
        cells = (
            f"```python\n{text}\n```" if kind == "code" else text
            for kind, text in tools(self.env, "student_view").cells(source)
        )
        text = "\n\n".join([ABOUT, *cells])
        text = text.replace(f"# {source.title()}\n", "", 1)  # which the page has
        lines = StringList(text.splitlines(), self.env.docname)
        self.state.nested_parse(lines, 0, self.state_machine.node, match_titles=True)
        return []


def setup(app):
    WRITERS.update({"course": write, "course-zip": offer})
    add_directive(app, "slides", slides, kind=["site-only", "screen-only"])
    app.connect("html-page-context", bring_script)
    app.add_directive("assignment-table", Course)
    app.add_directive("assignment", Assignment)
