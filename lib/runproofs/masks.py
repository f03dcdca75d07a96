"""Dropout masks, all of them, and exact expectations over them."""

import numpy as np

from runproofs import _arguments as arguments


def all_masks(r, theta):
    """All masks of r units and their probabilities.

    r: 1 to 20. theta: keep probability in (0, 1]. Returns masks (2^r, r) of zeros and ones and
    probabilities (2^r,). Raises ValueError for bad arguments. Cost: O(r 2^r).
    """
    r = arguments.positive_integer("r", r)
    theta = arguments.keep_probability(theta)
    if r > 20:
        raise ValueError(f"r must be at most 20 to list all 2^r masks, but it was {r}.")
    b = (np.arange(2**r)[:, None] >> np.arange(r) & 1).astype(float)
    kept = b.sum(axis=1)
    return b, theta**kept * (1 - theta) ** (r - kept)


def expectation(f, r, theta):
    """Exact expectation of f(b) over the masks b of r units.

    f: takes one mask (r,), returns a number or an array. r, theta: as in `all_masks`. Returns the
    shape of f. Raises ValueError for bad arguments. Cost: 2^r calls of f.
    """
    b, probabilities = all_masks(r, theta)
    return np.tensordot(probabilities, np.array([f(mask) for mask in b]), axes=1)[()]
