"""The register of claims: all numbered statements of the sources, and ours.

A claim is stated in a box of a page, ``page.md`` (``:claim: thesis/lemma-2``). The file beside it,
``page.yml``, has what the statement does not say::

    claims:    # how the source numbers it, what it rests on, and what is wrong in its print
      thesis/lemma-2:
        number: Lemma 2
        section: "2.0"
        kind: lemma
        uses: [thesis/equation-2.1]
        title: The explicit regularizer
        evidence: exact    # one of LEVELS, that of the first positive row of its card
    breaks:    # wrong versions, which its check must notice (breaks.py)
    accepted:  # of the errors that a program plants, those that no row has to see, with reasons

What no box states has its ``statement`` there, too. An installed copy of the library carries the
pages, these files and the stored results (see pyproject.toml).
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import fastjsonschema
import yaml

from .pages import Box, boxes

CARRIED = Path(__file__).resolve().parents[1] / "_book"
BOOK = CARRIED if CARRIED.exists() else Path(__file__).resolve().parents[3] / "book"
SCHEMA = Path(__file__).with_name("claim.schema.json")
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
FOLDERS = {  # and a page, whose claims belong elsewhere
    "ch7_open_problems": "ch6", "homogeneous": "vidal", "surprises": "helmbold-long",
    "your_attack": "ch6",
}  # fmt: skip
LABELED = re.compile(r"^\$\$ *\(([\w:-]+)\)$", re.M)  # the end of a display that has a label
LETTER = re.compile(r"\b[\dA-Z]\.[A-Z]+\b")  # of a result of ours, "Theorem 6.E"
PARTS = {"claims", "breaks", "accepted"}
STATUSES = ("checked", "told")
SHOWN = {"experiment", "figure", "table"}  # kinds of claims that a source shows, and does not prove
LEVELS = {  # of evidence, in words; of a row, and of a claim, whose card has a main row
    "for-all": "for all values",  # an identity of symbols, or a decision over all reals
    "size": "for all networks of this size",  # polynomials, exactly, at random points
    "global": "global, with certificate",  # an exact dual bound: no point of the space is better
    "certified": "certified on intervals",  # interval arithmetic, with an argument for the tails
    "exact": "exact",  # this instance, in fractions, whole numbers or symbols
    "computed": "computed",  # these instances, in floats, to rounding
    "measured": "measured",  # statistics, training, stored runs: this run, with its spread
}
AUTHORS = {"vidal": "Vidal, ", "helmbold-long": "Helmbold and Long, "}


def demand_clone(what: str, book: Path = BOOK) -> None:
    """End in one sentence (SystemExit) what an installed copy of the library cannot do.

    Parameters
    ----------
    what : str
        What it is, the subject of the sentence.
    book : Path, optional
        Folder of the pages; the book's by default.
    """
    if not (book.parent / "_toc.yml").exists():
        sys.exit(f"{what} needs a clone of the book: this is an installed copy of the library.")


class Erratum(NamedTuple):
    """A slip found in a source: how sure, how grave, and what to read instead.

    Attributes
    ----------
    grade : {"certain", "likely", "extraction artifact"}
        Certain: with a running counterexample; likely: a question; extraction artifact: ours.
    weight : {"major", "minor", "typo", "wording"}
        How grave; wording has no counterexample.
    printed : str
        What the source says.
    problem : str
        What is wrong with it.
    corrected : str
        What to read instead.
    evidence : str
        What shows it.
    """

    grade: str
    weight: str
    printed: str
    problem: str
    corrected: str
    evidence: str


class Claim(NamedTuple):
    """One entry of the register.

    Attributes
    ----------
    id : str
        Source and name, as "thesis/lemma-2".
    number : str
        Number in the source, as "Lemma 2".
    section : str
        Section of the source.
    kind : str
        What it is: "lemma", "equation", "figure", "narrative" and so on.
    title : str
        What it is about.
    erratum : Erratum or None
        What is wrong in its print.
    chapter : str
        Key of CHAPTERS.
    uses : tuple of str
        Ids of the claims on which its statement or its proof rests.
    mentions : tuple of str
        Ids of those that the proof names and does not use.
    told : str
        The words of what no box states.
    verdicts : tuple of str
        Of a figure, a table or an experiment, on each thing that the source says of it.
    evidence : str
        Level, one of LEVELS, that its check must have.
    """

    id: str
    number: str
    section: str
    kind: str
    title: str
    erratum: Erratum | None
    chapter: str
    uses: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    told: str = ""
    verdicts: tuple[str, ...] = ()
    evidence: str = ""

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
    def status(self) -> str:
        """`told` for a narrative, which no block can check, and `checked` for everything else."""
        return "told" if self.kind == "narrative" else "checked"

    @property
    def statement(self) -> str:
        """What it states, in Markdown, whose displays have no labels; "" where there are no pages.

        Cost: at the first call one reading of all pages.
        """
        box = stated().get(self.id)
        return LABELED.sub("$$", box.text) if box else self.told

    @property
    def needs_counterexample(self) -> bool:
        """Whether what is printed is certainly wrong, so that a control must run it."""
        slip = self.erratum
        return bool(slip) and slip.grade == "certain" and slip.weight != "wording"


# What stands beside the pages ---------------------------------------------------------------------


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


def _order(book: Path) -> list[str]:
    """The pages (from `book/`, without suffix) in the order of the table of contents."""
    toc = book.parent / "_toc.yml"
    listed = re.findall(r"file: book/(\S+)", toc.read_text("utf-8")) if toc.exists() else []
    return [page.removesuffix(".md") for page in listed]


@cache
def beside(book: Path = BOOK) -> dict[str, dict]:
    """What stands beside each page that has something there, in the book's order.

    Parameters
    ----------
    book : Path, optional
        Folder of the pages; the book's by default.

    Returns
    -------
    dict of dict
        Of a page (from ``book/``, without suffix) its parts, of PARTS.

    Raises
    ------
    ValueError
        If a file is broken, has another part, or stands beside no page; the message names it.
    """
    files = {
        path.relative_to(book).with_suffix("").as_posix(): path
        for path in sorted(book.rglob("*.yml"))
        if path.name != "learning_paths.yml" and path.parent.name != "results"
    }
    listed = [page for page in _order(book) if page in files]
    found = {}
    for page in dict.fromkeys([*listed, *files]):
        path = files[page]
        try:
            parts = yaml.load(path.read_text("utf-8"), Loader=_Loader)
        except yaml.YAMLError as error:
            raise ValueError(f"{path}: {error}") from None
        if not (
            isinstance(parts, dict) and parts and all(isinstance(p, dict) for p in parts.values())
        ):
            raise ValueError(f"{path} has none of the parts {sorted(PARTS)}.")
        if parts.keys() > PARTS or parts.keys() - PARTS:
            raise ValueError(
                f"{path} has a part {min(parts.keys() - PARTS)!r}, not of {sorted(PARTS)}."
            )
        if book != CARRIED and not path.with_suffix(".md").exists():
            raise ValueError(f"{path} stands beside no page.")
        found[page] = parts
    return found


@cache
def _schema() -> Callable:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    schema["properties"]["evidence"] = {"enum": [*LEVELS]}
    return fastjsonschema.compile(schema)


def _entries(page: str, listed: dict) -> Iterator[Claim]:
    """The claims of one page; ValueError names it and the entry with what is wrong."""
    *_, folder, name = ("", *page.split("/"))
    chapter = FOLDERS.get(name, FOLDERS.get(folder, folder.partition("_")[0]))
    for name, fields in listed.items():
        try:
            _schema()({"id": name, **(fields or {})}, name_prefix=str(name))
        except fastjsonschema.JsonSchemaValueException as error:
            raise ValueError(f"{page}.yml: {error.message}, but it is {error.value!r}.") from None
        if chapter not in CHAPTERS:
            raise ValueError(f"{page}.yml: {name}: claims belong to a chapter or a companion.")
        erratum = Erratum(**fields["erratum"]) if "erratum" in fields else None
        told = fields.get("statement", "")
        lists = {key: tuple(fields.get(key, ())) for key in ("uses", "mentions", "verdicts")}
        words = {key: fields[key] for key in ("number", "section", "kind", "title")}
        words["evidence"] = fields.get("evidence", "")
        yield Claim(name, **words, **lists, erratum=erratum, chapter=chapter, told=told)


@cache
def register(book: Path = BOOK) -> dict[str, Claim]:
    """All claims, chapter by chapter, in the order of the pages.

    Parameters
    ----------
    book : Path, optional
        Folder of the pages; the book's by default.

    Returns
    -------
    dict of Claim
        The claims by id.

    Raises
    ------
    ValueError
        For what `beside` refuses, an entry that does not fit the schema, an id (or its anchor) that
        occurs twice, and a number that a source (of ours: a chapter) has twice, unless it says
        "unnumbered". The message names the page and the entry.

    Notes
    -----
    Cost: one parse of some 600 kB, then cached.
    """
    found, taken = {chapter: {} for chapter in CHAPTERS}, set()
    for page, parts in beside(book).items():
        for entry in _entries(page, parts.get("claims", {})):
            places = [entry.slug]
            if "unnumbered" not in entry.number:
                ours = entry.chapter if entry.source == "beyond" else ""
                places.append((entry.source, ours, entry.number))
            if entry.source == "beyond" and (letter := LETTER.search(entry.number)):
                places.append((entry.chapter, f"the letter of {letter[0]}"))
            for place in places:
                if place in taken:
                    raise ValueError(
                        f"{page}.yml: {entry.id}: {place} occurs twice in the register."
                    )
                taken.add(place)
            found[entry.chapter][entry.id] = entry
    return {name: entry for entries in found.values() for name, entry in entries.items()}


# What stands on the pages -------------------------------------------------------------------------


@cache
def on_pages(book: Path = BOOK) -> dict[str, list[Box]]:
    """The boxes that stand on the pages.

    Parameters
    ----------
    book : Path, optional
        Folder of the pages; the book's by default.

    Returns
    -------
    dict of list of Box
        Of each page that has some (from ``book/``, without suffix) its boxes, in order.
    """
    pages = {
        path.relative_to(book).with_suffix("").as_posix(): boxes(path.read_text("utf-8"))
        for path in sorted(book.rglob("*.md"))
    }
    return {page: found for page, found in pages.items() if found}


@cache
def stated(book: Path = BOOK) -> dict[str, Box]:
    """The box of each claim that has one.

    Parameters
    ----------
    book : Path, optional
        Folder of the pages; the book's by default.

    Returns
    -------
    dict of Box
        The boxes by the id of the claim.
    """
    return {name: box for found in on_pages(book).values() for box in found for name in box.claims}


def misstated(book: Path = BOOK) -> Iterator[str]:
    """What is wrong with where the claims are stated.

    Parameters
    ----------
    book : Path, optional
        Folder of the pages; the book's by default.

    Yields
    ------
    str
        A sentence on a box that leads to no claim, a claim that is stated twice, or one nowhere.
    """
    known, seen = register(book), {name for name, entry in register(book).items() if entry.told}
    for page, found in on_pages(book).items():
        for box in found:
            leads = box.claims or [box.leads_to]
            if unknown := [name for name in leads if name not in known]:
                yield f"{page}.md: {box.title!r} states {unknown[0]!r}, which no page.yml has."
            yield from (
                f"{page}.md: {name} is stated twice." for name in box.claims if name in seen
            )
            seen |= {*box.claims}
    yield from (f"{name} has neither a box nor a statement." for name in known if name not in seen)


def levels() -> dict[str, int]:
    """How many claims have each level of evidence.

    Returns
    -------
    dict of int
        The numbers by the level in words, the strongest first.
    """
    found = [entry.evidence for entry in register().values()]
    return {words: found.count(level) for level, words in LEVELS.items() if level in found}


def counts() -> dict[str, int]:
    """What is finished, as the first page and the README count it.

    Returns
    -------
    dict of int
        "registered" claims, of which "checked" and "told"; of the checked ones those "beyond" the
        sources and the "errata" that have a counterexample; the "chapters" and "companions" with
        one.
    """
    entries = register().values()
    checked = [entry for entry in entries if entry.status == "checked"]
    return {
        "chapters": len({e.section[0] for e in checked if e.source == "thesis"} - {"A"}),
        "companions": len({e.source for e in checked} & {"vidal", "helmbold-long"}),
        "registered": len(entries),
        "checked": len(checked),
        "told": len(entries) - len(checked),
        "beyond": sum(entry.source == "beyond" for entry in checked),
        "errata": sum(entry.needs_counterexample for entry in checked),
    }
