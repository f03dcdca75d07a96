"""Small corrections of the HTML that the theme and the extensions write, each with its reason.

Corrections that only a browser can make (labels, folds, pictures) are in book/_static.
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
    # A click on the title of a solution must open it, not jump to the exercise.
    (
        r'(<p class="admonition-title">Solution to)'
        r'<a class="reference internal" href="([^"]+)">(.*?)</a></p>',
        rf"\1\3 {SIGN}</p>",
    ),
    # Without this label, voice control finds the button by its text, "Show the code".
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # Docutils gives the entries of a list a role that ARIA has withdrawn.
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
    """Correct the body, and label the switch in the header and the downloads."""
    context["body"] = mend(context.get("body", ""))
    if context.get("title") == context["docstitle"]:
        context["docstitle"] = ""  # otherwise the title of the landing page repeats its name
    buttons = context.get("header_buttons", [])  # no other theme has them
    for group in buttons:
        for button in group.get("buttons", []):
            button["text"] = DOWNLOADS.get(button["text"], button["text"])
    if 'class="cell_input' in context["body"]:
        buttons.append(FOLD)


def setup(app):
    app.connect("html-page-context", mend_page, 600)  # the theme's buttons come at 501
