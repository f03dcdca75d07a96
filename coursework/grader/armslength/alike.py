"""Pairs of students whose notebooks are alike: a hint where to look, and no verdict.

A cell becomes the sequence of the nodes of its syntax tree, without comments, docstrings, layout
and names of variables. The sets of pieces of these sequences are compared, so moved cells, renamed
variables and added lines change little, and copies are seen however many there are. The code that
every student was given does not count.
"""

import ast
import contextlib
import html
from itertools import combinations

from IPython.core.inputtransformer2 import TransformerManager

from armslength import table
from armslength.submission import UNREADABLE, Unanswered, code_cells

PIECE = 12  # nodes in a row: less is what everybody writes
SHORTEST = 25  # pieces of a notebook: about three lines
SHOWN = 50  # pairs
LIKE = 0.6  # of the pieces of the shorter one; the key and the honest answers share less than half


def write(everything, given, folder):
    """Write `alike.csv` and, of the first SHOWN pairs, the pages of `alike`, into the folder."""
    found = pairs(everything, given)
    table.write(folder / "alike.csv", [("student", "student", "share of the shorter"), *found])
    content = {handed.student: handed.content for handed in everything}
    (folder / "alike").mkdir()
    for k, (one, other, _) in enumerate(found[:SHOWN], 1):
        page = side_by_side(content[one], content[other])
        (folder / "alike" / f"{k}.html").write_text(page, "utf-8", errors="replace")


def pairs(everything, given):
    """Rows (student, student, share of the pieces of the shorter one that both have), most first.

    `given` is the notebook that students got, as bytes. Students of one group are no pair.
    """
    handed = pieces(given)
    written = {h.student: pieces(h.content or b"") - handed for h in everything}
    written = {student: own for student, own in written.items() if len(own) >= SHORTEST}
    group = {handed.student: handed.group or None for handed in everything}
    found = []
    for one, other in combinations(sorted(written), 2):
        both = share(written[one], written[other])
        if both >= LIKE and (group[one] is None or group[one] != group[other]):
            found.append((one, other, round(both, 2)))
    return sorted(found, key=lambda row: (-row[2], row))


def share(one, other):
    """Of the pieces of the shorter notebook, those that the other has, too."""
    return len(one & other) / min(len(one), len(other))


def pieces(content):
    """The runs of PIECE nodes in the code cells of a notebook; none where there is no code."""
    found = set()
    for source in _sources(content):
        with contextlib.suppress(*UNREADABLE):
            tree = ast.parse(TransformerManager().transform_cell(source))
            nodes = [word for statement in tree.body for word in _words(statement)]
            found |= {tuple(nodes[k : k + PIECE]) for k in range(len(nodes) - PIECE + 1)}
    return found


def _sources(content):
    try:
        return code_cells(content)
    except Unanswered:
        return []


def _words(node):
    """The nodes of a syntax tree from left to right: kinds, constants, names of attributes."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring, or a value that goes nowhere
    own = node.value if isinstance(node, ast.Constant) else getattr(node, "attr", "")
    yield type(node).__name__, repr(own)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context):
            yield from _words(child)


def side_by_side(one, other):
    """A page with the code of two notebooks; it escapes what they say."""
    sides = (html.escape("\n\n".join(_sources(content))) for content in (one, other))
    columns = "".join(f'<pre style="flex: 1; white-space: pre-wrap">{side}</pre>' for side in sides)
    return f'<meta charset="utf-8"><div style="display: flex; gap: 2em">{columns}</div>'
