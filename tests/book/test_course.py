"""The page for those who teach: what does not fit is an error, and no answer is on it."""

import re
import shutil
from pathlib import Path

import pytest
from coursework.tools import course, sources, student_view

from helpers.books import build
from helpers.pages import needs

ROOT = Path(__file__).resolve().parents[2]
FIRST = "dropout_is_a_regularizer"


@pytest.fixture
def forge(tmp_path, monkeypatch):
    """Changes the first assignment in a copy of coursework/, which is then what is read."""
    copy = tmp_path / "coursework"
    shutil.copytree(ROOT / "coursework", copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "COURSEWORK", copy)

    def change(file, old, new):
        path = copy / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (f"{FIRST}.md", "name: penalty\npoints: 3", "name: penalty\npoints: 5"),
        (f"{FIRST}.md", "name: penalty\npoints: 3", "name: prize\npoints: 3"),
        ("notes.md", "| penalty | 40 | 3 |", "| penalty | 40 | 4 |"),
        ("notes.md", "| proof | 30 | 4 (by hand) |", "| proof | 30 | 4 |"),
        ("notes.md", "| penalty | 40 | 3 |", "| penalty | some | 3 |"),
    ],
)
def test_notes_that_do_not_fit_the_questions_are_an_error(forge, file, old, new):
    forge(f"{FIRST}/{file}", old, new)
    with pytest.raises(ValueError, match=f"{FIRST}: notes.md has"):
        course.assignments()


def test_an_assignment_without_a_place_fails_the_build(forge, tmp_path):
    forge("course.yml", f"{FIRST}:", "another:")
    message = f"The course: in course.yml or written, but not both: another, {FIRST}."
    (tmp_path / "index.md").write_text("# Page\n\n```{assignment-table}\n```\n", "utf-8")
    assert message in build(tmp_path)[1]


@pytest.mark.parametrize("one", course.assignments(), ids=lambda one: one.name)
def test_each_assignment_has_a_page_with_its_title_and_what_to_read_before(one):
    path = ROOT / "book" / "course" / f"{one.name}.md"
    assert f"\n# {one.title}\n\n```{{assignment}} {one.name}\n" in path.read_text("utf-8")
    assert needs(path) == one.before


def lines(*texts):
    return {line.strip() for text in texts for line in text.splitlines()}


def answers(source):
    """The lines of solutions and tests that stand nowhere else."""
    found, given = set(), [cell.source for cell in source.given]
    for question in source.questions:
        given += question.text
        found |= lines(*question.hidden_tests, *question.visible_tests)
        for cell in question.solution:
            inside = re.findall(r"# BEGIN SOLUTION\n(.*?)# END SOLUTION", cell.source, re.S)
            inside += re.findall(r"^.*# SOLUTION$", cell.source, re.M)
            found |= lines(*inside) if cell.cell_type == "code" else lines(cell.source)
    return found - lines(*given)


@pytest.mark.parametrize("name", sources.names())
def test_a_page_has_each_question_and_no_answer(name):
    """`make test-coursework` looks for parts of lines, in all of the site."""
    source = sources.read(name)
    shown = "\n".join(text for _, text in student_view.cells(source))
    assert len(answers(source)) > 50
    for question in source.questions:
        assert question.text[0] in shown
        assert f'grader.check("{question.name}")' in shown or question.manual
    assert not answers(source) & lines(shown)
