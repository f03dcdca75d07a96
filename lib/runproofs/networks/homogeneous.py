"""Positive homogeneity of any map of weights: its degree, or a witness that there is none.

A map Phi of weights W = (W_1, ..., W_k) is positively homogeneous of degree p if

    Phi(alpha^{s_1} W_1, ..., alpha^{s_k} W_k) = alpha^p Phi(W_1, ..., W_k)   for all alpha >= 0;

all powers s_j are 1 in the definition, and other powers are what biases of deep layers need.
"""

from math import isfinite, log
from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments


class Witness(NamedTuple):
    """A scale and an entry of the output that no degree explains.

    found: the output there. wanted: alpha^p times the output at scale 1 (that output itself, if
    there is no p because the whole output vanishes or overflows).
    """

    alpha: float
    entry: tuple
    found: float
    wanted: float


class Degree(NamedTuple):
    """What `degree` found: the exponent that fits the first scale, and a witness against it.

    p: the exponent, None if the output vanishes or overflows at the first scale. witness: None if
    the output is alpha^p times itself at every scale tried.
    """

    p: float | None
    witness: Witness | None

    @property
    def found(self) -> float | None:
        """The degree, or None if there is a witness that there is none."""
        return None if self.witness else self.p


def scaled(weights, alpha, powers=None):
    """The weights alpha^{s_j} W_j.

    weights: k arrays. alpha: a number that is at least 0. powers: k exponents s_j > 0, all 1 if
    None. Returns k arrays, exact for exact weights, alpha and powers. Raises ValueError for other
    powers. Cost: O(weights). Source: slides, Key Property 1; Helmbold and Long, Theorem 5.

    >>> [W.tolist() for W in scaled([[1, 2], [3]], 2, powers=[1, 3])]
    [[2, 4], [24]]
    """
    powers = [1] * len(weights) if powers is None else list(powers)
    if len(powers) != len(weights) or min(powers, default=1) <= 0:
        raise ValueError(
            f"powers must be {len(weights)} exponents above 0, one for each array of weights, "
            f"but they were {powers}."
        )
    weights = [arguments.array(f"weights[{j}]", W) for j, W in enumerate(weights)]
    return [alpha**s * W for W, s in zip(weights, powers, strict=True)]


def degree(network, weights, scales=(2, 3), powers=None, tol=1e-9):
    """The degree of positive homogeneity of a map at these weights, or a witness against any.

    network: a callable of k arrays that returns a number or an array. weights: k arrays where it is
    tried, with an output that is not zero. scales: at least two numbers above 0, none of them 1.
    powers: as in `scaled`. tol: what passes for rounding, relative to the largest entry of the
    output at each scale. Returns a `Degree`: p fits the first scale, an integer if one is within
    tol, and all entries are compared with alpha^p at every scale, and with 0 at alpha = 0 if p > 0.

    A witness is final: up to rounding no degree fits. A degree is evidence at these weights only;
    a continuous map for which 2 and 3 pass at *all* weights has it (their powers are dense).
    Raises ValueError for bad arguments, and for an output that is zero or not finite.
    Cost: len(scales) + 2 calls of the network. Source: slides, Key Property 1.

    >>> relu = lambda W, c: c @ np.maximum(W @ [1, 2], 0)
    >>> degree(relu, [[[1, 1], [-1, 0]], [1, 5]]).found
    2
    >>> degree(lambda w: w**2 + w, [1.0], scales=(1.7, 2)).witness is None
    False
    """
    scales = arguments.vector("scales", scales)
    if len(scales) < 2 or len(set(scales)) < len(scales) or scales.min() <= 0 or 1 in scales:
        raise ValueError(
            "scales must be at least two different numbers above 0, none of them 1, "
            f"but they were {scales.tolist()}."
        )
    tol = arguments.number("tol", tol, above=0)
    weights = [arguments.numbers(f"weights[{j}]", W) for j, W in enumerate(weights)]
    at_one = _output(network, weights)
    if not np.isfinite(at_one).all() or not at_one.any():
        raise ValueError("network must have a finite output that is not zero at these weights.")
    first = _output(network, scaled(weights, scales[0], powers))
    size = np.abs(at_one).max()
    ratio = np.abs(first).max() / size
    if not (isfinite(ratio) and ratio > 0):
        return Degree(None, _witness(scales[0], first, at_one, tol, size))
    p = log(ratio) / log(scales[0])
    p = round(p) if abs(p - round(p)) <= tol else p
    for alpha in [*scales, 0.0] if p > 0 else scales:
        output, wanted = _output(network, scaled(weights, alpha, powers)), alpha**p * at_one
        if witness := _witness(alpha, output, wanted, tol, size):
            return Degree(p, witness)
    return Degree(p, None)


def _output(network, weights):
    with np.errstate(all="ignore"):  # what is not finite becomes a witness
        return np.asarray(network(*weights), dtype=float)


def _witness(alpha, output, wanted, tol, size):
    """The entry that is furthest off, or None if all are within tol of what is wanted.

    size: of the output at scale 1, which counts where nothing is wanted.
    """
    if output.shape != wanted.shape:
        raise ValueError(
            f"network must return one shape, but it returned {wanted.shape} and {output.shape}."
        )
    error = np.abs(output - wanted)
    if error.max() <= tol * (np.abs(wanted).max() or size):
        return None
    entry = np.unravel_index(error.argmax(), error.shape)
    where = tuple(map(int, entry))
    return Witness(float(alpha), where, float(output[entry]), float(wanted[entry]))
