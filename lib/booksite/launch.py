"""Buttons that open a page as a notebook on Binder and on Colab, once `repository: url` is set.

Both open notebooks that lie on GitHub: the workflow `book` puts those that are offered for download
on a branch of their own, with what Binder builds (.binder/). The theme's own buttons would lead to
the sources, which are Markdown.
"""

from .publishing import on_github

NOTEBOOKS = "notebooks"  # the branch, as .github/workflows/book.yml names it
SERVICES = {  # an icon of the theme, and the address of a page
    "Binder": ("logo_binder.svg", "https://mybinder.org/v2/gh/{0}/{1}?urlpath=lab/tree/{2}"),
    "Colab": ("logo_colab.png", "https://colab.research.google.com/github/{0}/blob/{1}/{2}"),
}


def add_buttons(app, pagename, templatename, context, doctree):
    """Put the buttons before the theme's, on pages that are offered as notebooks."""
    place = on_github(app.config)
    if not place or "ipynb_source" not in context or "header_buttons" not in context:
        return
    buttons = []
    for name, (icon, url) in SERVICES.items():
        button = {"type": "link", "text": name, "tooltip": f"Run on {name}"}
        button |= {"icon": f"_static/images/{icon}"}
        button |= {"url": url.format("/".join(place), NOTEBOOKS, f"{pagename}.ipynb")}
        buttons.append(button)
    group = {"type": "group", "tooltip": "Run this page elsewhere", "icon": "fas fa-rocket"}
    context["header_buttons"].insert(0, group | {"buttons": buttons, "label": "launch-buttons"})


def setup(app):
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's
