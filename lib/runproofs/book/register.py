"""The register of claims: every numbered statement of the sources, in `book/claims/*.yml`.

An installed copy of the library has no clone of the book around it; it carries what its functions
read, the folders `claims`, `sabotage` and `results` (see pyproject.toml).
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import fastjsonschema
import yaml

from .pages import cells

CARRIED = Path(__file__).resolve().parents[1] / "_book"
BOOK = CARRIED if CARRIED.exists() else Path(__file__).resolve().parents[3] / "book"
SCHEMA = BOOK / "claims" / "schema.json"
CHAPTERS = {
    "ch1": "Chapter 1: preliminaries",
    "ch2": "Chapter 2: shallow linear networks",
    "ch3": "Chapter 3: deep linear networks",
    "ch4": "Chapter 4: generalization",
    "ch5": "Chapter 5: convergence",
    "ch6": "Chapter 6: adversarial training",
    "vidal": "Companion: homogeneous networks",
    "helmbold-long": "Companion: surprising properties of dropout",
}
STATUSES = ("checked", "told", "planned")
AUTHORS = {"vidal": "Vidal, ", "helmbold-long": "Helmbold and Long, "}


def demand_clone(what: str, book: Path = BOOK) -> None:
    """End in one sentence (SystemExit) what an installed copy of the library cannot do."""
    if not (book / "index.md").exists():
        sys.exit(
            f"{what} needs a clone of the book, with pages and tests: this is an installed copy "
            "of the library, which carries only the register and the stored results."
        )


class Erratum(NamedTuple):
    """A slip found in a source: how sure, how grave, and what to read instead."""

    grade: str
    weight: str
    printed: str
    problem: str
    corrected: str
    evidence: str


class Claim(NamedTuple):
    """One entry of the register.

    `uses` are the ids of the claims on which its statement or its proof rests, None until somebody
    has entered them; `mentions`, those that the proof names and does not use. `status` is `planned`
    until its chapter is written; then `told` for a narrative, which no block can check, and
    `checked` for everything else.
    """

    id: str
    number: str
    section: str
    kind: str
    title: str
    statement: str
    how: str
    erratum: Erratum | None
    chapter: str
    status: str
    no_control: str = ""
    uses: tuple[str, ...] | None = None
    mentions: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The id as it stands in HTML anchors."""
        return re.sub(r"[/.]", "-", self.id)

    @property
    def source(self) -> str:
        """`thesis`, `icml`, `vidal`, `helmbold-long` or `beyond`."""
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        """The number, and whose it is where a reader would take it for the thesis' own."""
        return AUTHORS.get(self.source, "") + self.number

    @property
    def needs_counterexample(self) -> bool:
        """Whether what is printed is certainly wrong, so that a control must run it."""
        slip = self.erratum
        return bool(slip) and slip.grade == "certain" and slip.weight != "wording"


