"""The assignments as their authors wrote them: questions, variants, honest and wrong answers."""

import hashlib
import re
from itertools import product
from pathlib import Path

import jupytext

from armslength.otter_source import TEST_CONFIG, SourceError, mapping, parsed

COURSEWORK = Path(__file__).resolve().parents[1]
# What the last check of a question says when it passes, unless its author wrote something else.
PASSED = "Right as far as this test looks. The tests that give marks look further."
PREDICTED = "This earns the mark, right or wrong. The notebook shows later what is true."
FORM_ONLY = "The answer has the right form. Whether it is right, you learn after grading."


def names():
    """The assignments: the folders that hold a notebook of their own name."""
    return sorted(path.stem for path in COURSEWORK.glob("*/*.md") if path.stem == path.parent.name)


def read(name, variant=()):
    """The assignment `name`, in one of its `variants`. Raises SourceError."""
    for file in (f"{name}.md", "honest.yml", "wrong.yml", "notes.md"):
        if not (COURSEWORK / name / file).is_file():
            raise SourceError(f"coursework/{name}/{file} is missing: see coursework/WRITING.md.")
    written = (COURSEWORK / name / f"{name}.md").read_text(encoding="utf-8")
    source = parsed(name, jupytext.reads(varied(name, written, variant), fmt="md:myst"))
    cells = {cell.source: cell for cell in source.notebook.cells}
    for question in source.questions:
        if question.visible_tests:
            last = cells[question.visible_tests[-1]]
            last.source = saying(PREDICTED if question.name == "predict" else PASSED, last.source)
            question.visible_tests[-1] = last.source
    return source


def saying(message, test):
    """A test that says this when it passes, unless it says something of its own."""
    settings = TEST_CONFIG.match(test)
    if not settings or "success_message" in mapping(settings[1], "a test"):
        return test
    begin = settings.start(1)
    return f"{test[:begin]}\nsuccess_message: {message}{test[begin:]}"


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
