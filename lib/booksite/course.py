"""The directives `course` and `assignment`: what coursework/ has, for teachers and visitors.

`{course}` is a table of the assignments (coursework.tools.course). A row is a label, `course:NAME`,
and what refers to it reads the assignment's title. What does not fit together in coursework/ is an
error. `{assignment} NAME`, on the page book/course/NAME, shows what a student opens, without the
checks: otter-grader, which makes the notebook, is not needed to build the book.
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

from .back_matter import FromRegister
from .page_head import link

# per cent of the width
HEAD = {"assignment": 70, "minutes": 10, "marks by tests": 10, "marks by hand": 10}


ABOUT = (
    "What a student opens: dots stand for an answer, and a cell `grader.check` says at once if "
    "it is one. The zip, with the checks and the library, is made from a clone of the book: "
    "{ref}`sec:hand-out`."
)
BLOCK = re.compile(r"( *)# BEGIN SOLUTION\n.*?# END SOLUTION", re.S)
LINE = re.compile(r"^( *)(\w[\w, ]*= )?.*# SOLUTION$", re.M)


def tools(directive: SphinxDirective, name: str):
    """A module of coursework.tools, which lies beside the book."""
    root = str(directive.env.srcdir)
    if root not in sys.path:
        sys.path.append(root)
    return import_module(f"coursework.tools.{name}")


class Course(SphinxDirective):
    def run(self):
        course = tools(self, "course")
        for path in course.files():
            self.env.note_dependency(str(path))
        try:
            assignments = course.assignments()
        except ValueError as error:
            raise self.error(f"The course: {error}.") from None
        std = self.env.get_domain("std")
        for one in assignments:
            label, place = f"course:{one.name}", anchor(one)
            std.note_hyperlink_target(label, self.env.docname, place, one.title)
        numbers = [(one.minutes, one.by_tests, one.by_hand) for one in assignments]
        first = [*map(self.what, assignments), text(f"all {len(assignments)}")]
        numbers.append([*map(sum, zip(*numbers, strict=True))])
        rows = [row([what, *figures(n)]) for what, n in zip(first, numbers, strict=True)]
        columns = [nodes.colspec(colwidth=width) for width in HEAD.values()]
        group = nodes.tgroup("", *columns, cols=len(HEAD))
        group += [nodes.thead("", row(map(text, HEAD))), nodes.tbody("", *rows)]
        look = ["course", "colwidths-given", "longtable"]  # the latter for paper
        return [nodes.table("", group, classes=look)]

    def what(self, one):
        page = {"reftarget": f"/book/course/{one.name}", "refdoc": self.env.docname}
        options = {"refdomain": "std", "reftype": "doc", "refexplicit": True, "refwarn": True}
        shown = pending_xref("", nodes.strong("", one.title), **page, **options)
        title = [nodes.target(ids=[anchor(one)]), shown]
        told = [nodes.paragraph("", "", *title, nodes.Text(f". {one.about}"))]
        lines = {
            "The figure:": [nodes.Text(one.figure)],
            "Read before:": [*self.links(one.before)] or [nodes.Text("nothing")],
            "Read afterwards:": [*self.links(one.after)],
        }
        for label, words in lines.items():
            opening = nodes.emphasis("", label), nodes.Text(" ")
            told += [nodes.paragraph("", "", *opening, *words)] if words else []
        return told

    def links(self, labels):
        for k, label in enumerate(labels):
            yield from [nodes.Text("; "), link(label, self.env.docname)][k == 0 :]


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
        source = tools(self, "sources").read(name)
        self.env.note_dependency(f"coursework/{name}/{name}.md")
        sections = [nodes.section("", *self.markdown(ABOUT))]
        for kind, told in for_students(source):
            if kind == "code":
                sections[-1] += nodes.literal_block(told, told, language="python")
                continue
            for part in re.split(r"^(?=#+ )", told, flags=re.M):
                heading = re.match(r"#+ (.*)\n?", part)
                if heading and heading[1] != source.title():
                    place = nodes.make_id(f"{name}-{heading[1]}")
                    sections.append(nodes.section(ids=[place], names=[place]))
                    words = re.sub(r"^(\d+)\.", r"\1\.", heading[1])  # no list begins here
                    sections[-1] += nodes.title("", "", *self.inline(words))
                sections[-1] += self.markdown(part[heading.end() if heading else 0 :])
        return [*sections[0].children, *sections[1:]]


def anchor(one):
    return nodes.make_id(f"course-{one.name}")


def text(words):
    return [nodes.paragraph("", words)]


def figures(counts):
    return [text(f"{count:g}") for count in counts]


def row(cells):
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


def setup(app):
    app.add_directive("course", Course)
    app.add_directive("assignment", Assignment)
