"""The directive `interactive-figure`: it takes the place of the picture in the cell before.

    ```{interactive-figure} spectrum
    What the reader can do with it, and sees.
    ```

The picture of the cell stays where no script runs, and in notebooks; elsewhere the scripts
book/_static/hand/hand.js and hand/<name>.js, which only such pages load, draw theirs in its place,
with the words of the directive under it.
"""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

STATIC = Path("book", "_static", "hand")


class interactive_figure(nodes.General, nodes.Element):
    """The words under a picture, and its name."""


class InteractiveFigure(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        if not Path(self.env.srcdir, STATIC, f"{name}.js").is_file():
            raise self.error(f"No picture {name!r}: {STATIC}/{name}.js is missing.")
        node = interactive_figure(name=name)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def visit(self, node):
    self.body.append(f'<div class="hand" data-picture="{node["name"]}" hidden>')


def depart(self, node):
    self.body.append("</div>\n")


def load(app, pagename, templatename, context, doctree):
    """The scripts of the pictures of this page, and those of no other."""
    if names := [node["name"] for node in doctree.findall(interactive_figure)] if doctree else []:
        app.add_css_file("hand/hand.css")
        for name in ["hand", *dict.fromkeys(names)]:
            app.add_js_file(f"hand/{name}.js", loading_method="defer")


def setup(app):
    app.add_node(interactive_figure, html=(visit, depart))
    app.add_directive("interactive-figure", InteractiveFigure)
    app.connect("html-page-context", load)
