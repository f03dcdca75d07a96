"""The register of claims: every numbered statement of the sources, in `book/claims/*.yml`."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

BOOK = Path(__file__).resolve().parents[3] / "book"
KINDS = (
    "assumption", "definition", "equation", "lemma", "proposition", "theorem", "corollary",
    "algorithm", "remark", "figure", "table", "experiment",
)  # fmt: skip
STATUSES = ("checked", "planned")
GRADES = ("certain", "likely", "extraction artefact")
WEIGHTS = ("major", "minor", "typo")
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


class Erratum(NamedTuple):
    """A slip found in a source: how sure, how grave, and what to read instead."""

    grade: str
    weight: str
    printed: str
    problem: str
    corrected: str
    evidence: str


class Claim(NamedTuple):
    """One entry of the register; `status` is `planned` until its chapter is written."""

    id: str
    number: str
    section: str
    kind: str
    title: str
    statement: str
    check: str
    how: str
    cost: str
    erratum: Erratum | None
    chapter: str
    status: str = "checked"
    no_control: str = ""

    @property
    def slug(self) -> str:
        """The id as it stands in HTML anchors."""
        return re.sub(r"[/.]", "-", self.id)

    @property
    def name(self) -> str:
        """The number, and whose it is where it is not the thesis' own."""
        source = self.id.split("/")[0]
        return self.number if source != "vidal" else f"Vidal, {self.number}"


def entry(fields: dict, chapter: str) -> Claim:
    """One claim from the mapping of a register file; ValueError names what is wrong with it."""
    name = fields.get("id", "an entry without id")
    fields = dict(fields)
    erratum = fields.pop("erratum", None)
    try:
        erratum = Erratum(**erratum) if erratum else None
        found = Claim(**fields, erratum=erratum, chapter=chapter)
    except TypeError as error:
        raise ValueError(f"{name} in the register of {chapter}: {error}.") from None
    vocabulary = [("kind", found.kind, KINDS), ("status", found.status, STATUSES)]
    if erratum:
        vocabulary += [("grade", erratum.grade, GRADES), ("weight", erratum.weight, WEIGHTS)]
    for field, value, allowed in vocabulary:
        if value not in allowed:
            raise ValueError(f"{name}: {field} is {value!r}, allowed are {', '.join(allowed)}.")
    return found


@cache
def register(folder: Path = BOOK / "claims") -> dict[str, Claim]:
    """All claims by id, in the order of the sources.

    Raises ValueError, naming the entry, on an unknown field, kind, status, grade or weight, and on
    an id (or its anchor) that occurs twice. Cost: one parse of some 700 kB, then cached.
    """
    claims, slugs = {}, set()
    for chapter in CHAPTERS:
        for path in (folder / f"{chapter}.yml", folder / f"beyond-{chapter}.yml"):
            if not path.exists():
                continue
            for fields in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader):
                found = entry(fields, chapter)
                if found.slug in slugs:
                    raise ValueError(f"{found.id} occurs twice in the register.")
                slugs.add(found.slug)
                claims[found.id] = found
    return claims


def checks_in(page: str) -> Iterator[str]:
    """The ids of the `claim("...")` blocks in the code cells of a MyST page, in order."""
    for cell in re.finditer(r"^(`{3,})\{code-cell\}.*?^\1$", page, re.M | re.S):
        yield from re.findall(r"""\bclaim\(\s*["']([^"']+)["']\s*\)""", cell[0])
