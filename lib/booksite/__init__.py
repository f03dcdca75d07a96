"""What the book adds to Sphinx (an extension named in _config.yml); each part says what it does.

A page says in its directives and options what it needs; no page imports this package, so a change
here runs no page again. A warning fails the build.
"""

from importlib import import_module

PARTS = """
    auto_links autodoc bundles cells citation course dependencies dependency_graph errata execution
    failures formula_places glossary html_fixes interactive_figure lazy_animations lazy_loading
    learning_paths ledger markup meta_tags notebooks numbering page_info progress publishing
    registry_directives results search statement_index
"""


def setup(app):
    for part in PARTS.split():
        import_module(f"{__name__}.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
