"""marks.csv: what the tests gave, what a teacher wrote, and the sum.

A teacher writes into the columns by hand, each with a comment beside it, and into `changed`, where
a mark of the tests is set to another one: "rate = 2: the text was unclear; curves = 1: half of it".
"""

import contextlib
import re
from collections import defaultdict
from dataclasses import dataclass, field

from armslength import table
from armslength.table import cell

CHANGED = "changed (question = mark: reason; ...)"
CHANGE = re.compile(r"(\w+) *= *([\d.,]+) *: *(.*\S)")
NEW = "The notebook is not the one that was marked by hand (empty `notebook` when you have looked)."


@dataclass
class ByHand:
    """What a teacher wrote for one student."""

    marks: dict[str, float] = field(default_factory=dict)  # by question
    comments: dict[str, str] = field(default_factory=dict)  # by question
    changes: dict[str, tuple[float, str]] = field(default_factory=dict)  # mark and reason
    changed: str = ""  # the same, as it was written
    notebook: str = ""  # what was marked
    scored: float | None = None  # by the tests, in the last run

    def automatic(self, result):
        """The marks by the tests, after changes."""
        return sum(self.changes.get(m.question, (m.score, ""))[0] for m in result.marks)

    def total(self, handed, source, result):
        """The sum of all marks; None while some by hand are missing of what was handed in, and for
        whom nothing is found while some files are nobody's."""
        if not handed.sure:
            return None
        if handed.file and not {q.name for q in source.questions if q.manual} <= set(self.marks):
            return None
        return self.automatic(result) + sum(self.marks.values())


def _columns(source):
    """Pairs (column of the mark, column of the comment) by question, of those marked by hand."""
    manual = [q for q in source.questions if q.manual]
    return {q.name: (f"{q.name} (by hand, of {q.points:g})", f"{q.name} comment") for q in manual}


def _tested(source):
    """The columns of the marks by tests."""
    return [f"{q.name} (of {q.points:g})" for q in source.questions if not q.manual]


def read(path, source, students):
    """What was written into an earlier marks.csv: a `ByHand` by student.

    Raises ValueError for what is no mark, for a file with other columns, since to write over it
    might lose marks, and for a student who is not among `students` any more.
    """
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
    by_tests = {question.name for question in source.questions if not question.manual}
    found = ByHand(changed=row.get(CHANGED, ""), notebook=row.get("notebook", ""))
    with contextlib.suppress(KeyError, ValueError):
        found.scored = sum(float(row[text].replace(",", ".")) for text in _tested(source))
    for name, (mark, comment) in _columns(source).items():
        if row[mark]:
            found.marks[name] = table.number(row[mark], points[name], f"{where}: {name}")
        if row.get(comment):
            found.comments[name] = row[comment]
    for text in filter(None, map(str.strip, found.changed.split(";"))):
        change = CHANGE.fullmatch(text)
        if not change or change[1] not in by_tests:
            raise ValueError(f"{where}: {text!r} is no change such as `rate = 2: the reason`.")
        name, mark, reason = change.groups()
        found.changes[name] = table.number(mark, points[name], f"{where}: {name}"), reason
    return found


def rows(graded, source, due=None):
    """The table of all that was `graded`, triples of a `Handed`, a `Result` and a `ByHand`."""
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
        *("total", "possible", "notebook", "remarks"),
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
            *(f"{by_hand.automatic(result):g}", f"{result.possible:g}", by_hand.changed),
            *written,
            *("" if total is None else f"{total:g}", f"{possible:g}", by_hand.notebook),
            " | ".join([*result.remarks, *result.notes]),
        ]
