"""Nothing scores nothing: what answers every question alike passes no check and earns no mark."""

import numpy as np
import pytest

from armslength.otter_source import bound_names
from coursework.tests.in_process import all_pass, clean
from coursework.tools import sources

FAKES = {  # what a function answers, whatever it is asked, or what stands in the place of a value
    "nothing": None,
    "an empty tuple": (),
    "an empty dictionary": {},
    "an empty array": np.empty(0),
    "an empty column": np.empty((0, 1)),
    "an empty stack": np.empty((0, 1, 1)),
    "two empty arrays": (np.empty((0, 1, 1)), np.empty((0, 1, 1))),
    "no number": np.nan,
    "a pair of no numbers": (np.nan, np.nan),
    "zero": 0,
    "zeros": np.zeros((2, 2)),
    "a constant": 1.5,
    "infinity": np.inf,
    "true": True,
    "false": False,
    "text": "x",
}
QUESTIONS = [
    (name, question.name)
    for name in sources.names()
    for question in sources.read(name).questions
    if not question.manual
]


def answered(right, fake):
    """What stands in the place of a right answer: a function if that is one."""
    return (lambda *args, **kwargs: fake) if callable(right) else fake


def echo(*args, **kwargs):
    return args[0]


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_a_universal_fake_passes_neither_check_nor_test(name, question):
    names = clean(name)
    solution = next(q for q in sources.read(name).questions if q.name == question)
    own = bound_names(solution.code()) & set(names)
    assert own
    fakes = {what: {n: answered(names[n], fake) for n in own} for what, fake in FAKES.items()}
    if any(callable(names[n]) for n in own):
        fakes["what was given"] = {n: echo if callable(names[n]) else None for n in own}
    one_by_one = [] if solution.all_or_nothing else [[test] for test in solution.hidden_tests]
    for tests in (solution.visible_tests, solution.hidden_tests, *one_by_one):
        assert all_pass(tests, names), "the solution itself must pass"
        assert not {what for what, fake in fakes.items() if all_pass(tests, names | fake)}
