"""A slip costs one question: nothing that is given or asked for calls an earlier answer.

That a wrong answer then loses no other marks is tested in test_marks.py.
"""

import ast
import re

import pytest

from armslength.otter_source import bound_names
from coursework.tools import sources

NAMES = sources.names()
QUESTIONS = [
    (name, number)
    for name in NAMES
    for number, question in enumerate(sources.read(name).questions)
    if not question.manual
]


def earlier(source, number):
    """What the questions before bind that are marked by tests."""
    before = (q for q in source.questions[:number] if not q.manual)
    return {name for q in before for name in bound_names(q.code())}


@pytest.mark.parametrize(("name", "number"), QUESTIONS)
def test_no_solution_uses_an_earlier_answer(name, number):
    source = sources.read(name)
    question = source.questions[number]
    nodes = list(ast.walk(ast.parse(question.code())))
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    assert not (used - own) & earlier(source, number)
    called = set(re.findall(r"`(\w+)\(", "\n".join(question.text)))
    assert not called & earlier(source, number)


@pytest.mark.parametrize("name", NAMES)
def test_no_given_cell_calls_an_answer(name):
    source = sources.read(name)
    answers = earlier(source, len(source.questions))
    for cell in source.given:
        if cell.cell_type == "code":
            calls = (n.func for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Call))
            assert not {f.id for f in calls if isinstance(f, ast.Name)} & answers
