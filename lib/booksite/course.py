"""The directive `course`: a table of the assignments, made from coursework/ (its tools.course).

A row is a label, `course:NAME`, and what refers to it reads the assignment's title. What does not
fit together in coursework/ is an error.
"""

import sys
from importlib import import_module

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .page_head import link

# per cent of the width
HEAD = {"assignment": 70, "minutes": 10, "marks by tests": 10, "marks by hand": 10}


class Course(SphinxDirective):
    def run(self):
        if str(self.env.srcdir) not in sys.path:
            sys.path.append(str(self.env.srcdir))
        course = import_module("coursework.tools.course")
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
        title = [nodes.target(ids=[anchor(one)]), nodes.strong("", one.title)]
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
