"""Small mends of the HTML that the theme and the extensions write, each with its reason.

What needs the reader's hands (names that only the browser knows, folds, pictures) is in
book/_static; what can be right from the start is here.
"""

import re

MATH = r'<span class="math notranslate nohighlight">[^<]*</span>'
SIGN = (
    r'<a class="to-exercise" href="\2" aria-label="To the exercise" title="To the exercise">↑</a>'
)
MENDS = (
    # A browser may break a line between a formula and its full stop, which then stands alone.
    (
        rf"([(\[“]*)({MATH})([.,;:!?)\]”’%]+)|([(\[“]+)({MATH})",
        r'<span class="unbroken">\g<0></span>',
    ),
    # The title of a solution opens it; all of it was a link that jumps to the exercise.
    (
        r'(<p class="admonition-title">Solution to)'
        r'<a class="reference internal" href="([^"]+)">(.*?)</a></p>',
        rf"\1\3 {SIGN}</p>",
    ),
    # "Show the code" stands there already: a name that differs hides it from those who speak it.
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # The entries of a list are its items; docutils gives them a role of no list, since withdrawn.
    (r'role="doc-biblioentry"', 'role="listitem"'),
)
DOWNLOADS = {
    ".ipynb": "Notebook (.ipynb)",
    ".md": "Source (.md)",
    ".pdf": "Print (.pdf)",
    "library": "Library (.whl)",
}
FOLD = {
    "type": "javascript",
    "javascript": "switchCode()",
    "tooltip": "Fold all code",
    "icon": "fas fa-code",
    "label": "fold-code-button",
    "classes": "pst-navbar-icon",
}


def mend(html: str) -> str:
    for pattern, replacement in MENDS:
        html = re.sub(pattern, replacement, html)
    return html


def mend_page(app, pagename, templatename, context, doctree):
    """Mend the body, give the header its switch and the downloads their words."""
    context["body"] = mend(context.get("body", ""))
    if context.get("title") == context["docstitle"]:
        context["docstitle"] = ""  # else the title of the landing page says its name twice
    buttons = context.get("header_buttons", [])  # no other theme has them
    for group in buttons:
        for button in group.get("buttons", []):
            button["text"] = DOWNLOADS.get(button["text"], button["text"])
    if 'class="cell_input' in context["body"]:
        buttons.append(FOLD)


def setup(app):
    app.connect("html-page-context", mend_page, 600)  # the theme's buttons come at 501
