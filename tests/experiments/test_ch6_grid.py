"""The grid searches against a full sort on small grids, and the hand count on the large one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runproofs.experiments.ch6_grid import READINGS, axis, grid_topk, grid_topk_pruned

X = np.array([3, 2, 1])
LOSSES = {  # as one would write them down, to be maximized
    "cross entropy": lambda f: np.logaddexp.reduce(f, axis=-1) - f[..., 0],
    "margin": lambda f: -np.logaddexp(0, f[..., 0] - f[..., 1:].max(-1)),
    "greedy": lambda f: f[..., 1:].max(-1) - np.logaddexp.reduce(f, axis=-1),
    "negated logits": lambda f: -f[..., 0] - np.logaddexp.reduce(-f, axis=-1),
    "pairwise": lambda f: -np.logaddexp(0, f[..., :1] - f[..., 1:]).sum(-1),
}


def sorted_by(reading, points, radius):
    """All points of the ball, best first, and their losses and flips."""
    delta = np.stack(np.meshgrid(points, points, points, indexing="ij"), -1).reshape(-1, 3)
    delta = delta[(delta**2).sum(1) <= radius**2]
    f = X + delta
    losses = LOSSES[reading](f)
    order = np.argsort(-losses, kind="stable")
    return losses[order], (f[:, 0] < f[:, 1:].max(1))[order]


@given(
    st.sampled_from(sorted(READINGS)),
    st.integers(2, 45),
    st.sampled_from(["closed", "half-open", "interior", "midpoints"]),
    st.floats(0.3, 0.9),
    st.integers(1, 300),
)
def test_both_searches_agree_with_a_full_sort(reading, n, ends, radius, k):
    points = axis(n, ends)
    squares = sum(np.ix_(points**2, points**2, points**2))
    assume(np.abs(squares - radius**2).min() > 1e-12)  # on the sphere rounding decides
    losses, flips = sorted_by(reading, points, radius)
    full = grid_topk(k, reading, points=points, radius=radius)
    pruned = grid_topk_pruned(k, reading, points=points, radius=radius)
    for field in ("displacements", "scores", "flips"):
        np.testing.assert_array_equal(getattr(full, field), getattr(pruned, field))
    assert full.visited == len(losses)
    assert pruned.visited <= full.visited
    assert full.flips_in_ball == flips.sum()
    found = LOSSES[reading](X + full.displacements)
    np.testing.assert_allclose(found, losses[:k], atol=1e-12)
    assert len(np.unique(full.displacements, axis=0)) == len(found) == min(k, len(losses))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.filterwarnings("error")
def test_no_score_overflows_on_the_largest_grid(reading):
    points = np.linspace(-100, 100, 9)
    losses, _ = sorted_by(reading, points, 200)
    full = grid_topk(729, reading, points=points, radius=200)
    pruned = grid_topk_pruned(729, reading, points=points, radius=200)
    for found in (full, pruned):
        assert np.isfinite(found.scores).all()
        np.testing.assert_allclose(LOSSES[reading](X + found.displacements), losses, atol=1e-12)


def test_flips_to_the_third_class_count_too():
    """The cube of the figure is too small for them."""
    points = np.linspace(-2, 2, 21)
    _, flips = sorted_by("margin", points, 2.5)
    assert grid_topk(5, "margin", points=points, radius=2.5).flips_in_ball == flips.sum()
    in_ball = sum(np.ix_(points**2, points**2, points**2)) <= 2.5**2
    second = points[:, None, None] - points[None, :, None] < -1
    assert flips.sum() > np.count_nonzero(second & in_ball)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("closed", [-0.51, 0, 0.51]),
        ("half-open", [-0.51, -0.17, 0.17]),
        ("interior", [-0.255, 0, 0.255]),
        ("midpoints", [-0.34, 0, 0.34]),
    ],
)
def test_three_points_with_each_kind_of_ends(ends, expected):
    np.testing.assert_allclose(axis(3, ends), expected, atol=1e-15)


def test_figure_6_2_by_both_searches():
    """512 million points. The counts are those of the register, found by other programs."""
    counts = {"cross entropy": [0, 0, 0], "margin": [10, 100, 172]}
    for reading, expected in counts.items():
        full, pruned = grid_topk(1000, reading), grid_topk_pruned(1000, reading)
        assert (full.visited, full.flips_in_ball) == (487_799_080, 172)
        assert pruned.visited < 1_000_000
        np.testing.assert_array_equal(full.displacements, pruned.displacements)
        assert [full.flips[:k].sum() for k in (10, 100, 1000)] == expected


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"k": 0}, "k must"),
        ({"reading": "hinge"}, "reading must"),
        ({"points": [0.1, 0.1]}, "points must be increasing"),
        ({"points": [-100.5, 0.0]}, r"points must lie in \[-100, 100\], but one is \+-100.5"),
        ({"points": [0.0, 1000.0]}, "points must lie in"),
        ({"radius": 0}, "radius must"),
        ({"radius": np.nan}, "radius must"),
    ],
)
def test_bad_arguments_are_named(change, name):
    for search in (grid_topk, grid_topk_pruned):
        with pytest.raises(ValueError, match=name):
            search(**({"k": 5, "reading": "margin", "points": axis(5)} | change))
    with pytest.raises(ValueError, match="ends must"):
        axis(5, "open")
