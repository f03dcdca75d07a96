"""Multilayer ReLU networks with dropout on inputs and hidden nodes, exactly (Helmbold and Long).

The output of a network is::

    W(x) = w^T h_{d-1} + b,   h_j = sigma(W_j h_{j-1} + b_j),   h_0 = x.

Dropout keeps each entry of ``h_0, ..., h_{d-1}`` with probability p, independently, and multiplies
what it keeps by 1/p. Integers and Fractions stay exact: then every law and every criterion below is
one of Fractions, and two of them are compared without a tolerance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs import masks


@dataclass(frozen=True, eq=False)
class MultilayerNetwork:
    """The network with weights ``W_1, ..., W_{d-1}, w`` and its biases, or a batch of networks.

    Attributes
    ----------
    weights : tuple of ndarray
        The d arrays ``(..., n_j, n_{j-1})``, the last one ``(..., 1, n_{d-1})``.
    biases : tuple of ndarray
        The d arrays ``(..., n_j)``, the last one (..., 1); zeros by default.

    Notes
    -----
    Both hold Fractions if all numbers are integers or Fractions, and otherwise float64.

    References
    ----------
    :claim:`helmbold-long/standard-architecture`

    Examples
    --------
    >>> MultilayerNetwork([[[1, 1], [1, 1]], [[1, 1]]])([1, Fraction(-1, 3)])
    Fraction(4, 3)
    """

    weights: tuple
    biases: tuple | None = None

    def __post_init__(self):
        weights = [_numbers(f"weights[{j}]", W) for j, W in enumerate(self.weights)]
        if not weights:
            raise ValueError("weights must hold at least one layer, but it is empty.")
        for j, W in enumerate(weights):
            rows = 1 if j == len(weights) - 1 else None
            columns = weights[j - 1].shape[-2] if j else None
            if W.ndim < 2 or 0 in W.shape or rows not in (None, W.shape[-2]):
                raise ValueError(
                    f"weights[{j}] must be a matrix{' of one row' if rows else ''}, or a batch, "
                    f"but its shape is {W.shape}."
                )
            if columns not in (None, W.shape[-1]):
                raise ValueError(
                    f"weights[{j}] must have {columns} columns, one for each node before it, "
                    f"but its shape is {W.shape}."
                )
        biases = self.biases
        if biases is None:
            biases = [np.zeros(W.shape[-2], dtype=int) for W in weights]
        biases = [_numbers(f"biases[{j}]", b) for j, b in enumerate(biases)]
        if [b.shape[-1:] for b in biases] != [W.shape[-2:-1] for W in weights]:
            raise ValueError(
                f"biases must have lengths {[W.shape[-2] for W in weights]}, one for each node, "
                f"but their shapes are {[b.shape for b in biases]}."
            )
        exact = all(array.dtype == object for array in weights + biases)
        for name, arrays in (("weights", weights), ("biases", biases)):
            kept = tuple(array if exact else array.astype(float) for array in arrays)
            object.__setattr__(self, name, kept)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of nodes that dropout may drop, of the inputs and then of each hidden layer."""
        return tuple(W.shape[-1] for W in self.weights)

    def __call__(self, x):
        """Outputs W(x), (...), at points x (..., K)."""
        return dropout_output(self, x, [1] * len(self.weights), keep=Fraction(1))


