"""The marks: all for the solution, none for nothing, and a wrong answer loses its question.

It loses no other one, in a notebook whose other answers are right and follow the text (honest.yml):
they call what the text tells them to call, never mind what the solution does.
"""

import pytest

from armslength.otter_source import worth
from coursework.tests.conftest import notebook, with_answers
from coursework.tools import sources

NAMES = sources.names()
WRONG = [(name, *wrong) for name in NAMES for wrong in sources.wrong_answers(name)]


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_gets_full_marks(grade, name):
    result = grade(name, notebook("instructor", name))
    assert all(mark.score == mark.possible for mark in result.marks), result
    assert not result.remarks


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_notebook_gets_full_marks(grade, name):
    answers = sources.honest_answers(name)
    assert set(answers) == {q.name for q in sources.read(name).questions if not q.manual}
    result = grade(name, with_answers(name, answers))
    assert all(mark.score == mark.possible for mark in result.marks), result
    assert not result.remarks


@pytest.mark.parametrize("name", NAMES)
def test_the_empty_notebook_gets_nothing(grade, name):
    assert grade(name, notebook("student", name)).score == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_marks_are_those_of_the_questions(grade, name):
    source = sources.read(name)
    automatic = {q.name: q.points for q in source.questions if not q.manual}
    result = grade(name, notebook("student", name))
    assert {mark.question: mark.possible for mark in result.marks} == automatic
    assert len(source.questions) >= 6
    assert sum(q.manual for q in source.questions) == 2


@pytest.mark.parametrize("name", NAMES)
def test_three_wrong_answers_to_each_question(name):
    listed = [question for other, question, *_ in WRONG if other == name]
    for question in sources.read(name).questions:
        if not question.manual:
            assert question.hidden_tests, f"{question.name} has no hidden test"
            if not question.all_or_nothing:
                assert sum(map(worth, question.hidden_tests)) == question.points
            assert listed.count(question.name) >= 3, f"{question.name} has fewer than three"


@pytest.mark.parametrize(("name", "question", "what", "code"), WRONG, ids=lambda x: x[:40])
def test_a_wrong_answer_loses_its_question_and_no_other(grade, name, question, what, code):
    result = grade(name, with_answers(name, sources.honest_answers(name) | {question: code}))
    lost = {mark.question for mark in result.marks if mark.score < mark.possible}
    assert lost == {question}, result
    in_parts = {q.name for q in sources.read(name).questions if not q.all_or_nothing}
    scores = {mark.question: mark.score for mark in result.marks}
    assert scores[question] == 0 or question in in_parts


def test_what_is_right_by_itself_earns_its_part(grade):
    name = "equalize_a_network"
    codes = {what: code for _, what, code in sources.wrong_answers(name)}
    result = grade(name, with_answers(name, {"counts": codes["a natural logarithm"]}))
    assert [mark.score for mark in result.marks if mark.question == "counts"] == [1]
    assert result.score == result.possible - 1
