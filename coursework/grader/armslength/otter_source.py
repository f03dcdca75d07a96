"""A notebook as its author wrote it, in the format of otter: questions, solutions, tests."""

import ast
import re
from dataclasses import dataclass, field

import nbformat
import yaml

CONFIG = re.compile(r"#\s*(BEGIN|END) (QUESTION|SOLUTION|PROMPT|TESTS)", re.IGNORECASE)
HINT = re.compile(r"^failure_message: *([^\s\"'|>].*)$", re.MULTILINE)  # in no quotes
SOURCE = "source.ipynb"  # in the instructor's tree
TEST_CONFIG = re.compile(r'"""\s*# BEGIN TEST CONFIG(.*)"""\s*# END TEST CONFIG', re.DOTALL)


class SourceError(ValueError):
    """What the author of an assignment must mend, in a sentence."""


@dataclass
class Question:
    """One question: its settings, and the sources of its cells."""

    name: str
    points: float
    manual: bool = False
    all_or_nothing: bool = False
    text: list[str] = field(default_factory=list)
    solution: list = field(default_factory=list)  # cells, as nbformat has them
    hidden_tests: list[str] = field(default_factory=list)
    visible_tests: list[str] = field(default_factory=list)

    def code(self):
        """The code of its solution."""
        return "\n".join(cell.source for cell in self.solution if cell.cell_type == "code")


@dataclass
class Source:
    """A notebook, its questions in order, and the cells that belong to none."""

    name: str
    notebook: dict
    questions: list[Question]
    given: list  # cells

    def title(self):
        """Its first heading, or else its name."""
        texts = (cell.source for cell in self.notebook.cells if cell.cell_type == "markdown")
        found = (re.match(r"#+ +(.*\S)", text) for text in texts)
        return next((heading[1] for heading in found if heading), self.name)

    def key(self):
        """The grading key: marks, and of each question what is right and what the tests look at."""
        total = sum(question.points for question in self.questions)
        parts = [f"# Key: {self.name.replace('_', ' ')}\n\n{total:g} marks.\n"]
        for question in self.questions:
            how = "by hand" if question.manual else "by tests"
            parts.append(f"## {question.name} ({question.points:g} marks, {how})\n")
            for cell in question.solution:
                code = cell.cell_type == "code"
                parts.append(f"```python\n{cell.source}\n```\n" if code else f"{cell.source}\n")
            if question.hidden_tests:
                parts.append("Hidden tests:\n")
                parts += [f"```python\n{test}\n```\n" for test in question.hidden_tests]
        return "\n".join(parts)


def read(instructor):
    """The assignment whose instructor's tree is at a path. Raises SourceError."""
    return parsed(instructor.name, nbformat.read(instructor / SOURCE, as_version=4))


def parsed(name, notebook):
    """The assignment `name` in a notebook of nbformat 4. Raises SourceError."""
    questions, given, block = [], [], []
    for cell in notebook.cells:
        mark = CONFIG.match(cell.source) if cell.cell_type == "raw" else None
        if mark and mark[1] == "END":
            block.pop()
        elif mark:
            block.append(mark[2])
            if mark[2] == "QUESTION":
                where = f"{name}: question {len(questions) + 1}"
                settings = mapping(cell.source, where)
                known = ("name", "points", "manual", "all_or_nothing")
                keys = {key: settings[key] for key in known if key in settings}
                if not isinstance(keys.get("points"), int | float) or "name" not in keys:
                    raise SourceError(f"{where} needs a name, and points that are a number.")
                questions.append(Question(**keys))
        elif not block:
            given.append(cell)
        elif block[-1] == "SOLUTION":
            questions[-1].solution.append(cell)
        elif block[-1] == "TESTS":
            question = questions[-1]
            hidden = is_hidden(cell, f"{name}: a test of {question.name}")
            (question.hidden_tests if hidden else question.visible_tests).append(cell.source)
        else:
            questions[-1].text.append(cell.source)
    return Source(name, notebook, questions, given)


def is_hidden(cell, where):
    """Whether a cell of tests is hidden, by its first line or its settings, as otter has it."""
    written = TEST_CONFIG.match(cell.source)
    if not written:
        return "hidden" in cell.source.split("\n")[0].lower()
    settings = mapping(written[1], where)
    hint = HINT.search(written[1])
    if hint and not str(settings["failure_message"]).startswith(hint[1].rstrip()):
        raise SourceError(f"{where}: {settings['failure_message']!r} is not all of it: quote it.")
    return bool(settings.get("hidden", False))


def worth(test):
    """The marks of one test of a question that is not all or nothing."""
    return mapping(TEST_CONFIG.match(test)[1], "a test").get("points", 0)


def mapping(text, where):
    """What a YAML mapping holds. Raises SourceError that says where there is none."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        problem = f"{getattr(error, 'problem', error)}"
        mark = getattr(error, "problem_mark", None)
        line = text.splitlines()[min(mark.line, text.count("\n"))].strip() if mark else ""
        raise SourceError(
            f"{where}: {line!r} is no YAML: {problem} (what holds a colon or a # needs quotes)."
        ) from None
    if not isinstance(found, dict):
        raise SourceError(f"{where}: the settings are not lines of the form `key: value`.")
    return found


def bound_names(source):
    """Names that a cell binds at top level: functions, classes, variables."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.With):
            found |= {
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store
            }
    return found
