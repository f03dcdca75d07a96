"""Matrix completion with dropout, from ratings: objective, alternating least squares, capacity.

The n ratings (r_i, c_i, y_i) are noisy entries of a matrix (d2, d0) that ``U V^T`` shall complete,
with U (d2, d1) and V (d0, d1). Training with dropout that drops each of the d1 columns with
probability p minimizes (4.6) of the thesis, ``loss + lam R^``, with ``lam = p / (1 - p)`` and::

    loss = (1/n) sum_i (y_i - sum_k U[r_i, k] V[c_i, k])^2,
    R^   = (1/n) sum_i sum_k U[r_i, k]^2 V[c_i, k]^2.

If the pair (r, c) is drawn with probability p(r) q(c), the law, then ``R = E R^`` is the
regularizer that Theorem 11 bounds::

    R    = sum_k (sum_r p(r) U[r, k]^2) (sum_c q(c) V[c, k]^2).

Of Fractions, the objective with ``R^`` is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import weighted
from runproofs.training import Recorder

# ------------------------------------------------------------------------------------- objective


def rate(*, drop: float) -> float:
    """Weight ``lam = p / (1 - p)`` of the regularizer.

    Parameters
    ----------
    drop : float
        Probability p of dropping a column, in [0, 1).

    Returns
    -------
    float
        The weight.

    References
    ----------
    :claim:`thesis/equation-4.2`

    Examples
    --------
    >>> rate(drop=0.2)
    0.25
    """
    drop = arguments.drop_probability(drop)
    return drop / (1 - drop)


def loss(U: ArrayLike, V: ArrayLike, ratings: tuple[ArrayLike, ArrayLike, ArrayLike]) -> float:
    """Mean squared error of ``U V^T`` on the ratings.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor.
    V : (d0, d1) array_like
        Right factor.
    ratings : (r, c, y) of (n,) array_like
        Rows from 0 to d2 - 1, columns from 0 to d0 - 1, and values; a pair twice counts twice.

    Returns
    -------
    float
        The error.

    Notes
    -----
    Cost: ``O(n d1)``, time and memory.

    References
    ----------
    :claim:`thesis/equation-4.1`

    Examples
    --------
    >>> loss([[1.0], [2.0]], [[3.0]], ([0, 1], [0, 0], [3.0, 5.0]))
    0.5
    """
    U, V, r, c, y = _problem(U, V, ratings)
    return _loss(U, V, r, c, y)


def empirical_regularizer(
    U: ArrayLike, V: ArrayLike, ratings: tuple[ArrayLike, ArrayLike, ArrayLike]
) -> float:
    """Regularizer of the pairs that were rated, ``R^ = (1/n) sum_i sum_k U[r_i, k]^2 V[c_i, k]^2``.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor.
    V : (d0, d1) array_like
        Right factor.
    ratings : (r, c, y) of (n,) array_like
        Rows from 0 to d2 - 1, columns from 0 to d0 - 1, and values; a pair twice counts twice.

    Returns
    -------
    float
        The regularizer.

    Notes
    -----
    Cost: ``O(n d1)``, time and memory.

    References
    ----------
    :claim:`thesis/equation-4.6`
    """
    U, V, r, c, _ = _problem(U, V, ratings)
    return _empirical(U, V, r, c)


def expected_regularizer(U: ArrayLike, V: ArrayLike, law: tuple[ArrayLike, ArrayLike]) -> float:
    """Mean of ``R^`` under a law, ``R = sum_k (sum_r p(r) U[r, k]^2) (sum_c q(c) V[c, k]^2)``.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor.
    V : (d0, d1) array_like
        Right factor.
    law : (p, q) of (d2,) and (d0,) array_like
        Probabilities of the rows and of the columns, each of sum 1.

    Returns
    -------
    float
        The regularizer.

    References
    ----------
    :claim:`thesis/proposition-4`

    Examples
    --------
    >>> expected_regularizer([[1.0], [3.0]], [[2.0]], ([0.5, 0.5], [1.0]))
    20.0
    """
    U, V = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
    return _expected(U, V, _law(law, len(U), len(V)))


def objective(
    U: ArrayLike,
    V: ArrayLike,
    ratings: tuple[ArrayLike, ArrayLike, ArrayLike],
    lam: float | Fraction,
    law: tuple[ArrayLike, ArrayLike] | None = None,
) -> float | Fraction:
    """Mean loss under dropout, ``loss + lam R^``; or, with a law, ``loss + lam R``.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor.
    V : (d0, d1) array_like
        Right factor.
    ratings : (r, c, y) of (n,) array_like
        Rows from 0 to d2 - 1, columns from 0 to d0 - 1, and values; a pair twice counts twice.
    lam : float
        Strength of the penalty, at least 0.
    law : (p, q) of (d2,) and (d0,) array_like, optional
        Probabilities of the rows and of the columns, each of sum 1; None for ``R^``.

    Returns
    -------
    float
        The objective.

    Notes
    -----
    Cost: ``O(n d1)``, and ``O((d2 + d0) d1)`` with a law.

    References
    ----------
    :claim:`thesis/equation-4.6`
    """
    U, V, r, c, y = _problem(U, V, ratings, exact=True)
    lam = arguments.number("lam", lam, exact=U.dtype == object, least=0)
    law = None if law is None else _law(law, len(U), len(V))
    penalty = _empirical(U, V, r, c) if law is None else _expected(U, V, law)
    penalty = weighted(lam, penalty)
    return _loss(U, V, r, c, y) + (penalty if U.dtype == object else float(penalty))


def frequencies(
    ratings: tuple[ArrayLike, ArrayLike, ArrayLike], shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Law (p, q) of the ratings: which share of them each row and each column has.

    Parameters
    ----------
    ratings : (r, c, y) of (n,) array_like
        Rows from 0 to d2 - 1, columns from 0 to d0 - 1, and values; a pair twice counts twice.
    shape : (int, int)
        Numbers d2 of rows and d0 of columns.

    Returns
    -------
    p : (d2,) ndarray
        Shares of the rows.
    q : (d0,) ndarray
        Shares of the columns.

    Examples
    --------
    >>> p, q = frequencies(([0, 1, 1, 1], [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]), (2, 3))
    >>> p.tolist(), q.tolist()
    ([0.25, 0.75], [0.5, 0.5, 0.0])
    """
    if np.shape(shape) != (2,):
        raise ValueError(f"shape must be two whole numbers, d2 and d0, but it was {shape!r}.")
    d2, d0 = (arguments.positive_integer("shape", d) for d in shape)
    r, c, y = _triples(ratings, d2, d0)
    return np.bincount(r, minlength=d2) / len(y), np.bincount(c, minlength=d0) / len(y)


