"""Marks for a folder of submissions: one CSV, and one page of feedback a student.

    python -m coursework.tools.grade FOLDER [--assignment NAME] [--out FOLDER] [--user NAME]

Otter runs a submission and its tests in one process, where the submission can replace what the
tests use. Here the tests, which are otter's, run in this process, on a clean numpy and a clean
library, and what they ask of the submission is asked of another process (submission.py).
"""

import argparse
import ast
import contextlib
import csv
import io
import json
import multiprocessing
import os
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import jinja2
import matplotlib
from IPython.core.inputtransformer2 import TransformerManager
from otter.test_files.ok_test import OKTestFile

from coursework.tools import sources
from coursework.tools.student_side import can_confine, pretend_otter
from coursework.tools.submission import Limits, Origin, Submission, Unanswered, code_cells

INSTRUCTOR = Path("_build/coursework/instructor")
PAGE = Path(__file__).with_name("feedback.html")


@dataclass
class Mark:
    """What one question earned, and what the student is told."""

    question: str
    score: float
    possible: float
    hints: list[str] = field(default_factory=list)


@dataclass
class Result:
    """What one submission earned."""

    student: str
    marks: list[Mark]
    remarks: list[str]

    @property
    def score(self):
        return sum(mark.score for mark in self.marks)

    @property
    def possible(self):
        return sum(mark.possible for mark in self.marks)


class Grader:
    """The tests of one assignment, and what they need: its solution, executed here once."""

    def __init__(self, name, instructor=None):
        self.source = sources.read(name)
        notebook = json.loads((Path(instructor or INSTRUCTOR) / name / f"{name}.ipynb").read_text())
        tests = notebook["metadata"]["otter"]["tests"]
        self.tests = {
            q.name: OKTestFile.from_metadata(tests[q.name], "")
            for q in self.source.questions
            if q.name in tests
        }
        self.answers = {q.name: sources.bound_names(q.code()) for q in self.source.questions}
        self.clean = run_notebook(notebook)
        self.origin = Origin(imports(notebook))

    def failed(self, student, remark):
        """The result of a submission that gives nothing to grade."""
        marks = [Mark(name, 0, test.possible, [remark]) for name, test in self.tests.items()]
        return Result(student, marks, [remark])

    def grade(self, path, student, limits, user=None):
        """The result of one submission. In a process of its own: see `grade_safely`."""
        try:
            cells = code_cells(path, limits)
        except Unanswered as error:
            return self.failed(student, str(error))
        with Submission(cells, limits, self.origin, user) as submission:
            marks = [self.mark(test, submission) for test in self.tests.values()]
            remarks = [
                f"Code cell {number + 1}: {remark}"
                for number, remark in sorted(submission.remarks.items())
            ]
        return Result(student, marks, remarks)

    def mark(self, test, submission):
        """Run the tests of one question on what the submission has.

        Of the names that the question's solution binds, and of no others, the tests see the
        submission's values: a slip in another question costs nothing here.
        """
        found = [
            node
            for case in test.test_cases
            for node in ast.walk(ast.parse(plain(case.body)))
            if isinstance(node, ast.Name)
        ]
        own = {node.id for node in found if isinstance(node.ctx, ast.Store)}
        asked = ({node.id for node in found} - own) & self.answers[test.name]
        environment = dict(self.clean)
        missing = []
        for name in sorted(asked):
            try:
                environment[name] = submission.get(name)
            except KeyError:
                missing.append(f"`{name}` has no value that can be graded.")
        if missing:
            return Mark(test.name, 0, test.possible, missing)
        test.run(environment)
        score = round(test.score, 6)
        return Mark(test.name, score, test.possible, list(dict.fromkeys(hints(test))))

    def grade_safely(self, path, student, limits, user=None):
        """`grade` in a process of its own: whatever happens there, this one gets a result."""
        ours, theirs = multiprocessing.Pipe(duplex=False)

        def work():
            theirs.send(asdict(self.grade(path, student, limits, user)))

        process = multiprocessing.get_context("fork").Process(target=work)
        process.start()
        theirs.close()
        try:
            if not ours.poll(limits.total + 30):
                raise EOFError
            found = ours.recv()
            result = Result(student, [Mark(**m) for m in found["marks"]], found["remarks"])
        except EOFError:
            result = self.failed(student, "Grading this submission did not end.")
        process.kill()
        process.join()
        return result


def run_notebook(notebook):
    """The names that a trusted notebook defines, from running it here."""
    matplotlib.use("agg")
    otter = sys.modules.get("otter")
    pretend_otter()
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in python(notebook):
            exec(source, names)
    sys.modules["otter"] = otter
    return names


def python(notebook):
    """Its code cells, as Python sees them."""
    transform = TransformerManager().transform_cell
    cells = notebook["cells"]
    return [transform("".join(c["source"])) for c in cells if c["cell_type"] == "code"]


def imports(notebook):
    """All that a trusted notebook imports, wherever it does."""
    nodes = (node for source in python(notebook) for node in ast.walk(ast.parse(source)))
    return "\n".join(ast.unparse(n) for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))


