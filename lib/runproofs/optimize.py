"""Descent by L-BFGS from many starts, which knows no theory: the witness of closed forms."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize


def flatten(arrays: list[ArrayLike]) -> np.ndarray:
    """All entries of the arrays, one after another, as a vector.

    Parameters
    ----------
    arrays : list of array_like
        Arrays of any shapes, at least one.

    Returns
    -------
    (n,) ndarray
        A copy of the entries.

    Examples
    --------
    >>> flatten([np.eye(2), np.ones((1, 3))])
    array([1., 0., 0., 1., 1., 1., 1.])
    """
    return np.concatenate([np.ravel(X) for X in arrays])


def unflatten(z: np.ndarray, shapes: list[tuple]) -> list[np.ndarray]:
    """The arrays whose entries `flatten` put into a vector.

    Parameters
    ----------
    z : (n,) ndarray
        All entries.
    shapes : list of tuple
        Shapes of the arrays, of n entries together.

    Returns
    -------
    list of ndarray
        Views of z.

    Examples
    --------
    >>> unflatten(np.arange(5), [(2, 2), (1,)])
    [array([[0, 1],
           [2, 3]]), array([4])]
    """
    cuts = [0, *accumulate(prod(shape) for shape in shapes[:-1]), len(z)]
    return [z[i:j].reshape(shape) for (i, j), shape in zip(pairwise(cuts), shapes, strict=True)]


def lbfgs(value_and_gradient: Callable, z: np.ndarray) -> tuple[np.ndarray, float]:
    """Where L-BFGS ends, and the value there.

    Parameters
    ----------
    value_and_gradient : callable
        Takes a vector (n,); returns a number and a vector, of order 1: tolerances are absolute.
    z : (n,) ndarray
        Where it starts.

    Returns
    -------
    z : (n,) ndarray
        Where it ends.
    value : float
        The value there.

    Notes
    -----
    Cost: at most some 20,000 evaluations. Nothing is checked.
    """
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-11}
    end = minimize(value_and_gradient, z, jac=True, method="L-BFGS-B", options=options)
    return end.x, float(end.fun)
