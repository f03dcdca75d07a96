"""Networks that fit the OR of their inputs under dropout (Helmbold and Long, Section 4.1).

The law is ``P_(1,1)``: all inputs and the label are 1, or all are 0, each with probability 1/2. A
network of K inputs and depth d has d - 1 hidden layers of n nodes each. Dropout keeps each input
and each hidden node with probability p. Formulas are exact for a Fraction p, and floats otherwise.
"""

from fractions import Fraction
from itertools import product

import numpy as np

from runproofs import _arguments as arguments
from runproofs.networks.multilayer import MultilayerNetwork, output_law


def all_ones(
    K: int, n: int, d: int, size: float | Fraction = 1, bias: float | Fraction = 0
) -> MultilayerNetwork:
    """The network with hidden weights 1, hidden biases 0, and equal output weights.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    size : float or Fraction, optional
        Every output weight, 1 by default.
    bias : float or Fraction, optional
        Bias of the output node, 0 by default.

    Returns
    -------
    MultilayerNetwork
        The network.

    Notes
    -----
    Cost: ``O(n K + d n^2)``.

    Examples
    --------
    >>> all_ones(2, 3, 2, size=Fraction(1, 6))([1, 1])
    Fraction(1, 1)
    """
    K, n, d = _shape(K, n, d)
    return _with_equal_tops(np.ones((n, K), dtype=int), d, size, bias)


