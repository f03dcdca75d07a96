"""The mutants of a Python file: one number, operator, comparison, call or slice is another.

Left alone: strings, annotations, what is raised, `strict=`, the settings of a quick scale, which
are a choice, and numbers below 1e-6, since twice a tolerance for rounding is one as well.
"""

import ast
import builtins
from typing import NamedTuple

BINARY = {
    ast.Add: "+ -", ast.Sub: "- +", ast.Mult: "* /", ast.Div: "/ *", ast.FloorDiv: "// /",
    ast.Pow: "** *", ast.Mod: "% *",
}  # fmt: skip
COMPARED = {
    ast.Lt: ("<", "<=", ">="), ast.LtE: ("<=", "<", ">"), ast.Gt: (">", ">=", "<="),
    ast.GtE: (">=", ">", "<"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
PAIRS = (
    "min max", "minimum maximum", "amin amax", "argmin argmax", "clamp_min clamp_max", "any all",
    "floor ceil", "sum mean", "sin cos", "zeros ones",
)  # fmt: skip
SWAPPED = dict(pair.split() for pair in PAIRS) | dict(pair.split()[::-1] for pair in PAIRS)
DROPPED = {
    "abs", "sqrt", "square", "exp", "log", "sign", "floor", "ceil", "round", "sorted", "reversed",
    "cumsum", "unique", "flip", "relu", "softplus", "expit",
}  # fmt: skip


class Mutant(NamedTuple):
    """The bytes from start to stop of a file, replaced."""

    path: str
    scope: str  # the function or class they stand in
    line: int
    start: int
    stop: int
    new: bytes

    def apply(self, source):
        return source[: self.start] + self.new + source[self.stop :]

    def lines(self, source):
        """The changed line or lines, before and after, on one line each."""
        first, last = source.rfind(b"\n", 0, self.start) + 1, source.index(b"\n", self.stop)
        after = source[first : self.start] + self.new + source[self.stop : last]
        return tuple(" ".join(text.decode().split()) for text in (source[first:last], after))


def mutants(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a file with this source."""
    return _Sites(path, source).found


class _Sites(ast.NodeVisitor):
    def __init__(self, path, source):
        self.path, self.source, self.scope, self.found = path, source, [], []
        self.offsets = [0]
        for line in source.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))
        self.visit(ast.parse(source))

    def start(self, node):
        return self.offsets[node.lineno - 1] + node.col_offset  # both in bytes

    def stop(self, node):
        return self.offsets[node.end_lineno - 1] + node.end_col_offset

    def add(self, start, stop, new):
        line = self.source.count(b"\n", 0, start) + 1
        scope = ".".join(self.scope)
        self.found.append(Mutant(self.path, scope, line, start, stop, new.encode()))

    def between(self, left, right, old, new):
        """Replace an operator that stands between two expressions."""
        start = self.source.index(old.encode(), self.stop(left), self.start(right))
        self.add(start, start + len(old), new)

    # What is left alone
    def visit_FunctionDef(self, node):
        self.scope.append(node.name)
        arguments = [*node.args.defaults, *node.args.kw_defaults]
        for child in (*node.decorator_list, *filter(None, arguments), *node.body):
            self.visit(child)
        self.scope.pop()

    def visit_ClassDef(self, node):
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)

    def visit_keyword(self, node):
        if node.arg not in ("strict", "quick"):
            self.visit(node.value)

    def visit_Raise(self, node):
        pass

    def visit_JoinedStr(self, node):
        pass

    # What is changed
    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            self.add(self.start(node), self.stop(node), str(not value))
        elif isinstance(value, int) or (isinstance(value, float) and value >= 1e-6):
            new = 2 * value if isinstance(value, float) else value + 1
            self.add(self.start(node), self.stop(node), repr(new))

    def visit_BinOp(self, node):
        if type(node.op) in BINARY:
            self.between(node.left, node.right, *BINARY[type(node.op)].split())
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if type(node.op) in BINARY:
            old, new = BINARY[type(node.op)].split()
            self.between(node.target, node.value, f"{old}=", f"{new}=")
        self.generic_visit(node)

    def visit_Compare(self, node):
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, node.comparators, strict=False):
            old, *others = COMPARED[type(op)]
            for new in others:
                self.between(left, right, old, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self.between(*node.values[:2], old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not | ast.USub):
            length = len("not" if isinstance(node.op, ast.Not) else "-")
            self.add(self.start(node), self.start(node) + length, "")
        self.generic_visit(node)

    def visit_Call(self, node):
        method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if method else getattr(node.func, "id", "")
        stop, other = self.stop(node.func), SWAPPED.get(name)
        if other and (method or hasattr(builtins, other)):
            self.add(stop - len(name), stop, other)
        if name in DROPPED and len(node.args) == 1 and not node.keywords:
            self.add(self.start(node), stop, "")
        if name in DROPPED and method and not node.args and not node.keywords:
            self.add(stop - len(name) - 1, self.stop(node), "")  # with its dot
        self.generic_visit(node)

    def visit_Slice(self, node):
        for bound in filter(None, (node.lower, node.upper)):
            self.add(self.start(bound), self.stop(bound), "")
        self.generic_visit(node)
