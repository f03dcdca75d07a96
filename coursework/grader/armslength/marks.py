"""marks.csv: what the tests gave, what a teacher wrote, and the sum.

A teacher writes into the columns by hand, each with a comment beside it, and into `changed`, where
any mark is set to another one: "rate = 2: Ada asked, the text was unclear; curves = 1: half of it".
The next run writes the old mark and the day into such a change, which stays, whatever follows it.
"""

import contextlib
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import permutations

from armslength import table
from armslength.table import cell

CHANGED = "changed (question = mark: reason; ...)"
CHANGE = re.compile(r"([^=]+?) *= *([\d.,]+) *(?:\(was ([\d.]+), ([\d-]{10})\))? *: *(.*\S)")
NEW = "The notebook is not the one that was marked by hand (empty `notebook` when you have looked)."


@dataclass(frozen=True)
class Change:
    """A mark that was set to another one."""

    question: str
    mark: float
    reason: str
    was: float | None = None  # None in the run that finds it
    when: str = ""

    def __str__(self):
        was = "" if self.was is None else f" (was {self.was:g}, {self.when})"
        return f"{self.question} = {self.mark:g}{was}: {self.reason}"


@dataclass
class ByHand:
    """What a teacher wrote for one student."""

    marks: dict[str, float] = field(default_factory=dict)  # by question
    comments: dict[str, str] = field(default_factory=dict)  # by question
    changes: list[Change] = field(default_factory=list)  # the first one first
    notebook: str = ""  # what was marked
    code: str = ""  # in the place of a name
    scored: float | None = None  # by the tests, in the last run

    def changes_of(self, question):
        """The changes of its mark, the first one first."""
        return [change for change in self.changes if change.question == question]

    def mark(self, question, result):
        """The mark of a question, by tests or by hand, after changes; None if it has none yet."""
        by_tests = {mark.question: mark.score for mark in result.marks}
        first = by_tests.get(question, self.marks.get(question))
        return next((change.mark for change in reversed(self.changes_of(question))), first)

    def automatic(self, result):
        """The marks by the tests, after changes."""
        return sum(self.mark(mark.question, result) for mark in result.marks)

    def total(self, handed, source, result):
        """The sum of all marks; None while some by hand are missing of what was handed in, and for
        whom nothing is found while some files are nobody's."""
        marks = [self.mark(question.name, result) for question in source.questions]
        if not handed.sure or (handed.file and None in marks):
            return None
        return sum(mark or 0 for mark in marks)

    def date_changes(self, result):
        """Note in what was changed since the last run the mark that it had, and the day."""
        for k, change in enumerate(self.changes):
            if change.was is None:
                before = replace(self, changes=self.changes[:k])
                was = before.mark(change.question, result)
                self.changes[k] = replace(change, was=was, when=f"{date.today()}")

    def take(self, other):
        """Take over what was written for another of the same group, where nothing stands here."""
        self.marks = other.marks | self.marks
        self.comments = other.comments | self.comments
        self.changes = self.changes or list(other.changes)


def _columns(source):
    """Pairs (column of the mark, column of the comment) by question, of those marked by hand."""
    manual = [q for q in source.questions if q.manual]
    return {q.name: (f"{q.name} (by hand, of {q.points:g})", f"{q.name} comment") for q in manual}


def _tested(source):
    """The columns of the marks by tests."""
    return [f"{q.name} (of {q.points:g})" for q in source.questions if not q.manual]


def read(path, source, everything):
    """What was written into an earlier marks.csv: a `ByHand` for each student.

    What is written for one of a group counts for the others, where nothing else stands. Raises
    ValueError for what is no mark, for a file with other columns, since to write over it might lose
    marks, and for a student of whom nothing is in `everything` any more.
    """
    written = _read(path, source, [handed.student for handed in everything])
    found = {handed.student: written.get(handed.student, ByHand()) for handed in everything}
    for one, other in permutations(everything, 2):
        if one.group and one.group == other.group:
            found[one.student].take(found[other.student])
    return found