def first_one(
    K: int, n: int, d: int, size: float | Fraction, bias: float | Fraction = 0
) -> MultilayerNetwork:
    """The first-one network: n / K gadgets of K nodes; node i fires if input i is the first one.

    Node i of a gadget has weight 1 on input i and -1 on the inputs before it. Later hidden weights
    are 1, hidden biases 0.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, a multiple of K.
    d : int
        Depth, at least 2.
    size : float or Fraction
        Every output weight.
    bias : float or Fraction, optional
        Bias of the output node, 0 by default.

    Returns
    -------
    MultilayerNetwork
        The network.

    Notes
    -----
    Cost: ``O(n K + d n^2)``.

    References
    ----------
    :claim:`helmbold-long/first-one-gadget`

    Examples
    --------
    >>> first_one(3, 3, 2, size=1).weights[0].astype(int).tolist()
    [[1, 0, 0], [-1, 1, 0], [-1, -1, 1]]
    """
    K, n, d = _shape(K, n, d, gadgets=True)
    gadget = np.eye(K, dtype=int) - np.tri(K, k=-1, dtype=int)
    return _with_equal_tops(np.tile(gadget, (n // K, 1)), d, size, bias)


def kappa(n: int, d: int, *, keep: float | Fraction) -> float | Fraction:
    """Variance ``(1 + q / (n p))^(d-1) - 1`` of the product of d - 1 independent Bin(n, p) / (n p).

    Parameters
    ----------
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    float or Fraction
        The variance.
    """
    (_, n, d), (keep, q) = _shape(1, n, d), _rate(keep)
    return (1 + q / (n * keep)) ** (d - 1) - 1


def first_one_criterion(
    K: int, n: int, d: int, *, keep: float | Fraction, biased: bool = False
) -> float | Fraction:
    """The least dropout criterion of a first-one network, over the size of its output weights.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, a multiple of K.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].
    biased : bool, optional
        Whether the output bias is free, too; it is 0 by default.

    Returns
    -------
    float or Fraction
        The criterion.

    References
    ----------
    :claim:`helmbold-long/lemma-10`, for p = 1/2

    Examples
    --------
    >>> first_one_criterion(4, 8, 2, keep=Fraction(1, 2))
    Fraction(3, 16)
    """
    tau = _first_one(K, n, d, keep)[1]
    return tau / (2 * (1 + tau)) if biased else tau / 2


def best_first_one(
    K: int, n: int, d: int, *, keep: float | Fraction, biased: bool = False
) -> MultilayerNetwork:
    """The first-one network of the least criterion.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, a multiple of K.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].
    biased : bool, optional
        Whether the output bias is free, too; it is 0 by default.

    Returns
    -------
    MultilayerNetwork
        The network.

    Notes
    -----
    Cost: ``O(n K + d n^2)``.
    """
    Q, tau = _first_one(K, n, d, keep)
    bias = tau / (1 + tau) if biased else 0 * tau
    return first_one(K, n, d, (1 - bias) * K * _rate(keep)[0] / (n ** (d - 1) * Q), bias)


def non_negative_minimum(K: int, n: int, d: int, *, keep: float | Fraction) -> float | Fraction:
    """The least dropout criterion of all networks without negative weights, with any biases.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    float or Fraction
        The criterion.

    References
    ----------
    :claim:`beyond/best-non-negative-network`, which sharpens :claim:`helmbold-long/lemma-16`

    Examples
    --------
    >>> non_negative_minimum(2, 4, 2, keep=Fraction(1, 2))
    Fraction(7, 44)
    """
    M, beta = _non_negative(K, n, d, keep)
    return M * beta / 2


def best_non_negative(K: int, n: int, d: int, *, keep: float | Fraction) -> MultilayerNetwork:
    """A network of the least criterion without negative weights: all hidden weights are 1.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    MultilayerNetwork
        The network.

    Notes
    -----
    Cost: ``O(n K + d n^2)``.

    References
    ----------
    :claim:`beyond/best-non-negative-network`
    """
    M, beta = _non_negative(K, n, d, keep)
    return all_ones(K, n, d, _rate(keep)[0] * beta / n ** (d - 1), M * beta)


def profile(network: MultilayerNetwork, *, keep: float | Fraction) -> np.ndarray:
    """The mean outputs psi(0), ..., psi(K) on all ones, given how many inputs dropout has kept.

    Parameters
    ----------
    network : MultilayerNetwork
        A single network with a hidden layer and K <= 12 inputs.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    (K + 1,) ndarray
        The means, Fractions where network and p are exact.

    Notes
    -----
    Cost: one `output_law` of the hidden layers for each of ``2^K`` masks.

    References
    ----------
    :claim:`helmbold-long/definition-13`

    Examples
    --------
    >>> [str(mean) for mean in profile(first_one(3, 3, 2, size=1), keep=Fraction(1, 2))]
    ['0', '2', '2', '2']
    """
    keep, layers = _rate(keep)[0], network.weights
    if len(layers) < 2 or layers[0].ndim != 2:
        raise ValueError("network must be a single one with a hidden layer, and no batch.")
    K, bias = network.sizes[0], network.biases[0]
    arguments.at_most("network", 2**K, 2**12, "masks of its inputs")
    rest = MultilayerNetwork(layers[1:], network.biases[1:])
    number = object if layers[0].dtype == object and isinstance(keep, Fraction) else float
    sums = [[] for _ in range(K + 1)]
    for mask in product((0, 1), repeat=K):
        hidden = np.maximum(layers[0] @ mask / keep + bias, 0).astype(number)
        law = output_law(rest, hidden, keep=keep)
        sums[sum(mask)].append(sum(value * chance for value, chance in law.items()))
    return np.array([sum(means) / len(means) for means in sums])


def _with_equal_tops(first, d, size, bias):
    """Hidden weights 1 from the second hidden layer on, no hidden biases, equal output weights."""
    n = len(first)
    ones = np.ones((n, n), dtype=int)
    hidden = [np.zeros(n, dtype=int)] * (d - 1)
    return MultilayerNetwork(
        [first, *[ones] * (d - 2), np.full((1, n), size)], [*hidden, np.array([bias])]
    )


def _first_one(K, n, d, p):
    """Q = E D^2 / (E D)^2 given that some input is kept, and tau = 1 - (1 - q^K) / Q."""
    (K, n, d), (p, q) = _shape(K, n, d, gadgets=True), _rate(p)
    Q = (1 + q * K / (n * p)) * (1 + q / (n * p)) ** (d - 2)
    return Q, 1 - (1 - q**K) / Q


def _non_negative(K, n, d, p):
    """M = q + kappa (q + K p), and beta = 1 / (K p + 2 M)."""
    (K, n, d), (p, q) = _shape(K, n, d), _rate(p)
    M = q + kappa(n, d, keep=p) * (q + K * p)
    return M, 1 / (K * p + 2 * M)


def _shape(K, n, d, *, gadgets=False):
    """K, n, d as integers, d at least 2; with gadgets K must divide n."""
    K, n = arguments.positive_integer("K", K), arguments.positive_integer("n", n)
    d = arguments.positive_integer("d", d, least=2, why=", for one hidden layer")
    if gadgets and n % K:
        raise ValueError(f"n must be a multiple of K = {K}, but it was {n}.")
    return K, n, d


def _rate(p):
    """Keep and drop probability, exact for a Fraction."""
    p = arguments.keep_probability(p, exact=True)
    return p, 1 - p


# The detector of the empty input ---------------------------------------------------------------


def detector(K: int, n: int, d: int, *, keep: float | Fraction) -> MultilayerNetwork:
    """The network that answers less if it notices that no input was kept, with the best sizes.

    First-layer weights -p and biases 1, so that a first node is 1 if no input is kept and else 0;
    later hidden weights 1 and biases 0; equal negative output weights, and an output bias.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    MultilayerNetwork
        The network.

    Notes
    -----
    Cost: ``O(n K + d n^2)``.

    References
    ----------
    :claim:`beyond/negative-weights-at-every-width`

    Examples
    --------
    >>> net = detector(2, 3, 2, keep=Fraction(1, 2))
    >>> net([0, 0]), net([1, 1])
    (Fraction(29, 85), Fraction(13, 17))
    """
    e, spread, (keep, _) = *_empty(K, n, d, keep), _rate(keep)
    total = 2 * spread + 1 - e
    size = (1 - e) / ((1 + e) * total)
    hidden = [np.ones((n, K), dtype=int) * -keep, *[np.ones((n, n), dtype=int)] * (d - 2)]
    biases = [np.ones(n, dtype=int), *[np.zeros(n, dtype=int)] * (d - 2)]
    top, bias = np.full((1, n), -size / n ** (d - 1)), np.array([(spread + 1 - e) / total])
    return MultilayerNetwork([*hidden, top], [*biases, bias])


def detector_minimum(K: int, n: int, d: int, *, keep: float | Fraction) -> float | Fraction:
    """The dropout criterion of `detector`, the least over its output weights and output bias.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    float or Fraction
        The criterion.

    References
    ----------
    :claim:`beyond/negative-weights-at-every-width`

    Examples
    --------
    >>> detector_minimum(4, 1, 2, keep=Fraction(1, 2))
    Fraction(287, 1598)
    """
    e, spread = _empty(K, n, d, keep)
    return (1 - (1 - e) ** 2 / ((1 + e) * (1 - e + 2 * spread))) / 4


def detector_wins(K: int, n: int, d: int, *, keep: float | Fraction) -> bool:
    """Whether `detector_minimum` is below `non_negative_minimum`, by the condition of Theorem S.E.

    Parameters
    ----------
    K : int
        Number of inputs, at least 1.
    n : int
        Number of nodes of each hidden layer, at least 1.
    d : int
        Depth, at least 2.
    keep : float or Fraction
        Probability p of keeping an input or a hidden node, in (0, 1].

    Returns
    -------
    bool
        The answer, exact for a Fraction p.

    References
    ----------
    :claim:`beyond/negative-weights-at-every-width`

    Examples
    --------
    >>> [n for n in range(1, 8) if detector_wins(2, n, 2, keep=Fraction(1, 2))]
    [5, 6, 7]
    """
    e, spread, (keep, q) = *_empty(K, n, d, keep), _rate(keep)
    cost = spread * (K * keep * e * (3 - e) - (1 - e) ** 2 * q)
    return bool(cost < (1 - e) * (q - e * (q + K * keep)))


def _empty(K, n, d, p):
    """e = q^K, the probability that no input is kept, and kappa."""
    (K, n, d), (_, q) = _shape(K, n, d), _rate(p)
    return q**K, kappa(n, d, keep=p)