def dropout_output(
    network: MultilayerNetwork,
    x: ArrayLike,
    pattern: Sequence[ArrayLike],
    *,
    keep: float | Fraction,
) -> np.ndarray | Fraction | float:
    """The output D(W, x, R) of the network with one dropout pattern R, or with a batch of them.

    Parameters
    ----------
    network : MultilayerNetwork
        A network of depth d, or a batch.
    x : (..., K) array_like
        Inputs.
    pattern : sequence of array_like
        Masks of zeros and ones, (..., K) for the inputs and ``(..., n_j)`` for each hidden layer,
        or the number 1 where nothing is dropped.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    (...) ndarray
        The output for each pattern and input; all batch axes broadcast.

    Notes
    -----
    Cost: linear in the number of weights, a pattern.

    References
    ----------
    :claim:`helmbold-long/standard-architecture`
    """
    h = _numbers("x", x)
    keep = _keep_probability(network, h, keep)
    if h.shape[-1:] != network.sizes[:1]:
        raise ValueError(f"x must have a last axis of length {network.sizes[0]}, not {h.shape}.")
    if len(pattern) != len(network.sizes):
        raise ValueError(
            f"pattern must hold {len(network.sizes)} masks, for the inputs and each hidden layer, "
            f"but it holds {len(pattern)}."
        )
    for j, (W, b, mask) in enumerate(zip(network.weights, network.biases, pattern, strict=True)):
        if j:
            h = np.maximum(h, 0)
        mask = arguments.zeros_and_ones(f"pattern[{j}]", mask, W.shape[-1], one=True)
        h = (W @ (mask * h / keep)[..., None])[..., 0] + b
    return h[..., 0][()]


def all_patterns(
    network: MultilayerNetwork, *, keep: float | Fraction
) -> tuple[list[np.ndarray], np.ndarray]:
    """All dropout patterns of a network, and their probabilities.

    Parameters
    ----------
    network : MultilayerNetwork
        A network, with N <= 20 inputs and hidden nodes.
    keep : float or Fraction
        Probability p of keeping each of them, in (0, 1].

    Returns
    -------
    pattern : list of ndarray
        Masks ``(2^N, n_j)`` of the inputs and each hidden layer, as `dropout_output` takes them.
    probabilities : (2^N,) ndarray
        Probabilities of the patterns, exact for a Fraction p.

    Notes
    -----
    Cost: ``O(N 2^N)``.
    """
    keep = arguments.keep_probability(keep, exact=True)
    droppable = sum(network.sizes)
    if droppable > 20:
        raise ValueError(
            f"network must have at most 20 inputs and hidden nodes to list all its patterns, "
            f"but it has {droppable}."
        )
    listed, probabilities = masks.all_masks(droppable, keep=keep)
    return np.split(listed, np.cumsum(network.sizes)[:-1], axis=1), probabilities