class _Loader(yaml.CSafeLoader):
    """YAML whose mappings name each key once."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    problem=f"{key!r} stands twice in one entry", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


@cache
def _schema() -> Callable:
    return fastjsonschema.compile(json.loads(SCHEMA.read_text("utf-8")))


def _entries(path: Path) -> Iterator[Claim]:
    """The claims of one file; ValueError names the file and the entry with what is wrong."""
    try:
        listed = yaml.load(path.read_text("utf-8"), Loader=_Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from None
    if not (isinstance(listed, list) and listed):
        raise ValueError(f"{path} is not a list of claims.")
    for fields in listed:
        name = fields.get("id", "an entry without id") if isinstance(fields, dict) else fields
        try:
            _schema()(fields, name_prefix=str(name))
        except fastjsonschema.JsonSchemaValueException as error:
            raise ValueError(f"{path}: {error.message}, but it is {error.value!r}.") from None
        erratum = fields["erratum"] and Erratum(**fields["erratum"])
        told = "told" if fields["kind"] == "narrative" else "checked"
        defaults = {"how": "", "status": told, "chapter": path.stem.removeprefix("beyond-")}
        lists = {name: tuple(fields[name]) for name in ("uses", "mentions") if name in fields}
        yield Claim(**defaults | fields | lists | {"erratum": erratum})


@cache
def register(folder: Path = BOOK / "claims") -> dict[str, Claim]:
    """All claims by id, in the order of the sources.

    Raises ValueError, naming the file and the entry, on a file that is empty, broken or of no
    chapter, on an entry that does not fit the schema, on an id (or its anchor) that occurs twice,
    and on a number that a source (of ours: a chapter) has twice, unless it says "unnumbered".
    Cost: one parse of some 700 kB, then cached.
    """
    paths = [folder / f"{part}{chapter}.yml" for chapter in CHAPTERS for part in ("", "beyond-")]
    for path in folder.glob("*.yml"):
        if path not in paths:
            raise ValueError(f"{path} belongs to no chapter.")
    claims, taken = {}, set()
    for path in filter(Path.exists, paths):
        for found in _entries(path):
            places = [found.slug]
            if "unnumbered" not in found.number:
                ours = found.chapter if found.source == "beyond" else ""
                places.append((found.source, ours, found.number))
            for place in places:
                if place in taken:
                    raise ValueError(f"{path}: {found.id}: {place} occurs twice in the register.")
                taken.add(place)
            claims[found.id] = found
    return claims


def counts() -> dict[str, int]:
    """What is finished, as the first page and the README count it.

    `registered` claims, of which `checked` and `told`; of the checked ones those `beyond` the
    sources and the `errata` that have a counterexample; the `chapters` and `companions` with one.
    """
    entries = register().values()
    checked = [entry for entry in entries if entry.status == "checked"]
    return {
        "chapters": len({e.section[0] for e in checked if e.source == "thesis"} - {"A"}),
        "companions": len({e.source for e in checked} & {"vidal", "helmbold-long"}),
        "registered": len(entries),
        "checked": len(checked),
        "told": sum(entry.status == "told" for entry in entries),
        "beyond": sum(entry.source == "beyond" for entry in checked),
        "errata": sum(entry.needs_counterexample for entry in checked),
    }


RAW = re.compile(
    r"\|\||_\{|\^\{|\b[A-Za-z]\^[\dT*]|[A-Za-z]_[a-z0-9]\b|<=|>=|\bsqrt\b"
    r"|\b(alpha|epsilon|kappa|lambda|nu|rho|sigma|theta)\b"
)


def raw_formulas(entry: Claim) -> Iterator[str]:
    """The fields of an entry that have a formula between no dollar signs, and not as code."""
    fields = {"title": entry.title, "statement": entry.statement, "how": entry.how}
    if entry.erratum:
        fields |= entry.erratum._asdict()
    for name, text in fields.items():
        if found := RAW.search(re.sub(r"\$[^$]*\$|`[^`]*`", "", text)):
            yield f"{name}: {found[0]}"


NOT_RUN = re.compile(r"skip-execution|nbval-skip|raises-exception|nbval-raises|nbval-ignore")
NOT_TESTED = re.compile(r"#.*(NBVAL_|PYTEST_VALIDATE)")  # comments that nbval obeys


def checks_in(page: str) -> list[str]:
    """The ids of the `with claim("...")` blocks in the code cells of a MyST page, in order.

    Only what runs at each build counts, and can fail it: a block at the top of a cell, not in a
    function, a condition, a loop or a `try`, with no other manager that might swallow its failure,
    and not in a cell that is skipped or may fail. Raises ValueError for a cell with "claim" that
    Python cannot read, and where `claim` is another than that of `runproofs.book.claims`.
    """
    found, bound = [], False
    for cell in cells(page):
        if "claim" not in cell.code:
            continue
        try:
            tree = ast.parse(cell.code)
        except SyntaxError as error:
            raise ValueError(f"a cell with a claim is not Python: {error}") from None
        bound = bound or any(map(_binds_claim, ast.walk(tree)))
        if not (NOT_RUN.search(cell.options) or NOT_TESTED.search(cell.code)):
            found += filter(None, map(_claimed, tree.body))
    if found and bound:
        raise ValueError("`claim` is imported from runproofs.book.claims, and is nothing else.")
    return found


def _claimed(statement: ast.stmt) -> str | None:
    match statement:
        case ast.With([ast.withitem(ast.Call(ast.Name("claim"), [ast.Constant(str(name)), *_]))]):
            return name
    return None


def _binds_claim(node: ast.AST) -> bool:
    """Whether the name `claim` becomes something else than the block of this book."""
    match node:
        case ast.ImportFrom("runproofs.book.claims"):
            return any("claim" == alias.asname != alias.name for alias in node.names)
        case ast.ImportFrom() | ast.Import():
            return any((alias.asname or alias.name) == "claim" for alias in node.names)
        case ast.Name("claim", ast.Store() | ast.Del()) | ast.arg("claim"):
            return True
        case ast.FunctionDef("claim") | ast.AsyncFunctionDef("claim") | ast.ClassDef("claim"):
            return True
        case ast.ExceptHandler(name="claim") | ast.MatchAs(name="claim"):
            return True
    return False
