"""The mutants of a Python file: each changes one number, operator, comparison, call or slice.

Strings, annotations, raised errors and `strict=` are left alone; so are the settings of a quick
scale, which are a choice, and numbers below 1e-6, since twice a rounding tolerance is also one.
"""

import ast
import builtins
import itertools
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
    lines = source.splitlines(keepends=True)
    offsets = [0, *itertools.accumulate(map(len, lines))]

    def start(node):
        return offsets[node.lineno - 1] + node.col_offset  # both in bytes

    def stop(node):
        return offsets[node.end_lineno - 1] + node.end_col_offset

    def between(left, right, old, new):
        """Another operator between two expressions."""
        at = source.index(old.encode(), stop(left), start(right))
        return at, at + len(old), new

    def changes(node):
        match node:
            case ast.Constant(bool(value)):
                yield start(node), stop(node), str(not value)
            case ast.Constant(int(value)):
                yield start(node), stop(node), repr(value + 1)
            case ast.Constant(float(value)) if value >= 1e-6:
                yield start(node), stop(node), repr(2 * value)
            case ast.BinOp(left, op, right) if type(op) in BINARY:
                yield between(left, right, *BINARY[type(op)].split())
            case ast.AugAssign(left, op, right) if type(op) in BINARY:
                yield between(left, right, *(f"{sign}=" for sign in BINARY[type(op)].split()))
            case ast.Compare(first, ops, others):
                for left, op, right in zip([first, *others], ops, others, strict=False):
                    old, *signs = COMPARED[type(op)]
                    yield from (between(left, right, old, new) for new in signs)
            case ast.BoolOp(op, [left, right, *_]):
                signs = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                yield between(left, right, *signs)
            case ast.UnaryOp(ast.Not() | ast.USub() as op):
                yield start(node), start(node) + (3 if isinstance(op, ast.Not) else 1), ""
            case ast.Call(ast.Attribute(attr=name) | ast.Name(name) as called, given, named):
                end, method = stop(called), isinstance(called, ast.Attribute)
                if (other := SWAPPED.get(name)) and (method or hasattr(builtins, other)):
                    yield end - len(name), end, other
                if name in DROPPED and len(given) == 1 and not named:
                    yield start(node), end, ""
                if name in DROPPED and method and not given and not named:
                    yield end - len(name) - 1, stop(node), ""  # with its dot
            case ast.Slice(lower, upper):
                yield from ((start(bound), stop(bound), "") for bound in (lower, upper) if bound)

    found = []
    for scope, node in _nodes(ast.parse(source)):
        for first, last, new in changes(node):
            line = source.count(b"\n", 0, first) + 1
            found.append(Mutant(path, scope, line, first, last, new.encode()))
    return found


def _nodes(node, scope=""):
    """What may be changed, in its function or class: the node and what is below it."""
    yield scope, node
    below = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef(args=arguments):
            defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
            below = [*node.decorator_list, *defaults, *node.body]
        case ast.AnnAssign(value=value):
            below = [value] if value else []
        case ast.Raise() | ast.JoinedStr() | ast.keyword(arg="strict" | "quick"):
            below = []
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}".lstrip(".")
    for child in below:
        yield from _nodes(child, scope)