def output_law(network: MultilayerNetwork, x: ArrayLike, *, keep: float | Fraction) -> dict:
    """The law of the output under dropout, pushed forward layer by layer.

    Parameters
    ----------
    network : MultilayerNetwork
        A single network.
    x : (K,) array_like
        Input.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    dict
        Probabilities of the values of the output, exact if network, x and p are.

    Notes
    -----
    Partial sums that are equal are merged after each node, so that layers of equal nodes are cheap
    at any width. Cost of a layer: the distinct activations below it, times the distinct partial
    sums from one of them (``2^n`` for n nodes below, n + 1 where they are all equal), times the
    weights of the layer.

    Examples
    --------
    >>> network = MultilayerNetwork([[[1, 1], [1, 1]], [[1, 1]]])
    >>> law = output_law(network, [1, -1], keep=Fraction(1, 2))
    >>> {int(value): str(law[value]) for value in sorted(law)}
    {0: '13/16', 4: '1/8', 8: '1/16'}
    """
    x = _numbers("x", x)
    keep = _keep_probability(network, x, keep)
    if x.shape != network.sizes[:1]:
        raise ValueError(f"x must be a point of {network.sizes[0]} inputs, not {x.shape}.")
    law = {tuple(x): 1}
    for j, (W, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        if W.ndim != 2 or b.ndim != 1:
            raise ValueError("network must be a single one for its law, not a batch.")
        pushed = defaultdict(int)
        for h, probability in law.items():
            if j:
                h = [max(value, 0) for value in h]
            for sums, chance in _sums(W, b, h, keep).items():
                pushed[sums] += probability * chance
        law = pushed
    return {value: chance for (value,), chance in law.items()}


def half(x: ArrayLike, y: float) -> list[tuple]:
    """The law ``P_(x,y)``: (x, y) or (0, 0), each with probability 1/2.

    Parameters
    ----------
    x : (K,) array_like
        Input of the first example.
    y : float
        Its label.

    Returns
    -------
    list of tuple
        Two triples (probability, x, y).

    References
    ----------
    :claim:`helmbold-long/definition-1`
    """
    x = arguments.array("x", x)
    return [(Fraction(1, 2), x, y), (Fraction(1, 2), 0 * x, 0)]


def criterion(
    network: MultilayerNetwork, examples: Iterable[tuple], *, keep: float | Fraction
) -> float | Fraction:
    """The dropout criterion J_D: the mean of ``(D(W, x, R) - y)^2`` over examples and patterns.

    Parameters
    ----------
    network : MultilayerNetwork
        A single network.
    examples : iterable of tuple
        Triples (probability, x, y), x (K,).
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    float or Fraction
        The criterion, exact if all numbers are.

    Notes
    -----
    Cost: one `output_law` an example.

    References
    ----------
    :claim:`helmbold-long/equation-1`
    """
    return sum(
        weight * chance * (value - y) ** 2
        for weight, x, y in examples
        for value, chance in output_law(network, x, keep=keep).items()
    )


def risk(network: MultilayerNetwork, examples: Iterable[tuple]) -> np.ndarray | Fraction | float:
    """The mean of ``(W(x) - y)^2`` over examples.

    Parameters
    ----------
    network : MultilayerNetwork
        A network, or a batch.
    examples : iterable of tuple
        Triples (probability, x, y), x (K,).

    Returns
    -------
    (...) ndarray
        The risk of each network.

    Notes
    -----
    Cost: one pass an example.
    """
    return sum(weight * (network(x) - y) ** 2 for weight, x, y in examples)


def squared_norm(network: MultilayerNetwork) -> np.ndarray | Fraction | float:
    """The sum of the squares of all weights, biases left out.

    Parameters
    ----------
    network : MultilayerNetwork
        A network, or a batch.

    Returns
    -------
    (...) ndarray
        The sum for each network.
    """
    return sum((W**2).sum((-2, -1)) for W in network.weights)


def penalised_risk(
    network: MultilayerNetwork, examples: Iterable[tuple], lam: float | Fraction
) -> np.ndarray | Fraction | float:
    """``J_2``, the risk and lam / 2 times the squared norm of the weights (biases are free).

    Parameters
    ----------
    network : MultilayerNetwork
        A network, or a batch.
    examples : iterable of tuple
        Triples (probability, x, y), x (K,).
    lam : float or Fraction
        Strength of the penalty, at least 0.

    Returns
    -------
    (...) ndarray
        The criterion of each network.

    Notes
    -----
    Cost: one pass an example.

    References
    ----------
    Helmbold and Long, Surprising Properties of Dropout in Deep Networks, 2018, Section 2
    """
    arguments.number("lam", float(lam), least=0)
    return risk(network, examples) + lam * squared_norm(network) / 2


def _sums(W, b, h, p):
    """The law of W (r * h) / p + b over masks r: {sums: probability}."""
    law = {tuple(b): 1}
    for column, value in zip(W.T, h, strict=True):
        if value == 0 or p == 1:
            law = {_plus(sums, column * value): chance for sums, chance in law.items()}
            continue
        term, merged = column * value / p, defaultdict(int)
        for sums, chance in law.items():
            merged[sums] += (1 - p) * chance
            merged[_plus(sums, term)] += p * chance
        law = merged
    return law


def _keep_probability(network, x, p):
    """p, a Fraction only where all numbers are exact."""
    p = arguments.keep_probability(p, exact=True)
    exact = x.dtype == network.weights[0].dtype == object
    return p if exact else float(p)


def _plus(sums, term):
    return tuple(a + b for a, b in zip(sums, term, strict=True))


def _numbers(name, x):
    """x as an array of Fractions (dtype object) if all entries are rational, or of float64."""
    array = arguments.array(name, x)
    if array.dtype.kind in "iu" or (
        array.dtype == object and all(isinstance(entry, Rational) for entry in array.flat)
    ):
        exact = np.empty(array.shape, dtype=object)
        # int: a Fraction of NumPy's integers computes with 64 bits, and overflows
        exact.flat = [Fraction(int(e.numerator), int(e.denominator)) for e in array.flat]
        return exact
    if array.dtype == object and all(isinstance(entry, Real) for entry in array.flat):
        array = array.astype(float)
    return arguments.numbers(name, array)
