"""Critical points and minima found by standard solvers, which know no theory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

from runproofs import _arguments as arguments
from runproofs.linalg import _symmetric_part
from runproofs.linear import shallow
from runproofs.linear.landscape.hessians import _hessian, _tied_hessian
from runproofs.optimize import flatten, lbfgs, unflatten


def find_critical_point(
    U: ArrayLike, V: ArrayLike, M: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """A critical point of F near a start, of any kind, by least squares on the gradient.

    Parameters
    ----------
    U : (d2, r) array_like
        Output weights at the start.
    V : (d0, r) array_like
        Input weights at the start.
    M : (d2, d0) array_like
        Matrix to approximate.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    U : (d2, r) ndarray
        Output weights where the search stopped; only a small gradient there certifies it.
    V : (d0, r) ndarray
        Input weights.

    Notes
    -----
    Cost: ``O(n^3)`` per iteration, ``n = (d2 + d0) r``.
    """
    U, V = arguments.factors(arguments.matrix("U", U), arguments.matrix("V", V))
    M = arguments.matrix("M", M, rows=len(U), columns=len(V))
    lam = arguments.number("lam", lam, least=0)

    def pair(z):
        return unflatten(z, (U.shape, V.shape))

    def gradient(z):
        return flatten(shallow.value_and_gradient(*pair(z), M, lam)[1:])

    return tuple(pair(_root(gradient, lambda z: _hessian(*pair(z), M, lam), flatten((U, V)))))


def find_tied_critical_point(U: ArrayLike, M: ArrayLike, lam: float) -> np.ndarray:
    """A critical point of f near a start, of any kind, by least squares on the gradient.

    Parameters
    ----------
    U : (d, r) array_like
        Weights at the start.
    M : (d, d) array_like
        Matrix to approximate, which enters through its symmetric part.
    lam : float
        Strength of the penalty, at least 0.

    Returns
    -------
    (d, r) ndarray
        Weights where the search stopped; only a small gradient there certifies it.

    Notes
    -----
    Cost: ``O(d^3 r^3)`` per iteration.
    """
    U = arguments.matrix("U", U)
    M = _symmetric_part(arguments.matrix("M", M, rows=len(U)))
    lam = arguments.number("lam", lam, least=0)

    def gradient(z):
        X = z.reshape(U.shape)
        return 2 * shallow.value_and_gradient(X, X, M, lam)[1].ravel()

    z = _root(gradient, lambda z: _tied_hessian(z.reshape(U.shape), M, lam), U.ravel())
    return z.reshape(U.shape)


def _root(function, jacobian, z):
    tightest = dict.fromkeys(("ftol", "xtol", "gtol"), np.finfo(float).eps)
    return least_squares(function, z, jacobian, method="lm", **tightest).x


class Descent(NamedTuple):
    """The best end point of several descents and the final value of each; see `descend`.

    Attributes
    ----------
    U : (d2, r) ndarray
        Output weights.
    V : (d0, r) ndarray
        Input weights; U if tied.
    values : (starts,) ndarray
        Final values, in the order of the starts.
    """

    U: np.ndarray
    V: np.ndarray
    values: np.ndarray


def descend(
    M: ArrayLike,
    r: int,
    lam: float,
    starts: int,
    rng: np.random.Generator | int,
    tied: bool = False,
) -> Descent:
    """Minimize the untied (or the tied) objective by L-BFGS from random starts, knowing no theory.

    Parameters
    ----------
    M : (d2, d0) array_like
        Matrix to approximate, square if tied.
    r : int
        Number of hidden units, at least 1.
    lam : float
        Strength of the penalty, at least 0.
    starts : int
        Number of starts, at least 1.
    rng : numpy.random.Generator or int
        Source of randomness, or its seed.
    tied : bool, optional
        Minimize f, not F.

    Returns
    -------
    Descent
        The best factors, and all final values.

    Notes
    -----
    Cost: ``O(d2 d0 r)`` per iteration, about 100 iterations per start. Untied, a run that stops is
    balanced, ``||u_i|| = ||v_i||``, and goes on while that helps: between very unequal columns
    gradients are tiny far from any critical point.

    Examples
    --------
    >>> descend([[3, 0], [0, 2]], r=1, lam=1, starts=2, rng=0).values.round(6).tolist()
    [8.5, 8.5]
    """
    M = arguments.matrix("M", M, square=tied)
    r = arguments.positive_integer("r", r)
    lam = arguments.number("lam", lam, least=0)
    starts = arguments.positive_integer("starts", starts)
    rng = arguments.generator(rng)
    scale = np.linalg.norm(M, 2) or 1.0  # the solver's tolerances are meant for numbers of order 1
    run = _tied_descent if tied else _untied_descent
    ends = [run(M / scale, r, lam, rng) for _ in range(starts)]
    values = np.array([value for value, _, _ in ends])
    _, U, V = ends[values.argmin()]
    return Descent(U * np.sqrt(scale), V * np.sqrt(scale), values * scale**2)


def _tied_descent(M, r, lam, rng):
    shape = (len(M), r)

    def value_and_gradient(z):
        U = z.reshape(shape)
        value, gU, gV = shallow.value_and_gradient(U, U, M, lam)
        return value, (gU + gV).ravel()

    z, value = lbfgs(value_and_gradient, rng.standard_normal(shape).ravel() / np.sqrt(r))
    return value, z.reshape(shape), z.reshape(shape)


def _untied_descent(M, r, lam, rng):
    d2, d0 = M.shape

    def pair(z):
        return z[: d2 * r].reshape(d2, r), z[d2 * r :].reshape(d0, r)

    def value_and_gradient(z):
        value, *gradients = shallow.value_and_gradient(*pair(z), M, lam)
        return value, flatten(gradients)

    z, value = lbfgs(value_and_gradient, rng.standard_normal((d2 + d0) * r) / np.sqrt(r))
    while True:
        before = value
        z, value = lbfgs(value_and_gradient, flatten(shallow.balance(*pair(z))))
        if not value < before * (1 - 1e-13):
            return value, *pair(z)
