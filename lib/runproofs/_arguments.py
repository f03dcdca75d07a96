"""Checks of arguments, made once at the public boundary; each failure is one sentence."""

from fractions import Fraction
from numbers import Integral

import numpy as np


def _floats(name, x, allowed):
    """x as a float64 array of finite real numbers."""
    try:
        array = np.asarray(x)
    except (ValueError, TypeError, RuntimeError):  # ragged lists, tensors elsewhere or with grad
        array = np.asarray(None)
    if np.ma.is_masked(x):
        raise ValueError(f"{name} must have finite entries, but some are masked.")
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


def symmetric(name, C, *, size=None, batched=False, tol=1e-10):
    """C as a symmetric float64 matrix, or a batch; asymmetry up to tol (relative) is rounding."""
    C = matrix(name, C, square=True, rows=size, batched=batched)
    if (C.mT == C).all():  # the usual case, several times faster than what follows
        return C
    scale = np.abs(C).max(axis=(-2, -1))
    if (np.abs(C / 2 - C.mT / 2).max(axis=(-2, -1)) > tol / 2 * scale).any():
        raise ValueError(f"{name} must be symmetric, but it differs from its transpose.")
    return C / 2 + C.mT / 2  # halved first, so that the sum cannot overflow


def positive_semidefinite(name, C, *, size=None):
    """C as a symmetric positive semidefinite matrix; defects of 1e-10 (relative) are rounding."""
    C = symmetric(name, C, size=size)
    _check_semidefinite(name, np.linalg.eigvalsh(C))
    return C


def positive_definite(name, C, *, size=None):
    """C as a symmetric positive definite matrix; its condition number must be below 1e12."""
    C = symmetric(name, C, size=size)
    _check_definite(name, np.linalg.eigvalsh(C))
    return C


def eigh_semidefinite(name, C, *, size=None):
    """Eigenvalues, at least 0, and eigenvectors of a positive semidefinite C, checked by them."""
    values, W = np.linalg.eigh(symmetric(name, C, size=size))
    _check_semidefinite(name, values)
    return np.maximum(values, 0), W


def eigh_definite(name, C, *, size=None):
    """Eigenvalues and eigenvectors of a positive definite C, checked by them."""
    values, W = np.linalg.eigh(symmetric(name, C, size=size))
    _check_definite(name, values)
    return values, W


def _check_semidefinite(name, values):
    if values[0] < -1e-10 * np.abs(values).max():
        raise ValueError(
            f"{name} must be positive semidefinite, but its least eigenvalue is {values[0]:.3g}."
        )


def _check_definite(name, values):
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError(
            f"{name} must be positive definite, but its least eigenvalue is {values[0]:.3g}."
        )


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


def probabilities(name, x, n):
    """x as n entries that are at least 0 and have the sum 1, to 1e-9."""
    x = spectrum(name, x)
    if len(x) != n or abs(x.sum() - 1) > 1e-9:
        raise ValueError(
            f"{name} must be {n} probabilities of sum 1, but it has {len(x)} entries "
            f"of sum {x.sum():.6g}."
        )
    return x


def factors(U, V):
    """U (..., d2, r) and V (..., d0, r) as float64 arrays with as many columns and batch axes."""
    U, V = matrix("U", U, batched=True), matrix("V", V, batched=True)
    if U.shape[-1] != V.shape[-1] or U.shape[:-2] != V.shape[:-2]:
        raise ValueError(
            "U and V must agree in their batch axes and in their number of columns, "
            f"but their shapes are {U.shape} and {V.shape}."
        )
    return U, V


def layers(weights, *, batched=True):
    """Weights W_1, ..., W_{k+1} (..., d_i, d_{i-1}), k >= 1, of a network, as float64 arrays."""
    if not isinstance(weights, (list, tuple)) or len(weights) < 2:
        raise ValueError("weights must be a list of at least two matrices, W_1 to W_{k+1}.")
    weights = [matrix(f"W_{i}", W, batched=batched) for i, W in enumerate(weights, 1)]
    for i in range(1, len(weights)):
        columns, rows = weights[i].shape[-1], weights[i - 1].shape[-2]
        if columns != rows:
            raise ValueError(
                f"W_{i + 1} must have as many columns as W_{i} has rows, {rows}, "
                f"but it has {columns}."
            )
    if len({W.shape[:-2] for W in weights}) > 1:
        raise ValueError(
            "The matrices in weights must agree in their batch axes, "
            f"but their shapes are {', '.join(str(W.shape) for W in weights)}."
        )
    return weights


