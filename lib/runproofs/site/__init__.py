"""What the book adds to Sphinx (an extension named in _config.yml).

1. Pages run again when the library, the register, a stored result, a numeric package, Python or
   SCALE changes (the execution cache by itself looks at the cells only). They run side by side, one
   on each core (outputs).
2. The directives `ledger` and `errata` (modules of these names) and the role `claim` (back_matter)
   build the back matter from the register and from the `claim` blocks of the pages; a stale or
   dangling entry is a warning, and warnings fail the build. Each statement of a page links to its
   entry (statements), and the search finds it (search). The directive `library` lists every public
   function (autodoc).
3. A cell that checks a claim shows its card; its code is folded under "How this is checked", unless
   the cell has the tag `open`, as one of each chapter has. A picture without alt text is a warning
   (cells). The pictures of a player come at the first touch (players).
4. A page says under its title what it needs, and how long it takes to read and to run (page_head).
   Scripts, formulas and pictures do not hold it up (light).
5. Each page describes itself to search engines and previews (head_matter). One setting, the address
   of the repository, switches on what needs one (publishing) and the launch buttons (launch).
6. `make pdf` prints the book with LaTeX (latex).
7. Small mends of what the theme and the extensions write: names, roles, line breaks (mends).
8. A page is offered as a notebook, outputs included, that any Jupyter shows; `make lab` opens the
   same notebooks (notebooks, markdown, lab), with the library that it needs (wheel).
9. The directive `course` makes the table of the assignments from what stands in coursework/.

No page imports it: what is changed here runs no page again.
"""

from importlib import import_module

PARTS = (
    "autodoc",
    "back_matter",
    "cells",
    "course",
    "errata",
    "head_matter",
    "lab",
    "latex",
    "launch",
    "ledger",
    "light",
    "mends",
    "notebooks",
    "outputs",
    "page_head",
    "players",
    "publishing",
    "search",
    "statements",
    "wheel",
)


def setup(app):
    for part in PARTS:
        import_module(f"{__name__}.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
