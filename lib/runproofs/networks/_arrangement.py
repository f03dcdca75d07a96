"""Lines through the origin of the plane, and sums over the units that are active between them.

The lines w_j^T u = 0 of m units cut the plane into at most 2m sectors. On a sector the same units
are active, w_j^T u > 0, so that a two-layer network is linear there, and from a sector to the next
one unit turns. Sums over the active units, on all sectors, are therefore cumulative sums: one sort
and O(m) steps where each sector by itself takes O(m). Batches of networks are taken together.

Points of the plane are complex numbers here: `as_complex` and `as_points` translate.
"""

from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments


class Rays(NamedTuple):
    """The 2m rays in which m lines leave the origin, in the order of their angles.

    Sector k lies between ray k and the next one; the last one holds the negative first axis. Where
    rays coincide the sectors between them are empty, and sums on them stand halfway through.
    """

    angle: np.ndarray  # (..., 2m), from -pi to pi, not decreasing
    direction: np.ndarray  # (..., 2m), complex numbers of modulus 1
    unit: np.ndarray  # (..., 2m), the unit j whose line it is
    turn: np.ndarray  # (..., 2m), 1 where unit j becomes active, -1 where it ceases, 0 if w_j = 0
    active: np.ndarray  # (..., m), whether a unit is active before the first ray


def rays(W):
    """The `Rays` of the lines w_j^T u = 0; a row that is zero has two that change nothing.

    W: (..., m, 2). Raises ValueError for bad arguments. Cost: O(m log m) a network.

    >>> found = rays([[3, 3], [2, 0]])  # active from -45 to 135 degrees, and from -90 to 90
    >>> np.degrees(found.angle).round().tolist(), found.unit.tolist(), found.turn.tolist()
    ([-90.0, -45.0, 90.0, 135.0], [1, 0, 1, 0], [1, 1, -1, -1])
    """
    return rays_of(as_complex(arguments.matrix("W", W, batched=True, columns=2)))


def rays_of(w):
    """`rays` of rows w (..., m) that are complex numbers; nothing is checked."""
    m, alive = w.shape[-1], w != 0
    normal = np.where(alive, w, 1)  # a zero row: rays at -90 and 90 degrees, active on neither side
    normal = normal / abs(normal)
    direction = np.concatenate([-1j * normal, 1j * normal], -1)
    angle = np.angle(direction)
    order = angle.argsort(-1)
    return Rays(
        np.take_along_axis(angle, order, -1),
        np.take_along_axis(direction, order, -1),
        order % m,
        np.take_along_axis(np.concatenate([alive, -1 * alive], -1), order, -1),
        # told by the order of the two rays: the sign of w_j^T u at a point between rays that nearly
        # coincide may contradict it, and the error would stay in all sums
        angle[..., m:] < angle[..., :m],
    )


def sector_sums(rays, on, off=0):
    """On each sector, the sum of on_j over the active units plus that of off_j over the others.

    on: (..., m), real or complex. off: like on, or 0. Returns (..., 2m). Nothing is checked.
    Cost: O(m). Error: some sqrt(m) roundings of the largest partial sum.

    >>> found = rays([[3, 3], [2, 0]])
    >>> sector_sums(found, np.eye(2)).T.tolist()  # which units are active on each sector
    [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    first = np.where(rays.active, on, off).sum(-1, keepdims=True)
    change, unit = on - off, rays.unit
    change = change[(None,) * (unit.ndim - change.ndim)]  # take_along_axis wants as many axes
    unit = unit[(None,) * (change.ndim - unit.ndim)]
    return first + (rays.turn * np.take_along_axis(change, unit, -1)).cumsum(-1)


def sector_of(rays, u):
    """Indices (..., n) of the sectors that hold the points u (..., n); -1 is the last one as well.

    A point on a ray may get the sector of either side.
    The batch axes of rays and u are the same; nothing is checked.
    Cost: O((m + n) log(m + n)), by sorting the angles of both together.
    """
    count = rays.angle.shape[-1]
    order = np.concatenate([rays.angle, np.angle(u)], -1).argsort(-1)
    sector = np.empty_like(order)
    np.put_along_axis(sector, order, np.cumsum(order < count, -1) - 1, -1)
    return sector[..., count:]


def middles(rays):
    """Points (..., 2m) of the unit circle, as complex numbers, in the middle of each sector."""
    following = np.concatenate([rays.angle[..., 1:], rays.angle[..., :1] + 2 * np.pi], -1)
    return np.exp(0.5j * (rays.angle + following))


def as_complex(u):
    """Points (..., 2) as complex numbers (...)."""
    return np.ascontiguousarray(u, dtype=float).view(complex)[..., 0]


def as_points(z):
    """Complex numbers (...) as points (..., 2)."""
    return np.asarray(z, dtype=complex)[..., None].view(float)
