"""What the book adds to Sphinx (an extension named in _config.yml).

- Pages run side by side, and again only where something changes that their cells reach (keys,
  outputs, kernels). One that fails is on the site, with what is red (failures). The build says how
  far it is (progress).
- The register becomes the ledger, the errata, the glossary, the tables of results and the map, all
  by directives (back_matter, ledger, errata, glossary, results, map). Each box links to the ledger
  (statements) and says what it rests on (uses); the search finds it (search); where a text names a
  statement there is a link with a preview (references). `library` lists the functions (autodoc),
  `course` the assignments (course).
- A cell that checks a claim shows its card, and its code folded; a picture without alt text is a
  warning (cells). A page says under its title what it needs (page_head) and on which ways through
  the book it lies (routes). Some pictures are interactive (hand).
- Scripts, formulas and pictures hold no page up (deferred, animations). Small mends of what the
  theme and others write are in html_fixes; what search engines read in meta_tags. The address of
  the repository switches on what needs one (publishing).
- A page is offered as a notebook that any Jupyter shows, with the library that it needs (notebooks,
  markdown); `make lab` opens copies (lab).

No page imports it: what is changed here runs no page again. A warning fails the build.
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
