"""The planting of errors: on a tiny library with known mutants, one of which no test can see."""

import random

import pytest

from booktools.mutants import COURSEWORK, ROOT, explained, main, names, sample, sources
from booktools.syntax import Sites

TINY = '''"""A number such as 3 in a docstring is no code."""


def distance(x: "1 + 1", y: int = 0) -> "2 * 2":
    """At least 0."""
    if not x >= 0:
        raise ValueError(f"{x + 1} - 1")
    return abs(x - y)


def length(x):
    return abs(abs(x))
'''
TESTS = """import pytest
from runproofs import tiny


def test_distance():
    assert [tiny.distance(0), tiny.distance(1, 3), tiny.distance(3)] == [0, 2, 3]
    with pytest.raises(ValueError):
        tiny.distance(-0.5)
    assert tiny.length(-2) == tiny.length(2) == 2
"""
LENGTH_FIRST = 2  # a seed whose first mutant is in `length`
CHANGES = [
    ('def distance(x: "1 + 1", y: int = 0)', 'def distance(x: "1 + 1", y: int = 1)'),
    ("if not x >= 0:", "if x >= 0:"),
    ("if not x >= 0:", "if not x > 0:"),
    ("if not x >= 0:", "if not x < 0:"),
    ("if not x >= 0:", "if not x >= 1:"),
    ("return abs(x - y)", "return (x - y)"),
    ("return abs(x - y)", "return abs(x + y)"),
    ("return abs(abs(x))", "return (abs(x))"),
    ("return abs(abs(x))", "return abs((x))"),
]


def mutants_of(code):
    return Sites("tiny.py", f"{code}\n".encode()).found


def changes_of(code):
    return sorted(mutant.lines(f"{code}\n".encode()) for mutant in mutants_of(code))


