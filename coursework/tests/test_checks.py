"""What a student's check says: to a wrong answer, never that it is right without a word more."""

import contextlib
import io
import json

import pytest
from otter.test_files.ok_test import OKTestFile

from coursework.tests.conftest import notebook
from coursework.tests.in_process import clean
from coursework.tools import sources

LIMITED = (sources.PASSED, sources.FORM_ONLY)


def checked(name):
    """Triples (question, whether its check passes, what it says) for the wrong answers."""
    tests = json.loads(notebook("student", name))["metadata"]["otter"]["tests"]
    for question, what, code in sources.wrong_answers(name):
        names = dict(clean(name))
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
            check = OKTestFile.from_metadata(tests[question], "")
            check.run(names)
        yield question, check.passed_all, f"{what}: {check.summary()}{check._repr_html_()}"


@pytest.mark.parametrize("name", sources.names())
def test_a_check_that_passes_a_wrong_answer_says_what_it_does_not_judge(name):
    caught = {q.name: False for q in sources.read(name).questions if not q.manual}
    told = []
    for question, passes, says in checked(name):
        caught[question] |= not passes
        if passes:
            told.append((question, says))
            assert any(says.count(sentence) == 2 for sentence in LIMITED), (question, says)
    for question, says in told:  # a check that passes them all looks at the form alone
        assert (sources.FORM_ONLY in says) == (not caught[question]), (question, says)


@pytest.mark.parametrize("name", sources.names())
def test_each_check_says_one_sentence_when_it_passes(name):
    tests = json.loads(notebook("student", name))["metadata"]["otter"]["tests"]
    for question, test in tests.items():
        cases = test["suites"][0]["cases"]
        says = [case["success_message"] for case in cases if "success_message" in case]
        known = [sources.PREDICTED] if question == "predict" else LIMITED
        assert len(says) == 1, question
        assert says[0] in known, question
