"""The directives `assignment-table` and `assignment`: what coursework/ has, for all to see.

`{assignment-table}` has a line for each assignment, with a label, `course:NAME`. `{assignment}
NAME`, on the page book/course/NAME, shows what a student opens, without the checks: otter-grader,
which makes the notebook, is not needed to build the book.
"""

import sys
from functools import partial
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from markupsafe import Markup
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .markup import WRITERS, address, later, link, render

ABOUT = (
    "What a student opens: dots stand for an answer, and a cell `grader.check` says at once if "
    "it is one. The zip, with the checks and the library, is made from a clone of the book: "
    "{ref}`sec:hand-out`."
)
logger = logging.getLogger(__name__)


def tools(env, name: str):
    """A module of coursework.tools, which lies beside the book."""
    if str(env.srcdir) not in sys.path:
        sys.path.append(str(env.srcdir))
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
        return [later(writer="course", argument="")]


def write(app, page: str, _: str) -> str:
    """The table of the assignments, with the sums of their numbers."""
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


def anchor(one) -> str:
    return nodes.make_id(f"course-{one.name}")


# An assignment ------------------------------------------------------------------------------------


class Assignment(SphinxDirective):
    """The sections of an assignment; its title is that of the page."""

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
    WRITERS["course"] = write
    app.add_directive("assignment-table", Course)
    app.add_directive("assignment", Assignment)
