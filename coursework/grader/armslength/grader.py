"""The marks of a submission: the tests run here, on what the submission answers elsewhere.

Otter runs a submission and its tests in one process, where the submission can replace what the
tests use. Here the tests, which are otter's, run in this process, on clean packages, and what they
ask of the submission is asked of another process (submission.py), in a
sandbox of its own (sandbox.py).
"""

import ast
import contextlib
import io
import json
import multiprocessing
import resource
import signal
import sys
from dataclasses import asdict, dataclass, field
from types import ModuleType

import matplotlib
from IPython.core.inputtransformer2 import TransformerManager
from otter.test_files.ok_test import OKTestFile

from armslength import otter_source
from armslength.sandbox import PATIENCE, Sandbox
from armslength.student_side import pretend_otter
from armslength.submission import UNREADABLE, Submission, Unanswered, code_cells

MOST_REMARKS = 20  # a field of a table has its limits


class MachineError(Exception):
    """What is not the fault of a submission, and so is no mark."""


@dataclass
class Mark:
    """What one question earned, and what the student is told."""

    question: str
    score: float
    possible: float
    failed: list[int]  # its tests, by number
    hints: list[str] = field(default_factory=list)


@dataclass
class Result:
    """What one submission earned."""

    marks: list[Mark]
    remarks: list[str]
    notes: list[str] = field(default_factory=list)  # for the teacher alone

    @property
    def score(self):
        return sum(mark.score for mark in self.marks)

    @property
    def possible(self):
        return sum(mark.possible for mark in self.marks)


class Grader:
    """The tests of one assignment, and what they need: its solution, executed here once.

    `folder` is its instructor's tree, and `library` names packages of the course.
    """

    def __init__(self, folder, library=()):
        self.source = otter_source.read(folder)
        self.solution = (folder / f"{folder.name}.ipynb").read_bytes()
        self.library = library
        notebook = json.loads(self.solution)
        tests = notebook["metadata"]["otter"]["tests"]
        self.tests = {
            q.name: OKTestFile.from_metadata(tests[q.name], "")
            for q in self.source.questions
            if q.name in tests
        }
        self.answers = {q.name: otter_source.bound_names(q.code()) for q in self.source.questions}
        self.clean = run_notebook(notebook)
        self.imports = imports(notebook)
        self.modules = {
            name
            for name, value in self.clean.items()
            if isinstance(value, ModuleType) and self.is_of_library(value.__name__)
        }
        self.used = self.library_names(python(notebook))

    def is_of_library(self, module):
        """Whether a module, of this name, is one of the course's packages."""
        return module.split(".")[0] in self.library

    def library_names(self, sources):
        """What some code takes from the library, such as "shallow.objective"."""
        found = set()
        for source in sources:
            with contextlib.suppress(*UNREADABLE):
                for node in ast.walk(ast.parse(TransformerManager().transform_cell(source))):
                    if isinstance(node, ast.ImportFrom) and self.is_of_library(f"{node.module}"):
                        module = node.module.split(".")[-1]
                        found |= {f"{module}.{alias.name}" for alias in node.names}
                    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                        known = {node.value.id} & self.modules
                        found |= {f"{module}.{node.attr}" for module in known}
        return found

    def failed(self, remark):
        """The result of a submission that gives nothing to grade."""
        return Result([lost(test, [remark]) for test in self.tests.values()], [remark])

    def grade(self, content, limits, sandbox=None):
        """The result of one submission, from its bytes. In a process of its own: see `Grading`.

        It runs in a sandbox of its own, unless one is given.
        """
        try:
            cells = code_cells(content)
        except Unanswered as error:
            return self.failed(str(error))
        own = contextlib.nullcontext(sandbox) if sandbox else Sandbox(self.imports, self.library)
        with own as box, Submission(cells, limits, box) as submission:
            marks = [self.mark(test, submission) for test in self.tests.values()]
            remarks = [
                f"Code cell {number + 1} ({cells[number].strip()[:40]!r}): {remark}"
                for number, remark in sorted(submission.remarks.items())
            ]
        more = len(remarks) - MOST_REMARKS
        remarks[MOST_REMARKS:] = [f"And so {more} more."] * (more > 0)
        more = self.library_names(cells) - self.used
        notes = [f"It uses {', '.join(sorted(more))}, which the solution does not."] * bool(more)
        return Result(marks, remarks, notes)

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
        submission.question()
        for name in sorted(asked):
            try:
                environment[name] = submission.get(name)
            except Unanswered as error:
                missing.append(f"{name}: {error}.")
        if missing:
            return lost(test, missing)
        test.run(environment)
        if submission.failure:
            raise submission.failure
        told = [*hints(test), *submission.complaints] if test.score < test.possible else []
        failed = [k for k, result in enumerate(test.test_case_results) if not result.passed]
        score, told = round(test.score, 6), list(dict.fromkeys(told))
        return Mark(test.name, score, test.possible, failed, told)


class Grading:
    """A submission that is being graded, in a process of its own: whatever happens there."""

    def __init__(self, grader, content, limits, sandbox=None):
        self.grader, self.limits = grader, limits
        self.ours, theirs = multiprocessing.Pipe(duplex=False)

        def work():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch hears it, and ends this
            most = resource.getrlimit(resource.RLIMIT_AS)[1]  # tests run on what was answered
            resource.setrlimit(resource.RLIMIT_AS, (2 * limits.memory, most))
            try:
                found = asdict(grader.grade(content, limits, sandbox))
            except Exception as error:  # never the submission's, whose own are caught before
                found = f"{type(error).__name__}: {error}"
            theirs.send(found)

        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=work, daemon=True)
        self.process.start()
        theirs.close()

    def result(self):
        """What it earned. Raises MachineError if it could not be graded."""
        try:
            if not self.ours.poll(self.limits.total + 2 * PATIENCE):
                raise EOFError
            found = self.ours.recv()
        except EOFError:
            found = asdict(self.grader.failed("Grading this submission did not end."))
        self.process.kill()
        self.process.join()
        if isinstance(found, str):
            raise MachineError(found)
        return result_of(found)


def result_of(found):
    """A `Result` from what `asdict` made of it."""
    return Result([Mark(**mark) for mark in found["marks"]], found["remarks"], found["notes"])


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


def lost(test, told):
    """The mark of a question of which there is nothing to test."""
    return Mark(test.name, 0, test.possible, list(range(len(test.test_cases))), told)


def hints(test):
    """What a student is told of the tests that failed: never the code of a hidden one."""
    for result in test.test_case_results:
        if not result.passed:
            case = result.test_case
            known = "A hidden test failed." if case.hidden else "A visible test failed."
            yield case.failure_message or known
