"""All of a page at once: each kind of fault is named."""

from booktools import page
from runproofs.claims.registry import BOOK

WRONG = """# A page

```{code-cell} ipython3
:tags: [parameters]
width = 4  # 3 to 6: units
```

```{code-cell} ipython3
from runproofs.claims.block import claim

assert width < 6, "too wide"
with claim("thesis/equation-2.1") as check:
    check("red").equal( 1, 2)
    for k in range(12):
        check(f"row {k}").differs(1, 2, by=0.1)
```
"""


def test_what_is_wrong_with_a_page(tmp_path, capsys):
    path = tmp_path / "page.md"
    path.write_text(WRONG, "utf-8")
    assert page.main([str(path), "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    for what in (
        "the cell is not formatted",
        "page:9 is not green by itself: thesis/equation-2.1: On this machine",
        "thesis/equation-2.1 has 13 rows, more than 12",
        "page, upper ends: line 9: AssertionError: too wide",
        "page:9, last bits moved: thesis/equation-2.1",
    ):
        assert what in said


def test_a_page_of_the_book_is_green(capsys):
    assert page.main([str(BOOK / "ch1_preliminaries/index.md"), "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "All is green." in said
