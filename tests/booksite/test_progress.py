"""Nobody waits in silence: a line for each page that ends, no wider than the terminal."""

from types import SimpleNamespace

from jupyter_cache.base import CacheBundleIn
from nbformat.v4 import new_notebook

from booksite import outputs, progress
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


def test_while_sphinx_reads_and_writes_it_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    for name in ("index", "other"):
        (tmp_path / f"{name}.md").write_text(f"---\norphan: 1\n---\n# {name}\n", "utf-8")
    books.build(tmp_path, exclude_patterns=["_build"])
    assert capsys.readouterr().out == "Reading 2 pages.\nWriting the site.\n"
    monkeypatch.setattr(progress, "SILENCE", -1)
    (tmp_path / "other.md").write_text("# other, again\n", "utf-8")
    books.build(tmp_path, exclude_patterns=["_build"])
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == ["Reading 1 page.", "Read 1 page.", "Writing the site."]
    assert "Written 2 pages." in told


def test_a_page_whose_cells_changed_is_known_by_its_last_run(tmp_path):
    page = tmp_path / "page.md"
    cache = outputs.get_cache(tmp_path / "cache")
    bundle = CacheBundleIn(new_notebook(), str(page), data={"execution_seconds": 7.5})
    cache.cache_notebook_bundle(bundle, check_validity=False)
    config = SimpleNamespace(nb_execution_cache_path=tmp_path / "cache")
    env = SimpleNamespace(book_keys={})
    outputs.forget_stale_outputs(SimpleNamespace(config=config), env, [])
    assert env.book_seconds == {str(page): 7.5}
