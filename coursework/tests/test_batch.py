"""A folder of submissions: a row and a page for each, and nothing of the teacher's is lost."""

import json
import os
from datetime import date, datetime

import pytest

from armslength import grade as grading
from armslength import grader as grader_module
from armslength import inbox, marks, table
from armslength.grader import Grading, MachineError
from armslength.submission import Limits, Unanswered, read_notebook
from coursework.tests.conftest import LIBRARY, TREES, grader, notebook, with_cells
from coursework.tests.test_hostile import NO_NOTEBOOKS
from coursework.tools import sources

NAME = "dropout_is_a_regularizer"
QUICK = Limits(cell=5, question=5, total=120)
CHECK = grading.check_solution  # costs seconds, so most tests do without
FIGURE = "figure (by hand, of 4)"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / NAME).mkdir()
    return tmp_path / NAME


@pytest.fixture
def run(tmp_path, folder, monkeypatch):
    """Grade the folder; run() returns the rows of marks.csv, by student."""
    monkeypatch.setattr(grading, "Grader", lambda tree, _: grader(tree.name))
    monkeypatch.setattr(grading, "check_solution", lambda *_: None)

    def run(due=None, **more):
        grading.grade(folder, NAME, TREES, tmp_path / "out", QUICK, LIBRARY, due, **more)
        return {row["student"]: row for row in table.read(tmp_path / "out" / "marks.csv")}

    return run


@pytest.fixture
def edit(tmp_path):
    """Write into marks.csv as a spreadsheet does: edit({student: {column: text}}, ...)."""

    def edit(changes, encoding="utf-8-sig", between=","):
        path = tmp_path / "out" / "marks.csv"
        rows = table.read(path)
        for row in rows:
            row.update(changes.get(row["student"], {}))
        lines = [rows[0].keys(), *(row.values() for row in rows)]
        text = "\n".join(between.join(f'"{value}"' for value in line) for line in lines)
        path.write_bytes(text.encode(encoding))

    return edit


def test_a_batch_of_all_kinds_has_a_row_and_a_page_each(tmp_path, folder, run):
    for student in ("ada", "=1+1"):
        (folder / student).mkdir()
        (folder / student / "hw.ipynb").write_text(notebook("instructor", NAME))
    (folder / "ada-hw.ipynb").write_text(notebook("student", NAME))  # not to take that of ada/hw
    (folder / "mark.ipynb").write_bytes(b"\xef\xbb\xbf" + notebook("instructor", NAME).encode())
    (folder / "ada-hw.pdf").write_bytes(b"%PDF")
    (folder / "empty.ipynb").write_text(notebook("student", NAME))
    (folder / "<b>bold.ipynb").write_text("<script>")
    (folder / "loop.ipynb").write_text(with_cells(notebook("student", NAME), last="while True: 0"))
    (folder / ("long" * 35)).mkdir()
    (folder / ("long" * 35) / ("name" * 22 + ".ipynb")).write_text("no notebook")
    with open(os.fsencode(folder) + b"/J\xf6rg.ipynb", "w") as file:  # as old zips unpack
        file.write("no notebook")
    for what, content in NO_NOTEBOOKS.items():
        (folder / f"{what}.ipynb").write_bytes(content)
    rows = run()
    assert len(rows) == 10 + len(NO_NOTEBOOKS)
    right = {"ada-hw", "'=1+1-hw", "mark"}
    for student, row in rows.items():
        assert row["automatic"] == (row["automatic, of"] if student in right else "0"), row
    assert "J\ufffdrg" in rows
    pages = {path.stem: path.read_text() for path in (tmp_path / "out/feedback").glob("*.html")}
    assert len(pages) == len(rows)
    assert "<script>" not in pages["<b>bold"]
    assert "<b>" not in pages["<b>bold"]
    assert "default_rng" not in "".join(pages.values())


