"""An assignment as its author wrote it: questions, solutions, tests, wrong answers."""

import ast
import hashlib
import re
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import jupytext
import yaml

COURSEWORK = Path(__file__).resolve().parents[1]
CONFIG = re.compile(r"#\s*(BEGIN|END) (QUESTION|SOLUTION|PROMPT|TESTS)", re.IGNORECASE)
HINT = re.compile(r"^failure_message: *([^\s\"'|>].*)$", re.MULTILINE)  # in no quotes
TEST_CONFIG = re.compile(r'"""\s*# BEGIN TEST CONFIG(.*)"""\s*# END TEST CONFIG', re.DOTALL)
# What the last check of a question says when it passes, unless its author wrote something else.
PASSED = "Right as far as this test looks. The tests that give marks look further."
PREDICTED = "This earns the mark, right or wrong. The notebook shows later what is true."
FORM_ONLY = "The answer has the right form. Whether it is right, you learn after grading."


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
        """Its title, in the second cell."""
        return self.notebook.cells[1].source.split("\n")[0].strip("# ")


def names():
    """The assignments: the folders that hold a notebook of their own name."""
    return sorted(path.stem for path in COURSEWORK.glob("*/*.md") if path.stem == path.parent.name)


def read(name, variant=()):
    """The assignment `name`, in one of its `variants`. Raises SourceError."""
    for file in (f"{name}.md", "honest.yml", "wrong.yml", "notes.md"):
        if not (COURSEWORK / name / file).is_file():
            raise SourceError(f"coursework/{name}/{file} is missing: see coursework/WRITING.md.")
    written = (COURSEWORK / name / f"{name}.md").read_text(encoding="utf-8")
    notebook = jupytext.reads(varied(name, written, variant), fmt="md:myst")
    questions, given, block, visible = [], [], [], None
    for cell in notebook.cells:
        mark = CONFIG.match(cell.source) if cell.cell_type == "raw" else None
        if mark and mark[1] == "END":
            if block.pop() == "TESTS" and questions[-1].visible_tests:
                say(PREDICTED if questions[-1].name == "predict" else PASSED, visible)
                questions[-1].visible_tests[-1] = visible.source
        elif mark:
            block.append(mark[2])
            if mark[2] == "QUESTION":
                settings = mapping(cell.source, f"{name}.md: question {len(questions) + 1}")
                known = ("name", "points", "manual", "all_or_nothing")
                keys = {key: settings[key] for key in known if key in settings}
                questions.append(Question(**keys))
        elif not block:
            given.append(cell)
        elif block[-1] == "SOLUTION":
            questions[-1].solution.append(cell)
        elif block[-1] == "TESTS":
            question = questions[-1]
            hidden = is_hidden(cell, f"{name}.md: a test of {question.name}")
            (question.hidden_tests if hidden else question.visible_tests).append(cell.source)
            visible = visible if hidden else cell
        else:
            questions[-1].text.append(cell.source)
    return Source(name, notebook, questions, given)


def switches(name):
    """What variants.yml says: switch, form, place, and there what stands for what."""
    path = COURSEWORK / name / "variants.yml"
    return mapping(path.read_text(), f"{name}/variants.yml") if path.is_file() else {}


def variants(name):
    """All forms of an assignment, each a tuple of (switch, form); first (), the printed one."""
    choices = [
        [(), *(((switch, form),) for form in forms)] for switch, forms in switches(name).items()
    ]
    return [sum(choice, ()) for choice in product(*choices)]


def pick(name, term):
    """The variant for a term: never the printed form, unless there is no other."""
    others = variants(name)[1:] or [()]
    digest = hashlib.sha256(f"{term} {name}".encode()).digest()
    return others[int.from_bytes(digest) % len(others)]


def digest(name, variant):
    """A variant in a word that does not say which it is to whoever reads it."""
    return hashlib.sha256(f"{name} {variant}".encode()).hexdigest()[:12]


def varied(name, text, variant):
    """The source with the conventions of a variant, in text, answers and tests alike.

    A form lists pairs "what stands there: what stands there instead" under the question in which
    it stands, or under `story` for all of the text; first of all, `exchange` names pairs of letters
    that change places everywhere. SourceError if something is not there.
    """
    for switch, form in variant:
        places = dict(switches(name)[switch][form])
        for pair in places.pop("exchange", ()):
            other = str.maketrans(pair, pair[::-1])
            symbols = rf"(?<![a-z_\\])[{pair}]+(?![A-Za-z])"
            text = re.sub(symbols, lambda found, other=other: found[0].translate(other), text)
        for place, pairs in places.items():
            start = 0 if place == "story" else text.find(f"\nname: {place}\npoints:")
            end = None if place == "story" else text.find("# END QUESTION", start)
            part = text[start:end]
            for old, new in pairs.items():
                if start < 0 or old not in part:
                    raise SourceError(f"{name}/variants.yml: {switch}: {place}: no {old!r} there.")
                part = part.replace(old, new)
            text = text[:start] + part + (text[end:] if end else "")
    return text


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


def say(message, cell):
    """Let a cell of tests say this when it passes, unless it says something of its own."""
    written = TEST_CONFIG.match(cell.source)
    if written and "success_message" not in mapping(written[1], "a test"):
        begin = written.start(1)
        message = f"\nsuccess_message: {message}"
        cell.source = cell.source[:begin] + message + cell.source[begin:]


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


def honest_answers(name):
    """Code by question from honest.yml: the whole notebook as a student may have written it."""
    return mapping((COURSEWORK / name / "honest.yml").read_text(), f"{name}/honest.yml")


def wrong_answers(name):
    """Triples (question, what is wrong, code of the solution with that) from wrong.yml.

    There a wrong answer is code that replaces the solution, or pairs of "what stands in the
    solution: what stands there instead"; SourceError if the former is not there exactly once.
    """
    solutions = {question.name: question.code() for question in read(name).questions}
    listed = mapping((COURSEWORK / name / "wrong.yml").read_text(), f"{name}/wrong.yml")
    for question, answers in listed.items():
        if question not in solutions:
            raise SourceError(f"{name}/wrong.yml: there is no question {question}.")
        for what, answer in answers.items():
            code = answer if isinstance(answer, str) else solutions[question]
            for old, new in () if isinstance(answer, str) else answer.items():
                if code.count(old) != 1:
                    raise SourceError(
                        f"{name}: {question}: {what}: {old!r} must stand in the solution once, "
                        f"but it stands there {code.count(old)} times."
                    )
                code = code.replace(old, new)
            yield question, what, code
