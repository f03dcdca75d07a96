"""Descent by L-BFGS from many starts, which knows no theory: the witness of closed forms."""

import numpy as np
from scipy.optimize import minimize


def flatten(arrays):
    """All entries of the arrays, one after another, as a vector. Cost: O(n)."""
    return np.concatenate([np.ravel(X) for X in arrays])


def unflatten(z, shapes):
    """The arrays of these shapes whose entries `flatten` put into z. Cost: O(1), views of z."""
    cuts = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(z, cuts), shapes, strict=True)]


def lbfgs(value_and_gradient, z):
    """Where L-BFGS ends from the vector z, and the value there.

    value_and_gradient: function of a vector, returns a number and a vector; of order 1, since the
    tolerances are absolute. Returns (z, value). Cost: at most 20,000 evaluations.
    """
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-11}
    end = minimize(value_and_gradient, z, jac=True, method="L-BFGS-B", options=options)
    return end.x, float(end.fun)