# ------------------------------------------------------------------- alternating least squares


class Completion(NamedTuple):
    """Factors and course of `als`.

    Attributes
    ----------
    U : (d2, d1) ndarray
        Left factor at the end.
    V : (d0, d1) ndarray
        Right factor at the end.
    times : (k,) ndarray
        Numbers of sweeps after which ``observe`` was called.
    observed : dict of (k, ...) ndarray
        Its results, each stacked along a leading axis.
    """

    U: np.ndarray
    V: np.ndarray
    times: np.ndarray
    observed: dict[str, np.ndarray]


def als(
    U: ArrayLike,
    V: ArrayLike,
    ratings: tuple[ArrayLike, ArrayLike, ArrayLike],
    lam: float,
    *,
    sweeps: int,
    law: tuple[ArrayLike, ArrayLike] | None = None,
    observe: Callable | None = None,
    every: int | Sequence[int] = 1,
) -> Completion:
    """Alternating least squares: minimize `objective` exactly over U, then over V, and so on.

    Parameters
    ----------
    U : (d2, d1) array_like
        Left factor at the start, which the first sweep replaces without a look at it.
    V : (d0, d1) array_like
        Right factor at the start.
    ratings : (r, c, y) of (n,) array_like
        Rows from 0 to d2 - 1, columns from 0 to d0 - 1, and values; a pair twice counts twice.
    lam : float
        Strength of the penalty, at least 0.
    sweeps : int
        Number of sweeps, at least 1.
    law : (p, q) of (d2,) and (d0,) array_like, optional
        Probabilities of the rows and of the columns, each of sum 1; None for ``R^``.
    observe : callable, optional
        Called as ``observe(U, V)`` at the start, at the times of every, and at the end; returns a
        dict of arrays.
    every : int or list of int, optional
        Number of sweeps between two calls, or the numbers of sweeps after which to call.

    Returns
    -------
    Completion
        Factors, and what was observed.

    Notes
    -----
    Cost: ``O(n d1^2 + (d2 + d0) d1^3)`` per sweep, memory ``O(n + (d2 + d0) d1^2)``. The objective
    never grows. A row that was never rated becomes 0; of several minimizers one is taken.

    References
    ----------
    :claim:`beyond/dropout-als`

    Examples
    --------
    >>> step = als([[1.0]], [[2.0]], ([0], [0], [1.0]), 1.0, sweeps=1)
    >>> step.U.tolist(), step.V.tolist()  # U = 1 / ((1 + lam) 2), then V = 1 / ((1 + lam) U)
    ([[0.25]], [[2.0]])
    """
    U, V, r, c, y = _problem(U, V, ratings)
    lam = arguments.number("lam", lam, least=0)
    law = None if law is None else _law(law, len(U), len(V))
    sweeps = arguments.positive_integer("sweeps", sweeps)
    record = Recorder(observe, every, sweeps)
    by_row, by_column = _grouped(r, c, y, len(U)), _grouped(c, r, y, len(V))
    p, q = (None, None) if law is None else law
    record(0, U, V)
    for t in range(1, sweeps + 1):
        U = _minimize_rows(V, by_row, lam, p, q)
        V = _minimize_rows(U, by_column, lam, q, p)
        record(t, U, V)
    return Completion(U, V, *record.results())


