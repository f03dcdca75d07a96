"""What the book adds to Sphinx (an extension named in _config.yml); each part says what it does.

A page says in its directives and options what it needs; no page imports this package, so a change
here runs no page again. A warning fails the build.
"""

from importlib import import_module

PARTS = """
    animations autodoc back_matter cells course deferred errata failures glossary hand html_fixes
    ledger map markup meta_tags notebooks outputs page_head progress publishing references
    results routes search statements uses
"""


def setup(app):
    for part in PARTS.split():
        import_module(f"{__name__}.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
