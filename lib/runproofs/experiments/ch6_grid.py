"""Grid search for attacks, Section 6.5.1 and Figure 6-2 of the thesis: the best k displacements.

The model is the identity map on R^3, the point x = (3, 2, 1) has class 1, and a displacement, on a
grid of the cube [-.51, .51]^3 and in a ball, flips the label if x + displacement has its largest
coordinate elsewhere.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments

X = np.array([3.0, 2.0, 1.0])
HALF_WIDTH = 0.51
RADIUS = 0.7078  # as printed
LARGEST = 100  # of coordinates: the scores hold powers of e that must not overflow
BLOCK = 20  # points along an edge of the blocks that the pruned search bounds together


class Reading(NamedTuple):
    """A loss, to be maximized, as a score that is cheaper and orders the points as it does.

    Attributes
    ----------
    prepare : callable
        Increasing function of each logit, evaluated along the axes only.
    score : callable
        Takes the three prepared logits.
    bound : callable
        Takes the least and the largest prepared logits of a block; returns at least its scores.
    """

    prepare: Callable
    score: Callable
    bound: Callable


def _falls_then_rises(prepare, score):
    """A reading that falls in the first logit and rises in the other two."""
    return Reading(prepare, score, lambda low, high: score(low[0], high[1], high[2]))


def _greedy_bound(low, high):
    largest = np.maximum(high[1], high[2])
    return largest / (low[0] + largest + np.minimum(low[1], low[2]))


READINGS = {
    # -ln softmax_1(f)
    "cross entropy": _falls_then_rises(np.exp, lambda e1, e2, e3: (e2 + e3) / e1),
    # -ln(1 + exp(f_1 - max(f_2, f_3)))
    "margin": _falls_then_rises(np.positive, lambda f1, f2, f3: np.maximum(f2, f3) - f1),
    # ln softmax_k(f), k the larger of the other two logits
    "greedy": Reading(
        np.exp, lambda e1, e2, e3: np.maximum(e2, e3) / (e1 + e2 + e3), _greedy_bound
    ),
    # ln softmax_1(-f), minus the cross entropy of minus the logits
    "negated logits": _falls_then_rises(np.exp, lambda e1, e2, e3: -(e1 / e2 + e1 / e3)),
    # -sum over j = 2, 3 of ln(1 + exp(f_1 - f_j))
    "pairwise": _falls_then_rises(np.exp, lambda e1, e2, e3: -(1 + e1 / e2) * (1 + e1 / e3)),
}


class TopK(NamedTuple):
    """The best displacements, best first; equal scores in the order of the grid.

    Attributes
    ----------
    displacements : (k, 3) ndarray
        The displacements.
    scores : (k,) ndarray
        Their scores.
    flips : (k,) ndarray of bool
        Which of them flip the label.
    visited : int
        Points of the ball whose scores were computed.
    flips_in_ball : int or None
        All flips on the grid; None after the pruned search.
    """

    displacements: np.ndarray
    scores: np.ndarray
    flips: np.ndarray
    visited: int
    flips_in_ball: int | None


def axis(n=800, ends="closed"):
    """The n coordinates of the grid in [-.51, .51].

    n: at least 2. ends: "closed" includes both, "half-open" only the first, "interior" neither, and
    "midpoints" are those of n equal parts. Raises ValueError for bad arguments.
    """
    n = arguments.positive_integer("n", n)
    i = np.arange(n)
    fractions = {
        "closed": i / max(n - 1, 1),
        "half-open": i / n,
        "interior": (i + 1) / (n + 1),
        "midpoints": (i + 0.5) / n,
    }
    if ends not in fractions:
        raise ValueError(f"ends must be one of {', '.join(fractions)}, but it was {ends!r}.")
    return HALF_WIDTH * (2 * fractions[ends] - 1)


def grid_topk(k, reading, *, points=None, radius=RADIUS):
    """The k points of the grid in the ball with the largest scores, by a pass over all of them.

    k: at least 1. reading: a key of `READINGS`. points: (n,), increasing coordinates of the grid in
    [-100, 100], by default `axis()`. radius: larger than 0; whether a point on the sphere itself
    counts is up to rounding, the same in both searches. Returns a `TopK`, with fewer than k points
    if the ball has fewer. Raises ValueError for bad arguments.
    Cost: O(n^3) time, O(n^2 + k) memory. Source: thesis, Figure 6-2.
    """
    best, reading, points, radius = _checked(k, reading, points, radius)
    n, (p1, p2, p3) = len(points), [reading.prepare(points + x) for x in X]
    f1, f2, f3 = (points + x for x in X)
    p2, p3 = p2[:, None], p3[None, :]
    squares = points**2
    rest = squares[:, None] + squares
    visited = flips = 0
    for i in range(n):
        inside = rest <= radius**2 - squares[i]
        visited += np.count_nonzero(inside)
        second, third = f2 > f1[i], f3 > f1[i]
        if second.any() or third.any():
            flips += np.count_nonzero(inside & (second[:, None] | third))
        scores = reading.score(p1[i], p2, p3)
        chosen = np.flatnonzero(inside & (scores >= best.threshold))
        best.offer(scores.ravel()[chosen], i * n * n + chosen)
    return best.result(points, visited, flips)


def grid_topk_pruned(k, reading, *, points=None, radius=RADIUS):
    """`grid_topk` without visiting the whole grid: blocks in the order of upper bounds.

    Arguments, result (but for `visited` and `flips_in_ball`) and errors as in `grid_topk`.
    Cost: O((n / 20)^3) for the bounds, and 8000 points for each block whose bound reaches the k-th
    best score. Beyond the thesis.
    """
    best, reading, points, radius = _checked(k, reading, points, radius)
    n, prepared, squares = len(points), [reading.prepare(points + x) for x in X], points**2
    starts = np.arange(0, n, BLOCK)
    lasts = np.minimum(starts + BLOCK, n) - 1
    low, high = ([_along(p[ends], j) for j, p in enumerate(prepared)] for ends in (starts, lasts))
    nearest = np.minimum.reduceat(squares, starts)
    distances = _along(nearest, 0) + _along(nearest, 1) + _along(nearest, 2)
    bounds = reading.bound(low, high)
    bounds = bounds + 1e-12 * np.abs(bounds)  # rounding of the bound and of the scores
    reachable = np.flatnonzero(distances <= radius**2 * (1 + 1e-12))
    order = reachable[np.argsort(-bounds.ravel()[reachable], kind="stable")]
    visited = 0
    for block in order:
        if bounds.flat[block] < best.threshold:
            break
        corner = [starts[b] for b in np.unravel_index(block, bounds.shape)]
        edges = [slice(c, c + BLOCK) for c in corner]
        s1, s2, s3 = (_along(squares[edge], j) for j, edge in enumerate(edges))
        inside = s2 + s3 <= radius**2 - s1
        visited += np.count_nonzero(inside)
        scores = reading.score(*(_along(prepared[j][edge], j) for j, edge in enumerate(edges)))
        chosen = np.nonzero(inside & (scores >= best.threshold))
        i, j, l = (c + positions for c, positions in zip(corner, chosen, strict=True))
        best.offer(scores[chosen], (i * n + j) * n + l)
    return best.result(points, visited, None)


class _Best:
    """The k largest scores offered so far; ties go to the smaller index."""

    def __init__(self, k):
        self.k, self.threshold = k, -np.inf
        self.scores, self.indices = np.empty(0), np.empty(0, dtype=np.int64)

    def offer(self, scores, indices):
        if len(scores):
            scores = np.concatenate([self.scores, scores])
            indices = np.concatenate([self.indices, indices])
            order = np.lexsort((indices, -scores))[: self.k]
            self.scores, self.indices = scores[order], indices[order]
            if len(order) == self.k:
                self.threshold = self.scores[-1]

    def result(self, points, visited, flips_in_ball):
        n = len(points)
        displacements = points[np.stack(np.unravel_index(self.indices, (n, n, n)), axis=-1)]
        f = X + displacements
        flips = f[:, 1:].max(axis=1) > f[:, 0]
        return TopK(displacements, self.scores, flips, visited, flips_in_ball)


def _along(values, j):
    """values along axis j of three."""
    return np.expand_dims(values, [i for i in range(3) if i != j])


def _checked(k, reading, points, radius):
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {', '.join(READINGS)}, but it was {reading!r}.")
    points = axis() if points is None else arguments.vector("points", points)
    if (np.diff(points) <= 0).any():
        raise ValueError("points must be increasing, but they are not.")
    if (largest := np.abs(points).max()) > LARGEST:
        raise ValueError(f"points must lie in [-{LARGEST}, {LARGEST}], but one is +-{largest:g}.")
    k = arguments.positive_integer("k", k)
    return _Best(k), READINGS[reading], points, arguments.number("radius", radius, above=0)
