"""The directives `course` and `assignment`: what coursework/ has, for teachers and visitors.

`{course}` is a table of the assignments, each with a label, `course:NAME`. `{assignment} NAME`, on
the page book/course/NAME, shows what a student opens, without the checks: otter-grader, which makes
the notebook, is not needed to build the book.
"""

import re
import sys
from collections.abc import Iterator
from html import escape
from importlib import import_module

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .markup import WRITERS, address, later, link, row, table
from .registry_directives import FromRegister

HEAD = ("assignment", "minutes", "marks by tests", "marks by hand")
ABOUT = (
    "What a student opens: dots stand for an answer, and a cell `grader.check` says at once if "
    "it is one. The zip, with the checks and the library, is made from a clone of the book: "
    "{ref}`sec:hand-out`."
)
BLOCK = re.compile(r"( *)# BEGIN SOLUTION\n.*?# END SOLUTION", re.S)
LINE = re.compile(r"^( *)(\w[\w, ]*= )?.*# SOLUTION$", re.M)
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

    def links(names: list[str]) -> str:
        for name in set(names) - labels.keys():
            logger.warning("undefined label: %r", name, location=page)
        known = (labels[name] for name in names if name in labels)
        return "; ".join(link(address(page, *at), title) for *at, title in known)

    assignments = tools(app.env, "course").assignments()
    rows = ""
    for one in assignments:
        title = link(address(page, f"book/course/{one.name}"), one.title)
        lines = {
            "The figure:": escape(one.figure),
            "Read before:": links(one.before) or "nothing",
            "Read afterwards:": links(one.after),
        }
        about = "".join(f"<p><em>{key}</em> {line}</p>" for key, line in lines.items() if line)
        first = f'<p id="{anchor(one)}">{title}. {escape(one.about)}</p>{about}'
        rows += row(first, *(f"{count:g}" for count in numbers(one)))
    sums = map(sum, zip(*map(numbers, assignments), strict=True))
    rows += row(f"all {len(assignments)}", *(f"{count:g}" for count in sums))
    return f'<div class="pst-scrollable-table-container">{table(HEAD, rows, "course table")}</div>'


def numbers(one) -> tuple[float, float, float]:
    return one.minutes, one.by_tests, one.by_hand


def anchor(one) -> str:
    return nodes.make_id(f"course-{one.name}")


# An assignment ------------------------------------------------------------------------------------


def starter(code: str) -> str:
    """What a student finds where this solution stands.

    >>> starter("def f(x):\\n    # BEGIN SOLUTION\\n    y = x\\n    return y\\n    # END SOLUTION")
    'def f(x):\\n    ...'
    >>> starter("a = 1  # SOLUTION\\nb = 2")
    'a = ...\\nb = 2'
    """
    return LINE.sub(r"\1\2...", BLOCK.sub(r"\1...", code))


def for_students(source) -> Iterator[tuple[str, str]]:
    """Kind and text of each cell; of a question no solution and no test."""
    questions, block = iter(source.questions), []
    for cell in source.notebook.cells:
        found = re.match(r"# (BEGIN|END) (\w+)", cell.source) if cell.cell_type == "raw" else None
        if found and found[1] == "BEGIN":
            block.append(found[2])
            if found[2] == "QUESTION":
                question = next(questions)
        elif found:
            block.pop()
            if found[2] == "TESTS":
                yield "code", f'grader.check("{question.name}")'
        elif block[-1:] == ["SOLUTION"]:
            is_code = cell.cell_type == "code"
            yield ("code", starter(cell.source)) if is_code else ("markdown", "*Your answer.*")
        elif cell.cell_type != "raw" and block[-1:] != ["TESTS"]:
            yield cell.cell_type, cell.source


class Assignment(FromRegister):
    """The sections of an assignment; its title is that of the page."""

    required_arguments = 1

    def run(self):
        (name,) = self.arguments
        source = tools(self.env, "sources").read(name)
        self.env.note_dependency(f"coursework/{name}/{name}.md")
        sections = [nodes.section("", *self.markdown(ABOUT))]
        for kind, text in for_students(source):
            if kind == "code":
                sections[-1] += nodes.literal_block(text, text, language="python")
                continue
            for part in re.split(r"^(?=#+ )", text, flags=re.M):
                heading = re.match(r"#+ (.*)\n?", part)
                if heading and heading[1] != source.title():
                    place = nodes.make_id(f"{name}-{heading[1]}")
                    sections.append(nodes.section(ids=[place], names=[place]))
                    words = re.sub(r"^(\d+)\.", r"\1\.", heading[1])  # no list begins here
                    sections[-1] += nodes.title("", "", *self.inline(words))
                sections[-1] += self.markdown(part[heading.end() if heading else 0 :])
        return [*sections[0].children, *sections[1:]]


def setup(app):
    WRITERS["course"] = write
    app.add_directive("course", Course)
    app.add_directive("assignment", Assignment)
