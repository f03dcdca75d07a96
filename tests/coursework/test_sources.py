"""An assignment as its author writes it is read whole, and its key has what a grader needs."""

import textwrap

import pytest
import yaml
from coursework.tools import course, sources
from nbformat import v4

from armslength.otter_source import SourceError, bound_names, is_hidden, mapping

CELLS = """
    ---
    jupytext: {text_representation: {extension: .md, format_name: myst}}
    kernelspec: {display_name: Python 3, name: python3}
    ---

    ```{raw-cell}
    # ASSIGNMENT CONFIG
    name: sums
    ```

    # Sums of numbers

    Words before.

    ```{code-cell}
    given = 1
    ```

    ```{raw-cell}
    # BEGIN QUESTION
    name: add
    points: 1.5
    ```

    What is the sum?

    ```{raw-cell}
    # BEGIN SOLUTION
    ```

    ```{code-cell}
    def add(x, y):
        return x + y
    ```

    ```{raw-cell}
    # END SOLUTION
    ```

    ```{raw-cell}
    # BEGIN TESTS
    ```

    ```{code-cell}
    add(1, 2) == 3
    ```

    ```{code-cell}
    # HIDDEN
    add(2, 2) == 4
    ```

    ```{raw-cell}
    # END TESTS
    ```

    ```{raw-cell}
    # END QUESTION
    ```

    ```{code-cell}
    between = 2
    ```

    ```{raw-cell}
    # BEGIN QUESTION
    name: say
    points: 2
    manual: true
    ```

    ```{raw-cell}
    # BEGIN SOLUTION
    ```

    Because.

    ```{raw-cell}
    # END SOLUTION
    ```

    ```{raw-cell}
    # END QUESTION
    ```
    """
HONEST = {"add": "add = sum\n"}
WRONG = {"add": {"less": {"x + y": "x - y"}, "nothing": "def add(x, y):\n    pass\n"}}
NOTES = "| questions | minutes | marks |\n|---|---|---|\n| add | 5 + 7 | 1.5 | a |\n"
NOTES += "| say | 3 | 2 (by hand) | b |\n"
WORDS = {"about": "a", "figure": "b", "before": [], "after": ["c"]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """That of the assignment `sums`, the only one."""
    monkeypatch.setattr(sources, "COURSEWORK", tmp_path)
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "sums.md").write_text(textwrap.dedent(CELLS).lstrip(), "utf-8")
    (folder / "honest.yml").write_text(yaml.safe_dump(HONEST), "utf-8")
    (folder / "wrong.yml").write_text(yaml.safe_dump(WRONG), "utf-8")
    (folder / "notes.md").write_text(NOTES, "utf-8")
    (tmp_path / "course.yml").write_text(yaml.safe_dump({"sums": WORDS}), "utf-8")
    return folder


def change(path, old, new):
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_questions_and_cells_are_told_apart():
    source = sources.read("sums")
    assert (source.name, source.title()) == ("sums", "Sums of numbers")
    add, say = source.questions
    assert (add.name, add.points, add.manual) == ("add", 1.5, False)
    assert (say.name, say.points, say.manual) == ("say", 2, True)
    assert not add.all_or_nothing
    assert add.text == ["What is the sum?"]
    assert add.code() == "def add(x, y):\n    return x + y"
    assert say.code() == ""
    assert [cell.source for cell in say.solution] == ["Because."]
    assert add.visible_tests == ["add(1, 2) == 3"]
    assert add.hidden_tests == ["# HIDDEN\nadd(2, 2) == 4"]
    given = [cell.source for cell in source.given]
    assert given[1:] == ["# Sums of numbers\n\nWords before.", "given = 1", "between = 2"]


def test_a_question_may_be_all_or_nothing(folder):
    change(folder / "sums.md", "points: 1.5\n", "points: 1.5\nall_or_nothing: true\n")
    add, say = sources.read("sums").questions
    assert (add.all_or_nothing, say.all_or_nothing) == (True, False)


def test_a_variant_changes_text_answers_and_tests(folder):
    assert sources.variants("sums") == [()]
    forms = {"less": {"exchange": ["xy"], "add": {"y + x": "y - x", "the sum": "left"}},
             "more": {"story": {"Words": "Lines"}}}  # fmt: skip
    (folder / "variants.yml").write_text(yaml.safe_dump({"sign": forms}), "utf-8")
    assert sources.variants("sums") == [(), (("sign", "less"),), (("sign", "more"),)]
    assert {sources.pick("sums", f"{year}a") for year in range(20)} == {
        *sources.variants("sums")[1:]
    }
    add, _ = sources.read("sums", (("sign", "less"),)).questions
    assert add.code() == "def add(y, x):\n    return y - x"
    assert add.text == ["What is left?"]
    more = sources.read("sums", (("sign", "more"),))
    assert more.given[1].source.endswith("Lines before.")
    forms["more"] = {"say": {"x": "y"}}
    (folder / "variants.yml").write_text(yaml.safe_dump({"sign": forms}), "utf-8")
    with pytest.raises(SourceError, match="sign: say: no 'x' there"):
        sources.read("sums", (("sign", "more"),))


