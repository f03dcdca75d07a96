"""What one ReLU neuron can do with a finite law of inputs, exactly: retentiveness and capacity.

The law has atoms x_k in ``R^d`` with masses p_k, and ``C = sum_k p_k x_k x_k^T``. A neuron v has
the activation ``sigma(v^T x) = max(v^T x, 0)`` with second moment
``a(v)^2 = sum_k p_k sigma(v^T x_k)^2``. The hyperplanes ``v^T x_k = 0`` cut the space into cells.
On a cell ``a(v)^2`` is a quadratic form and ``sum_i w_i sigma(v^T x_i)`` is linear, so that
extremes are found cell by cell: in the plane by a sweep over sectors that takes all weights w at
once, elsewhere from the extreme rays of the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.masks import all_signs
from runproofs.networks import _arrangement, _cells
from runproofs.networks._cells import ZERO

MOST_SIGNS = 14  # sample points: 8192 sign vectors up to a common sign
MOST_WEIGHTS = 2**18
CHUNK = 2**19  # candidates that are taken together


class Retentiveness(NamedTuple):
    """The largest beta with ``a(v)^2 >= beta v^T C v`` for all v, and a v with equality.

    Attributes
    ----------
    beta : float
        Retentiveness of the law, from 0 to 1/2.
    direction : (d,) ndarray
        Neuron with equality, of length 1, in the range of C.
    """

    beta: float
    direction: np.ndarray


class Neuron(NamedTuple):
    """A supremum over neurons, and a neuron that attains it.

    Attributes
    ----------
    value : (...) ndarray
        Supremum for each weight vector, possibly infinite.
    direction : (..., d) ndarray
        Neuron of length 1; where the value is infinite, one with a(v) = 0.
    """

    value: np.ndarray
    direction: np.ndarray


class CertifiedNeuron(NamedTuple):
    """A supremum over neurons, a neuron that attains it, and an upper bound by duality.

    Attributes
    ----------
    value : (...) ndarray
        Supremum for each weight vector, possibly infinite.
    direction : (..., d) ndarray
        Neuron of length 1; where the value is infinite, one with a(v) = 0.
    bound : (...) ndarray
        Upper bound of the supremum; it exceeds the value by the duality gap.
    """

    value: np.ndarray
    direction: np.ndarray
    bound: np.ndarray


def second_moment(
    v: ArrayLike, atoms: ArrayLike, masses: ArrayLike | None = None
) -> np.ndarray | float:
    """Second moment ``a(v)^2 = sum_k p_k max(v^T x_k, 0)^2`` of the activation.

    Parameters
    ----------
    v : (..., d) array_like
        Neurons.
    atoms : (m, d) array_like
        Atoms x_k of the law.
    masses : (m,) array_like, optional
        Probabilities p_k of the atoms, at least 0 with sum 1; equal by default.

    Returns
    -------
    (...) ndarray
        The moment of each neuron.

    Notes
    -----
    Cost: ``O(m d)`` a neuron.

    References
    ----------
    :claim:`thesis/proposition-5`

    Examples
    --------
    >>> second_moment([[1, 0], [-1, 0]], [[2, 0], [-1, 1]], [0.25, 0.75]).tolist()
    [1.0, 0.75]
    """
    atoms = arguments.matrix("atoms", atoms)
    m, d = atoms.shape
    masses = np.full(m, 1 / m) if masses is None else arguments.probabilities("masses", masses, m)
    v = arguments.points("v", v, d)
    return np.maximum(v @ atoms.T, 0) ** 2 @ masses


def retentiveness(atoms: ArrayLike, masses: ArrayLike) -> Retentiveness:
    """Largest beta with ``a(v)^2 >= beta v^T C v`` for all v; the law is retentive iff beta > 0.

    Parameters
    ----------
    atoms : (m, d) array_like
        Atoms x_k of the law, not all 0.
    masses : (m,) array_like
        Probabilities p_k of the atoms, larger than 0 with sum 1.

    Returns
    -------
    Retentiveness
        The largest beta, exact to rounding, and a neuron with equality.

    Raises
    ------
    ValueError
        If m atoms, with C of rank r, have more than 3000 subsets of r - 1 (m > 77 for r = 3).

    Notes
    -----
    Cost: eigenvectors of a matrix for each cell between the hyperplanes ``v^T x_k = 0`` in the
    range of C, ``O(m^2)`` in the plane, ``O(m^3)`` and some milliseconds a ray in dimension 3.

    References
    ----------
    :claim:`thesis/assumption-1`

    Examples
    --------
    >>> round(retentiveness([[2], [-0.5]], [0.2, 0.8]).beta, 12)
    0.2
    """
    atoms, masses = _law(atoms, masses)
    _, sigma, Wt = np.linalg.svd(np.sqrt(masses)[:, None] * atoms, full_matrices=False)
    kept = sigma > ZERO * sigma[0]
    root = Wt[kept].T / sigma[kept]  # with white atoms x^T root, v^T C v is the square of a norm
    white = atoms @ root
    candidates = _critical(white, masses)
    moments = _activations(candidates, white) ** 2 @ masses
    pair = np.array([[1.0], [-1.0]]) * candidates[moments.argmin()]
    kept = _activations(pair, white) ** 2 @ masses  # v and -v share v^T C v, rounding or not
    direction = root @ pair[kept.argmin()]
    return Retentiveness(float(kept.min() / kept.sum()), direction / np.linalg.norm(direction))


def supremum(weights: ArrayLike, points: ArrayLike, atoms: ArrayLike, masses: ArrayLike) -> Neuron:
    """Supremum of ``sum_i w_i sigma(v^T x_i) / a(v)`` over neurons v with a(v) > 0, in the plane.

    Parameters
    ----------
    weights : (..., n) array_like
        Weight vectors w, such as signs.
    points : (n, d) array_like
        Points x_i.
    atoms : (m, d) array_like
        Atoms of the law, not all 0; with the points they span at most two dimensions.
    masses : (m,) array_like
        Probabilities of the atoms, larger than 0 with sum 1.

    Returns
    -------
    Neuron
        The supremum for each w, exact to rounding, and a neuron that attains it.

    See Also
    --------
    supremum_by_cells : The same in any dimension, with a certificate.

    Notes
    -----
    The supremum of the absolute value is the larger one for w and -w. It is infinite iff a neuron
    with a(v) = 0 has a positive sum, which a point outside of the law's support may cause. Cost:
    ``O((m + n)^2)`` and ``O((m + n) n)`` a weight vector.

    References
    ----------
    :claim:`beyond/single-neuron-complexity`

    Examples
    --------
    >>> supremum([[1], [-1]], [[1, 0]], [[1, 0], [-1, 0]], [0.5, 0.5]).value.round(3).tolist()
    [1.414, 0.0]
    """
    weights, basis, points, atoms, masses = _problem(weights, points, atoms, masses)
    if basis.shape[1] > 2:
        raise ValueError(
            f"points and atoms must lie in a plane, but they span {basis.shape[1]} dimensions."
        )
    if basis.shape[1] == 1:  # any plane with the line
        basis = np.pad(basis, [(0, 0), (0, 1)])
        points, atoms = np.pad(points, [(0, 0), (0, 1)]), np.pad(atoms, [(0, 0), (0, 1)])
    value, direction = _sweep(weights.reshape(-1, weights.shape[-1]), points, atoms, masses)
    direction = (direction @ basis.T).reshape(*weights.shape[:-1], len(basis))
    return Neuron(value.reshape(weights.shape[:-1]), direction)


def supremum_by_cells(
    weights: ArrayLike, points: ArrayLike, atoms: ArrayLike, masses: ArrayLike
) -> CertifiedNeuron:
    """The same supremum in any dimension, with a certificate, from the extreme rays of the cells.

    Parameters
    ----------
    weights : (..., n) array_like
        Weight vectors w, such as signs.
    points : (n, d) array_like
        Points x_i.
    atoms : (m, d) array_like
        Atoms of the law, not all 0.
    masses : (m,) array_like
        Probabilities of the atoms, larger than 0 with sum 1.

    Returns
    -------
    CertifiedNeuron
        The ratio of a neuron, that neuron, and a bound from the dual problem.

    Raises
    ------
    ValueError
        If the m + n points span r dimensions and have more than 3000 subsets of r - 1 (m + n > 77
        for r = 3).

    See Also
    --------
    supremum : The plane, by a sweep.

    Notes
    -----
    On a cell with extreme rays r_j, that is for ``v = sum_j t_j r_j``, t >= 0, sum and moment are
    ``b^T t`` and ``||B t||``. With t minimizing ``||B t||^2 + (b^T t - 1)^2`` the ratio is largest,
    and a multiple u of B t with ``B^T u >= b`` shows that it is at most ``||u||`` (least distance
    programming). Cost: some milliseconds a ray, ``O((m + n)^2)`` in dimension 3, and for each of as
    many cells and each weight vector a problem of nonnegative least squares, some 20 microseconds.

    References
    ----------
    :claim:`beyond/single-neuron-complexity`
    """
    weights, basis, points, atoms, masses = _problem(weights, points, atoms, masses)
    everything = np.vstack([points, atoms])
    rays, signs = _cells.rays(everything)
    active = _activations(rays, everything)
    sums, moments = active[:, : len(points)], active[:, len(points) :] * np.sqrt(masses)
    members = [(signs * cell >= 0).all(-1).nonzero()[0] for cell in _cells.cells(everything)]
    flat = weights.reshape(-1, weights.shape[-1])
    value, v, bound = np.empty(len(flat)), np.empty((len(flat), rays.shape[1])), np.empty(len(flat))
    for k, w in enumerate(flat):
        value[k], v[k], bound[k] = _cells.largest_ratio(rays, moments, sums, w, members)
    batch = weights.shape[:-1]
    v = (v @ basis.T).reshape(*batch, len(basis))
    return CertifiedNeuron(value.reshape(batch), v, bound.reshape(batch))


def complexity(sample: ArrayLike, atoms: ArrayLike, masses: ArrayLike) -> float:
    """Exact empirical Rademacher complexity of the class F_alpha at alpha = 1, by all signs.

    F_alpha is the set of networks ``u^T sigma(V^T x)`` with ``sum_j |u_j| a(v_j) <= alpha``, of any
    width at least 1; its complexity is alpha times the result.

    Parameters
    ----------
    sample : (n, d) array_like
        Points of the sample, n <= 14.
    atoms : (m, d) array_like
        Atoms of the law, not all 0.
    masses : (m,) array_like
        Probabilities of the atoms, larger than 0 with sum 1.

    Returns
    -------
    float
        The complexity, infinite iff a neuron with a(v) = 0 does not vanish on the sample.

    Notes
    -----
    Cost: ``2^n`` times that of `supremum`, or of `supremum_by_cells` beyond the plane, whose limit
    on the number of points holds here, too.

    References
    ----------
    :claim:`thesis/equation-4.5`, :claim:`beyond/single-neuron-complexity`

    Examples
    --------
    >>> round(complexity([[1]], [[1], [-1]], [0.5, 0.5]), 3)  # the square root of 2
    1.414
    """
    sample = arguments.matrix("sample", sample)
    n = len(sample)
    arguments.at_most("sample", n, MOST_SIGNS, "points")
    signs = all_signs(n)[: 2 ** (n - 1)]  # up to a common sign
    return float(_absolute(signs, sample, atoms, masses).mean() / n)


def expected_complexity(n: int, atoms: ArrayLike, masses: ArrayLike) -> float:
    """Exact Rademacher complexity R_n of F_alpha at alpha = 1, for samples drawn from the law.

    Parameters
    ----------
    n : int
        Number of points of a sample, at least 1; ``(2n + 1)^m`` is at most 262144.
    atoms : (m, d) array_like
        Atoms of the law, not all 0.
    masses : (m,) array_like
        Probabilities of the atoms, larger than 0 with sum 1.

    Returns
    -------
    float
        The mean of the empirical complexities.

    See Also
    --------
    complexity : That of one sample, and what F_alpha is.

    Notes
    -----
    Cost: ``(2n + 1)^m / 2`` suprema, for the sums of the signs at each atom, whose law is computed.

    References
    ----------
    :claim:`thesis/equation-4.5`, :claim:`beyond/single-neuron-complexity`

    Examples
    --------
    >>> round(expected_complexity(2, [[1], [-1]], [0.5, 0.5]), 3)
    0.707
    """
    n = arguments.positive_integer("n", n)
    atoms, masses = _law(atoms, masses)
    m = len(atoms)
    arguments.at_most("n", (2 * n + 1) ** m, MOST_WEIGHTS, "vectors of sums (2n + 1)^m")
    law = np.zeros((2 * n + 1,) * m)
    law[(n,) * m] = 1
    for _ in range(n):  # one more point: the sum at its atom moves by its sign, up or down
        law = sum(
            masses[k] / 2 * (np.roll(law, 1, k) + np.roll(law, -1, k)) for k in range(m)
        )  # nothing is rolled around an end: n steps from the middle
    sums = np.argwhere(law > 0) - n
    chances = law[law > 0]
    half = slice(len(sums) // 2, None)  # the rest are the negatives; sums in the middle are all 0
    largest = _absolute(sums[half].astype(float), atoms, atoms, masses)
    return float(2 * chances[half] @ largest / n)


# ------------------------------------------------------------------------------------ plane


def _sweep(weights, points, atoms, masses):
    """`supremum` for weights (Z, n) in the plane: on rays, in the middle of sectors, and inside.

    Between rays r, r' of moment 1, where the ratio is c and c', the sum at v = s r + t r' is
    c s + c' t and its squared moment s^2 + t^2 + 2 rho s t, for s, t >= 0. The ratio is largest at
    s = c - rho c', t = c' - rho c, if they are positive: (c^2 + t^2 / (1 - rho^2))^{1/2}.
    """
    rays = _arrangement.rays(np.vstack([points, atoms]))
    start, end = rays.direction, np.roll(rays.direction, -1)
    wide = abs(end - start) > ZERO
    start, end, middle = (
        _arrangement.as_points(z[wide]) for z in (start, end, _arrangement.middles(rays))
    )
    fixed = np.vstack([start, middle])  # the ratio is constant on a half-plane without a line
    sums, moments = _activations(fixed, points), _activations(fixed, atoms) * np.sqrt(masses)
    lengths = np.linalg.norm(moments, axis=1)
    ends = np.stack([np.arange(len(end)), (np.arange(len(end)) + 1) % len(end)])  # in fixed
    ends = ends[:, lengths[ends].all(0)]  # of two rays one of which is silent the other is best
    rho = (moments[ends[0]] * moments[ends[1]]).sum(-1) / lengths[ends].prod(0)
    rest = 1 - rho**2
    value, direction = np.empty(len(weights)), np.empty((len(weights), 2))
    size = max(1, CHUNK // len(fixed))
    for first in range(0, len(weights), size):
        piece = slice(first, first + size)
        at_fixed = _cells.ratios(weights[piece], sums, lengths)
        c = at_fixed[:, ends].swapaxes(0, 1)  # (2, Z, sectors)
        s, t = c - rho * c[::-1]
        there = (s > 0) & (t > 0) & (rest > 0)  # with rho = 1 a ray is as good
        stationary = np.full(there.shape, -np.inf)
        stationary[there] = np.sqrt(c[0] ** 2 + t**2 / np.where(there, rest, 1))[there]
        values = np.concatenate([at_fixed, stationary], 1)
        best = values.argmax(1)
        value[piece] = values[np.arange(len(best)), best]
        v = fixed[best % len(fixed)]
        inner = (best >= len(fixed)).nonzero()[0]
        k = best[inner] - len(fixed)
        first_part = (s[inner, k] / lengths[ends[0, k]])[:, None] * fixed[ends[0, k]]
        v[inner] = first_part + (t[inner, k] / lengths[ends[1, k]])[:, None] * fixed[ends[1, k]]
        direction[piece] = v / np.linalg.norm(v, axis=1, keepdims=True)
    return value, direction


def _critical(X, masses):
    """Directions (N, r) among which a(v)^2 is least on the sphere: eigenvectors on all faces.

    Faces, because the eigenvectors to a multiple eigenvalue that are found may lie off their cell.
    """
    r = X.shape[1]
    if r == 1:
        return np.array([[1.0], [-1.0]])
    active = _cells.cells(X) > 0
    Q = np.einsum("sk,k,ki,kj->sij", active, masses, X, X)
    found = np.linalg.eigh(Q)[1].mT.reshape(-1, r)
    on_faces = []
    for x in np.unique(X[X.any(1)], axis=0):
        along = np.linalg.svd(x[None])[2][1:]
        within = X @ along.T
        within[np.linalg.norm(within, axis=1) <= ZERO * np.linalg.norm(X, axis=1)] = 0
        on_faces.append(_critical(within, masses) @ along)
    return np.concatenate([found, -found, *on_faces])


# ---------------------------------------------------------------------------------- helpers


def _law(atoms, masses):
    atoms = arguments.matrix("atoms", atoms)
    masses = arguments.numbers("masses", masses, above=0)
    masses = arguments.probabilities("masses", masses, len(atoms))
    if not atoms.any():
        raise ValueError("atoms must not all be 0: every neuron would vanish on the law.")
    return atoms, masses


def _problem(weights, points, atoms, masses):
    """Checked arguments, with points and atoms in coordinates of the space that they span."""
    atoms, masses = _law(atoms, masses)
    points = arguments.matrix("points", points, columns=atoms.shape[1])
    weights = arguments.points("weights", weights, len(points))
    everything = np.vstack([points, atoms])
    lengths = np.linalg.norm(everything, axis=1)
    _, sigma, Vt = np.linalg.svd(everything[lengths > 0] / lengths[lengths > 0, None])
    basis = Vt[: np.count_nonzero(sigma > ZERO)].T
    return weights, basis, points @ basis, atoms @ basis, masses


def _activations(v, X):
    """sigma(v^T x) (N, k) at unit vectors v (N, r) and rows x of X; rounding counts as 0."""
    products = v @ X.T
    return np.where(products > ZERO * np.linalg.norm(X, axis=1), products, 0)


def _absolute(weights, points, atoms, masses):
    """The supremum of |sum_i w_i sigma(v^T x_i)| / a(v)."""
    problem = _problem(weights, points, atoms, masses)
    solve = supremum if problem[1].shape[1] <= 2 else supremum_by_cells
    return np.maximum(
        solve(weights, points, atoms, masses).value, solve(-weights, points, atoms, masses).value
    )
