"""Buttons that open a page as a notebook on Binder and on Colab, once `repository: url` is set.

Both open .ipynb files that lie on GitHub, and the pages are Markdown. So the workflow `book` puts
the published notebooks, as they are offered for download, on a branch of their own, with what
Binder builds (.github/binder, `binder` in the branch). The links stand on two assumptions: the repository is on GitHub, and that
workflow has run. The theme has such buttons too, but leads them to the sources.
"""

from .publishing import on_github

NOTEBOOKS = "notebooks"  # the branch, as .github/workflows/book.yml names it


def links(config, pagename: str) -> dict[str, str]:
    """For each service the address that opens the page there; empty off GitHub."""
    if on_github(config) is None:
        return {}
    place = "/".join(on_github(config))
    file = f"{pagename}.ipynb"
    return {
        "Binder": f"https://mybinder.org/v2/gh/{place}/{NOTEBOOKS}?urlpath=lab/tree/{file}",
        "Colab": f"https://colab.research.google.com/github/{place}/blob/{NOTEBOOKS}/{file}",
    }


ICONS = {"Colab": "_static/images/logo_colab.png", "Binder": "_static/images/logo_binder.svg"}


def add_buttons(app, pagename, templatename, context, doctree):
    """Put the buttons before the theme's, on pages that are offered as notebooks."""
    found = links(app.config, pagename) if "ipynb_source" in context else {}
    buttons = [
        {"type": "link", "text": name, "tooltip": f"Run on {name}", "icon": ICONS[name], "url": url}
        for name, url in found.items()
    ]
    if buttons and "header_buttons" in context:
        group = {"type": "group", "tooltip": "Run this page elsewhere", "icon": "fas fa-rocket"}
        group |= {"buttons": buttons, "label": "launch-buttons"}
        context["header_buttons"].insert(0, group)


def setup(app):
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's