def _grouped(r, c, y, d):
    """Where the ratings of each of d rows begin and end, and the columns and values, by row."""
    order = np.argsort(r, kind="stable")
    return np.concatenate([[0], np.bincount(r, minlength=d).cumsum()]), c[order], y[order]


def _minimize_rows(V, grouped, lam, p, q):
    """The U that minimizes the objective for this V: a ridge regression for each of its rows."""
    # Row r has the normal equations (G + lam diag(w)) u = b, where G is the Gram matrix of the rows
    # of V that it has rated and w is the diagonal of G (for R^) or n p(r) sum_c q(c) V[c]^2
    # (for R).
    begin, c, y = grouped
    d, d1 = len(begin) - 1, V.shape[1]
    G, b = np.zeros((d, d1, d1)), np.zeros((d, d1))
    for r in np.flatnonzero(np.diff(begin)):
        mine = slice(begin[r], begin[r + 1])
        rated = V[c[mine]]
        G[r] = rated.T @ rated
        b[r] = y[mine] @ rated
    diagonal = np.einsum("rkk->rk", G)  # a view: what is added to it is added to G
    gram = diagonal.copy()
    w = gram if p is None else len(y) * np.outer(p, q @ (V * V))
    diagonal += lam * w
    # With the diagonal scaled to 1 all eigenvalues lie between `least` and d1.
    total = np.where(diagonal > 0, diagonal, 1)
    least = np.where(diagonal > 0, lam * w / total, 1).min(axis=1)
    easy = least > 1e-8
    scale = 1 / np.sqrt(total)
    diagonal[diagonal == 0] = 1  # a factor without weight: its equation is u = 0
    U = np.zeros((d, d1))
    S = scale[easy]
    scaled = G[easy] * S[:, :, None] * S[:, None, :]
    U[easy] = S * np.linalg.solve(scaled, (S * b[easy])[..., None])[..., 0]
    for r in np.flatnonzero(~easy):  # nearly singular: no normal equations
        mine = slice(begin[r], begin[r + 1])
        rows = np.concatenate([V[c[mine]], np.diag(np.sqrt(lam * w[r]))]) * scale[r]
        target = np.concatenate([y[mine], np.zeros(d1)])
        U[r] = scale[r] * np.linalg.lstsq(rows, target, rcond=None)[0]
    return U


# -------------------------------------------------------------------------------------- capacity


