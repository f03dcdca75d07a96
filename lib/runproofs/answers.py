"""What the tests of the assignments compare answers with."""

import numpy as np
from numpy.typing import ArrayLike


def same(found: object, expected: ArrayLike, *, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether an answer is the expected number, or array of numbers.

    Parameters
    ----------
    found : object
        The answer.
    expected : array_like
        What it should be, real.
    rtol, atol : float, optional
        Relative and absolute tolerance, as in ``np.allclose``.

    Returns
    -------
    bool
        Whether found has the same shape, holds finite real numbers and no truth values, and is
        near.

    Notes
    -----
    An answer that is no number at all is not the same; nothing is raised. NumPy alone would find an
    empty array close to everything.

    Examples
    --------
    >>> same(0.1 + 0.2, 0.3), same(np.empty((0, 1)), [0.3]), same(True, 1)
    (True, False, False)
    """
    try:
        found, expected = np.asarray(found), np.asarray(expected, dtype=float)
        if found.dtype.kind == "O":  # fractions, decimals, symbols
            found = found.astype(float)
    except (TypeError, ValueError):
        return False
    if found.dtype.kind not in "iuf" or found.shape != expected.shape:
        return False
    return bool(np.isfinite(found).all() and np.allclose(found, expected, rtol=rtol, atol=atol))
