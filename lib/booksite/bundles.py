"""A page asks for few files: one stylesheet, one script, and of MathJax what it uses.

The theme and the extensions name some thirty files, and each costs a request. What all pages have
is put together when the site has been built; the pages name these bundles instead (layout.html).
Of the 2000 icons of the theme, only those stay that a page names, in the stylesheet and in the
fonts. MathJax comes without its menu, which the first right click fetches (formulas.js).
"""

import logging
import re
from hashlib import sha256
from pathlib import Path

from fontTools import subset

from .lazy_loading import EAGER, LATER, UNTOUCHED

THEME = [  # what its templates name, beside Sphinx's lists
    "styles/theme.css", "styles/pydata-sphinx-theme.css",
    "scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js",
]  # fmt: skip
REPLACED = "scripts/fontawesome.js"  # 1.5 MB, which draw again, as SVG, the icons of the web font
BUNDLES = {".css": "styles/bundle.css", ".js": "scripts/bundle.js"}
COMPONENTS = [
    "startup", "core", "input/tex", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml",
]  # fmt: skip
TAG = re.compile(r'<(?:link|script)\b[^>]*?_static/([^"?]+\.(?:css|js))\b[^>]*>(?:</script>)?\s*')
IMPORT = re.compile(r'@import "([^"]+)";')
ICON = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"\\[0-9a-f]+"\}')
NAME = re.compile(r"\bfa-[\w-]+")
FONT = re.compile(r'url\((\S+?)\.woff2\) format\("woff2"\),url\(\S+?\.ttf\) format\("truetype"\)')
CODE = re.compile(r"\\(f[0-9a-f]{3})\b|([\ue000-\uf8ff])")
logging.getLogger("fontTools").setLevel("WARNING")  # else it tells each table of a font


def list_shared(app):
    """Keep the names of the files in _static that all pages have, before a page adds its own."""
    assets = [*app.builder._css_files, *app.builder._js_files]
    names = [*THEME, *(str(asset.filename or "").removeprefix("_static/") for asset in assets)]
    names = [name for name in names if name != EAGER and "://" not in name]
    app.builder.shared = {kind: [n for n in names if n.endswith(kind)] for kind in BUNDLES}


def bundled(html: str, names: list[str], tag: str) -> str:
    """HTML in which one tag takes the place of those that ask for these files."""
    tags = [tag]

    def replace(found):
        if found[1] not in names:
            return found[0]
        return tags.pop() + "\n" if tags and "preload" not in found[0] else ""

    return TAG.sub(replace, html)


def offer(app, pagename, templatename, context, doctree):
    """Give the template its functions, which put the bundles into its blocks."""
    static, names = Path(app.outdir, "_static"), app.builder.shared

    def address(suffix):
        sources = (static / name for name in names[suffix])
        digest = sha256(b"".join(path.read_bytes() for path in sources if path.exists()))
        return context["pathto"](f"_static/{BUNDLES[suffix]}", 1) + f"?v={digest.hexdigest()[:8]}"

    def styles(html):
        tag = f'<link rel="stylesheet" href="{address(".css")}" />'
        return bundled(bundled(html, names[".css"], tag), [*names[".js"], REPLACED], "")

    def scripts(html):
        defer = "" if pagename == UNTOUCHED else "defer "
        tag = f'<script {defer}src="{address(".js")}"></script>'
        return bundled(html, names[".js"], "") + tag

    context |= {"bundle_styles": styles, "bundle_scripts": scripts}


def read(path: Path) -> str:
    """A stylesheet with those that it imports."""
    return IMPORT.sub(lambda found: read(path.parent / found[1]), path.read_text("utf-8"))


def few_icons(css: str, used: set, folder: Path) -> str:
    """A stylesheet of the folder with only the used icons; their fonts are written beside it."""
    css = ICON.sub(lambda rule: rule[0] if used & set(NAME.findall(rule[0])) else "", css)
    codes = {int(code, 16) if code else ord(sign) for code, sign in CODE.findall(css)}

    def shrink(found):
        source = folder / f"{found[1]}.ttf"
        options = subset.Options(flavor="woff", name_IDs=["*"])
        font = subset.load_font(source, options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=codes)
        subsetter.subset(font)
        subset.save_font(font, folder / f"{source.stem}.woff", options)
        return f'url({source.stem}.woff) format("woff")'

    return FONT.sub(shrink, css)


def write(app, exception):
    """Write the bundles, once all pages, and all that they name, are there."""
    if exception is not None:
        return
    static = Path(app.outdir, "_static")
    js, css = static / BUNDLES[".js"], static / BUNDLES[".css"]
    sources = [(static / name).read_text("utf-8") for name in app.builder.shared[".js"]]
    js.write_text(";" + ";\n".join(sources), "utf-8")  # ";" first, else all of it is strict
    pages = [js, *Path(app.outdir).rglob("*.html")]
    used = {name for page in pages for name in NAME.findall(page.read_text("utf-8"))}
    styles = "\n".join(read(static / name) for name in app.builder.shared[".css"])
    css.write_text(few_icons(styles, used, css.parent), "utf-8")


def write_mathjax(app, exception):
    if exception is None:
        folder = Path(app.outdir, "_static", LATER)
        parts = [(folder / f"{name}.js").read_text("utf-8") for name in COMPONENTS]
        parts.append(f"MathJax.loader.preLoad(...{COMPONENTS});")
        (folder / "bundle.js").write_text(";\n".join(parts), "utf-8")


def bundle(app, config):
    """Make bundles of what the book's theme and its copy of MathJax have, not of others."""
    if config.html_theme == "sphinx_book_theme":
        app.connect("builder-inited", list_shared, 999)
        app.connect("html-page-context", offer)
        app.connect("build-finished", write, 900)  # the theme writes colors of code at 500
    if config.mathjax_path == f"{LATER}tex-chtml.js":
        config.mathjax_path = f"{LATER}bundle.js"
        app.connect("build-finished", write_mathjax)


def setup(app):
    app.connect("config-inited", bundle)
