"""Conventions that can change: every variant is right in itself, and no key serves another."""

import pytest

from coursework.tests.in_process import all_pass, earned, solved
from coursework.tools import sources

VARIED = [name for name in sources.names() if sources.switches(name)]


@pytest.mark.parametrize("name", VARIED)
def test_each_variant_is_right_and_the_key_of_another_loses_half(name):
    forms = sources.variants(name)
    assert len(sources.switches(name)) >= 2
    assert sources.pick(name, "2027a") in forms[1:]
    found = {form: sources.read(name, form) for form in forms}
    for form, source in found.items():
        names = solved(source)
        automatic = [q for q in source.questions if not q.manual]
        for question in automatic:
            tests = [*question.visible_tests, *question.hidden_tests]
            assert all_pass(tests, names), f"{form}: {question.name}"
        for other in found.keys() - {form}:
            marks = 0
            for question, old in zip(source.questions, found[other].questions, strict=True):
                if question.manual:
                    continue
                copied = dict(names)
                exec(old.code(), copied)
                marks += earned(question, copied)
            assert marks <= sum(q.points for q in automatic) / 2, (form, other, marks)
