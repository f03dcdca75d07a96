"""Dropout in shallow linear networks: objectives, gradients and closed-form global minima.

The untied problem, (2.6) of the thesis, and the tied one, (2.4), its restriction to V = U, are::

    F(U, V) = ||M - U V^T||_F^2 + lam sum_i ||u_i||^2 ||v_i||^2,    f(U) = F(U, U),

with M (d2, d0), U (d2, r), V (d0, r), columns u_i and v_i, and lam = (1 - theta) / theta. Of
arrays of Fractions, objectives, regularizer and gradient are exact, where all arguments are such.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from runproofs import _arguments as arguments
from runproofs.linalg import _symmetric_part, column_norms, shrink, weighted
from runproofs.linear.equalize import equalizer, importance_scores
from runproofs.masks import all_masks

# ---------------------------------------------------------------- objective, gradient, path norm


def objective(
    U: ArrayLike, V: ArrayLike, M: ArrayLike, lam: float | Fraction, C: ArrayLike | None = None
) -> np.ndarray | Fraction | float:
    """Dropout objective of the untied problem.

    ``||(M - U V^T) C^{1/2}||_F^2 + lam sum_i ||u_i||^2 v_i^T C v_i``.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights, a column v_i for each hidden unit.
    M : (d2, d0) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.
    C : (d0, d0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (...) ndarray
        The objective of each pair.

    Notes
    -----
    Cost: ``O(d2 d0 r)`` per pair, ``O((d2 + r) d0^2)`` more with C. A C that is not positive
    semidefinite is refused if it gives one of the vectors here a negative square: to look further
    would cost ``O(d0^3)``.

    References
    ----------
    :claim:`thesis/equation-2.2`, :claim:`thesis/equation-2.6`, :claim:`thesis/lemma-2`

    Examples
    --------
    >>> float(objective([[1.0]], [[2.0]], [[3.0]], 0.5))  # (3 - 2)^2 + 0.5 * 1 * 4
    3.0
    """
    U, V, M, lam = _problem(U, V, M, lam)
    C = None if C is None else arguments.symmetric("C", C, size=M.shape[1], exact=True)
    return closed_form_objective(U, V, M, lam, C)


def closed_form_objective(
    U: np.ndarray, V: np.ndarray, M: np.ndarray, lam: float | Fraction, C: np.ndarray | None = None
) -> np.ndarray | Fraction | float:
    """`objective` without the checks, for loops.

    Parameters
    ----------
    U : (..., d2, r) ndarray
        Output weights, float64.
    V : (..., d0, r) ndarray
        Input weights, float64.
    M : (d2, d0) ndarray
        Matrix to approximate, float64.
    lam : float
        Strength of the penalty, at least 0.
    C : (d0, d0) ndarray or None, optional
        Second moment of the inputs; None stands for the identity.

    Returns
    -------
    (...) ndarray
        The objective of each pair.

    Notes
    -----
    Nothing is checked, but that C gives no vector a negative square.
    """
    return _squared_lengths(M - U @ V.mT, C).sum(-1) + _regularizer(U, V, lam, C)


def objective_by_enumeration(
    U: ArrayLike, V: ArrayLike, X: ArrayLike, Y: ArrayLike, *, keep: float | Fraction
) -> float | Fraction:
    """Expected dropout loss over all masks and samples, mask by mask.

    ``E ||y - (1/theta) U diag(b) V^T x||^2``.

    Parameters
    ----------
    U : (d2, r) array_like
        Output weights of r hidden units, at most 20.
    V : (d0, r) array_like
        Input weights.
    X : (n, d0) array_like
        Inputs x, one a row, equally likely.
    Y : (n, d2) array_like
        Targets y of the inputs.
    keep : float
        Probability theta of keeping a unit, in (0, 1].

    Returns
    -------
    float
        The expected loss.

    See Also
    --------
    objective : The same in closed form, but for a constant of the data.

    Notes
    -----
    Cost: ``O(2^r n r d2)``, and the memory of all masks.

    References
    ----------
    :claim:`thesis/equation-2.1`
    """
    U, V = (arguments.matrix(name, A, exact=True) for name, A in (("U", U), ("V", V)))
    U, V = arguments.factors(U, V, exact=True)
    X = arguments.matrix("X", X, columns=len(V), exact=True)
    Y = arguments.matrix("Y", Y, rows=len(X), columns=len(U), exact=True)
    keep = arguments.keep_probability(keep, exact=U.dtype == object)
    b, probabilities = all_masks(U.shape[1], keep=keep)
    hidden = X @ V / keep
    chunk = max(1, 2**16 // hidden.size)  # masks at once, so that a product stays in the cache
    total = 0
    for start in range(0, len(b), chunk):
        masked = b[start : start + chunk, None] * hidden
        error = Y - (masked.reshape(-1, U.shape[1]) @ U.T).reshape(-1, *Y.shape)
        total += probabilities[start : start + chunk] @ (error * error).sum((1, 2))
    mean = total / len(X)
    return mean if isinstance(mean, Fraction) else float(mean)


def regularizer(
    U: ArrayLike, V: ArrayLike, lam: float | Fraction, C: ArrayLike | None = None
) -> np.ndarray | Fraction | float:
    """Explicit regularizer of dropout, ``lam sum_i ||u_i||^2 v_i^T C v_i``.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights, a column v_i for each hidden unit.
    lam : float
        Strength of the penalty, at least 0.
    C : (d0, d0) array_like, optional
        Second moment of the inputs, symmetric positive semidefinite; the identity by default.

    Returns
    -------
    (...) ndarray
        The regularizer of each pair.

    Notes
    -----
    Cost: ``O((d2 + d0) r)`` per pair, ``O(d0^2 r)`` more with C.

    References
    ----------
    :claim:`thesis/equation-2.2`, :claim:`thesis/lemma-2`

    Examples
    --------
    >>> float(regularizer([[1, 2]], [[3, 4]], 0.5))  # 0.5 * (1 * 9 + 4 * 16)
    36.5
    """
    U, V = arguments.factors(U, V, exact=True)
    C = None if C is None else arguments.symmetric("C", C, size=V.shape[-2], exact=True)
    return _regularizer(U, V, arguments.number("lam", lam, exact=U.dtype == object, least=0), C)


def path_norm(U: ArrayLike, V: ArrayLike) -> np.ndarray:
    """The l2 path norm: root of the sum, over all paths, of the squared product of weights.

    ``psi_2 = (sum_i ||u_i||^2 ||v_i||^2)^{1/2}``, without overflow at any scale.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights, a column v_i for each hidden unit.

    Returns
    -------
    (...) ndarray
        The path norm of each pair.

    References
    ----------
    :claim:`thesis/equation-2.3`

    Examples
    --------
    >>> float(path_norm([[3e200, 4e-200]], [[1e-200, 1e200]]))
    5.0
    """
    return column_norms(importance_scores(U, V)[..., None])[..., 0]


def gradient(
    U: ArrayLike, V: ArrayLike, M: ArrayLike, lam: float | Fraction
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the untied objective, for inputs of second moment I.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights, a column v_i for each hidden unit.
    M : (d2, d0) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    gU : (..., d2, r) ndarray
        Gradient in U.
    gV : (..., d0, r) ndarray
        Gradient in V.

    Notes
    -----
    Cost: ``O(d2 d0 r)`` per pair.
    """
    return value_and_gradient(*_problem(U, V, M, lam))[1:]


def value_and_gradient(
    U: np.ndarray, V: np.ndarray, M: np.ndarray, lam: float | Fraction
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The untied objective and its gradient at once and without the checks, for loops.

    Parameters
    ----------
    U : (..., d2, r) ndarray
        Output weights, float64.
    V : (..., d0, r) ndarray
        Input weights, float64.
    M : (d2, d0) ndarray
        Matrix to approximate, float64.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    value : (...) ndarray
        The objective of each pair.
    gU : (..., d2, r) ndarray
        Gradient in U.
    gV : (..., d0, r) ndarray
        Gradient in V.

    Notes
    -----
    Cost: three products of matrices. Nothing is checked.
    """
    residual = M - U @ V.mT
    u, v = ((X * X).sum(-2, keepdims=True) for X in (U, V))
    value = (residual * residual).sum((-2, -1)) + lam * (u * v).sum((-2, -1))
    return value, 2 * (lam * U * v - residual @ V), 2 * (lam * V * u - residual.mT @ U)


def tied_objective(
    U: ArrayLike, M: ArrayLike, lam: float | Fraction
) -> np.ndarray | Fraction | float:
    """Tied dropout objective, ``||M - U U^T||_F^2 + lam sum_i ||u_i||^4``.

    Parameters
    ----------
    U : (..., d, r) array_like
        Weights, a column u_i for each hidden unit, with any leading batch axes.
    M : (d, d) array_like
        Matrix to approximate, not necessarily symmetric.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (...) ndarray
        The objective of each matrix.

    Notes
    -----
    Cost: ``O(d^2 r)`` per matrix.

    References
    ----------
    :claim:`thesis/equation-2.4`
    """
    return objective(U, U, arguments.matrix("M", M, square=True, exact=True), lam)


def tied_gradient(U: ArrayLike, M: ArrayLike, lam: float | Fraction) -> np.ndarray:
    """Gradient of the tied objective.

    Parameters
    ----------
    U : (..., d, r) array_like
        Weights, a column u_i for each hidden unit, with any leading batch axes.
    M : (d, d) array_like
        Matrix to approximate, which enters through its symmetric part.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (..., d, r) ndarray
        Gradient in U.

    Notes
    -----
    Cost: ``O(d^2 r)`` per matrix.

    References
    ----------
    :claim:`thesis/gradient-section-2.5.3`, printed there for symmetric M
    """
    return 2 * gradient(U, U, _symmetric_part(M), lam)[0]


def balance(U: ArrayLike, V: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Rescale the columns so that ``||u_i|| = ||v_i||``: product, regularizer and objective stay.

    ``(U D, V D^{-1})`` with a diagonal D > 0, at any scale of the factors. Of a column that is zero
    in one factor only, the other half is scaled to length 1.

    Parameters
    ----------
    U : (..., d2, r) array_like
        Output weights, a column u_i for each hidden unit, with any leading batch axes.
    V : (..., d0, r) array_like
        Input weights, a column v_i for each hidden unit.

    Returns
    -------
    U : (..., d2, r) ndarray
        Balanced output weights.
    V : (..., d0, r) ndarray
        Balanced input weights.

    References
    ----------
    :claim:`thesis/remark-2`
    """
    U, V = arguments.factors(U, V)
    u, v = (column_norms(X)[..., None, :] for X in (U, V))
    # every column gets the length that the square root of its score ||u_i|| ||v_i|| gives
    length = np.where((u > 0) & (v > 0), np.sqrt(u) * np.sqrt(v), 1)
    return tuple(X / np.where(x > 0, x, 1) * length for X, x in ((U, u), (V, v)))


# ---------------------------------------------------------------------- closed-form global minima


class OptimalSpectrum(NamedTuple):
    """Singular values of the optimal product U V^T; see `optimal_spectrum`.

    Attributes
    ----------
    rank : int
        Number rho of positive singular values.
    kappa : (m,) ndarray
        Running means of the sorted sigma.
    threshold : float
        ``alpha = lam rho kappa_rho / (r + lam rho)``, in the units of sigma.
    spectrum : (m,) ndarray
        Singular values of the optimal product, nonincreasing.
    value : float
        The minimum, ``lam (rho kappa_rho)^2 / (r + lam rho) + sum_{i > rho} sigma_i^2``.
    """

    rank: int
    kappa: np.ndarray
    threshold: float
    spectrum: np.ndarray
    value: float


def optimal_spectrum(sigma: ArrayLike, r: int, lam: float) -> OptimalSpectrum:
    """Singular values of the global minimizers' product, and the minimum of the untied problem.

    Parameters
    ----------
    sigma : (m,) array_like
        Singular values of M, at least 0, in any order.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    OptimalSpectrum
        Rank, running means, threshold, singular values and minimum.

    Notes
    -----
    Cost: ``O(m log m)``, the sorting. The form is one without cancellation: every lam gives its
    rank, and a spectrum right to the last digits.

    References
    ----------
    :claim:`thesis/theorem-3`, :claim:`thesis/theorem-6`

    Examples
    --------
    >>> optimum = optimal_spectrum([3, 2], r=1, lam=1)
    >>> optimum.rank, optimum.threshold, optimum.spectrum.tolist(), optimum.value
    (1, 1.5, [1.5, 0.0], 8.5)
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    sigma = np.sort(arguments.vector("sigma", sigma, least=0))[::-1]
    kappa = np.cumsum(sigma) / np.arange(1, sigma.size + 1)
    kept, threshold = _positive_part(sigma[:r], lam / r)
    rank = kept.size
    spectrum = np.append(kept, np.zeros(sigma.size - rank))
    value = threshold * sigma[:rank].sum() + (sigma[rank:] ** 2).sum()
    return OptimalSpectrum(rank, kappa, threshold, spectrum, float(value))


def _positive_part(sigma, mu):
    """The positive x = sigma - alpha with alpha = mu sum(x), and alpha; sigma does not increase."""
    # In (2.13) and (2.19) of the thesis, with mu = lam / r, sigma_j > lam j kappa_j / (r + lam j).
    # That is sigma_j > mu sum_{i < j} (sigma_i - sigma_j), which holds on a prefix and has no
    # difference of large numbers that nearly agree.
    gaps = np.append(0.0, np.cumsum(np.arange(1, sigma.size) * (sigma[:-1] - sigma[1:])))
    with np.errstate(over="ignore"):  # infinity is no less than any sigma
        rank = int(np.count_nonzero(sigma > mu * gaps))
    if rank == 0:
        return sigma[:0], 0.0
    last = sigma[rank - 1]
    x = (last - mu * gaps[rank - 1]) / (1 + mu * rank) + (sigma[:rank] - last)
    return x, float(mu / (1 + mu * rank) * sigma[:rank].sum())


def spectrum_by_nnls(sigma: ArrayLike, r: int, lam: float) -> tuple[np.ndarray, float]:
    """The same singular values and minimum by a standard solver, which knows no threshold.

    Minimizes ``sum_{i <= r} (sigma_i - x_i)^2 + (lam / r) (sum_i x_i)^2`` over x >= 0, as
    nonnegative least squares with one row more.

    Parameters
    ----------
    sigma : (m,) array_like
        Singular values of M, at least 0, in any order.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    x : (m,) ndarray
        Singular values of the optimal product, for the sorted sigma; zero beyond r.
    value : float
        The minimum, with ``sum_{i > r} sigma_i^2``.

    See Also
    --------
    optimal_spectrum : The closed form.

    Notes
    -----
    Cost: about ``O(m^3)``.

    References
    ----------
    :claim:`thesis/equation-2.13`, :claim:`thesis/equation-2.16`
    """
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    sigma = np.sort(arguments.vector("sigma", sigma, least=0))[::-1]
    k = min(r, sigma.size)
    rows = np.vstack([np.eye(k), np.full(k, np.sqrt(lam / r))])
    x, residual = nnls(rows, np.append(sigma[:k], 0))
    return np.append(x, np.zeros(sigma.size - k)), residual**2 + (sigma[k:] ** 2).sum()


def optimal_product(M: ArrayLike, r: int, lam: float) -> np.ndarray:
    """Product U V^T of the global minimizers of the untied problem, ``S_alpha(M_r)``.

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (d2, d0) ndarray
        The product, unique up to the choice of the best rank-r approximation M_r.

    Notes
    -----
    Cost: one SVD.

    References
    ----------
    :claim:`thesis/theorem-6`, with the truncation to rank r that its proof needs
    """
    W, x, Y = _optimal_triple(M, r, lam)
    return (W * x) @ Y.T


def optimal_factors(M: ArrayLike, r: int, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Equalized global minimum of the untied problem, by one SVD and one rotation.

    ``||u_i||^2 = ||v_i||^2 = ||U V^T||_* / r`` for every i.

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate.
    r : int
        Number of hidden units, at least 1, above or below any dimension.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (d2, r) ndarray
        Output weights.
    V : (d0, r) ndarray
        Input weights.

    Notes
    -----
    Cost: one SVD and ``O((d2 + d0) r^2)``.

    References
    ----------
    :claim:`thesis/algorithm-3`, with r as an input, r + lam j in its rules, truncation to rank r
    and padding to r columns
    """
    return equalized_factors(*_optimal_triple(M, r, lam), r)


def optimal_autoencoder(M: ArrayLike, r: int, lam: float) -> np.ndarray:
    """Equalized global minimum of the tied problem, for any square M.

    Parameters
    ----------
    M : (d, d) array_like
        Matrix to approximate; only the positive part of its symmetric part matters.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (d, r) ndarray
        Weights U.

    Notes
    -----
    Cost: one eigendecomposition and ``O(d r^2)``.

    References
    ----------
    :claim:`thesis/theorem-3`, with the truncation to rank r
    """
    mu, W = np.linalg.eigh(_symmetric_part(M))
    mu, W = mu[::-1], W[:, ::-1]
    optimum = optimal_spectrum(np.maximum(mu, 0), r, lam)
    W = W[:, : optimum.rank]
    return equalized_factors(W, optimum.spectrum[: optimum.rank], W, r)[0]


def equalized_factors(
    W: np.ndarray, x: np.ndarray, Y: np.ndarray, r: int
) -> tuple[np.ndarray, np.ndarray]:
    """Factors of ``W diag(x) Y^T`` with exactly r columns, all of the same norm in both.

    Parameters
    ----------
    W : (d2, k) ndarray
        Orthonormal columns.
    x : (k,) ndarray
        Singular values, at least 0; k <= r.
    Y : (d0, k) ndarray
        Orthonormal columns.
    r : int
        Number of columns of the factors, at least 1.

    Returns
    -------
    U : (d2, r) ndarray
        Left factor, with ``||u_i||^2 = sum(x) / r``.
    V : (d0, r) ndarray
        Right factor, with ``||v_i||^2 = sum(x) / r``.

    Notes
    -----
    Cost: ``O((d2 + d0) r^2)``. Nothing is checked.

    References
    ----------
    :claim:`thesis/theorem-4`; zero columns up to r before the rotation are what its proof needs
    """
    U, V = np.zeros((len(W), r)), np.zeros((len(Y), r))
    root = np.sqrt(x, dtype=float)  # of small integers NumPy has it in half precision
    U[:, : len(x)], V[:, : len(x)] = W * root, Y * root
    Q = equalizer(U)  # U^T U = V^T V, so that one rotation serves both
    return U @ Q, V @ Q


# -------------------------------------------------------------- as printed, to show the difference


def optimal_product_as_printed(M: ArrayLike, r: int, lam: float) -> np.ndarray:
    """``S_alpha(M)``, as the thesis prints the optimal product: without truncation to rank r.

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (d2, d0) ndarray
        Of rank above r, and so no product of factors with r columns, when rho = r and
        ``sigma_{r+1} > alpha``.

    Notes
    -----
    Cost: two SVDs.

    References
    ----------
    :claim:`thesis/theorem-3`, :claim:`thesis/theorem-6`
    """
    M = arguments.matrix("M", M)
    sigma = np.linalg.svd(M, compute_uv=False)
    return shrink(M, optimal_spectrum(sigma, r, lam).threshold)


def factorize_as_printed(M: ArrayLike, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 3 as the thesis prints it: r := rank(M), and 1 + lam j for r + lam j.

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate, not zero.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (d2, rho) ndarray
        Output weights.
    V : (d0, rho) ndarray
        Input weights.

    Notes
    -----
    Cost: one SVD and ``O((d2 + d0) rho^2)``.

    References
    ----------
    :claim:`thesis/algorithm-3`
    """
    M = arguments.matrix("M", M)
    lam = arguments.number("lam", lam, least=0)
    W, sigma, Yt = np.linalg.svd(M, full_matrices=False)
    r = np.linalg.matrix_rank(M)
    if r == 0:
        raise ValueError(
            "M must not be zero, but it was: the printed rank is a maximum over nothing."
        )
    kept, _ = _positive_part(sigma[:r], lam)
    return equalized_factors(W[:, : kept.size], kept, Yt[: kept.size].T, kept.size)


# ----------------------------------------------------------------------------------------- helpers


def _problem(U, V, M, lam):
    U, V = arguments.factors(U, V, exact=True)
    M = arguments.matrix("M", M, rows=U.shape[-2], columns=V.shape[-2], exact=True)
    return U, V, M, arguments.number("lam", lam, exact=U.dtype == object, least=0)


def _squared_lengths(X, C):
    """x^T C x for the rows x of X (..., n, d0); a negative one refutes C."""
    if C is None:
        return (X * X).sum(-1)
    squares = (X @ C * X).sum(-1)
    if (squares < -1e-10 * np.abs(C).max() * (X * X).sum(-1)).any():
        raise ValueError(
            "C must be positive semidefinite, but it gives a vector the squared length "
            f"{squares.min():.3g}."
        )
    return squares


def _regularizer(U, V, lam, C):
    return weighted(lam, ((U * U).sum(-2) * _squared_lengths(V.mT, C)).sum(-1))


def _optimal_triple(M, r, lam):
    """Compact SVD W diag(x) Y^T of the optimal product."""
    W, sigma, Yt = np.linalg.svd(arguments.matrix("M", M), full_matrices=False)
    optimum = optimal_spectrum(sigma, r, lam)
    k = optimum.rank
    return W[:, :k], optimum.spectrum[:k], Yt[:k].T
