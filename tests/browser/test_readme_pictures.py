"""The pictures of the README are those that the first page draws."""

import pytest

from browser import browse
from browser import readme_pictures as pictures

PICTURES = sorted(pictures.TOUR.glob("*.png"))
ALIKE = 0.1  # percent of the pixels; an arrow that is lost makes twice that


@pytest.fixture(scope="module")
def drawn(pytestconfig):
    return pictures.drawn(
        browse.site(pytestconfig).parent / "jupyter_execute" / "book" / "index.ipynb"
    )


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_of_the_tour_is_what_its_cell_draws(path, drawn):
    assert pictures.difference(path.read_bytes(), drawn[path.stem]) < ALIKE


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_of_the_tour_is_nothing_that_another_cell_draws(path, drawn):
    others = [png for name, png in drawn.items() if name != path.stem]
    assert min(pictures.difference(path.read_bytes(), png) for png in others) > ALIKE
