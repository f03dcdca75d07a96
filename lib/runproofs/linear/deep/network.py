"""Deep linear networks: the dropout objective, its gradient and its regularizers.

After layer j, h_j is the vector of activations and ``S_j = E h_j h_j^T`` over inputs and masks. A
mask divided by theta has mean 1 and variance lam, so that
``S_{j+1} = W (S_j + lam diag S_j) W^T``.
Of arrays of Fractions all but `pivot_products` are exact, where all arguments are such;
`subregularizers` and `subregularizers_over_pivots` then without C, which has no exact root.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise, product

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.exact import is_positive_semidefinite
from runproofs.linalg import psd_sqrt
from runproofs.masks import all_masks

# ------------------------------------------------------------------------ map, objective, gradient


def network_map(weights: Sequence[ArrayLike]) -> np.ndarray:
    """The product ``W_{k+1} ... W_1``.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, k >= 1, with any leading batch axes.

    Returns
    -------
    (..., d_{k+1}, d_0) ndarray
        Map of each network.

    Notes
    -----
    Cost: ``O(k d^3)`` per network.

    References
    ----------
    :claim:`thesis/ch3-hypothesis-class`

    Examples
    --------
    >>> network_map([[[1, 2], [0, 1]], [[3, 4]]]).tolist()
    [[3.0, 10.0]]
    """
    return _product(arguments.layers(weights, exact=True))


def random_network(
    sizes: Sequence[int], rng: np.random.Generator | int, *batch: int
) -> list[np.ndarray]:
    """Weights with independent standard normal entries.

    Parameters
    ----------
    sizes : list of int
        Sizes d_0, ..., d_{k+1} of the layers, at least 1, at least three of them.
    rng : numpy.random.Generator or int
        Source of the entries, or its seed.
    *batch : int
        Sizes of leading batch axes.

    Returns
    -------
    list of (*batch, d_i, d_{i-1}) ndarray
        Weights W_1, ..., W_{k+1}.

    Examples
    --------
    >>> [W.shape for W in random_network([3, 4, 2], 0, 7)]
    [(7, 4, 3), (7, 2, 4)]
    """
    sizes = [arguments.positive_integer("every size", d) for d in sizes]
    if len(sizes) < 3:
        raise ValueError(f"sizes must be those of input, hidden layers, output, not {sizes}.")
    rng = arguments.generator(rng)
    return [rng.standard_normal((*batch, after, before)) for before, after in pairwise(sizes)]


def objective(
    weights: Sequence[ArrayLike],
    Cyx: ArrayLike,
    lam: ArrayLike,
    Ey2: float | Fraction,
    C: ArrayLike | None = None,
) -> np.ndarray | Fraction | float:
    """Dropout objective ``E ||y - W x||^2`` of the masked network W, in closed form.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, k >= 1, with any leading batch axes.
    Cyx : (d_{k+1}, d_0) array_like
        Second moment ``E y x^T``.
    lam : float or array_like
        Strength of the penalty, at least 0; broadcasts with the batch axes.
    Ey2 : float
        Second moment ``E ||y||^2``, at least 0.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (...) ndarray
        The objective of each network and lam.

    Notes
    -----
    Cost: ``O(k d^3)`` per network.

    References
    ----------
    :claim:`thesis/equation-3.1`, :claim:`thesis/proposition-8`

    Examples
    --------
    >>> float(objective([[[1, 0]], [[2]]], [[1, 1]], 0.5, 3))  # 3 - 2 * 2 + 2^2 + R, R = 0.5 * 2^2
    5.0
    """
    weights, C = _network(weights, C)
    Cyx = _cross_moment(Cyx, weights)
    Ey2 = arguments.number("Ey2", Ey2, exact=C.dtype == object, least=0)
    M = _product(weights)
    risk = Ey2 + (M * (M @ C - 2 * Cyx)).sum((-2, -1))
    return risk + _regularizer(weights, _rates(lam, weights), C)


def gradient(
    weights: Sequence[ArrayLike], Cyx: ArrayLike, lam: ArrayLike, C: ArrayLike | None = None
) -> list[np.ndarray]:
    """Gradient of the objective.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, k >= 1, with any leading batch axes.
    Cyx : (d_{k+1}, d_0) array_like
        Second moment ``E y x^T``.
    lam : float or array_like
        Strength of the penalty, at least 0; broadcasts to the batch axes.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    list of (..., d_i, d_{i-1}) ndarray
        Gradient in each of the weights.

    Notes
    -----
    Cost: ``O(k d^3)`` per network.
    """
    weights, C = _network(weights, C)
    Cyx = _cross_moment(Cyx, weights)
    lam = _rates(lam, weights, more=False)
    gains = [1 + lam * np.eye(d, dtype=int) for d in _widths(weights)]
    return _gradient(weights, gains, C, Cyx)


def _gradient(weights, gains, C, Cyx):
    """`gradient` without checks, for NumPy arrays or torch tensors.

    weights: W_i (..., d_i, d_{i-1}). gains: 1 + lam I (..., d_j, d_j) for every hidden layer.
    C: (d_0, d_0). Cyx: (d_{k+1}, d_0). Returns a list of arrays shaped like the weights.
    Forward the moments S_j of the activations, backward their multipliers H_j: the second moment
    of the output is <H_j, S_j> for every j. Cost: O(k d^3) a network.
    """
    moments, maps = [C], [None]
    for W, gain in zip(weights, gains, strict=False):
        moments.append(W @ moments[-1] @ W.mT * gain)
        maps.append(W if maps[-1] is None else W @ maps[-1])
    back, target = 2 * weights[-1], 2 * Cyx
    gradients = []
    for j in reversed(range(len(weights))):
        aligned = target if j == 0 else target @ maps[j].mT
        gradients.append(back @ moments[j] - aligned)
        if j:
            back = (weights[j].mT @ back * gains[j - 1]) @ weights[j - 1]
            target = weights[j].mT @ target
    return gradients[::-1]


def masked_maps(
    weights: Sequence[ArrayLike], *, keep: float | Fraction
) -> tuple[np.ndarray, np.ndarray]:
    """The network map for every choice of masks, ``theta^-k W_{k+1} B_k W_k ... B_1 W_1``.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network with n hidden nodes, at most 20.
    keep : float
        Probability theta of keeping a unit, in (0, 1].

    Returns
    -------
    maps : (2^n, d_{k+1}, d_0) ndarray
        The maps.
    probabilities : (2^n,) ndarray
        Their probabilities.

    Notes
    -----
    Cost: ``O(2^n d^3)``, and ``O(2^n d^2)`` memory.

    References
    ----------
    :claim:`thesis/equation-3.1`

    Examples
    --------
    >>> maps, probabilities = masked_maps([[[1]], [[3]]], keep=0.25)
    >>> maps.ravel().tolist(), probabilities.tolist()
    ([0.0, 12.0], [0.75, 0.25])
    """
    weights = arguments.layers(weights, batched=False, exact=True)
    keep = arguments.keep_probability(keep, exact=weights[0].dtype == object)
    n = sum(_widths(weights))
    if n > 20:
        raise ValueError(f"weights must have at most 20 hidden nodes, but they have {n}.")
    maps, probabilities = weights[0][None], 1
    for W in weights[1:]:
        b, p = all_masks(W.shape[1], keep=keep)
        maps = ((W * b[:, None, :] / keep)[:, None] @ maps).reshape(-1, len(W), maps.shape[-1])
        probabilities = np.outer(p, probabilities).ravel()
    return maps, probabilities


def objective_by_enumeration(
    weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike, *, keep: float
) -> float | Fraction:
    """Expected dropout loss ``E ||y - W x||^2`` over all masks and samples, mask by mask.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network with n hidden nodes, at most 20.
    X : (samples, d_0) array_like
        Inputs x, one a row, equally likely.
    Y : (samples, d_{k+1}) array_like
        Targets y of the inputs.
    keep : float
        Probability theta of keeping a unit, in (0, 1].

    Returns
    -------
    float
        The expected loss.

    See Also
    --------
    objective : The same in closed form, from second moments.

    Notes
    -----
    Cost: ``O(2^n d^2 (d + samples))``, and ``O(2^n d^2 + samples d)`` memory.

    References
    ----------
    :claim:`thesis/equation-3.1`
    """
    maps, probabilities = masked_maps(weights, keep=keep)
    X = arguments.matrix("X", X, columns=maps.shape[2], exact=True)
    Y = arguments.matrix("Y", Y, rows=len(X), columns=maps.shape[1], exact=True)
    chunk = 1 + 2**15 // Y.size  # as many masks at once as the cache holds
    losses = [
        ((Y - X @ maps[i : i + chunk].mT) ** 2).sum((1, 2)) for i in range(0, len(maps), chunk)
    ]
    total = probabilities @ np.concatenate(losses)
    return (total if isinstance(total, Fraction) else float(total)) / len(X)


# ------------------------------------------------------------------------------------ regularizers


def regularizer(
    weights: Sequence[ArrayLike], lam: ArrayLike, C: ArrayLike | None = None
) -> np.ndarray | Fraction | float:
    """Explicit regularizer R of dropout, the objective less the population risk.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, k >= 1, with any leading batch axes.
    lam : float or array_like
        Strength of the penalty, at least 0; broadcasts with the batch axes.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (...) ndarray
        The regularizer of each network and lam.

    Notes
    -----
    The moment of the mean and the excess over it are carried separately, so that a small lam costs
    no accuracy. Cost: ``O(k d^3)`` per network.

    References
    ----------
    :claim:`thesis/proposition-8`

    Examples
    --------
    >>> float(regularizer([[[1], [2]], [[2, 3]]], 0.5))  # 0.5 * (2^2 * 1^2 + 3^2 * 2^2)
    20.0
    """
    weights, C = _network(weights, C)
    return _regularizer(weights, _rates(lam, weights), C)


def _regularizer(weights, lam, C):
    mean, excess = weights[0] @ C @ weights[0].mT, 0
    for W in weights[1:]:
        excess = W @ (excess + lam * np.eye(W.shape[-1], dtype=int) * (mean + excess)) @ W.mT
        mean = W @ mean @ W.mT
    return np.trace(excess, axis1=-2, axis2=-1)


def subregularizers(weights: Sequence[ArrayLike], C: ArrayLike | None = None) -> np.ndarray:
    """The sub-regularizers R_1, ..., R_k with ``R = sum_l lam^l R_l``.

    Parameters
    ----------
    weights : list of (..., d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1}, k >= 1, with any leading batch axes.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (..., k) ndarray
        The sub-regularizers of each network.

    Notes
    -----
    Sums over pivots are sums over paths that jump from pivot to pivot, each jump with a squared
    entry of the product of the weights between. Cost: ``O(k^2 d^2 (d + k))`` per network.

    References
    ----------
    :claim:`thesis/proposition-8`
    """
    return _subregularizers(_whitened(weights, C, exact=True))


def _subregularizers(weights):
    k, d0 = len(weights) - 1, weights[0].shape[-1]
    ends = list(accumulate(_widths(weights), initial=d0))
    sums = np.zeros((*weights[0].shape[:-2], ends[-1], k + 1), dtype=weights[0].dtype)
    sums[..., :d0, 0] = 1
    products = weights[0]  # of the weights from every node of earlier layers, side by side
    for n, W, new in zip(ends, weights[1:], ends[1:], strict=False):
        np.matmul(products * products, sums[..., :n, :-1], out=sums[..., n:new, 1:])
        products = np.concatenate([W @ products, W], axis=-1)
    squares = (products * products).sum(-2)
    return (squares[..., None, :] @ sums)[..., 0, 1:]


def pivot_sets(k: int) -> list[tuple[int, ...]]:
    """All pivot sets (j_1, ..., j_l), 1 <= j_1 < ... < j_l <= k, of k hidden layers.

    Parameters
    ----------
    k : int
        Number of hidden layers, at least 1.

    Returns
    -------
    list of tuple of int
        The ``2^k - 1`` sets, short ones first, each size in order.

    Notes
    -----
    Cost: ``O(k 2^k)``.

    References
    ----------
    :claim:`thesis/proposition-8`

    Examples
    --------
    >>> pivot_sets(2)
    [(1,), (2,), (1, 2)]
    """
    layers = range(1, arguments.positive_integer("k", k) + 1)
    return [pivots for l in layers for pivots in combinations(layers, l)]


def pivot_products(
    weights: Sequence[ArrayLike], pivots: Sequence[int], C: ArrayLike | None = None
) -> np.ndarray:
    """The products ``alpha beta_1 ... beta_{l-1} gamma`` of one pivot set, for all its nodes.

    The sum of their squares is the part of the set in R_l.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network.
    pivots : list of int
        Layers 1 <= j_1 < ... < j_l <= k.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (d_{j_1}, ..., d_{j_l}) ndarray
        The products, signed like the betas.

    Notes
    -----
    Cost: ``O(k d^3 + d^l)``.

    References
    ----------
    :claim:`thesis/proposition-8`, :claim:`thesis/figure-3-1`
    """
    weights = _whitened(weights, C, batched=False)
    pivots = [arguments.positive_integer("every pivot", j) for j in pivots]
    if not pivots or pivots != sorted(set(pivots)) or pivots[-1] >= len(weights):
        raise ValueError(
            f"pivots must be increasing layers between 1 and {len(weights) - 1}, "
            f"but they were {pivots}."
        )
    products = np.sqrt(_heads2(weights, pivots[0]))
    for i, j in pairwise(pivots):
        products = products[..., None] * _product(weights[i:j]).T
    return products * np.sqrt(_tails2(weights, pivots[-1]))


def subregularizers_over_pivots(
    weights: Sequence[ArrayLike], C: ArrayLike | None = None
) -> np.ndarray:
    """The sub-regularizers as printed: every summand of every pivot set, from its factors.

    Parameters
    ----------
    weights : list of (d_i, d_{i-1}) array_like
        Weights W_1, ..., W_{k+1} of one network.
    C : (d_0, d_0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (k,) ndarray
        The sub-regularizers R_1, ..., R_k.

    See Also
    --------
    subregularizers : The fast way.

    Notes
    -----
    Cost: ``O(k d^3 prod_j (1 + d_j))``.

    References
    ----------
    :claim:`thesis/proposition-8`
    """
    weights = _whitened(weights, C, batched=False, exact=True)
    widths = _widths(weights)
    R = np.zeros(len(widths), dtype=weights[0].dtype)
    for pivots in pivot_sets(len(widths)):
        for nodes in product(*(range(widths[j - 1]) for j in pivots)):
            alpha2 = _heads2(weights, pivots[0])[nodes[0]]
            gamma2 = _tails2(weights, pivots[-1])[nodes[-1]]
            beta = 1
            for (i, a), (j, b) in pairwise(zip(pivots, nodes, strict=True)):
                beta *= _product(weights[i:j])[b, a]
            R[len(pivots) - 1] += alpha2 * beta**2 * gamma2
    return R


# ----------------------------------------------------------------------------------------- helpers


def _network(weights, C):
    """Checked weights and second moment of the inputs, an explicit identity for None."""
    weights = arguments.layers(weights, exact=True)
    d0 = weights[0].shape[-1]
    if C is None:
        C = np.eye(d0, dtype=int).astype(weights[0].dtype)
    elif weights[0].dtype == object:
        C = arguments.matrix("C", C, rows=d0, columns=d0, exact=True)
        if not is_positive_semidefinite(C):
            raise ValueError("C must be positive semidefinite.")
    else:
        C = arguments.positive_semidefinite("C", C, size=d0)
    return weights, C


def _whitened(weights, C, batched=True, exact=False):
    """Checked weights, of which the first is W_1 C^{1/2}: the network of inputs C^{-1/2} x."""
    weights = arguments.layers(weights, batched=batched, exact=exact and C is None)
    if C is not None:
        weights[0] = weights[0] @ psd_sqrt(arguments.matrix("C", C, rows=weights[0].shape[-1]))
    return weights


def _rates(lam, weights, more=True, **bounds):
    """lam (..., 1, 1), checked to broadcast with the batch axes, with more=True perhaps to more."""
    batch, exact = weights[0].shape[:-2], weights[0].dtype == object
    lam = np.asarray(arguments.numbers("lam", lam, exact=exact, **(bounds or {"least": 0})))
    try:
        fits = lam.size and (np.broadcast_shapes(lam.shape, batch) == batch or more)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"lam must broadcast with the batch axes {batch} of the weights, "
            f"but its shape is {lam.shape}."
        )
    return lam[..., None, None]


def _cross_moment(Cyx, weights):
    rows, columns = weights[-1].shape[-2], weights[0].shape[-1]
    return arguments.matrix(
        "Cyx", Cyx, rows=rows, columns=columns, exact=weights[0].dtype == object
    )


def _widths(weights):
    return [W.shape[-2] for W in weights[:-1]]


def _product(weights):
    """The product of consecutive layers, the first one applied first."""
    result = weights[0]
    for W in weights[1:]:
        result = W @ result
    return result


def _heads2(weights, j):
    """alpha_{j,i}^2 for every node i of layer j: squared norms of the rows of W_{j->1}, C = I."""
    return (_product(weights[:j]) ** 2).sum(axis=1)


def _tails2(weights, j):
    """gamma_{j,i}^2 for every node i of layer j: those of the columns of W_{k+1->j+1}."""
    return (_product(weights[j:]) ** 2).sum(axis=0)