def _read(path, source, students):
    """The rows of an earlier marks.csv that there are: a `ByHand` by student."""
    if not path.exists():
        return {}
    columns = _columns(source)
    known = {cell(student): student for student in students}
    short = defaultdict(list)  # 007, by a spreadsheet
    for student in known.values():
        short[student.lstrip("0")].append(student)
    found, gone = {}, []
    rows = table.read(path)
    if rows and not {"student", *(mark for mark, _ in columns.values())} <= set(rows[0]):
        raise ValueError(f"{path} has other columns than those written here. Move it away.")
    for row in rows:
        text = row["student"]
        likely = [known[text]] if text in known else short.get(text, [])
        if not likely:
            gone.append(text)
            continue
        student = likely[0]
        if len(likely) > 1 or student in found:
            raise ValueError(
                f"{path}: {text} may be {' or '.join(likely)}, or stands there twice. Has a "
                f"spreadsheet dropped zeros? Write them again, and save that column as text."
            )
        found[student] = _by_hand(row, source, f"{path}: {student}")
    if gone:
        raise ValueError(
            f"{path} has rows for {', '.join(gone)}, of whom nothing is in the folder. Put all "
            f"submissions there, delete these rows, or move that file away."
        )
    return found


def _by_hand(row, source, where):
    points = {question.name: question.points for question in source.questions}
    found = ByHand(notebook=row.get("notebook", ""), code=row.get("code", ""))
    with contextlib.suppress(KeyError, ValueError):
        found.scored = sum(float(row[text].replace(",", ".")) for text in _tested(source))
    for name, (mark, comment) in _columns(source).items():
        if row[mark]:
            found.marks[name] = table.number(row[mark], points[name], f"{where}: {name}")
        if row.get(comment):
            found.comments[name] = row[comment]
    for text in filter(None, map(str.strip, row.get(CHANGED, "").split(";"))):
        change = CHANGE.fullmatch(text)
        if not change or change[1] not in points:
            raise ValueError(f"{where}: {text!r} is no change such as `rate = 2: the reason`.")
        name, mark, was, when, reason = change.groups()
        if name in _columns(source) and name not in found.marks:
            raise ValueError(f"{where}: {name} has no mark yet that could be changed.")
        mark = table.number(mark, points[name], f"{where}: {name}")
        found.changes.append(Change(name, mark, reason, was and float(was), when or ""))
    return found


def encode(by_hand):
    """Give a code to each `ByHand` that has none, which says nothing of whose it is."""
    taken = {one.code for one in by_hand}
    free = [code for code in range(1000, 10_000) if str(code) not in taken]
    without = [one for one in by_hand if not one.code]
    for one, code in zip(without, random.SystemRandom().sample(free, len(without)), strict=True):
        one.code = str(code)


def rows(graded, source, due=None):
    """The table of all that was `graded`, triples of a `Handed`, a `Result` and a `ByHand`.

    It has a column of codes if there are some.
    """
    coded = any(by_hand.code for *_, by_hand in graded)
    columns = _columns(source)
    possible = sum(question.points for question in source.questions)
    yield [
        *(
            "student",
            "name",
            "file",
            "hours late",
            *_tested(source),
            "automatic",
            "automatic, of",
            CHANGED,
        ),
        *(column for pair in columns.values() for column in pair),
        *("total", "possible", "notebook", "remarks", *["code"] * coded),
    ]
    for handed, result, by_hand in graded:
        total = by_hand.total(handed, source, result)
        written = [
            text
            for name in columns
            for text in (f"{by_hand.marks[name]:g}" if name in by_hand.marks else "",
                         by_hand.comments.get(name, ""))
        ]  # fmt: skip
        yield [
            *(handed.student, handed.name, handed.file, handed.hours_late(due)),
            *(f"{mark.score:g}" for mark in result.marks),
            *(f"{by_hand.automatic(result):g}", f"{result.possible:g}"),
            "; ".join(map(str, by_hand.changes)),
            *written,
            *("" if total is None else f"{total:g}", f"{possible:g}", by_hand.notebook),
            " | ".join([*result.remarks, *result.notes]),
            *[by_hand.code] * coded,
        ]
