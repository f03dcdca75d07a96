"""Vectors and lists of arrays are one another; the descent finds known minima."""

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from runproofs.optimize import flatten, lbfgs, unflatten


@pytest.mark.parametrize("shapes", [[(2, 3), (4,), (1, 1)], [(3,)], [(0, 2), (2, 2, 2)]])
def test_flatten_and_unflatten(shapes):
    arrays = [np.random.default_rng(0).standard_normal(shape) for shape in shapes]
    z = flatten(arrays)
    assert z.tolist() == [x for X in arrays for x in X.ravel()]
    back = unflatten(z, shapes)
    for X, Y in zip(arrays, back, strict=True):
        np.testing.assert_array_equal(X, Y)
    z[:] = 7
    assert all((Y == 7).all() for Y in back)  # views


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(ValueError, match="reshape"):
        unflatten(np.zeros(5), [(2, 2)])


def test_descent_into_a_curved_valley():
    z, value = lbfgs(lambda z: (rosen(z), rosen_der(z)), np.array([-1.2, 1, -1, 2]))
    assert type(value) is float
    assert value < 1e-18
    np.testing.assert_allclose(z, 1, atol=1e-9)