def test_the_course_adds_up_minutes_and_marks(folder):
    (row,) = course.assignments()
    assert (row.title, row.minutes, row.by_tests, row.by_hand) == ("Sums of numbers", 15, 1.5, 2)
    assert (row.about, row.figure, row.before, row.after) == ("a", "b", [], ["c"])
    assert course.files() == [
        folder.parent / "course.yml", folder / "sums.md", folder / "notes.md",
    ]  # fmt: skip
    (folder / "other.md").touch()
    assert sources.names() == ["sums"]


def test_what_is_only_in_the_list_of_the_course_is_named_in_order(folder):
    more = dict.fromkeys(["sums", *"gecafbd"], WORDS)
    (folder.parent / "course.yml").write_text(yaml.safe_dump(more), "utf-8")
    with pytest.raises(ValueError, match=r"but not both: a, b, c, d, e, f, g$"):
        course.assignments()


@pytest.mark.parametrize("file", ["sums.md", "honest.yml", "wrong.yml", "notes.md"])
def test_a_file_that_is_missing_is_named(folder, file):
    (folder / file).unlink()
    with pytest.raises(SourceError, match=f"coursework/sums/{file} is missing"):
        sources.read("sums")


def test_settings_that_cannot_be_read_say_where(folder):
    change(folder / "sums.md", "points: 2\n", "points: 2: 3\n")
    with pytest.raises(SourceError, match="question 2: 'points: 2: 3' is no YAML"):
        sources.read("sums")
    change(folder / "sums.md", "points: 2: 3", "points")
    with pytest.raises(SourceError, match="question 2"):
        sources.read("sums")
    with pytest.raises(SourceError, match="there: the settings are not lines"):
        mapping("a word", "there")


@pytest.mark.parametrize(
    ("test", "hidden"),
    [
        ("x == 1\n# hidden", False),
        ("# Hidden\nx == 1", True),
        ('""" # BEGIN TEST CONFIG\nhidden: true\n""" # END TEST CONFIG\nx == 1', True),
        ('""" # BEGIN TEST CONFIG\npoints: 1\n""" # END TEST CONFIG\nhidden = 1', False),
        ('""" # BEGIN TEST CONFIG\nfailure_message: It is less\nhidden: true\n'
         '""" # END TEST CONFIG', True),
    ],
)  # fmt: skip
def test_a_test_says_whether_it_is_hidden(test, hidden):
    assert is_hidden(v4.new_code_cell(test), "there") == hidden


def test_a_hint_that_yaml_cuts_is_an_error():
    test = '""" # BEGIN TEST CONFIG\nfailure_message: It # is less\n""" # END TEST CONFIG'
    with pytest.raises(SourceError, match="there: 'It' is not all of it"):
        is_hidden(v4.new_code_cell(test), "there")


def test_names_are_bound_at_the_top():
    code = "import a\ndef f():\n    b = 1\nclass C: pass\nx, (y, *z) = w[i] = f(v)\nn: int = 1\n"
    code += "for k in K:\n    s = k\nwith open(p) as q:\n    pass\nm.n = 1\n"
    assert bound_names(code) == {"f", "C", "x", "y", "z", "n", "k", "s", "q"}


def test_honest_answers_are_code_by_question():
    assert sources.honest_answers("sums") == HONEST


def test_wrong_answers_are_the_solution_with_something_else(folder):
    assert list(sources.wrong_answers("sums")) == [
        ("add", "less", "def add(x, y):\n    return x - y"),
        ("add", "nothing", WRONG["add"]["nothing"]),
    ]
    change(folder / "wrong.yml", "x + y", "x")
    with pytest.raises(SourceError, match=r"'x' must stand in the solution once, .* 2 times"):
        list(sources.wrong_answers("sums"))
    change(folder / "wrong.yml", "add:\n", "subtract:\n")
    with pytest.raises(SourceError, match="there is no question subtract"):
        list(sources.wrong_answers("sums"))


def test_the_key_has_marks_answers_and_hidden_tests():
    assert sources.read("sums").key() == textwrap.dedent("""\
        # Key: sums

        3.5 marks.

        ## add (1.5 marks, by tests)

        ```python
        def add(x, y):
            return x + y
        ```

        Hidden tests:

        ```python
        # HIDDEN
        add(2, 2) == 4
        ```

        ## say (2 marks, by hand)

        Because.
        """)
