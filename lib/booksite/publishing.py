"""What the site gains when the address of the repository is set.

`repository: url` in _config.yml switches on the buttons of the theme, the address of the site, and
everything that needs an address: canonical links, the picture of a preview, sitemap.xml, 404.html.
It also switches on buttons that open a page on Binder and on Colab, from the branch on which the
workflow `book` puts the notebooks that are offered for download.
"""

from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from .markup import render, site

NOTEBOOKS = "notebooks"  # the branch, as .github/workflows/book.yml names it
SERVICES = {  # an icon of the theme, and the address of a page
    "Binder": ("logo_binder.svg", "https://mybinder.org/v2/gh/{0}/{1}?urlpath=lab/tree/{2}"),
    "Colab": ("logo_colab.png", "https://colab.research.google.com/github/{0}/blob/{1}/{2}"),
}


def repository(config) -> str | None:
    """The address of the repository without a final "/"; None if it is not set."""
    return config.html_theme_options.get("repository_url", "").rstrip("/") or None


def on_github(config) -> tuple[str, str] | None:
    """Owner and name of the repository; None if it is not set or not on GitHub."""
    parts = urlsplit(repository(config) or "")
    return tuple(parts.path.strip("/").split("/")) if parts.hostname == "github.com" else None


def site_address(config) -> str | None:
    """The address of the built site, which ends in "/"; None if it is not known.

    `html: baseurl`, else where the workflow publishes the book: GitHub's pages of the repository.
    """
    if config.html_baseurl:
        return config.html_baseurl.rstrip("/") + "/"
    if on_github(config) is None:
        return None
    owner, name = on_github(config)
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def derive(app, config):
    """What the theme and Sphinx want to be told one by one."""
    config.html_baseurl = site_address(config) or ""  # canonical links
    for button in ("repository", "issues", "edit_page"):
        config.html_theme_options[f"use_{button}_button"] = repository(config) is not None


def finish(app, exception):
    """Write the files that need an address; remove them if there is none any more."""
    if exception is not None or app.builder.name != "html":
        return
    home = site_address(app.config)
    pages = [f"{home}{app.builder.get_target_uri(name)}" for name in sorted(app.env.found_docs)]
    places = "\n".join(f"<url><loc>{escape(page)}</loc></url>" for page in pages)
    texts = {
        "sitemap.xml": '<?xml version="1.0" encoding="utf-8"?>\n<urlset '
        f'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}\n</urlset>\n',
        "404.html": render("404.html", title=app.config.html_title, home=home),
    }
    for old, new in site()["moved"].items():
        page = render("index.html", title=app.config.html_title, first=f"{new}.html", tags="")
        if Path(app.outdir, old).with_name(f"{new}.html").exists():
            Path(app.outdir, f"{old}.html").write_text(page, "utf-8")
    for name, text in texts.items():
        path = Path(app.outdir, name)
        path.write_text(text, "utf-8") if home else path.unlink(missing_ok=True)


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
    app.connect("config-inited", derive)
    app.connect("build-finished", finish)
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's
