"""What a teacher gets beside the marks: exports, pages to mark by hand, pairs that are alike."""

import base64
import csv
import html
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import nbformat
import pytest
import yaml

from armslength import alike, by_hand, exports, overview
from armslength.grade import feedback
from armslength.grader import Mark, Result
from armslength.inbox import Handed
from armslength.marks import ByHand, Change
from coursework.tools import sources

NAME = "dropout_is_a_regularizer"
BEGIN, END = by_hand.BEGIN, by_hand.END
NAMES = {"ada": "Ada", "ben": "Ben", "cleo": "Cleo"}


@pytest.fixture
def source():
    return sources.read(NAME)


@pytest.fixture
def graded(source):
    """Ada, all of whose marks are there; Ben, some of whose are missing; Cleo, who had no time."""
    by_tests = [q for q in source.questions if not q.manual]
    right = [Mark(q.name, q.points, q.points, []) for q in by_tests]
    wrong = [Mark(q.name, 0, q.points, [1], ["Look at it."]) for q in by_tests]
    manual = {q.name: 1.0 for q in source.questions if q.manual}
    first = by_tests[0]
    return [
        (
            Handed("40312", "ada.ipynb", b"ada", name="Lovelace, Ada"),
            Result(right, []),
            ByHand(marks=manual, comments={"proof": "Say why."}),
        ),
        (
            Handed("007", "ben.ipynb", b"ben", name="Ben"),
            Result(wrong, ["Code cell 3: It took longer than 60 seconds."]),
            ByHand(changes=[Change(first.name, 0.5, "nearly", 0, "2027-05-10")]),
        ),
        (Handed("5", name="Cleo", remarks=["Nothing was handed in."]), Result(wrong, []), ByHand()),
        (Handed("x.ipynb", "x.ipynb", b"x", listed=False), Result(wrong, []), ByHand()),
    ]


def rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def test_canvas_and_moodle_find_their_columns(tmp_path, graded, source):
    exports.write(graded, source, tmp_path)
    by_tests = sum(q.points for q in source.questions if not q.manual)
    total = f"{by_tests + 2:g}"
    assert rows(tmp_path / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", source.title()],
        ["Points Possible", "", "", "", "", f"{sum(q.points for q in source.questions):g}"],
        ["Lovelace, Ada", "", "40312", "", "", total],
        ["Ben", "", "007", "", "", ""],
        ["Cleo", "", "5", "", "", "0"],
    ]
    head, ada, ben, cleo = rows(tmp_path / "moodle.csv")
    assert head == ["ID number", "Full name", source.title(), f"{source.title()} (feedback)"]
    assert ada[:3] == ["40312", "Lovelace, Ada", total]
    assert "proof 1 of 4 (Say why.)" in ada[3]
    assert ben[:3] == ["007", "Ben", ""]
    assert "proof ? of 4" in ben[3]
    assert cleo[:3] == ["5", "Cleo", "0"]


def on_gradescope(tmp_path):
    """What Gradescope runs on a notebook: in a folder with source, submission and results."""
    for folder in ("source", "submission", "results"):
        (tmp_path / folder).mkdir()
    with zipfile.ZipFile(tmp_path / "gradescope.zip") as archive:
        assert sorted(archive.namelist()) == ["known.json", "run_autograder", "setup.sh"]
        archive.extractall(tmp_path / "source")

    def run(content):
        (tmp_path / "submission" / "work.ipynb").write_bytes(content)
        command = [sys.executable, "source/run_autograder"]
        subprocess.run(command, cwd=tmp_path, check=True)
        return json.loads((tmp_path / "results" / "results.json").read_text())

    return run


def test_gradescope_gets_the_marks_of_a_notebook_that_is_known(tmp_path, graded, source):
    exports.write(graded, source, tmp_path)
    run = on_gradescope(tmp_path)

    ada, ben, stranger = run(b"ada"), run(b"ben"), run(b"of somebody else")
    assert {test["name"]: test["score"] for test in ada["tests"]} == {
        q.name: 1 if q.manual else q.points for q in source.questions
    }
    for test in ada["tests"]:
        assert set(test) == {"name", "score", "max_score", "output"}
    assert [test["score"] for test in ben["tests"]][:2] == [0.5, 0]
    assert ben["tests"][0]["output"] == "nearly"
    assert "60 seconds" in ben["output"]
    assert stranger == {"score": 0, "output": "This notebook is not marked yet."}


