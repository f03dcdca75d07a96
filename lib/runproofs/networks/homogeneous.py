"""Positive homogeneity of any map of weights: its degree, or a witness that there is none.

A map Phi of weights W = (W_1, ..., W_k) is positively homogeneous of degree p if::

    Phi(alpha^{s_1} W_1, ..., alpha^{s_k} W_k) = alpha^p Phi(W_1, ..., W_k)   for all alpha >= 0.

All powers s_j are 1 in the definition; other powers are what biases of deep layers need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments


class Witness(NamedTuple):
    """A scale and an entry of the output that no degree explains.

    Attributes
    ----------
    alpha : float
        The scale.
    entry : tuple of int
        Index of the entry.
    found : float
        The entry at this scale.
    wanted : float
        ``alpha^p`` times the entry at scale 1; that entry itself if there is no p.
    """

    alpha: float
    entry: tuple
    found: float
    wanted: float


class Degree(NamedTuple):
    """The exponent that fits the first scale, and a witness against it.

    Attributes
    ----------
    p : float or None
        The exponent, an int if one is near; None if the output vanishes or overflows there.
    witness : Witness or None
        None if the output is ``alpha^p`` times itself at every scale tried.
    """

    p: float | None
    witness: Witness | None

    @property
    def found(self) -> float | None:
        """The degree, or None if there is a witness that there is none."""
        return None if self.witness else self.p


def scaled(
    weights: Sequence[ArrayLike], alpha: float, powers: Sequence[float] | None = None
) -> list[np.ndarray]:
    """The weights ``alpha^{s_j} W_j``.

    Parameters
    ----------
    weights : sequence of array_like
        Arrays W_1, ..., W_k.
    alpha : float
        Scale, at least 0.
    powers : sequence of float, optional
        Exponents s_j, one an array, larger than 0; all 1 by default.

    Returns
    -------
    list of ndarray
        The scaled arrays, exact for exact weights, alpha and powers.

    References
    ----------
    :claim:`vidal/positive-homogeneity`, :claim:`helmbold-long/theorem-5`

    Examples
    --------
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


def degree(
    network: Callable,
    weights: Sequence[ArrayLike],
    scales: ArrayLike = (2, 3),
    powers: Sequence[float] | None = None,
    tol: float = 1e-9,
) -> Degree:
    """The degree of positive homogeneity of a map at these weights, or a witness against any.

    Parameters
    ----------
    network : callable
        Takes k arrays; returns a number or an array.
    weights : sequence of array_like
        Arrays W_1, ..., W_k where it is tried, with a finite output that is not zero.
    scales : (n,) array_like, optional
        At least two different numbers above 0, none of them 1; by default 2 and 3.
    powers : sequence of float, optional
        Exponents s_j, one an array, larger than 0; all 1 by default.
    tol : float, optional
        What passes for rounding, relative to the largest entry of the output, larger than 0.

    Returns
    -------
    Degree
        The exponent p that fits the first scale, and a witness where the output is not ``alpha^p``
        times itself: at a scale, or at alpha = 0 if p > 0.

    Notes
    -----
    A witness is final: up to rounding no degree fits. A degree is evidence at these weights only; a
    continuous map for which 2 and 3 pass at all weights has it (their powers are dense). Cost: at
    most len(scales) + 3 calls of the network.

    References
    ----------
    :claim:`vidal/positive-homogeneity`

    Examples
    --------
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
