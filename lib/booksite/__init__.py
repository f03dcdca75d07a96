"""What the book adds to Sphinx (an extension named in _config.yml).

1. A page runs again when something changes that its cells reach: modules of the library, claims,
   sabotages, stored results, texts of other pages, a numeric package, Python or SCALE (keys; the
   execution cache by itself looks at the cells only). Pages run side by side, one on each core
   (outputs); on Linux their kernels are forked from one process (kernels).
2. The directives `ledger` and `errata` (modules of these names) and the role `claim` (back_matter)
   build the back matter from the register and from the `claim` blocks of the pages; a stale or
   dangling entry is a warning, and warnings fail the build. Each statement of a page links to its
   entry (statements), the search finds it (search), and where a text names it there is a link with
   a preview (references). The directive `library` lists every public function (autodoc).
3. A cell that checks a claim shows its card; its code is folded under "How this is checked", unless
   the cell has the tag `open`, as one of each chapter has. A picture without alt text is a warning
   (cells). The pictures of a player come at the first touch (animations). On a phone their text
   stays large enough to read (legible).
4. A page says under its title what it needs, how long it takes to read and to run (page_head), and
   on which ways through the book it lies (routes). Scripts, formulas and pictures do not hold it
   up (deferred).
5. Each page describes itself to search engines and previews (meta_tags). One setting, the address
   of the repository, switches on what needs one (publishing) and the launch buttons (launch).
7. Small mends of what the theme and the extensions write: names, roles, line breaks (html_fixes).
8. A page is offered as a notebook, outputs included, that any Jupyter shows (notebooks, markdown),
   with the library that it needs (wheel); `make lab` opens copies of the same notebooks (lab).
9. Under each statement stands what it rests on and what it carries (uses), and the directive `map`
   draws it for a chapter or the book, with a table (map).
10. The directive `course` makes the table of the assignments from what stands in coursework/.
11. A page that fails stands on the site with what is red, is told at the end, and runs again by the
   next build (failures). Each page that ends has a line, with the time that is left (progress).

No page imports it: what is changed here runs no page again.
"""

from importlib import import_module

PARTS = (
    "autodoc",
    "back_matter",
    "cells",
    "course",
    "errata",
    "failures",
    "meta_tags",
    "launch",
    "ledger",
    "map",
    "deferred",
    "glossary",
    "hand",
    "html_fixes",
    "notebooks",
    "outputs",
    "page_head",
    "progress",
    "animations",
    "publishing",
    "references",
    "results",
    "routes",
    "search",
    "statements",
    "uses",
    "wheel",
)


def setup(app):
    for part in PARTS:
        import_module(f"{__name__}.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