def test_the_mutants_of_a_tiny_module_are_known():
    assert [(a.split(" ->")[0], b.split(" ->")[0]) for a, b in changes_of(TINY)] == sorted(CHANGES)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = λ**2", ["x = λ**3", "x = λ*2"]),  # positions count bytes
        ("x = (a) * (b)", ["x = (a) / (b)"]),
        ("x += 1", ["x += 2", "x -= 1"]),
        ("x = a is not None", ["x = a is None"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = -y", ["x = y"]),
        ("x = -(y + z)", ["x = (y + z)", "x = -(y - z)"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x = sum(a)", []),  # there is no function of the name mean
        ("x = a.sum()", ["x = a.mean()"]),
        ("x = np.sqrt(a)", ["x = (a)"]),
        ("x = (a @ b).abs()", ["x = (a @ b)"]),
        ("x = a[1:]", ["x = a[2:]", "x = a[:]"]),
        ("x = 0.25", ["x = 0.5"]),
        ("x = f(True, strict=True)", ["x = f(False, strict=True)"]),
        ("x = f(tol=1e-12, quick={'n': 10})", []),
        ("__all__ = ['a']\nx: int = 'b'", []),
        ("x = a(\n    1, 2\n)", ["1, 3", "2, 2"]),
    ],
)
def test_kinds_of_mutants(code, expected):
    assert sorted(after for _, after in changes_of(code)) == expected


def test_a_sample_spares_no_function():
    found = mutants_of(TINY + "\n\ndef other(x):\n    return x**2\n")
    three = sample(found, 3, random.Random(0))
    assert {mutant.scope for mutant in three} == {"distance", "length", "other"}
    everything = sample(found, 100, random.Random(0))
    lines = [mutant.line for mutant in everything]
    assert sorted(lines) == [4, 6, 8, 12, 16], "one mutant a line"
    assert sample(found, 4, random.Random(1)) == sample(found, 4, random.Random(1))


@pytest.fixture
def tree(tmp_path):
    for path, text in {
        "lib/runproofs/__init__.py": "", "lib/runproofs/tiny.py": TINY,
        "tests/test_tiny.py": TESTS, "tests/test_other.py": "def test_nothing():\n    pass\n",
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_planted_errors_are_killed_and_what_no_test_sees_survives(tree, capsys):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    out = tree / "survivors"
    assert main(["--out", str(out)], tree) == 1
    printed = capsys.readouterr().out
    assert "3 of 4 killed, 75.0%; 9 mutants in all" in printed
    assert "lib/runproofs/tiny.py:12\n   return abs(abs(x))\n-> return" in printed
    assert {p: p.read_bytes() for p in before} == before
    once, twice = (
        "runproofs/tiny.py: return abs(abs(x))\n-> return " + a for a in ("(abs(x))", "abs((x))")
    )
    assert out.read_text().startswith((once, twice))
    listed = f"# A list\n\n{once}\nno sign left\n\n{twice}\nno sign yet\n"
    (tree / "lib" / "booktools").mkdir()
    (tree / "lib" / "booktools" / "equivalent_mutants.txt").write_text(listed)
    assert main(["--module", "runproofs/tiny.py", "1", "--seed", str(LENGTH_FIRST)], tree) == 0
    assert "0 of 0 killed, 100.0%" in capsys.readouterr().out


def test_a_mutant_that_deletes_the_tree_harms_no_other(tree, capsys):
    """Each in a copy of its own: twice the same error, and nothing of it reaches the tree."""
    (tree / "lib" / "runproofs" / "tiny.py").write_text(
        "import pathlib\nimport shutil\n\n"
        "def clean(x=1):\n    if x != 1:\n        shutil.rmtree(pathlib.Path.cwd())\n\n\n"
        "def again(x=1):\n    if x != 1:\n        shutil.rmtree(pathlib.Path.cwd())\n"
    )
    (tree / "tests" / "test_tiny.py").write_text(
        "import pathlib\n\nfrom runproofs import tiny\n\ndef test_it():\n    tiny.clean()\n"
        "    tiny.again()\n    assert pathlib.Path('tests').exists()\n"
    )
    assert main(["--jobs", "1"], tree) == 0
    assert "4 of 4 killed" in capsys.readouterr().out
    assert (tree / "tests" / "test_tiny.py").exists()


def test_a_tree_that_is_red_unchanged_is_refused(tree, capsys):
    (tree / "tests" / "test_other.py").write_text("def test_it():\n    assert False\n")
    assert main([], tree) == 2
    assert "test_other.py is red on the unchanged tree" in capsys.readouterr().err


def test_tests_of_a_module_are_those_that_import_it(tree):
    library, test = tree / "lib", tree / "tests" / "test_tiny.py"
    (library / "runproofs" / "deep").mkdir()
    (library / "runproofs" / "deep" / "__init__.py").touch()
    assert names(test, "runproofs/tiny.py", library)
    assert not names(test, "runproofs/tin.py", library)
    for line in (
        "from runproofs import deep",
        "from runproofs.deep import f",
        "import runproofs.deep",
    ):
        test.write_text(line)
        assert names(test, "runproofs/deep/network.py", library)
        assert not names(test, "runproofs/tiny.py", library)


def test_what_reads_an_assignment_is_planted_too(tree, capsys):
    assert not set(COURSEWORK) - set(sources(ROOT))
    path = COURSEWORK[0]
    (tree / path).parent.mkdir(parents=True)
    (tree / path).write_text("x = 1\n")
    assert main(["--module", path], tree) == 1
    assert f"{path}:1\n   x = 1\n-> x = 2\n" in capsys.readouterr().out
    test = f"def test_it():\n    assert '1' in open('{path}').read()\n"
    (tree / "tests" / "test_other.py").write_text(test)
    assert main(["--module", path], tree) == 0


def test_listed_mutants_exist():
    """An entry whose code has changed explains nothing any more."""
    code = sources(ROOT)
    for path, *change in explained(ROOT):
        found = Sites(path, code[path]).found
        assert tuple(change) in {mutant.lines(code[path]) for mutant in found}
