"""Nobody waits in silence: a line for each page that ends, no wider than the terminal."""

from booksite.progress import Progress
from helpers import books


def test_the_longest_pages_run_first_and_what_is_unknown_before_them():
    pages = Progress({"short": 1.0, "long": 9.0, "new": None}, cores=2)
    assert pages.longest_first() == ["new", "long", "short"]


def test_what_is_left_comes_from_the_last_run_or_from_the_mean_so_far():
    pages = Progress({"a": 1.0, "b": 30.0, "c": None, "d": 2.0}, cores=2)
    assert pages.ended("a", "A", 10).endswith("10 s, about 21 s left")  # (30 + 10 + 2) / 2
    assert pages.ended("b", "B", 20).endswith("20 s, about 8 s left")  # (15 + 2) / 2
    assert pages.ended("c", "C", 20).endswith("20 s, about 1 s left")
    assert pages.ended("d", "D", 200) == "[4/4] D, 3 min"


def test_a_line_fits_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    pages = Progress(dict.fromkeys(range(115), 10.0), cores=2)
    line = pages.ended(0, "Dropout as a regularizer of shallow linear networks", 12)
    assert line.startswith("[  1/115] Dropout as a ")
    assert line.endswith("..., 12 s, about 10 min left")
    assert len(line) == 59


def test_a_build_says_that_it_reads_and_writes(tmp_path, capsys):
    for name in ("index", "other"):
        (tmp_path / f"{name}.md").write_text(f"---\norphan: 1\n---\n# {name}\n", "utf-8")
    books.build(tmp_path, exclude_patterns=["_build"])
    assert capsys.readouterr().out == "Reading 2 pages.\nWriting the site.\n"
