"""Nobody waits in silence: what a build says (booksite.progress)."""

from booksite.progress import time_left
from helpers import books


def test_what_is_left_comes_from_the_last_runs_or_from_the_mean_so_far():
    assert time_left([30.0, None, 2.0], [10], 2) == ", about 21 s left"  # (30 + 10 + 2) / 2
    assert time_left([None, 2.0], [10, 20], 2) == ", about 8 s left"  # (15 + 2) / 2
    assert time_left([], [10, 20], 2) == ""


def test_a_build_says_that_it_reads_and_writes(tmp_path, capsys):
    for name in ("index", "other"):
        (tmp_path / f"{name}.md").write_text(f"---\norphan: 1\n---\n# {name}\n", "utf-8")
    books.build(tmp_path, exclude_patterns=["_build"])
    assert capsys.readouterr().out == "Reading 2 pages.\nWriting the site.\n"