def test_gradescope_gives_nobody_the_marks_of_another(tmp_path, graded, source):
    (ada, *of_ada), (ben, *of_ben), *_ = graded
    same = [(ada, *of_ada), (replace(ben, content=ada.content), *of_ben)]
    exports.write(same, source, tmp_path)
    run = on_gradescope(tmp_path)
    assert "Several students have" in run(b"ada")["output"]
    for student, mark in (("Lovelace, Ada", source.questions[0].points), ("Ben", 0.5)):
        users = {"users": [{"id": 1, "email": "x@example.org", "name": student}]}
        (tmp_path / "submission_metadata.json").write_text(json.dumps(users))
        assert run(b"ada")["tests"][0]["score"] == mark


def cells(*sources, outputs=()):
    """A notebook of cells of code and, where it begins with a quote, of text."""
    notebook = nbformat.v4.new_notebook()
    for source in sources:
        text = source.startswith("'")
        new = nbformat.v4.new_markdown_cell if text else nbformat.v4.new_code_cell
        notebook.cells.append(new(source.strip("'"), **({} if text else {"outputs": [*outputs]})))
    return json.dumps(notebook).encode()


def test_all_answers_to_a_question_stand_beside_its_rubric(source):
    picture = base64.b64encode(b"a picture").decode()
    shown = {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture + "\n"}}
    active = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>"}}
    answers = (f"'{BEGIN}\n\nProve it.'", "'Since <b>so</b>.'", f"'{END} Go on.'", "elsewhere = 1")
    more = (f"'{BEGIN}\n\n**Your figure.**'", "plot()", f"'{END}'")
    everything = [
        Handed("ada", "ada.ipynb", cells(*answers, *more, outputs=[shown, active])),
        Handed("ben", "ben.ipynb", b"no notebook"),
        Handed("cleo", remarks=["Nothing was handed in."]),
    ]
    (first, proof), (second, figure) = by_hand.pages(everything, source, NAMES)
    assert (first, second) == ("proof", "figure")
    assert "Since &lt;b&gt;so&lt;/b&gt;." in proof
    for page, question in ((proof, "proof"), (figure, "figure")):
        (solution,) = (q.solution for q in source.questions if q.name == question)
        (told,) = (cell.source for cell in solution if cell.cell_type == "markdown")
        assert told.strip() in html.unescape(page)
    assert "BEGIN SOLUTION" not in figure
    assert picture in figure
    assert "plot()" in figure
    for page in (proof, figure):
        assert "<script>" not in page
        assert "elsewhere" not in page
        assert "<h2>Ben</h2>\n<p>The answer is not found here" in page
        assert "Cleo" not in page


def test_an_answer_is_seen_wherever_it_stands(source):
    """In the question's own cell, behind its end, as a photo, and as a figure that is no PNG."""
    svg = {"image/svg+xml": "<svg onload='no()'></svg>", "text/plain": "<Figure>"}
    shown = [{"output_type": "display_data", "metadata": {}, "data": svg}]
    notebook = json.loads(
        cells(
            f"'{BEGIN}\n\n## 4. Why does the formula hold?\nIn my own words.'",
            "'![a.jpg](attachment:a.jpg)'",
            f"'{END}\n\nForgotten above.'",
            f"'{BEGIN}'",
            "plot()",
            f"'{END}'",
            outputs=shown,
        )
    )
    notebook["cells"][1]["attachments"] = {
        "a.jpg": {"image/jpeg": "QUJD\n"},
        "b.heic": {"image/heic": "QUJD"},
    }
    notebook["cells"][1]["source"] += "\n![](data:image/png;base64,UVc=)"
    source.notebook.cells[0].source += "\n## 4. Why does the formula hold?"
    handed = Handed("ada", "ada.ipynb", json.dumps(notebook).encode())
    (_, proof), (_, figure) = by_hand.pages([handed], source, NAMES)
    for typed in ("<p>In my own words.</p>", "<p>Forgotten above.</p>", "image/jpeg;base64,QUJD"):
        assert typed in proof
    assert "<p>## 4. Why" not in proof
    assert "<p>![](data:" not in proof
    assert 'src="data:image/png;base64,UVc="' in proof
    assert "<p>b.heic is not shown here.</p>" in proof
    picture = base64.b64encode(svg["image/svg+xml"].encode()).decode()
    assert f'src="data:image/svg+xml;base64,{picture}"' in figure
    assert "onload" not in figure
    assert "Figure&gt;" not in figure


