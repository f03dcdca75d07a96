"""The address of the repository, the only setting, and what follows from it for the site.

`repository: url` in _config.yml switches on the buttons of the theme, the launch buttons (launch),
the address of the site, and what only makes sense at an address: canonical links, the picture of a
preview (meta_tags), sitemap.xml, 404.html. Without it all of that is left out, and nothing
dangles. (.nojekyll and CNAME are made by sphinx.ext.githubpages.)
"""

from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

# It is shown at addresses of any depth, so it needs nothing from the site and links to all of it.
LOST = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="robots" content="noindex" />
<title>No such page: $title</title>
<link rel="icon" href="data:," />
<style>
:root { color-scheme: light dark; }
body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; }
body { padding: 0 1.5rem; }
input, button { font: inherit; padding: .3em .6em; }
</style>
</head>
<body>
<h1>There is no such page</h1>
<p>It may have moved, or the link has a slip: this book collects those.</p>
<p><a href="$home">$title</a> begins here. Or look for what you wanted:</p>
<form action="${home}search.html"><input name="q" type="search" aria-label="Search" />
<button>Search</button></form>
</body>
</html>
""")


def repository(config) -> str | None:
    """The address of the repository, without a "/" at its end; None where it is not set."""
    return config.html_theme_options.get("repository_url", "").rstrip("/") or None


def on_github(config) -> tuple[str, str] | None:
    """Owner and name of the repository; None where it is not set or lies elsewhere."""
    parts = urlsplit(repository(config) or "")
    return tuple(parts.path.strip("/").split("/")) if parts.hostname == "github.com" else None


def site_address(config) -> str | None:
    """The address of the built site, which ends in "/"; None where it is not known.

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
    """Write what only makes sense at an address; remove it where there is none any more."""
    if exception is not None or app.builder.name != "html":
        return
    files = {name: Path(app.outdir, name) for name in ("sitemap.xml", "404.html")}
    home = site_address(app.config)
    if home is None:
        for path in files.values():
            path.unlink(missing_ok=True)
        return
    pages = (home + app.builder.get_target_uri(name) for name in sorted(app.env.found_docs))
    places = "\n".join(f"<url><loc>{escape(page)}</loc></url>" for page in pages)
    files["sitemap.xml"].write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}\n</urlset>\n',
        "utf-8",
    )
    lost = LOST.substitute(title=escape(app.config.html_title), home=escape(home))
    files["404.html"].write_text(lost, "utf-8")


def setup(app):
    app.connect("config-inited", derive)
    app.connect("build-finished", finish)