def test_no_text_of_a_submission_stops_the_class(tmp_path, folder, run):
    """Halves of characters in code, text, output, exception and answer; and very many remarks."""
    found = json.loads(notebook("instructor", NAME))
    begin = next(k for k, cell in enumerate(found["cells"]) if "BEGIN Q" in str(cell["source"]))
    text = {"cell_type": "markdown", "metadata": {}, "source": "Half \ud800 a character."}
    shown = {"output_type": "stream", "name": "stdout", "text": "\udfff"}
    code = {"cell_type": "code", "metadata": {}, "outputs": [shown], "execution_count": None}
    raised = "raise ValueError('\\ud800 and \ud800')"
    found["cells"][begin + 1 : begin + 1] = [text, code | {"source": raised}]
    function = "def path_norm(*a): raise ValueError('\\ud800')\npredict = '\\ud800'"
    found["cells"].append(code | {"source": function})
    (folder / "ada.ipynb").write_text(json.dumps(found))
    many = json.loads(with_cells(notebook("student", NAME)))
    many["cells"] += [code | {"source": "1 / 0"}] * 300
    (folder / "ben.ipynb").write_text(json.dumps(many))
    (folder / "cleo.ipynb").write_text(notebook("instructor", NAME))
    for name in ("a  b", "a b", "a b (2)"):
        (folder / f"{name}.ipynb").write_text("no notebook")
    run()
    rows = run()
    assert len(rows) == 6
    assert "? and ?" in rows["ada"]["remarks"]
    assert float(rows["ada"]["automatic"]) > 0
    assert "And so 28" in rows["ben"]["remarks"]
    assert rows["cleo"]["automatic"] == rows["cleo"]["automatic, of"]
    assert "ValueError: ?" in (tmp_path / "out" / "feedback" / "ada.html").read_text()
    assert "Half ? a character." in (tmp_path / "out" / "by_hand" / "proof.html").read_text()


@pytest.mark.parametrize("content", [(2001, "1"), (3, "x = " + 100_000 * "1+" + "1")])
def test_more_than_a_notebook_is_not_read(content):
    times, source = content
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    found = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}}
    found["cells"] = [cell | {"source": source}] * times
    with pytest.raises(Unanswered, match="The notebook has more than"):
        read_notebook(json.dumps(found).encode())


def times(out):
    """When each of the files for a teacher was written."""
    files = (path for path in out.glob("**/*.*") if out / "new" not in path.parents)
    return {path: path.stat().st_mtime_ns for path in files if path.suffix != ".jsonl"}


def test_an_error_in_writing_names_the_student_and_changes_nothing(
    tmp_path, folder, run, monkeypatch
):
    (folder / "ada.ipynb").write_text("no notebook")
    run()
    before = times(tmp_path / "out")
    (folder / "ben.ipynb").write_text("no notebook")

    def broken(handed, due):
        if handed.student == "ben":
            raise KeyError("late")

    with monkeypatch.context() as patch:
        patch.setattr(inbox.Handed, "hours_late", broken)
        with pytest.raises(MachineError, match="ben: KeyError"):
            run()
    assert times(tmp_path / "out") == before
    with monkeypatch.context() as patch:
        patch.setattr(grading.alike, "pairs", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run()
    assert times(tmp_path / "out") == before
    assert list(run()) == ["ada", "ben"]


def test_marks_by_hand_stay_and_are_told(tmp_path, folder, run, edit):
    for student in ("ada", "=1", "007", "García"):
        (folder / f"{student}.ipynb").write_text("no notebook")
    run()
    edit(
        {
            "ada": {FIGURE: "3", "figure comment": "Label the axes.", "proof (by hand, of 4)": "4"},
            "'=1": {FIGURE: "2,5"},
            "007": {"student": "7", FIGURE: "1"},
            "García": {marks.CHANGED: "rate = 1,5: the text; was unclear"},
        },
        encoding="cp1252",
        between=";",
    )
    with pytest.raises(ValueError, match="was unclear"):  # a reason has no semicolon
        run()
    edit({"García": {marks.CHANGED: "rate = 1,5: the text was unclear"}})
    (folder / "late.ipynb").write_text("no notebook")
    rows = run()
    assert {student: row[FIGURE] for student, row in rows.items()} == {
        "'=1": "2.5", "ada": "3", "007": "1", "late": "", "García": "",
    }  # fmt: skip
    assert rows["ada"]["figure comment"] == "Label the axes."
    assert (rows["ada"]["total"], rows["late"]["total"]) == ("7", "")
    assert (rows["García"]["rate (of 2)"], rows["García"]["automatic"]) == ("0", "1.5")
    pages = tmp_path / "out" / "feedback"
    assert "<td>3 of 4<td>by hand: Label the axes." in (pages / "ada.html").read_text()
    assert "<td>? of 4" in (pages / "late.html").read_text()
    told = f"1.5 of 2<td>by hand, {date.today()}, 0 before: the text was unclear<br>"
    assert told in (pages / "García.html").read_text()

    (folder / "ada.ipynb").write_text("another one")
    rows = run()
    assert marks.NEW in rows["ada"]["remarks"]
    assert rows["ada"][FIGURE] == "3"


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (FIGURE, "7"),
        (FIGURE, "-1"),
        (FIGURE, "abc"),
        (FIGURE, "nan"),
        (marks.CHANGED, "rate = 3: more than there is"),
        (marks.CHANGED, "rate = 2"),
        (marks.CHANGED, "figure = 2: has no mark yet"),
    ],
)
def test_what_is_no_mark_is_refused(folder, run, edit, column, text):
    (folder / "ada.ipynb").write_text("no notebook")
    run()
    edit({"ada": {column: text}})
    with pytest.raises(ValueError, match="ada"):
        run()