def trace_norm_complexity(p: ArrayLike, q: ArrayLike, n: int) -> float:
    """Rademacher complexity of the matrices whose weighted trace norm is at most 1, exactly.

    ``E ||sum_i s_i B_i||_2 / n`` over n pairs (r, c) from the law and n signs s, where B_i has the
    one entry ``(p(r) q(c))^{-1/2}``: by duality the supremum over that ball.

    Parameters
    ----------
    p : (d2,) array_like
        Probabilities of the rows, above 0, of sum 1.
    q : (d0,) array_like
        Probabilities of the columns, above 0, of sum 1.
    n : int
        Number of pairs, at least 1.

    Returns
    -------
    float
        The complexity; times ``sqrt(alpha)`` it is that of Theorem 20.

    Raises
    ------
    ValueError
        If there are more than ``10^6`` ways how often each pair may occur, signs counted, or
        ``(2 n + 1)^{d2 d0}`` reaches ``2^63``.

    Notes
    -----
    Cost: s spectral norms, and sorting ``O(n s)`` numbers, for s ways; with ``m = d2 d0`` that is
    about ``(2 n)^m / (2 m!)``.

    References
    ----------
    :claim:`thesis/theorem-20`, :claim:`thesis/rademacher-complexity`

    Examples
    --------
    >>> round(trace_norm_complexity([0.5, 0.5], [0.5, 0.5], 2), 6)  # (1 + sqrt(2)) / 2
    1.207107
    """
    n = arguments.positive_integer("n", n)
    p, q = (_positive_law(name, x) for name, x in (("p", p), ("q", q)))
    cells = np.outer(p, q).ravel()
    m = len(cells)
    base = 2 * n + 1  # digits of a key: one net count, from -n to n, for each cell
    if m * np.log2(base) >= 63:
        arguments.at_most("p, q and n", base**m, 2**63, "ways")
    steps = base ** np.arange(m)
    keys, law = np.zeros(1, dtype=np.int64), np.ones(1)
    for _ in range(n):
        reached = (keys[:, None] + np.concatenate([steps, -steps])).ravel()
        weight = np.outer(law, np.concatenate([cells, cells]) / 2).ravel()
        keys, which = np.unique(reached, return_inverse=True)
        law = np.bincount(which, weight)
        arguments.at_most("p, q and n", len(keys), 10**6, "ways")
    counts = (keys[:, None] + steps.sum() * n) // steps % base - n
    sums = (counts / np.sqrt(cells)).reshape(-1, len(p), len(q))
    return float(law @ np.linalg.norm(sums, 2, axis=(1, 2)) / n)


# --------------------------------------------------------------------------------------- private


def _loss(U, V, r, c, y):
    error = y - np.einsum("ik,ik->i", U[r], V[c])
    return _number(error @ error / len(y))


def _empirical(U, V, r, c):
    return _number(np.einsum("ik,ik->", (U * U)[r], (V * V)[c]) / len(r))


def _expected(U, V, law):
    p, q = law
    return float((p @ (U * U)) @ (q @ (V * V)))


def _number(x):
    return x if isinstance(x, Fraction) else float(x)


def _problem(U, V, ratings, exact=False):
    U, V = (arguments.matrix(name, X, exact=exact) for name, X in (("U", U), ("V", V)))
    return *arguments.factors(U, V, exact=exact), *_triples(ratings, len(U), len(V), exact)


def _triples(ratings, d2, d0, exact=False):
    try:
        r, c, y = ratings
    except (TypeError, ValueError):
        raise ValueError("ratings must be three arrays: rows, columns and values.") from None
    y = arguments.vector("The values of the ratings", y, exact=exact)
    r = arguments.integers("The rows of the ratings", r, size=len(y), below=d2)
    return r, arguments.integers("The columns of the ratings", c, size=len(y), below=d0), y


def _law(law, d2, d0):
    try:
        p, q = law
    except (TypeError, ValueError):
        raise ValueError("law must be two arrays, p and q.") from None
    return arguments.probabilities("p", p, d2), arguments.probabilities("q", q, d0)


def _positive_law(name, x):
    x = arguments.vector(name, x, above=0)
    return arguments.probabilities(name, x, len(x))