def test_students_are_told_how_many_have_full_marks_if_the_class_is_large_enough(source):
    by_tests = [q for q in source.questions if not q.manual]
    first, second, *_ = by_tests

    def one(student, right, marks=(), changes=(), content=b"x"):
        lost = ([], []) if right else ([0, 2], ["Look at it."])
        found = [Mark(q.name, q.points * right, q.points, *lost) for q in by_tests]
        return (
            Handed(student, "x", content),
            Result(found, []),
            ByHand(dict(marks), changes=[*changes]),
        )

    figure = next(q for q in source.questions if q.manual)
    full = {figure.name: figure.points}
    changes = [Change(second.name, second.points, "Ada asked", 0, "2027-05-10")]
    graded = [
        one("ada", 0, full, changes),
        *(one(student, 1, full) for student in ("ben", "cleo")),
        one("dora", 0, full),
        one("nobody", 0, content=None),
    ]
    assert overview.full_marks(graded, source) == {}
    graded.append(one("emil", 1, {figure.name: 0}))
    found = overview.full_marks(graded, source)
    assert found[first.name] == (3, 5)
    assert found[second.name] == (4, 5)
    assert found[figure.name] == (4, 5)
    assert len(found) == len(by_tests) + 1  # the other one by hand is not marked
    (page,) = {html for student, html in feedback(graded, source, None) if student == "ada"}
    assert "<small>Full marks: 3 of 5 students.</small>" in page
    assert (
        "<td>by hand, 2027-05-10, 0 before: Ada asked<br>Look at it.<br><small>Full marks: 4"
        in page
    )
    cases = [SimpleNamespace(hidden=k > 0, failure_message=f"hint {k}") for k in range(3)]
    tests = {q.name: SimpleNamespace(test_cases=cases) for q in by_tests}
    head, *lines = overview.rows(graded, source, tests)
    told = [dict(zip(head, line, strict=True)) for line in lines]
    line, *of_tests = [row for row in told if row["question"] == first.name]
    assert (line["handed in"], line["full marks"]) == (5, 3)
    assert line["mean"] == f"{0.6 * first.points:g}"
    assert [row["failed"] for row in of_tests] == [2, 0, 2]
    assert of_tests[2]["test"] == "hidden test 3: hint 2"
    line = next(row for row in told if row["question"] == second.name)
    assert line["mean"] == f"{0.8 * second.points:g}"


def codes(name):
    """The solutions of an assignment."""
    return [question.code() for question in sources.read(name).questions]


def copied(name, number, size):
    """A class in which so many hand in one notebook, and the others one of their own."""
    others = [
        cells(*(f"def own{k}():\n    return [{k}, {j}] * {k} + [{j} ** {k}]" for j in range(9)))
        for k in range(size - number)
    ]
    notebooks = [cells(*codes(name))] * number + others
    return [Handed(f"student {k}", "", content) for k, content in enumerate(notebooks)]


@pytest.mark.parametrize("size", [12, 60])
@pytest.mark.parametrize("number", [2, 7])
def test_copies_are_seen_however_many_there_are(number, size):
    found = alike.pairs(copied("dropout_is_a_regularizer", number, size), cells())
    assert len(found) == number * (number - 1) // 2
    assert {share for *_, share in found} == {1}


@pytest.mark.parametrize(
    "change",
    [
        lambda code: re.sub(r"\b(U|V|C|total|theta|lam|r)\b", r"my_\1", code),
        lambda code: f"{code}\nNone",
        lambda code: code.replace("\n    ", "\n    print(1)\n    ", 1),
        lambda code: f"%matplotlib inline\n# mine\n{code}",
    ],
)
def test_a_copy_that_was_changed_and_moved_is_seen(change):
    original = codes("dropout_is_a_regularizer")
    other = [change(code) for code in reversed(original)]
    everything = [Handed("ada", "", cells(*original)), Handed("ben", "", cells(*other))]
    ((*_, share),) = alike.pairs(everything, cells())
    assert share > 0.8
    page = alike.side_by_side(*(handed.content for handed in everything))
    assert "dropout_loss" in page


@pytest.mark.parametrize("name", sources.names())
def test_honest_answers_and_what_was_given_are_no_copies(name):
    honest = yaml.safe_load((sources.COURSEWORK / name / "honest.yml").read_text("utf-8"))
    asked = [question for question in sources.read(name).questions if question.name in honest]
    key = cells(*(question.code() for question in asked))
    other = cells(*(honest[question.name] for question in asked))
    everything = [Handed("ada", "", key), Handed("ben", "", other), Handed("dora", "", b"none")]
    assert alike.pairs(everything, cells()) == []
    assert 0 < alike.share(alike.pieces(key), alike.pieces(other)) < 0.5
    same = [Handed("ada", "", key), Handed("ben", "", key)]
    assert len(alike.pairs(same, cells())) == 1
    group = [replace(handed, group="7") for handed in same]
    assert alike.pairs(group, cells()) == []
    assert len(alike.pairs([*group, Handed("cleo", "", key, group="8")], cells())) == 2
    assert alike.pairs(same, key) == []
