"""Projective tensor norms of a matrix, their polars, and certificates that they are right.

With norms u and v out of 1, 2 and inf::

    ||X||_{u,v} = min { sum_i ||U_i||_u ||V_i||_v : U V^T = X, any number of columns },
    polar(Z)    = max { <Z, a b^T> : ||a||_u <= 1, ||b||_v <= 1 }.

The norm has a closed form where u or v is 1, and for u = v = 2, where it is the nuclear norm. A
matrix Z with polar(Z) <= 1 proves ``||X||_{u,v} >= <Z, X>``.
"""

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments

LARGEST = 16  # sign vectors of that length are enumerated


def factors(X: ArrayLike, u: float, v: float) -> tuple[np.ndarray, np.ndarray]:
    """Factors of X whose products of column norms add up to ``||X||_{u,v}``.

    Parameters
    ----------
    X : (m, n) array_like
        Matrix.
    u, v : {1, 2, math.inf}
        Norms of the columns of U and of V; one of them is 1, or both are 2.

    Returns
    -------
    U : (m, r) ndarray
        Unit vectors (u = 1), the columns of X (v = 1), or balanced with V by the SVD of X.
    V : (n, r) ndarray
        The rows of X, unit vectors, or balanced with U.

    Notes
    -----
    Cost: ``O(m n)``, or one SVD.

    References
    ----------
    :claim:`vidal/projective-norm`

    Examples
    --------
    >>> U, V = factors([[3, 4], [0, 0]], 1, 2)
    >>> U.T.tolist(), V.T.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[3.0, 4.0], [0.0, 0.0]])
    """
    X = arguments.matrix("X", X)
    kind = _closed_form(u, v)
    if kind == "rows":
        return np.eye(len(X)), X.T.copy()
    if kind == "columns":
        return X.copy(), np.eye(X.shape[1])
    P, sigma, Qt = np.linalg.svd(X, full_matrices=False)
    return P * np.sqrt(sigma), Qt.T * np.sqrt(sigma)


def product_norms(U: ArrayLike, V: ArrayLike, u: float, v: float) -> np.ndarray | float:
    """What a factorization costs: ``sum_i ||U_i||_u ||V_i||_v`` over its columns.

    Parameters
    ----------
    U : (..., m, r) array_like
        Left factor, with any leading batch axes.
    V : (..., n, r) array_like
        Right factor.
    u, v : {1, 2, math.inf}
        Norms of the columns of U and of V.

    Returns
    -------
    (...) ndarray
        The sum of each pair.

    References
    ----------
    :claim:`vidal/projective-norm`

    Examples
    --------
    >>> float(product_norms([[1, 2]], [[3, 0], [4, 1]], 1, 2))
    7.0
    """
    U, V = arguments.factors(U, V)
    _dual(u), _dual(v)
    return (np.linalg.norm(U, u, axis=-2) * np.linalg.norm(V, v, axis=-2)).sum(-1)


def projective_norm(X: ArrayLike, u: float, v: float) -> float:
    """Projective tensor norm ``||X||_{u,v}`` in closed form.

    The sum of the v-norms of the rows (u = 1), of the u-norms of the columns (v = 1), or of the
    singular values.

    Parameters
    ----------
    X : (m, n) array_like
        Matrix.
    u, v : {1, 2, math.inf}
        Norms of the columns of the factors; one of them is 1, or both are 2.

    Returns
    -------
    float
        The norm.

    Notes
    -----
    Cost: ``O(m n)``, or one SVD.

    References
    ----------
    :claim:`vidal/projective-norm`; Friedland and Lim, "Nuclear Norm of Higher-Order Tensors", 2018

    Examples
    --------
    >>> [float(projective_norm([[3, 4], [0, 0]], *uv)) for uv in ((1, 2), (2, 1), (1, np.inf))]
    [5.0, 7.0, 4.0]
    """
    X = arguments.matrix("X", X)
    kind = _closed_form(u, v)
    if kind == "rows":
        return np.linalg.norm(X, v, axis=1).sum()
    if kind == "columns":
        return np.linalg.norm(X, u, axis=0).sum()
    return np.linalg.svd(X, compute_uv=False).sum()


