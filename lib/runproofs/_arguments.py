"""Checks of arguments, made once at the public boundary; each failure is one sentence.

`numbers` is the general one. Its bounds are keywords of whatever checks numbers here: `above` and
`below` are left out, `least` and `most` are let in.
"""

import operator
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np

BOUNDS = {
    "above": ("larger than", operator.gt),
    "least": ("at least", operator.ge),
    "below": ("below", operator.lt),
    "most": ("at most", operator.le),
}


def numbers(name, x, *, batch=None, exact=False, wanted=None, **bounds):
    """x as a float64 array with entries within the bounds.

    batch: its shape, if it is no number; any shape if None. exact: a Fraction is let in, and stays
    one. wanted: what the sentence asks for, the bounds in words if None. NaN is refused, and so is
    infinity, unless it is `most`.
    """
    wanted = wanted or _in_words(bounds) or "a number or an array of numbers"
    if not (exact and isinstance(x, Fraction)):
        x = _floats(name, x, wanted, infinite=bounds.get("most") == np.inf)
    if batch is not None and x.shape not in ((), tuple(batch)):
        raise ValueError(
            f"{name} must be a number or have shape {tuple(batch)}, but its shape is {x.shape}."
        )
    _check_bounds(name, x, wanted, bounds)
    return x


def number(name, x, *, exact=False, wanted=None, **bounds):
    """x as a float within the bounds; exact and wanted as in `numbers`."""
    wanted = wanted or ("a number" + f" that is {_in_words(bounds)}" * bool(bounds))
    x = numbers(name, x, exact=exact, wanted=wanted, **bounds)
    if np.ndim(x) != 0:
        raise ValueError(f"{name} must be {wanted}, but its shape is {x.shape}.")
    return x if isinstance(x, Fraction) else float(x)


def _in_words(bounds):
    finite = [f"{BOUNDS[key][0]} {bound}" for key, bound in bounds.items() if bound != np.inf]
    return " and ".join(finite) + (", or infinity" if len(finite) < len(bounds) else "")


def _check_bounds(name, x, wanted, bounds):
    for key, bound in bounds.items():
        if not np.all(BOUNDS[key][1](x, bound)):
            worst = np.min(x) if key in ("above", "least") else np.max(x)
            raise ValueError(f"{name} must be {wanted}, but it was {worst}.")


def _floats(name, x, allowed, infinite=False, exact=False):
    """x as a float64 array of real numbers; of finite ones, unless infinite (NaN fails later).

    exact: an array of Fractions, or of Python's integers and them, stays one.
    """
    try:
        array = np.asarray(x)
    except (ValueError, TypeError, RuntimeError):  # ragged lists, tensors elsewhere or with grad
        array = np.asarray(None)
    if np.ma.is_masked(x):
        raise ValueError(f"{name} must have finite entries, but some are masked.")
    if exact and array.dtype == object and all(isinstance(x, Rational) for x in array.flat):
        return array
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be {allowed}, but it is not an array of real numbers.")
    array = array.astype(np.float64, copy=False)
    if not (infinite or np.isfinite(array).all()):
        raise ValueError(f"{name} must have finite entries, but it contains NaN or infinity.")
    return array


def matrix(name, X, *, square=False, rows=None, columns=None, batched=False, exact=False):
    """X as a float64 matrix (with batched=True: any leading batch axes), checked for its shape.

    exact: as in `_floats`, a matrix of Fractions stays one.
    """
    allowed = "a square matrix" if square else "a matrix"
    if batched:
        allowed += " or a batch of matrices"
    X = _floats(name, X, allowed, exact=exact)
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


def vector(name, x, *, size=None, **bounds):
    """x as a one-dimensional, non-empty float64 array, of that size, with entries within bounds."""
    x = _floats(name, x, "a vector")
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, but its shape is {x.shape}.")
    if size not in (None, x.size):
        raise ValueError(f"{name} must have {size} entries, but it has {x.size}.")
    _check_bounds(f"every entry of {name}", x, _in_words(bounds), bounds)
    return x


def probabilities(name, x, n):
    """x as n entries that are at least 0 and have the sum 1, to 1e-9."""
    x = vector(name, x, least=0)
    if len(x) != n or abs(x.sum() - 1) > 1e-9:
        raise ValueError(
            f"{name} must be {n} probabilities of sum 1, but it has {len(x)} entries "
            f"of sum {x.sum():.6g}."
        )
    return x


def factors(U, V, *, exact=False):
    """U (..., d2, r) and V (..., d0, r) as float64 arrays with as many columns and batch axes."""
    U, V = (matrix(name, X, batched=True, exact=exact) for name, X in (("U", U), ("V", V)))
    if U.dtype != V.dtype:
        raise ValueError("U and V must both have floats or both have Fractions.")
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


def keep_probability(keep, *, exact=False):
    """keep as a float in (0, 1]; a Fraction is let in, and with exact=True it stays one."""
    keep = number("keep", keep, exact=True, wanted="a probability in (0, 1]", above=0, most=1)
    return keep if exact else float(keep)


def drop_probability(drop):
    """drop as a float in [0, 1)."""
    return number("drop", drop, wanted="a probability in [0, 1)", least=0, below=1)


def rational(name, x):
    """x as a Fraction that is at least 0; decimals are refused, since they only look exact."""
    if not isinstance(x, Rational) or isinstance(x, bool) or x < 0:
        raise ValueError(f"{name} must be an integer or a Fraction, at least 0, but it was {x!r}.")
    return Fraction(x)


def positive_integer(name, n, *, why="", **bounds):
    """n as an int within the bounds, 1 or larger; 3.0 is refused. why: ends the demand."""
    bounds = {"least": 1} | bounds
    wanted = f"an integer that is {_in_words(bounds)}{why}"
    if not isinstance(n, Integral) or isinstance(n, bool):
        raise ValueError(f"{name} must be {wanted}, but it was {n!r}.")
    _check_bounds(name, n, wanted, bounds)
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


def points(name, x, d, *, axes=None, exact=False):
    """x (..., d) as float64; with axes, their number. exact: as in `_floats`."""
    x = _floats(name, x, "a point or an array of points", exact=exact)
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
