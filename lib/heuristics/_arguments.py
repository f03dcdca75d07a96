"""Checks of arguments, made once at the public boundary; each failure is one sentence."""

from numbers import Integral

import numpy as np


def _floats(name, x, allowed):
    """x as a float64 array of finite real numbers."""
    try:
        array = np.asarray(x)
    except ValueError:  # NumPy's own message for ragged lists names no argument
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be {allowed}, but it is not an array of real numbers.")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must have finite entries, but it contains NaN or infinity.")
    return array


def matrix(name, X, *, square=False, rows=None, columns=None, batched=False):
    """X as a float64 matrix (with batched=True: any leading batch axes), checked for its shape."""
    allowed = "a square matrix" if square else "a matrix"
    if batched:
        allowed += " or a batch of matrices"
    X = _floats(name, X, allowed)
    if X.ndim < 2 or (X.ndim > 2 and not batched):
        raise ValueError(f"{name} must be {allowed}, but it has {X.ndim} axes.")
    if 0 in X.shape:
        raise ValueError(f"{name} must not be empty, but its shape is {X.shape}.")
    if square and X.shape[-1] != X.shape[-2]:
        raise ValueError(f"{name} must be {allowed}, but its shape is {X.shape}.")
    for axis, wanted, what in ((-2, rows, "rows"), (-1, columns, "columns")):
        if wanted is not None and X.shape[axis] != wanted:
            raise ValueError(f"{name} must have {wanted} {what}, but its shape is {X.shape}.")
    return X


def positive_semidefinite(name, C, *, size=None, tol=1e-10):
    """C as a symmetric positive semidefinite matrix; defects up to tol (relative) are rounding."""
    C = matrix(name, C, square=True, rows=size)
    scale = np.abs(C).max()
    if np.abs(C - C.T).max() > tol * scale:
        raise ValueError(f"{name} must be symmetric, but it differs from its transpose.")
    C = C / 2 + C.T / 2
    least = np.linalg.eigvalsh(C)[0]
    if least < -tol * scale * len(C):
        raise ValueError(
            f"{name} must be positive semidefinite, but its least eigenvalue is {least:.3g}."
        )
    return C


def vector(name, x):
    """x as a one-dimensional, non-empty float64 array."""
    x = _floats(name, x, "a vector")
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, but its shape is {x.shape}.")
    return x


def spectrum(name, sigma):
    """sigma as a vector with entries that are at least 0."""
    sigma = vector(name, sigma)
    if sigma.min() < 0:
        raise ValueError(f"{name} must have entries that are at least 0, but one is {sigma.min()}.")
    return sigma


def factors(U, V):
    """U (..., d2, r) and V (..., d0, r) as float64 arrays with as many columns and batch axes."""
    U, V = matrix("U", U, batched=True), matrix("V", V, batched=True)
    if U.shape[-1] != V.shape[-1] or U.shape[:-2] != V.shape[:-2]:
        raise ValueError(
            "U and V must agree in their batch axes and in their number of columns, "
            f"but their shapes are {U.shape} and {V.shape}."
        )
    return U, V


def nonnegative(name, x):
    """x as a float, 0 or larger."""
    x = _floats(name, x, "a number")
    if x.ndim != 0 or x < 0:
        raise ValueError(f"{name} must be a number that is at least 0, but it was {x}.")
    return float(x)


def positive(name, x):
    """x as a float larger than 0."""
    x = _floats(name, x, "a number")
    if x.ndim != 0 or x <= 0:
        raise ValueError(f"{name} must be a number larger than 0, but it was {x}.")
    return float(x)


def keep_probability(theta):
    """theta as a float in (0, 1]."""
    theta = _floats("theta", theta, "a number")
    if theta.ndim != 0 or not 0 < theta <= 1:
        raise ValueError(f"theta must be a keep probability in (0, 1], but it was {theta}.")
    return float(theta)


def positive_integer(name, n):
    """n as an int, 1 or larger; a float such as 3.0 is refused."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"{name} must be an integer that is at least 1, but it was {n!r}.")
    return int(n)