def plain(doctest):
    """The code of a doctest, without its prompts."""
    return "\n".join(line[4:] for line in doctest.splitlines() if line[:3] in (">>>", "..."))


def hints(test):
    """What a student is told of the tests that failed: never the code of a hidden one."""
    for result in test.test_case_results:
        if not result.passed:
            case = result.test_case
            known = "A hidden test failed." if case.hidden else "A visible test failed."
            yield case.failure_message or known


def submitted(folder):
    """Pairs (student, file): "ada" for `folder/ada.ipynb`, "ada-hw" for `folder/ada/hw.ipynb`.

    What is no notebook keeps its ending, and what comes twice has a number, so that none is lost.
    """
    times = Counter()
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in inside.parts):
            student = "-".join(inside.parts).removesuffix(".ipynb")
            times[student] += 1
            yield f"{student} ({times[student]})" if times[student] > 1 else student, path


def columns_by_hand(source):
    """The columns of marks.csv that an instructor fills: column by question."""
    return {q.name: f"{q.name} (by hand, of {q.points:g})" for q in source.questions if q.manual}


def written_by_hand(path, source):
    """What an instructor wrote into an earlier marks.csv: question to mark, by student.

    Raises ValueError for a file without these columns: to write over it might lose marks.
    """
    if not path.exists():
        return {}
    columns = columns_by_hand(source)
    with open(path, newline="", encoding="utf-8-sig") as file:  # a spreadsheet may add the mark
        rows = csv.DictReader(file)
        if not {"student", *columns.values()} <= set(rows.fieldnames or ()):
            raise ValueError(f"{path} has other columns than those written here. Move it away.")
        found = {
            row["student"]: {name: row[column] for name, column in columns.items() if row[column]}
            for row in rows
        }
    return {student: marks for student, marks in found.items() if marks}


def write(results, grader, out, hand):
    """marks.csv and feedback/<student>.html; `hand` is what `written_by_hand` found."""
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    columns = columns_by_hand(grader.source)
    with open(out / "marks.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        graded = [f"{name} (of {test.possible:g})" for name, test in grader.tests.items()]
        head = ["student", *graded, "automatic", "automatic, of", *columns.values(), "remarks"]
        rows.writerow(head)
        for result in results:
            student = cell(result.student)
            marks = [f"{mark.score:g}" for mark in result.marks]
            total = [f"{result.score:g}", f"{result.possible:g}"]
            written = [hand.get(student, {}).get(name, "") for name in columns]
            remarks = " | ".join(map(cell, result.remarks))
            rows.writerow([student, *marks, *total, *written, remarks])
    page = jinja2.Environment(autoescape=True).from_string(PAGE.read_text())
    title = grader.source.title()
    by_hand = [q for q in grader.source.questions if q.manual]
    for result in results:
        written = hand.get(cell(result.student), {})
        html = page.render(result=result, title=title, by_hand=by_hand, written=written)
        (out / "feedback" / f"{result.student}.html").write_text(html, encoding="utf-8")


def cell(text):
    """`text` for a spreadsheet, which must not take it for a formula."""
    text = " ".join(text.split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="one file, or one folder, a student")
    parser.add_argument("--assignment", help="if the folder does not have its name")
    parser.add_argument("--out", type=Path, help="default: _build/coursework/graded/ASSIGNMENT")
    parser.add_argument("--user", help="run submissions as this user (needs root)")
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"There is no folder {options.folder}.")
    name = options.assignment or options.folder.resolve().name
    if name not in sources.names():
        parser.error(
            f"Which assignment is this? Give the folder its name, or say ASSIGNMENT=..., "
            f"one of: {', '.join(sources.names())}."
        )
    if not (INSTRUCTOR / name).is_dir():
        parser.error("Make the assignments first: make coursework.")
    out = options.out or Path("_build/coursework/graded") / name
    found = list(submitted(options.folder))
    try:
        hand = written_by_hand(out / "marks.csv", sources.read(name))
    except ValueError as error:
        parser.error(str(error))
    if gone := sorted(set(hand) - {cell(student) for student, _ in found}):
        parser.error(
            f"{out / 'marks.csv'} has marks by hand for {', '.join(gone)}, of whom nothing is in "
            f"{options.folder}. Put all submissions there, or move that file away."
        )
    if not can_confine():
        print("This machine cannot confine submissions to a folder: see coursework/GRADING.md.")
    grader = Grader(name)
    solution = INSTRUCTOR / name / f"{name}.ipynb"
    known = grader.grade_safely(solution, "solution", Limits(), options.user)
    if known.score < known.possible:  # it is not the students' fault
        parser.error(
            f"Nothing is graded: here the solution itself does not get full marks. {known}"
        )
    results = []
    for student, path in found:
        results.append(grader.grade_safely(path, student, Limits(), options.user))
        print(f"{student}: {results[-1].score:g} of {results[-1].possible:g}", flush=True)
    write(results, grader, out, hand)
    print(f"{len(results)} submissions: {out / 'marks.csv'} and {out / 'feedback'}{os.sep}")


if __name__ == "__main__":
    main()