def certificate(X: ArrayLike, u: float, v: float) -> np.ndarray:
    """A matrix Z with ``polar(Z, u, v) <= 1`` and ``<Z, X> = ||X||_{u,v}``, which proves the norm.

    Parameters
    ----------
    X : (m, n) array_like
        Matrix.
    u, v : {1, 2, math.inf}
        Norms of the columns of the factors; one of them is 1, or both are 2.

    Returns
    -------
    (m, n) ndarray
        The matrix Z.

    Notes
    -----
    Cost: ``O(m n)``, or one SVD.

    References
    ----------
    :claim:`vidal/projective-norm`, of which the slides print no proof

    Examples
    --------
    >>> certificate([[3, 4], [0, 0]], 1, 2).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    X = arguments.matrix("X", X)
    kind = _closed_form(u, v)
    if kind == "rows":
        return _attaining(X, v)
    if kind == "columns":
        return _attaining(X.T, u).T
    P, _, Qt = np.linalg.svd(X, full_matrices=False)
    return P @ Qt


def polar(Z: ArrayLike, u: float, v: float) -> float:
    """Polar, the dual norm: the maximum of ``<Z, a b^T>`` over ``||a||_u <= 1, ||b||_v <= 1``.

    The largest dual norm of a row (u = 1) or of a column (v = 1), the largest singular value
    (u = v = 2), or else the best of all sign vectors of a side whose norm is inf.

    Parameters
    ----------
    Z : (m, n) array_like
        Matrix; where signs are tried, the shorter side with the norm inf has at most 16.
    u, v : {1, 2, math.inf}
        Norms of a and of b.

    Returns
    -------
    float
        The maximum.

    Notes
    -----
    Cost: ``O(m n)``, one SVD, or ``O(2^k m n)`` with k signs.

    References
    ----------
    :claim:`vidal/polar-problem`

    Examples
    --------
    >>> Z = [[1, 2], [3, -4]]
    >>> [float(polar(Z, *uv)) for uv in ((1, 1), (1, np.inf), (np.inf, np.inf))]
    [4.0, 7.0, 8.0]
    """
    Z = arguments.matrix("Z", Z)
    dual_u, dual_v = _dual(u), _dual(v)
    if u == 1:
        return np.linalg.norm(Z, dual_v, axis=1).max()
    if v == 1:
        return np.linalg.norm(Z, dual_u, axis=0).max()
    if u == v == 2:
        return np.linalg.svd(Z, compute_uv=False)[0]
    sides = [(len(Z), Z, dual_v)] * (u == np.inf) + [(len(Z.T), Z.T, dual_u)] * (v == np.inf)
    size, Z, dual = min(sides, key=lambda side: side[0])
    arguments.at_most("Z", size, LARGEST, "signs on its shorter side with the norm inf")
    return np.linalg.norm(sign_vectors(size) @ Z, dual, axis=1).max()


def sign_vectors(k: int) -> np.ndarray:
    """All sign vectors up to sign, the first entry 1.

    Parameters
    ----------
    k : int
        Length, from 1 to 16.

    Returns
    -------
    (n, k) ndarray
        The vectors, one a row; ``n = 2^{k-1}``.

    Examples
    --------
    >>> sign_vectors(2).tolist()
    [[1, 1], [1, -1]]
    """
    k = arguments.positive_integer("k", k)
    arguments.at_most("k", k, LARGEST, "signs")
    rest = (np.arange(2 ** (k - 1))[:, None] >> np.arange(k - 1)) & 1
    return np.column_stack([np.ones(len(rest), dtype=int), 1 - 2 * rest])


def alternate(Z: ArrayLike, starts: ArrayLike, most: int = 100) -> np.ndarray:
    """Alternating maximization of ``a^T Z b`` over sign vectors a, b, from many starts at once.

    Repeats ``b = sign(Z^T a)``, ``a = sign(Z b)``, with ``sign(0) = 1``, until no value grows.

    Parameters
    ----------
    Z : (m, n) array_like
        Matrix.
    starts : (k, m) array_like
        Sign vectors a, one a row.
    most : int, optional
        Largest number of rounds.

    Returns
    -------
    (k,) ndarray
        Values at the end, each at most ``polar(Z, inf, inf)``.

    Raises
    ------
    RuntimeError
        If values still grow in the last round.

    Notes
    -----
    Cost: ``O(k m n)`` per round. Values of an integer Z grow by whole numbers.

    Examples
    --------
    >>> alternate([[1, 2], [3, -4]], [[1, 1], [1, -1]]).tolist()
    [8.0, 8.0]
    """
    Z = arguments.matrix("Z", Z)
    a = arguments.signs("starts", arguments.matrix("starts", starts, columns=len(Z)))
    value = np.full(len(a), -np.inf)
    for _ in range(most):
        b = np.where(a @ Z >= 0, 1, -1)
        a = np.where(b @ Z.T >= 0, 1, -1)
        grown = np.einsum("ki,ij,kj->k", a, Z, b)
        if (grown <= value).all():
            return value
        value = grown
    raise RuntimeError(f"The values still grow after {most} rounds.")


def _dual(v):
    """The exponent of the dual norm; ValueError unless v is 1, 2 or inf."""
    exponents = {1: np.inf, 2: 2, np.inf: 1}
    return exponents[arguments.choice("u and v", v, exponents)]


def _closed_form(u, v):
    _dual(u), _dual(v)
    if u == 1:
        return "rows"
    if v == 1:
        return "columns"
    if u == v == 2:
        return "nuclear"
    raise ValueError(f"u and v must be (1, v), (u, 1) or (2, 2) for a closed form, not ({u}, {v}).")


def _attaining(X, v):
    """Row by row, a vector of dual norm 1 with the inner product ||row||_v; zero for a zero row."""
    if v == 1:
        return np.sign(X)
    if v == 2:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(norms > 0, norms, 1)
    largest = np.abs(X).argmax(axis=1)
    rows = np.arange(len(X))
    Z = np.zeros_like(X)
    Z[rows, largest] = np.sign(X[rows, largest])
    return Z
