"""Descent by L-BFGS from many starts, which knows no theory: the witness of closed forms."""

from itertools import accumulate, pairwise
from math import prod

import numpy as np
from scipy.optimize import minimize


def flatten(arrays):
    """All entries of the arrays, one after another, as a vector. Cost: O(n), a copy.

    >>> flatten([np.eye(2), np.ones((1, 3))])
    array([1., 0., 0., 1., 1., 1., 1.])
    """
    return np.concatenate([np.ravel(X) for X in arrays])


def unflatten(z, shapes):
    """The arrays of these shapes whose entries `flatten` put into z, views of z.

    z: (n,), where n is the number of entries of all shapes, else ValueError. Returns a list.
    Cost: O(1) a shape.

    >>> unflatten(np.arange(5), [(2, 2), (1,)])
    [array([[0, 1],
           [2, 3]]), array([4])]
    """
    cuts = [0, *accumulate(prod(shape) for shape in shapes[:-1]), len(z)]
    return [z[i:j].reshape(shape) for (i, j), shape in zip(pairwise(cuts), shapes, strict=True)]


def lbfgs(value_and_gradient, z):
    """Where L-BFGS ends from the vector z, and the value there.

    value_and_gradient: function of a vector (n,), returns a number and a vector (n,); of order 1,
    since the tolerances are absolute. Returns (z, value); nothing is checked.
    Cost: at most 20,000 evaluations, and O(n) besides for each.
    """
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-11}
    end = minimize(value_and_gradient, z, jac=True, method="L-BFGS-B", options=options)
    return end.x, float(end.fun)
