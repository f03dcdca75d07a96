"""No script holds up the page: those in the head run when the page has been read.

What else keeps pages light: formulas are typeset when they come into view (_config.yml), the search
index is not on every page (book/_templates), nor a second set of icons (book/_static/scripts).
"""

EAGER = "documentation_options.js"  # a script of the theme in the head sets one of these options
UNTOUCHED = "search"  # its page calls what these scripts define while it is read


def deferred(script):
    """A copy that runs when the page has been read; the pages share the original."""
    source = str(getattr(script, "filename", "") or "")
    if not source or EAGER in source or {"async", "defer"} & set(script.attributes):
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def defer_scripts(app, pagename, templatename, context, doctree):
    if pagename != UNTOUCHED:
        context["script_files"] = [deferred(s) for s in context.get("script_files", [])]


def setup(app):
    app.connect("html-page-context", defer_scripts, 900)