def hidden_widths(widths, *, rank=0):
    """Widths d_1, ..., d_k, k >= 1, of the hidden layers as an integer array."""
    try:
        widths = np.array([positive_integer("every width", d) for d in widths])
    except TypeError:
        widths = np.array([])
    if not widths.size:
        raise ValueError("widths must be a non-empty list of integers, one for each hidden layer.")
    if rank > widths.min():
        raise ValueError(
            f"widths must all be at least the rank of the map, {rank}, "
            f"but the narrowest layer has width {widths.min()}."
        )
    return widths


def rates(lam):
    """lam as an array, of any shape, of numbers that are at least 0."""
    lam = _floats("lam", lam, "a number or an array of numbers")
    if lam.size == 0 or lam.min() < 0:
        raise ValueError(f"lam must be at least 0, but it was {lam}.")
    return lam


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


def keep_probability(theta, *, exact=False, name="theta"):
    """theta as a float in (0, 1]; with exact=True a Fraction stays one."""
    if not isinstance(theta, Fraction):
        theta = _floats(name, theta, "a number")
    if np.ndim(theta) != 0 or not 0 < theta <= 1:
        raise ValueError(f"{name} must be a keep probability in (0, 1], but it was {theta}.")
    return theta if exact and isinstance(theta, Fraction) else float(theta)


def drop_probability(p):
    """p as a float in [0, 1)."""
    p = _floats("p", p, "a number")
    if p.ndim != 0 or not 0 <= p < 1:
        raise ValueError(f"p must be a drop probability in [0, 1), but it was {p}.")
    return float(p)


def positive_integer(name, n):
    """n as an int, 1 or larger; a float such as 3.0 is refused."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"{name} must be an integer that is at least 1, but it was {n!r}.")
    return int(n)


def at_most(name, n, largest, what):
    """n, which must not exceed a bound that keeps `what` (a plural) affordable."""
    if n > largest:
        raise ValueError(f"{name} must allow at most {largest} {what}, but there may be {n}.")


def generator(rng):
    """rng, a NumPy Generator or a seed, as a Generator."""
    try:
        if rng is None:  # NumPy would draw a seed, and nobody could repeat the result
            raise TypeError
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(
            f"rng must be a NumPy Generator or a seed, an integer that is at least 0, "
            f"but it was {rng!r}."
        ) from None


def slope(alpha):
    """alpha as a float64 array with entries in [0, 1], of any shape."""
    alpha = _floats("alpha", alpha, "a slope or an array of slopes")
    if alpha.size and not (alpha.min() >= 0 and alpha.max() <= 1):
        raise ValueError(f"alpha must lie in [0, 1], but it was {alpha}.")
    return alpha


def at_least_zero(name, x):
    """x as a float64 array with entries that are at least 0, of any shape."""
    x = _floats(name, x, "a number or an array of numbers")
    if x.size and x.min() < 0:
        raise ValueError(f"{name} must be at least 0, but it was {x.min()}.")
    return x


def above_zero(name, x):
    """x as a float64 array with entries larger than 0, of any shape."""
    x = _floats(name, x, "a number or an array of numbers")
    if x.size and x.min() <= 0:
        raise ValueError(f"{name} must be larger than 0, but it was {x.min()}.")
    return x


def reals(name, x):
    """x as a float64 array of any shape."""
    return _floats(name, x, "a number or an array of numbers")


def points(name, x, d, *, axes=None):
    """x (..., d) as float64; with axes, their number."""
    x = _floats(name, x, "a point or an array of points")
    if x.ndim < 1 or x.shape[-1] != d or (axes is not None and x.ndim != axes):
        wanted = f"{axes} axes, the last" if axes is not None else "a last axis"
        raise ValueError(f"{name} must have {wanted} of length {d}, but its shape is {x.shape}.")
    return x


def signs(name, y):
    """y as float64 array of labels -1 and +1."""
    y = _floats(name, y, "an array of labels")
    if not (np.abs(y) == 1).all():
        raise ValueError(f"{name} must contain only the labels -1 and 1, but it contains others.")
    return y
