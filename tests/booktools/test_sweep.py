"""Parameters of pages: they are read, taken to both ends, and what fails is said."""

import pytest

from booktools import sweep
from booktools.children import paths_of
from booktools.sweep import parameter, parameters

PAGE = """# A page

```{{code-cell}} ipython3
:tags: [parameters]
seed = 7  # any whole number
width = 4  # 3 to 6: units
law = "normal"  # one of "normal", "uniform"
```

```{{code-cell}} ipython3
first = width
{code}
```

```{{code-cell}} ipython3
{last}
```
"""


@pytest.fixture
def failures(tmp_path):
    def check(code="", last=""):
        page = tmp_path / "page.md"
        page.write_text(PAGE.format(code=code, last=last), "utf-8")
        return sorted(sweep.check([page], jobs=1))

    return check


def test_a_parameter_says_its_range():
    assert parameter("seed = 62  # any whole number") == ("seed", 62, 63, 64)
    assert parameter("rate = 0.1  # 0.1 to 0.9: at an end") == ("rate", 0.1, 0.1, 0.9)
    assert parameter("k = 2  # one of 1, 2, 3: hidden layers") == ("k", 2, 1, 3)
    for line, complaint in {
        "width = 4": "is not `name = value",
        "width = 4  # units": "is not `a to b`",
        "width = 7  # 3 to 6: units": "must lie in its range",
        "p = 0.7  # 0.7 to 0.70001": "is less than a tenth",
        "k = 4  # one of 4": "and another value must be in",
    }.items():
        with pytest.raises(ValueError, match=complaint):
            parameter(line)


def test_a_page_that_holds_is_green_at_both_ends(failures):
    code = "assert (seed, width, law) in [(7, 4, 'normal'), (8, 3, 'uniform'), (9, 6, 'uniform')]"
    assert failures(code) == []


def test_each_end_is_tried(failures):
    assert failures("assert width != 3, 'too narrow'\nassert width != 6, 'too wide'") == [
        "page, lower ends: line 11: AssertionError: too narrow",
        "page, upper ends: line 11: AssertionError: too wide",
    ]


def test_cells_run_again_from_the_last_to_the_first(failures):
    """So none is green only since the one before it has just run again."""
    (found,) = failures("count = 0", last="assert count == 0\ncount += 1")
    assert "as printed, each cell twice: line 16, run again: AssertionError" in found


def test_every_page_with_a_card_has_one_cell_of_parameters():
    text = PAGE.format(code="", last="")
    for wrong in (2 * text, text.replace("[parameters]", "[other]")):
        with pytest.raises(ValueError, match="cells have the tag"):
            parameters(wrong)
    for page in paths_of([]):
        assert parameters(page.read_text("utf-8")), f"{page} has no parameter."
