"""Mutants of the library: on a tiny one with known mutants, one of which no test can see."""

import random

import pytest

from booktools.judge_by_pytest import COURSEWORK, EQUIVALENT, ROOT, explained, main, sample, sources
from booktools.syntax import mutants

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


CHANGES = {
    "x = λ**2": ["x = λ**3", "x = λ*2"],  # positions count bytes
    "x += 1": ["x += 2", "x -= 1"],
    "x = a < b": ["x = a <= b", "x = a >= b"],
    "x = a and not b": ["x = a and b", "x = a or not b"],
    "x = -(y + z)": ["x = (y + z)", "x = -(y - z)"],
    "x = sum(a)": [],  # there is no function of the name mean
    "x = a.sum()": ["x = a.mean()"],
    "x = (a @ b).abs()": ["x = (a @ b)"],
    "x = a[1:]": ["x = a[2:]", "x = a[:]"],
    "x = f(True, strict=True)": ["x = f(False, strict=True)"],
    "x = f(tol=1e-12, quick={'n': 10})": [],
    "x = a(\n    1, 2\n)": ["1, 3", "2, 2"],
}


@pytest.mark.parametrize("code", CHANGES)
def test_kinds_of_mutants(code):
    source = f"{code}\n".encode()
    found = sorted(mutant.lines(source)[1] for mutant in mutants("tiny.py", source))
    assert [" ".join(line.split()) for line in found] == CHANGES[code]


def test_a_sample_spares_no_function():
    found = mutants("tiny.py", f"{TINY}\n\ndef other(x):\n    return x**2\n".encode())
    three = sample(found, 3, random.Random(0))
    assert {mutant.scope for mutant in three} == {"distance", "length", "other"}
    assert len(sample(found, 100, random.Random(0))) == len(found)


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
    assert main([], tree) == 1
    printed = capsys.readouterr().out
    assert "7 of 9 killed, 77.8%; 0 equivalent; 9 mutants in all" in printed
    code = "lib/runproofs/tiny.py: return abs(abs(x))\n-> return "
    once, twice = (code + after for after in ("(abs(x))", "abs((x))"))
    assert once in printed
    assert twice in printed
    assert {p: p.read_bytes() for p in before} == before
    (tree / EQUIVALENT).parent.mkdir()
    (tree / EQUIVALENT).write_text(f"# A list\n\n{once}\nno sign left\n\n{twice}\nno sign yet\n")
    assert main([], tree) == 0
    assert "7 of 7 killed, 100.0%" in capsys.readouterr().out


def test_a_tree_that_is_red_unchanged_is_refused(tree, capsys):
    (tree / "tests" / "test_other.py").write_text("def test_it():\n    assert False\n")
    assert main([], tree) == 2
    assert "test_other.py is red on the unchanged tree" in capsys.readouterr().err


def test_listed_mutants_exist():
    """An entry whose code has changed explains nothing any more."""
    code = sources(ROOT)
    assert set(COURSEWORK) <= set(code)
    for path, *change in explained(ROOT):
        assert tuple(change) in {mutant.lines(code[path]) for mutant in mutants(path, code[path])}
