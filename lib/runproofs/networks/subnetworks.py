"""All subnetworks of a wide layer at once: dropout on the last hidden layer, Section 5.5.

A subnetwork keeps the units of a mask b in ``{0, 1}^m`` and has the logits::

    h(x) diag(b) A^T / q + beta,   h(x) (m,) the activations, A (C, m) and beta (C,) the output.

What comes before the wide layer does not know the mask: it is computed once. H (n, m) holds the
activations of n inputs, q is the probability of keeping a unit, C the number of classes.
"""

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments

BLOCK = 2**24  # entries of masked output layers in memory at once


def logits(
    H: ArrayLike, A: ArrayLike, beta: ArrayLike, masks: ArrayLike, *, keep: float
) -> np.ndarray:
    """The logits of K subnetworks: one matrix product with all masked output layers side by side.

    Parameters
    ----------
    H : (n, m) array_like
        Activations of the wide layer, an input a row.
    A : (C, m) array_like
        Weights of the output layer.
    beta : (C,) array_like
        Its biases.
    masks : (K, m) array_like
        Masks of zeros and ones.
    keep : float
        Probability q of keeping a unit, in (0, 1]; 1 with a mask of ones is the full network.

    Returns
    -------
    (K, n, C) ndarray
        The logits, in float32 if H and A are, else in float64.

    Notes
    -----
    Cost: ``O(n m K C)``, and memory for m K C numbers, or ``2^24`` where these are more.

    References
    ----------
    :claim:`beyond/one-product-subnetworks`

    Examples
    --------
    >>> logits([[1, 2]], [[1, 1], [0, -1]], [0, 5], [[1, 1], [1, 0]], keep=0.5).tolist()
    [[[6.0, 1.0]], [[2.0, 5.0]]]
    """
    H, A, beta, keep = _layer(H, A, beta, keep)
    masks = arguments.zeros_and_ones("masks", masks, H.shape[1])
    if masks.ndim != 2 or not len(masks):
        raise ValueError(
            f"masks must be (K, m) with m = {H.shape[1]} units, but its shape is {masks.shape}."
        )
    A, many = A / keep, max(1, BLOCK // A.size)
    found = np.empty((len(masks), len(H), len(A)), H.dtype)
    for k in range(0, len(masks), many):
        kept = masks[k : k + many, None].astype(H.dtype)  # (K, 1, m)
        side_by_side = H @ (kept * A).reshape(-1, A.shape[1]).T  # (n, K C)
        found[k : k + many] = side_by_side.reshape(len(H), -1, len(A)).swapaxes(0, 1)
    found += beta
    return found


def moments(
    H: ArrayLike, A: ArrayLike, beta: ArrayLike, *, keep: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the logits of each input over a random mask, exactly.

    Parameters
    ----------
    H : (n, m) array_like
        Activations of the wide layer, an input a row.
    A : (C, m) array_like
        Weights of the output layer.
    beta : (C,) array_like
        Its biases.
    keep : float
        Probability q of keeping a unit, in (0, 1].

    Returns
    -------
    mean : (n, C) ndarray
        What the full network says; like the covariance in float32 if H and A are, else in float64.
    covariance : (n, C, C) ndarray
        Covariance of the logits.

    Notes
    -----
    Cost: ``O(n m C^2)``, that of C subnetworks.

    References
    ----------
    :claim:`beyond/one-product-subnetworks`

    Examples
    --------
    >>> mean, covariance = moments([[1, 2]], [[1, 1], [0, -1]], [0, 5], keep=0.5)
    >>> mean.tolist(), covariance.tolist()
    ([[3.0, 3.0]], [[[5.0, -4.0], [-4.0, 4.0]]])
    """
    H, A, beta, keep = _layer(H, A, beta, keep)
    pairs = (A[:, None] * A).reshape(-1, A.shape[1])  # (C C, m)
    covariance = (1 - keep) / keep * (H**2 @ pairs.T)
    return H @ A.T + beta, covariance.reshape(-1, len(A), len(A))


def predicted_accuracy(
    mean: ArrayLike,
    covariance: ArrayLike,
    labels: ArrayLike,
    rng: np.random.Generator | int,
    draws: int = 256,
) -> np.ndarray:
    """The probability that each input is classified correctly, if its logits were Gaussian.

    No mask is drawn. The mean over the inputs predicts the mean accuracy of the subnetworks.

    Parameters
    ----------
    mean : (n, C) array_like
        Mean logits of each input.
    covariance : (n, C, C) array_like
        Covariances of the logits.
    labels : (n,) array_like
        Labels, 0 to C - 1.
    rng : numpy.random.Generator or int
        Source of the draws, or a seed.
    draws : int, optional
        Number of Gaussian logits for each input, at least 1.

    Returns
    -------
    (n,) ndarray
        Probabilities, each with an independent standard error of at most 1 / (2 sqrt(draws)).

    Notes
    -----
    Cost: ``O(n C^2 (C + draws))``.
    """
    mean = arguments.matrix("mean", mean)
    n, C = mean.shape
    covariance = arguments.numbers("covariance", covariance)
    if covariance.shape != (n, C, C):
        raise ValueError(f"covariance must be {(n, C, C)}, but its shape is {covariance.shape}.")
    labels = arguments.numbers("labels", labels)
    if labels.shape != (n,) or not np.isin(labels, np.arange(C)).all():
        raise ValueError(f"labels must be {n} numbers from 0 to {C - 1}, one for each input.")
    draws = arguments.positive_integer("draws", draws)
    values, W = np.linalg.eigh(covariance)
    root = W * np.sqrt(np.maximum(values, 0))[:, None]  # root root^T is the covariance
    noise = arguments.generator(rng).standard_normal((n, draws, C))
    drawn = (mean[:, None] + noise @ root.mT).argmax(-1)
    return (drawn == labels[:, None]).mean(1)


def _layer(H, A, beta, q):
    """A layer in one precision, checked: float32 stays float32."""
    single = all(getattr(a, "dtype", None) == np.float32 for a in (H, A))
    H, A = arguments.matrix("H", H), arguments.matrix("A", A)
    if A.shape[1] != H.shape[1]:
        raise ValueError(f"A must have {H.shape[1]} columns, one a unit, not {A.shape[1]}.")
    beta = arguments.vector("beta", beta, size=len(A))
    q = arguments.keep_probability(q)
    return *(a.astype(np.float32 if single else float) for a in (H, A, beta)), q
