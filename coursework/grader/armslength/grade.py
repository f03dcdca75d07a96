"""Marks for a folder of submissions: one CSV, and one page of feedback a student.

    armslength-grade FOLDER [--assignment NAME] [--trees FOLDER] [--library NAME] [--due DATE]
        [--anonymous]

All is read before the first submission runs. What they earned is noted one by one, so a run that
was interrupted goes on where it was. The solution is graded like a submission, before the others
and after them: if it does not get full marks, something is wrong here, and no mark is written.
What is known of a notebook is kept, so marks by hand do not make it run again.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
from collections import deque
from dataclasses import asdict
from pathlib import Path

import jinja2

from armslength import alike, exports, inbox, marks, otter_source, overview, sandbox, table
from armslength.by_hand import pages as by_hand_pages
from armslength.grader import Grader, Grading, MachineError, Result, result_of
from armslength.submission import Limits

PAGE = Path(__file__).with_name("feedback.html")
UNCONFINED = (
    "Submissions were not confined to a sandbox ({}): they can read and change your files. A "
    "container that may make sandboxes keeps them out."
)

OTHER = (
    "This notebook was handed out in other conventions than the tests have. Make its own tests, "
    "and grade it again."
)
MOST_ARE_OTHERS = (
    "{} of {} notebooks were handed out in other conventions than the tests have. Make the tests "
    "of their term first."
)
CHANGED = "The tests gave {:g} in the last run, and give {:g} now."


class Journal:
    """What notebooks have earned from these tests, in a file, also in a run that did not end."""

    def __init__(self, path, solution):
        self.path = path
        self.solution = fingerprint(solution)
        self.found = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            # The last one may be a piece, and what an older grader wrote has other fields.
            with contextlib.suppress(ValueError, TypeError, KeyError):
                key, result = json.loads(line)
                self.found[key] = result_of(result)

    def get(self, handed):
        """The result of an earlier run, or None."""
        return self.found.get(self._key(handed))

    def add(self, handed, result):
        with self.path.open("a") as file:
            file.write(json.dumps([self._key(handed), asdict(result)]) + "\n")

    def _key(self, handed):
        return f"{self.solution} {fingerprint(handed.content)} {handed.student}"


def fingerprint(content):
    return hashlib.sha256(content).hexdigest()[:8]


def batch(grader, everything, limits, journal):
    """Pairs of a `Handed` and its `Result`, in this order, as many at once as there are cores."""
    waiting = deque()

    def first():
        handed, grading = waiting.popleft()
        try:
            result = grading.result()
        except MachineError as error:
            raise MachineError(f"{handed.student}: {error}") from None
        journal.add(handed, result)
        return handed, result

    for handed in everything:
        known = grader.failed(handed.remarks[0]) if handed.content is None else journal.get(handed)
        if known:
            while waiting:
                yield first()
            yield handed, known
            continue
        waiting.append((handed, Grading(grader, handed.content, limits)))
        if len(waiting) > (os.cpu_count() or 1):
            yield first()
    while waiting:
        yield first()


def check_solution(grader, limits):
    """Raises MachineError unless the solution gets full marks."""
    found = Grading(grader, grader.solution, limits).result()
    if found.score < found.possible:
        raise MachineError(f"Here the solution itself does not get full marks. {found}")


def conventions(content):
    """In which form a notebook was handed out; None if it does not say."""
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        return json.loads(content)["metadata"]["conventions"]


def shown(handed):
    """The name of a student as a terminal may show it: a file can be called anything."""
    return "".join(c if c.isprintable() else "?" for c in handed.student)


def place(handed):
    """The file that was handed in, or whose there is none."""
    return handed.path or handed.file, handed.file or handed.student


def joined(handed, result, by_hand, solution):
    """All that is known of a student: the result, with remarks and notes, and the marks by hand."""
    remarks, notes = list(handed.remarks), list(result.notes)
    if handed.content is not None:
        remarks += result.remarks
        if conventions(handed.content) not in (None, conventions(solution)):
            notes.append(OTHER)
        if by_hand.scored is not None and abs(by_hand.scored - result.score) > 1e-3:
            notes.append(CHANGED.format(by_hand.scored, result.score))
            print(f"{shown(handed)}: {notes[-1]}")
        now = fingerprint(handed.content)
        if by_hand.marks and by_hand.notebook not in ("", now):
            notes.append(marks.NEW)
        else:
            by_hand.notebook = now
    by_hand.date_changes(result)
    return handed, Result(result.marks, remarks, notes), by_hand


def write_pages(pages, folder):
    """Pairs (name, HTML) as the pages of a new folder."""
    folder.mkdir(parents=True)
    for name, html in pages:
        path = folder / f"{file_name(name)}.html"
        if path.exists():  # of a/b and of a-b
            path = folder / f"{file_name(name)}-{fingerprint(name.encode())}.html"
        path.write_text(html, encoding="utf-8", errors="replace")


def swap(new, out):
    """Put all that lies in the folder `new` in the place of what has the same name in `out`."""
    for path in sorted(new.iterdir()):
        if (out / path.name).is_dir():
            shutil.rmtree(out / path.name)
        os.replace(path, out / path.name)
    new.rmdir()


@contextlib.contextmanager
def named(student):
    """Errors in what is done for one student name the student."""
    try:
        yield
    except Exception as error:
        raise MachineError(f"{student}: {type(error).__name__}: {error}") from error


def feedback(graded, source, due):
    """A page for each student: pairs (name, HTML)."""
    page = jinja2.Environment(autoescape=True).from_string(PAGE.read_text())
    full = overview.full_marks(graded, source)
    for handed, result, by_hand in graded:
        with named(handed.student):
            html = page.render(
                student=handed.name or handed.student,
                title=source.title(),
                result=result,
                by_hand=by_hand,
                automatic=by_hand.automatic(result),
                questions=source.questions,
                hints={mark.question: mark.hints for mark in result.marks},
                full=full,
                total=by_hand.total(handed, source, result),
                possible=sum(question.points for question in source.questions),
                late=handed.hours_late(due),
            )
        yield handed.student, html


def file_name(student):
    """`student` as the name of a file, which may have 255 bytes."""
    name = student.replace("/", "-")
    if len(name.encode()) <= 200:
        return name
    return f"{name.encode()[:180].decode(errors='ignore')}-{fingerprint(name.encode())}"


def grade(folder, name, trees, out, limits, library=(), due=None, anonymous=False):
    """Grade all that is in `folder`. Raises ValueError, OSError or MachineError, in a sentence."""
    source = otter_source.read(trees / "instructor" / name)
    list_of_students = folder.resolve().parent / "roster.csv"
    roster = inbox.roster(list_of_students, name) if list_of_students.exists() else None
    everything = inbox.read(folder, limits.notebook, roster)
    by_hand = marks.read(out / "marks.csv", source, everything)
    if anonymous:
        marks.encode(by_hand.values())
    private = sandbox.exposed([folder, trees], library)
    if sandbox.trouble():
        print(UNCONFINED.format(sandbox.trouble()), flush=True)
    elif private:
        raise ValueError(f"{private[0]} lies among Python's own files, which submissions can read.")
    grader = Grader(trees / "instructor" / name, library)
    told = [conventions(handed.content or b"") for handed in everything if handed.listed]
    told = [form for form in told if form is not None]
    others = sum(form != conventions(grader.solution) for form in told)
    if others > len(told) / 2:
        raise ValueError(MOST_ARE_OTHERS.format(others, len(told)))
    check_solution(grader, limits)
    out.mkdir(parents=True, exist_ok=True)
    journal = Journal(out / "results.jsonl", grader.solution)
    once, results = {}, {}  # by file, since what a group hands in runs once
    for handed in everything:
        once.setdefault(place(handed), handed)
    for handed, result in batch(grader, once.values(), limits, journal):
        results[place(handed)] = result
        print(f"{shown(handed)}: {result.score:g} of {result.possible:g}", flush=True)
    graded = [
        joined(handed, results[place(handed)], by_hand[handed.student], grader.solution)
        for handed in everything
    ]
    try:
        check_solution(grader, limits)
    except MachineError:
        journal.path.unlink(missing_ok=True)
        raise
    if sandbox.trouble():
        for _, result, _ in graded:
            result.notes.append(UNCONFINED.format(sandbox.trouble()))
    new = out / "new"  # nothing of the last run is touched before all of this one is written
    shutil.rmtree(new, ignore_errors=True)
    write_pages(feedback(graded, source, due), new / "feedback")
    names = {handed.student: handed.name or handed.student for handed in everything}
    answers = everything
    if anonymous:  # in the order of their codes
        names = {student: written.code for student, written in by_hand.items()}
        answers = sorted(everything, key=lambda handed: names[handed.student])
    write_pages(by_hand_pages(answers, source, names), new / "by_hand")
    exports.write(graded, source, new)
    given = (trees / "student" / name / f"{name}.ipynb").read_bytes()
    alike.write(everything, given, new)
    table.write(new / "questions.csv", overview.rows(graded, source, grader.tests))
    table.write(new / "marks.csv", marks.rows(graded, source, due))
    if (out / "marks.csv").exists():
        shutil.copy2(out / "marks.csv", new / "marks.csv.bak")
    swap(new, out)
    print(f"Rows: {len(graded)}, in {out / 'marks.csv'}. What goes with them lies beside it.")
    if unsure := [shown(handed) for handed, *_ in graded if not handed.sure]:
        print(
            f"Nothing was found of {', '.join(unsure)}, while some files are nobody's: see the "
            f"remarks. Until roster.csv says whose they are, or they are moved away, these "
            f"students have no mark."
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="one file, or one folder, a student")
    parser.add_argument("--assignment", help="if the folder does not have its name")
    parser.add_argument("--trees", type=Path, default=Path("trees"), help="of armslength-assign")
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        metavar="NAME",
        help="a package of the course, which submissions may use wherever it lies",
    )
    parser.add_argument("--due", type=str, help='such as "2027-05-03 18:00"')
    parser.add_argument("--anonymous", action="store_true", help="codes for names, to mark by hand")
    options = parser.parse_args()

    def stop(sentence):
        parser.exit(2, f"{sentence}\n")

    if not options.folder.is_dir():
        stop(f"There is no folder {options.folder}.")
    name = options.assignment or options.folder.resolve().name
    made = sorted(path.name for path in options.trees.glob("instructor/*"))
    if not made:
        stop(f"There is no assignment in {options.trees}: make it first.")
    if name not in made:
        stop(
            f"Which assignment is this? Give the folder its name, or name the assignment, "
            f"one of: {', '.join(made)}."
        )
    out = options.trees / "graded" / name
    try:
        due = inbox.due(options.due) if options.due else None
        library, anonymous = options.library, options.anonymous
        grade(options.folder, name, options.trees, out, Limits(), library, due, anonymous)
    except (ValueError, OSError, MachineError) as error:
        stop(f"No marks were written. {error}")
    except KeyboardInterrupt:
        stop("Interrupted: the same command goes on where it was.")


if __name__ == "__main__":
    main()