def test_a_zero_that_a_spreadsheet_drops_gives_nobody_the_marks_of_another(
    tmp_path, folder, run, edit
):
    for student in ("007", "7", "08"):
        (folder / f"{student}.ipynb").write_text("no notebook")
    run()
    edit({"08": {"student": "8", FIGURE: "1"}, "7": {FIGURE: "2"}})
    assert [row[FIGURE] for row in run().values()] == ["", "1", "2"]
    edit({"007": {"student": "7", FIGURE: "4"}})
    with pytest.raises(ValueError, match="dropped zeros"):
        run()
    (folder / "7.ipynb").unlink()
    (folder / "07.ipynb").write_text("no notebook")
    (tmp_path / "out" / "marks.csv").unlink()
    run()
    edit({"07": {"student": "7", FIGURE: "4"}})
    with pytest.raises(ValueError, match="007 or 07"):
        run()


def test_no_row_vanishes(tmp_path, folder, run):
    for student in ("ada", "ben"):
        (folder / f"{student}.ipynb").write_text("no notebook")
    run()
    before = (tmp_path / "out" / "marks.csv").read_bytes()
    (folder / "ben.ipynb").unlink()
    with pytest.raises(ValueError, match="rows for ben"):
        run()
    assert (tmp_path / "out" / "marks.csv").read_bytes() == before
    (tmp_path / "out" / "marks.csv").write_text("student;figure\nada;3\n")
    with pytest.raises(ValueError, match="Move it away"):
        run()


def test_the_last_table_is_kept_and_feedback_is_of_this_batch(tmp_path, folder, run):
    (folder / "ada.ipynb").write_text("no notebook")
    run()
    before = (tmp_path / "out" / "marks.csv").read_bytes()
    (tmp_path / "out" / "feedback" / "stranger.html").write_text("of another class")
    (folder / "ben.ipynb").write_text("no notebook")
    run()
    assert (tmp_path / "out" / "marks.csv.bak").read_bytes() == before
    assert sorted(os.listdir(tmp_path / "out")) == [
        *("alike", "alike.csv", "by_hand", "canvas.csv", "feedback", "gradescope.zip"),
        *("marks.csv", "marks.csv.bak", "moodle.csv", "questions.csv", "results.jsonl"),
    ]
    assert sorted(os.listdir(tmp_path / "out" / "feedback")) == ["ada.html", "ben.html"]


def test_a_table_that_cannot_be_written_leaves_the_last_one(tmp_path):
    path = tmp_path / "marks.csv"
    table.write(path, [["student"], ["ada"]])
    before = path.read_bytes()

    def rows():
        yield ["student"]
        raise UnicodeEncodeError("utf-8", "\udcf6", 0, 1, "surrogates not allowed")

    with pytest.raises(UnicodeEncodeError):
        table.write(path, rows())
    assert path.read_bytes() == before


