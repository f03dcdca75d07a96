from fractions import Fraction

import numpy as np
import pytest

from runproofs.answers import same


@pytest.mark.parametrize(
    "found", [2, 2.0, np.float32(2), Fraction(2), np.array(2), 2 + 1e-9], ids=repr
)
def test_a_right_number_of_any_kind_is_the_same(found):
    assert same(found, 2)


@pytest.mark.parametrize(
    "found",
    [2.1, -2, True, None, "2", np.nan, np.inf, 2j, [], {}, [2], np.empty((0, 1)), object()],
    ids=lambda found: repr(found).partition(" at 0x")[0],
)
def test_what_is_not_that_number_is_not_the_same(found):
    assert not same(found, 2)


def test_an_array_has_its_shape():
    assert same([[1, 2], [3, 4]], np.array([[1.0, 2], [3, 4]]))
    assert not same(np.full((2, 2), 1.0), 1.0)
    assert not same(np.empty((0, 1, 1)), np.ones((2, 2)))
    assert not same([[1, 2], [3]], np.ones((2, 2)))
    assert not same(np.zeros(3, dtype=bool), np.zeros(3))


def test_nearness_is_that_of_allclose():
    assert same(1.05, 1, rtol=0.1)
    assert not same(1e-7, 0, atol=1e-8)
