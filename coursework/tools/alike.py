"""Pairs of students whose cells are alike: a hint where to look, and no verdict.

Cells are compared as syntax trees, without comments, docstrings and the names of variables. What
every student was given does not count, nor what is short, nor what many have written.
"""

import ast
import contextlib
from collections import defaultdict
from itertools import combinations

from coursework.tools.submission import Unanswered, code_cells

SHORTEST = 25  # nodes of a syntax tree: about two lines
COMMON = 0.1  # of all students; what more of them have says nothing


def pairs(everything, given):
    """Rows (student, student, number of cells alike, cells of the first), the most first.

    `given` is the notebook that students got, as bytes.
    """
    handed = set(_cells(given))
    written = {h.student: set(_cells(h.content or b"")) - handed for h in everything}
    owners = defaultdict(list)
    for student, cells in written.items():
        for cell in cells:
            owners[cell].append(student)
    most = max(3, COMMON * len(written))
    alike = defaultdict(int)
    for students in owners.values():
        if len(students) <= most:
            for pair in combinations(sorted(students), 2):
                alike[pair] += 1
    found = [(*pair, times, len(written[pair[0]])) for pair, times in alike.items()]
    return sorted(found, key=lambda row: (-row[2], row))


def _cells(content):
    """The normal forms of the code cells of a notebook, as far as it is one and they parse."""
    try:
        sources = code_cells(content)
    except Unanswered:
        return
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.parse(source)
            if sum(1 for _ in ast.walk(tree)) >= SHORTEST:
                yield normal(tree)


def normal(tree):
    """A syntax tree as text, the same for all who only changed names, comments and docstrings."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.setdefault(node.arg, f"name{len(names)}")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, f"name{len(names)}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg, node.annotation = names[node.arg], None
        elif isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.dump(tree)