def test_what_is_known_does_not_run_again(folder, run, edit, monkeypatch):
    for student in ("ada", "ben"):
        (folder / f"{student}.ipynb").write_text(f"no notebook of {student}")
    graded = []

    class Counted(Grading):
        def __init__(self, grader, content, *rest):
            graded.append(content)
            super().__init__(grader, content, *rest)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "Grading", Counted)
    with monkeypatch.context() as patch:
        patch.setattr(marks, "rows", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run()
    (folder / "ben.ipynb").write_text("changed since")
    del graded[:]
    assert list(run()) == ["ada", "ben"]
    assert graded == [b"changed since"]
    del graded[:]
    edit({"ada": {FIGURE: "3", "rate (of 2)": "1,5"}})
    rows = run()
    assert not graded  # marks by hand make nothing run again
    assert rows["ada"][FIGURE] == "3"
    assert "gave 1.5 in the last run, and give 0 now" in rows["ada"]["remarks"]
    assert "last run" not in rows["ben"]["remarks"] + run()["ada"]["remarks"]


def test_nothing_is_graded_where_the_solution_fails(tmp_path, folder, run, monkeypatch):
    (folder / "ada.ipynb").write_text("no notebook")
    monkeypatch.setattr(grading, "check_solution", lambda grader, _: CHECK(grader, Limits(total=0)))
    with pytest.raises(MachineError, match="the solution itself"):
        run()
    assert not (tmp_path / "out").exists()


def test_no_mark_is_written_where_the_solution_fails_afterwards(tmp_path, folder, run, monkeypatch):
    (folder / "ada.ipynb").write_text("no notebook")
    limits = iter([QUICK, Limits(total=0)])

    def check(grader, _):
        CHECK(grader, next(limits))

    monkeypatch.setattr(grading, "check_solution", check)
    with pytest.raises(MachineError, match="the solution"):
        run()
    assert not os.listdir(tmp_path / "out")


def test_an_error_of_the_machine_is_no_mark(tmp_path, folder, run, monkeypatch):
    (folder / "ada.ipynb").write_text(notebook("instructor", NAME))

    def broken(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(grader_module, "Sandbox", broken)
    with pytest.raises(MachineError, match="ada: OSError: No space"):
        run()
    assert not (tmp_path / "out" / "marks.csv").exists()


def test_a_file_that_cannot_be_read_stops_the_batch(folder, run, monkeypatch):
    (folder / "ada.ipynb").write_text("no notebook")

    def refuse(path):
        raise PermissionError(f"Permission denied: {path}")

    monkeypatch.setattr(inbox.Path, "read_bytes", refuse)
    with pytest.raises(PermissionError, match="ada"):
        run()


def test_who_is_in_the_roster_has_a_row(tmp_path, folder, run, capsys):
    (tmp_path / "roster.csv").write_text(
        "id;name;file\n1;Ada Lovelace;ada*\n2;Ben Nevis;*_40312_*\n3;Cleo;\n4;Dora;\n5;Emil;\n"
    )
    for file, hour in (("ada.ipynb", 9), ("ada (1).ipynb", 12), ("ada.png", 13)):
        (folder / file).write_text(file)
        os.utime(folder / file, (0, datetime(2027, 5, 3, hour).timestamp()))
    (folder / "nevisben_LATE_40312_77_work-1.ipynb").write_text(notebook("instructor", NAME))
    (folder / "3").mkdir()
    (folder / "3" / "hw.ipynb").write_text("no notebook")
    (folder / "4.ipynb").write_text("no notebook")
    (folder / "stranger.ipynb").write_text("no notebook")
    rows = run(inbox.due("2027-05-03 10:30"))
    assert list(rows) == ["1", "2", "3", "4", "5", "stranger.ipynb"]
    assert rows["1"]["name"] == "Ada Lovelace"
    assert rows["1"]["file"] == "ada (1).ipynb"
    assert rows["1"]["hours late"] == "1.5"
    assert "and not ada.ipynb, ada.png" in rows["1"]["remarks"]
    assert rows["2"]["automatic"] == rows["2"]["automatic, of"]
    assert rows["3"]["file"] == "3/hw.ipynb"
    assert rows["5"]["total"] == ""  # the stranger's file may be his
    assert "\nEmil,,5,,,\n" in (tmp_path / "out" / "canvas.csv").read_text().replace("\r", "")
    assert "Nothing was found of 5" in capsys.readouterr().out
    assert "Nobody in roster.csv" in rows["stranger.ipynb"]["remarks"]

    (folder / "stranger.ipynb").unlink()
    (tmp_path / "out" / "marks.csv").unlink()
    assert (run()["5"]["total"], run()["5"]["remarks"]) == ("0", "Nothing was handed in.")

    (tmp_path / "out" / "marks.csv").unlink()
    (tmp_path / "roster.csv").write_text("id,name,file\n1,Ada,ada*\n2,Adam,adam*\n3,Cleo,3/*\n")
    (folder / "adam.ipynb").write_text("whose?")
    rows = run()
    assert rows["2"]["total"] == ""
    assert "may be of 1 and of 2" in rows["adam.ipynb"]["remarks"]
    assert rows["3"]["file"] == "3/hw.ipynb"
    for text in ("id,name\n1,Ada\n", "id,name,file\n1,Ada,\n1,Ben,\n"):
        (tmp_path / "roster.csv").write_text(text)
        with pytest.raises(ValueError, match="roster"):
            run()


def test_a_changed_mark_says_who_asked_why_and_when_and_what_it_was(folder, run, edit):
    (folder / "ada.ipynb").write_text("no notebook")
    run()
    edit({"ada": {FIGURE: "2", "proof (by hand, of 4)": "4"}})
    run()
    edit({"ada": {marks.CHANGED: "figure = 3: Ada asked, the axes are there"}})
    once = f"figure = 3 (was 2, {date.today()}): Ada asked, the axes are there"
    for _ in range(2):
        row = run()["ada"]
        assert (row[marks.CHANGED], row[FIGURE], row["total"]) == (once, "2", "7")
    edit(
        {
            "ada": {
                marks.CHANGED: once.replace(f"{date.today()}", "2027-05-10") + "; figure = 2,5: no"
            }
        }
    )
    row = run()["ada"]
    assert row[marks.CHANGED] == (
        f"figure = 3 (was 2, 2027-05-10): Ada asked, the axes are there; "
        f"figure = 2.5 (was 3, {date.today()}): no"
    )
    assert (row[FIGURE], row["total"]) == ("2", "6.5")


def test_a_group_hands_in_one_file_and_a_student_may_have_more_time(tmp_path, folder, run, edit):
    (tmp_path / "roster.csv").write_text(
        f"id,name,file,group,due,due {NAME}\n1,Ada,,7,,\n2,Ben,,7,,\n3,Cleo,*C*,x,,\n"
        "4,Dora,*C*,x,2027-05-04,\n5,Emil,,,2027-05-01,2027-05-03 10:00\n6,Fay,,,,\n"
    )
    for file in ("2", "C", "5", "6"):
        (folder / f"{file}.ipynb").write_text(f"no notebook of {file}")
        os.utime(folder / f"{file}.ipynb", (0, datetime(2027, 5, 3, 12).timestamp()))
    rows = run(inbox.due("2027-05-02 12:00"))
    files = {student: row["file"] for student, row in rows.items()}
    assert files == {
        "1": "2.ipynb",
        "2": "2.ipynb",
        "3": "C.ipynb",
        "4": "C.ipynb",
        "5": "5.ipynb",
        "6": "6.ipynb",
    }
    late = [row["hours late"] for row in rows.values()]
    assert late == ["24.0", "24.0", "24.0", "", "2.0", "24.0"]
    page = (tmp_path / "out" / "by_hand" / "proof.html").read_text()
    assert page.count("<article>") == 4
    assert "<h2>Ada and Ben</h2>" in page
    assert len(list((tmp_path / "out" / "feedback").iterdir())) == 6

    edit({"2": {FIGURE: "3", "figure comment": "Good.", marks.CHANGED: "figure = 4: Ben asked"}})
    one, two, other = (run()[student] for student in "126")
    for column in (FIGURE, "figure comment", marks.CHANGED):
        assert one[column] == two[column] != other[column]
    edit({"1": {FIGURE: "2"}})
    assert [run()[student][FIGURE] for student in "12"] == ["2", "3"]
    (tmp_path / "roster.csv").write_text("id,name,file,due\n1,Ada,,soon\n")
    with pytest.raises(ValueError, match="'soon' is no date"):
        run()


def test_codes_stand_for_names_on_request(tmp_path, folder, run, edit):
    (tmp_path / "roster.csv").write_text("id,name,file\n1,Ada,\n2,Ben,\n")
    (folder / "1.ipynb").write_text("no notebook")
    (folder / "2.ipynb").write_text(notebook("instructor", NAME))
    assert "code" not in run()["1"]
    codes = {student: row["code"] for student, row in run(anonymous=True).items()}
    assert len({*codes.values()}) == 2
    page = (tmp_path / "out" / "by_hand" / "proof.html").read_text()
    assert [code for code in sorted(codes.values()) if f"<h2>{code}</h2>" in page]
    assert page.index(min(codes.values())) < page.index(max(codes.values()))
    for name in ("Ada", "Ben", ".ipynb"):
        assert name not in page
    edit({"1": {FIGURE: "1"}})
    rows = run(anonymous=True)
    assert {student: row["code"] for student, row in rows.items()} == codes
    assert "Ada" in (tmp_path / "out" / "feedback" / "1.html").read_text()
    run()
    assert "<h2>Ada</h2>" in (tmp_path / "out" / "by_hand" / "proof.html").read_text()


def test_a_notebook_of_another_term_is_told(folder, run):
    other = json.loads(notebook("student", NAME))
    forms = [sources.digest(NAME, variant) for variant in sources.variants(NAME)]
    assert other["metadata"]["conventions"] == forms[0]
    assert len({*forms}) == len(forms)
    other["cells"] = []
    (folder / "cleo.ipynb").write_text(json.dumps(other))
    other["metadata"]["conventions"] = forms[1]
    (folder / "ada.ipynb").write_text(json.dumps(other))
    other["metadata"] = {}
    (folder / "ben.ipynb").write_text(json.dumps(other))
    rows = run()
    (folder / "cleo.ipynb").write_text("no notebook")
    with pytest.raises(ValueError, match=r"1 of 1 notebooks .* of their term"):
        run()
    assert grading.OTHER in rows["ada"]["remarks"]
    assert grading.OTHER not in rows["ben"]["remarks"]


def test_what_a_sandbox_must_show_holds_nothing_of_the_teacher(folder, run, monkeypatch):
    monkeypatch.setattr(grading.sandbox, "readable", lambda _: [folder.parent])
    monkeypatch.setattr(grading.sandbox, "trouble", lambda: "")
    with pytest.raises(ValueError, match="Python's own files"):
        run()


def test_who_has_no_sandbox_is_told(tmp_path, folder, run, monkeypatch, capsys):
    monkeypatch.setattr(grading.sandbox, "trouble", lambda: "there is no bubblewrap")
    (folder / "ada.ipynb").write_text(notebook("instructor", NAME))
    rows = run()
    assert capsys.readouterr().out.startswith("Submissions were not confined")
    assert rows["ada"]["automatic"] == rows["ada"]["automatic, of"]
    assert "no bubblewrap" in rows["ada"]["remarks"]
    assert "no bubblewrap" not in (tmp_path / "out" / "feedback" / "ada.html").read_text()


def test_the_command_says_what_is_wrong(folder, monkeypatch, capsys):
    for arguments, told in (
        ([str(folder / "none")], "There is no folder"),
        ([str(folder.parent)], "Which assignment"),
        ([str(folder), "--due", "May"], "no date"),
        ([str(folder), "--trees", str(folder)], "There is no assignment in"),
        ([str(folder), "--library", "nothing"], "There is no package nothing"),
    ):
        monkeypatch.setattr("sys.argv", ["grade", "--trees", str(TREES), *arguments])
        with pytest.raises(SystemExit):
            grading.main()
        assert told in capsys.readouterr().err
