"""Pictures that answer to the hand: what they compute is what the library computes.

Each picture computes in the browser, by a function of its own. Here the built page computes 25
positions, with the ends of all ranges among them, and the library does the same; with a formula of
the script broken, the two differ.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from playwright.sync_api import TimeoutError as Late
from scipy.special import expit
from scipy.stats import binom

from browser import browse
from runproofs import linalg
from runproofs.adversarial import margin_attacks, worst_case
from runproofs.linear import deep, equalize, sensing, shallow
from runproofs.masks import all_masks
from runproofs.networks import (
    capacity,
    lazy,
    lazy_margin,
    multilayer,
    or_networks,
    two_layer,
)
from runproofs.networks.two_layer import TwoLayerNetwork

COUNT, TOLERANCE = 25, 1e-9
NARROW = {"width": 390, "height": 844}


class Picture(NamedTuple):
    """A page, positions, the numbers of a position: by the script (in JavaScript) and by Python.

    broken: a piece of the script, and what takes its place to see the comparison fail.
    """

    page: str
    positions: Callable[[], list[dict]]
    numbers: str
    expected: Callable[[dict], list]
    broken: tuple[str, str]


def ranged(rng, least, most, count, log=False):
    """Numbers in a range, its ends first."""
    low, high = (np.log([least, most])) if log else (least, most)
    inner = rng.uniform(low, high, count - 2)
    return [least, most, *(np.exp(inner) if log else inner).tolist()]


# (1) all masks ----------------------------------------------------------------------------------


@cache
def masked_network():
    """The network of the first page, as its cell draws it, to four decimals."""
    rng = np.random.default_rng(4)
    U, V = rng.normal(size=(4, 10)), rng.normal(size=(4, 10))
    M = U @ V.T + rng.normal(size=(4, 4))
    return tuple(np.round(array, 4) for array in (U, V, M))


def losses_of_masks(position):
    U, V, M = masked_network()
    masks, chances = all_masks(10, keep=position["theta"])
    losses = np.array([np.sum((M - U * mask @ V.T / position["theta"]) ** 2) for mask in masks])
    edges = np.geomspace(12, 4200, 57)
    clean = np.sum((M - U @ V.T) ** 2)
    penalty = shallow.regularizer(U, V, 1 / position["theta"] - 1)
    bars = np.histogram(losses, edges, weights=chances)[0]
    return [U, V, M, clean, penalty, chances @ losses, bars]


# (2) the landscape ------------------------------------------------------------------------------


def landscape_positions():
    rng = np.random.default_rng(2)
    corners = [(-1.4, -1.4, 0), (1.4, 1.4, 2), (1.4, -1.4, 0), (0, 1, 2), (0, 0, 0.5), (1, 0, 2)]
    inner = np.column_stack([rng.uniform(-1.4, 1.4, (19, 2)), rng.uniform(0, 2, 19)]).tolist()
    return [{"start": [p, q], "lam": lam} for p, q, lam in corners + inner]


def landscape_expected(position):
    """The mean of a step of training is one along the gradient; a descent by the library's."""
    lam, teacher = position["lam"], np.ones((1, 1))
    start = np.array([position["start"]])
    ends = [start]
    for _ in range(200):
        ends.append(ends[-1] - 0.01 * shallow.tied_gradient(ends[-1], teacher, lam))
    optimum = shallow.optimal_spectrum([1.0], 2, lam)
    alone = shallow.optimal_spectrum([1.0], 1, lam)
    return [
        shallow.tied_objective(start, teacher, lam),
        ends[1],
        ends[-1],
        (optimum.spectrum[0] / 2) ** 0.5,
        alone.spectrum[0] ** 0.5,
        optimum.value,
    ]


# (3) the optimal spectrum -----------------------------------------------------------------------


def spectrum_positions():
    rng = np.random.default_rng(3)
    ends = [[6.0] * 7, [0.0] * 7, [6.0, 6, 6, 0, 0, 0, 0]]
    spectra = ends + [np.sort(rng.uniform(0, 6, 7))[::-1].tolist() for _ in range(COUNT - 3)]
    rates = ranged(rng, 0.02, 200, COUNT, log=True)
    return [
        {"sigma": sigma, "r": 1 + k % 7, "lam": lam}
        for k, (sigma, lam) in enumerate(zip(spectra, rates, strict=True))
    ]


def spectrum_expected(position):
    sigma, r = np.array(position["sigma"]), position["r"]
    optimum = shallow.optimal_spectrum(sigma, r, position["lam"])
    gaps = np.array([np.sum(sigma[:j] - sigma[j]) for j in range(7)])
    with np.errstate(divide="ignore", invalid="ignore"):
        critical = np.where(sigma > 0, r * sigma / gaps, 0)
    critical[r:] = 0
    found = [optimum.rank, optimum.threshold, optimum.spectrum, optimum.value]
    return [*found, np.minimum(critical, 1e9)]


# (4) depth --------------------------------------------------------------------------------------


def jump_positions():
    rng = np.random.default_rng(4)
    ends = [
        {"k": k, "second": second, "lam": lam}
        for k, second, lam in product((1, 4), (0.5, 1.0), (0.1, 4.0))
    ]
    # on either side of the jump
    near = [{"k": 2, "second": 1.0, "lam": 2**0.5 + step} for step in (-1e-6, 1e-6)]
    inner = [
        {"k": 1 + k % 4, "second": second, "lam": lam}
        for k, (second, lam) in enumerate(
            zip(rng.uniform(0.5, 1, 15), rng.uniform(0.1, 4, 15), strict=True)
        )
    ]
    return ends + near + inner


def jump_expected(position):
    widths = (2,) * position["k"]
    best = deep.global_optimum([1, position["second"]], widths, position["lam"])
    return [best.value, np.pad(best.spectrum, (0, 2 - best.rank))]


# (5) retentiveness ------------------------------------------------------------------------------


def retentive_positions():
    rng = np.random.default_rng(5)
    ends = [
        {"angles": [0, np.pi, -np.pi], "mass": 0.02},
        {"angles": [-np.pi, np.pi, 0.5], "mass": 0.9},
        {"angles": [0, 0, 0], "mass": 0.5},
        {"angles": [0, np.pi / 2, -np.pi / 2], "mass": 0.02},
    ]
    balanced = [
        {"angles": [0, np.arccos(-d / (1 - d)), -np.arccos(-d / (1 - d))], "mass": d}
        for d in (0.02, 0.2, 0.34, 0.48)
    ]
    inner = [
        {"angles": rng.uniform(-np.pi, np.pi, 3).tolist(), "mass": mass}
        for mass in ranged(rng, 0.02, 0.9, COUNT - 8)
    ]
    return ends + balanced + inner


def retentive_expected(position):
    angles, mass = np.array(position["angles"]), position["mass"]
    atoms = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    masses = np.array([mass, (1 - mass) / 2, (1 - mass) / 2])
    beta = capacity.retentiveness(atoms, masses).beta
    at = np.array([[1.0, 0], [0.6, 0.8]])
    whole = (at @ atoms.T) ** 2 @ masses
    shares = capacity.second_moment(at, atoms, masses) / whole
    parts = (at @ atoms.T) ** 2 * masses / whole[:, None]
    return [beta, beta, shares, parts]  # the script's beta, and what its direction keeps


# (6) labels on a circle -------------------------------------------------------------------------


def labels_positions():
    rng = np.random.default_rng(6)
    ends = [
        ([np.pi, -np.pi, 0.0, 0.0, np.pi / 2], [1, 1, -1, -1, 1]),
        ([0.0] * 5, [1] * 5),
        ([1.0] * 5, [-1, 1, 1, 1, -1]),  # equal points of different labels: margin 0
        (np.linspace(-np.pi, np.pi, 5).tolist(), [1, -1, 1, -1, 1]),
        (np.deg2rad([0, 40, 100, -170, -110]).tolist(), [1, 1, -1, -1, 1]),
    ]
    inner = [
        (rng.uniform(-np.pi, np.pi, 5).tolist(), rng.choice([-1, 1], 5).tolist())
        for _ in range(COUNT - len(ends))
    ]
    return [{"angles": angles, "labels": labels} for angles, labels in ends + inner]


def labels_expected(position):
    angles = np.array(position["angles"])
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # the margin from above; from below a map of length at most 1 proves it to 1e-8, as here
    return [lazy_margin.planar_margin(X, position["labels"]).upper, 0, 1, np.zeros(5)]


# (7) the worst case -----------------------------------------------------------------------------


def worst_positions():
    rng = np.random.default_rng(7)
    radii, steps = ranged(rng, 0.05, 1, COUNT), ranged(rng, 0.005, 0.5, COUNT, log=True)
    a = [1.1, -1.2, 1.1]
    places = [[1.3, -1.3], [-1.3, 1.3], [0.0, 0.0], *rng.uniform(-1.3, 1.3, (22, 2)).tolist()]
    return [
        {"W": rng.uniform(-1.3, 1.3, (3, 2)).tolist(), "a": a, "alpha": 0.2}
        | {"x": x, "y": 1 - 2 * (k % 2), "eps": eps, "eta": eta}
        for k, (x, eps, eta) in enumerate(zip(places, radii, steps, strict=True))
    ]


def worst_expected(position):
    network = TwoLayerNetwork(position["W"], np.array(position["a"]), position["alpha"])
    x, y, eps = np.array(position["x"]), position["y"], position["eps"]
    exact = worst_case.worst_case(network, x, y, eps)
    path = margin_attacks.pgd_path(
        network, x, y, eps, step_size=position["eta"], visits=25, loss="margin"
    )
    return [network(x), exact.margin, exact.margin, path.point, path.margin]


# (8) the race -----------------------------------------------------------------------------------


def race_positions():
    rng = np.random.default_rng(8)
    corners = [
        {"K": K, "n": n, "d": d, "p": p}
        for (K, n), d, p in product(((2, 1), (32, 100_000)), (2, 8), (0.1, 0.9))
    ]
    known = [{"K": K, "n": n, "d": 2, "p": 0.5} for K, n in ((4, 20), (16, 240), (16, 241))]
    inner = [
        {"K": int(K), "n": int(n), "d": int(d), "p": p}
        for K, n, d, p in zip(
            rng.integers(2, 33, 14),
            np.exp(rng.uniform(0, np.log(1e5), 14)),
            rng.integers(2, 9, 14),
            rng.uniform(0.1, 0.9, 14).tolist(),
            strict=True,
        )
    ]
    dropouts = rng.random((COUNT, 3, 8)).tolist()
    return [
        position | {"coins": coins}
        for position, coins in zip(corners + known + inner, dropouts, strict=True)
    ]


def fitted(feature_0, feature_1, mean_0, mean_1, square):
    """The answers b + c F to both examples, F a feature with these moments, fitted to 0 and 1."""
    mean = (mean_0 + mean_1) / 2
    c = (mean_1 / 2 - mean / 2) / (square - mean**2)
    b = 1 / 2 - c * mean
    return [b + c * feature_0, b + c * feature_1]


def race_answers(K, n, multiple, d, p, coins):
    """The answers of the three kinds, by least squares on what their last layers feel."""
    inputs, layers = coins[:, 0], coins[:, 1:d]
    kept, e, widths = binom.ppf(inputs, K, p), (1 - p) ** K, np.full(d - 1, multiple)
    widths[0] = multiple // K
    passes = np.prod(binom.ppf(layers, n, p) / (n * p), axis=1)
    gadget = np.prod(binom.ppf(layers, widths, p) / (widths * p), axis=1)
    noise, Q = (1 + (1 - p) / (n * p)) ** (d - 1), np.prod(1 + (1 - p) / (widths * p))
    votes = K**2 + K * (1 - p) / p
    return [
        fitted(0 * kept, kept / p * passes, 0, K, votes * noise / 2),
        fitted(passes, (kept == 0) * passes, 1, e, (1 + e) * noise / 2),
        fitted(0 * kept, (kept > 0) * gadget, 0, 1 - e, (1 - e) * Q / 2),
    ]


def first(step, wins):
    """The least multiple of step below a billion from which on it wins, or None."""
    low, high = 0, 2**30 // step
    if not wins(high * step):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle * step) else (middle, high)
    return high * step


def race_expected(position):
    K, n, d, p = (position[name] for name in "Kndp")
    multiple = K * max(1, int(n / K + 0.5))

    def least(kind, m, **options):
        return kind(K, m, d, keep=p, **options)

    plain, detector = or_networks.non_negative_minimum, or_networks.detector_minimum
    gadget = or_networks.first_one_criterion
    criteria = [least(plain, n), least(detector, n), least(gadget, multiple, biased=True)]
    crossings = [
        first(1, lambda m: or_networks.detector_wins(K, m, d, keep=p)),
        first(K, lambda m: least(gadget, m, biased=True) < least(plain, m)),
    ]
    answers = race_answers(K, n, multiple, d, p, np.array(position["coins"]))
    return [criteria, [crossing or -1 for crossing in crossings], answers]


# (9) a fiber ------------------------------------------------------------------------------------


def fiber_positions():
    rng = np.random.default_rng(9)
    corners = [
        {"turn": turn, "second": second}
        for turn, second in product((0, np.pi / 4, np.pi / 2, 2 * np.pi), (0.1, 3.0))
    ]
    inner = zip(rng.uniform(0, 2 * np.pi, 17), rng.uniform(0.1, 3, 17), strict=True)
    return corners + [{"turn": turn, "second": second} for turn, second in inner]


def fiber_expected(position):
    """The columns of U = V after the turn; the product is that before it."""
    c, s = np.cos(position["turn"]), np.sin(position["turn"])
    before = np.diag(np.sqrt([3, position["second"]]))
    U = before @ np.array([[c, -s], [s, c]])
    least = linalg.nuclear_norm(before @ before) ** 2 / 2
    scores = equalize.importance_scores(U, U)
    return [U.T, scores, shallow.path_norm(U, U) ** 2, least, before @ before]


# (10) a negative penalty ------------------------------------------------------------------------


def negative_positions():
    rng = np.random.default_rng(10)
    ends = [
        {"v": v, "x": x, "y": y, "q": q}
        for (v, x), (y, q) in product(
            (([1.0, 1.0], [1.0, -1.0]), ([-1.7, 1.7], [1.7, 1.7]), ([0.0, 0.0], [-1.7, 0.0])),
            ((8, 0.5), (-2, 0.0), (12, 0.8)),
        )
    ]
    inner = [
        {"v": v, "x": x, "y": y, "q": q}
        for v, x, y, q in zip(
            rng.uniform(-1.7, 1.7, (16, 2)).tolist(),
            rng.uniform(-1.7, 1.7, (16, 2)).tolist(),
            rng.uniform(-2, 12, 16).tolist(),
            rng.uniform(0, 0.8, 16).tolist(),
            strict=True,
        )
    ]
    return ends + inner


def negative_expected(position):
    """The law by the library, which pushes it through the network, node by node."""
    v, x, y, keep = position["v"], position["x"], position["y"], 1 - position["q"]
    network = multilayer.MultilayerNetwork([[v, v], [[1, 1]]])
    values, chances = map(
        np.array, zip(*multilayer.output_law(network, x, keep=keep).items(), strict=True)
    )
    criterion = multilayer.criterion(network, [(1, x, y)], keep=keep)
    risk = multilayer.risk(network, [(1, x, y)])
    mean = chances @ values
    return [
        [network(x), mean, chances @ (values - mean) ** 2],
        [criterion, risk, criterion - risk, (mean - y) ** 2 - risk],
        [chances[values > 1].sum(), values.max()],
    ]


# (11) what no measurement sees ------------------------------------------------------------------

SEEN = np.array([[[1, 0], [0, 0]], [[0, 0.5**0.5], [0.5**0.5, 0]]])  # of length 1
UNSEEN = np.array([[[0, 0], [0, 1]], [[0, 0.5**0.5], [-(0.5**0.5), 0]]])


def unseen_positions():
    rng = np.random.default_rng(11)
    ends = [
        {"second": second, "angle": angle, "t": t}
        for second, angle, t in product((0, 1), (0, np.pi, np.pi / 2), (-1.5, 0))
    ]
    inner = zip(
        rng.uniform(0, 1, 13), rng.uniform(0, 2 * np.pi, 13), rng.uniform(-2, 2, 13), strict=True
    )
    return ends + [{"second": s, "angle": angle, "t": t} for s, angle, t in inner]


def unseen_expected(position):
    """The price is least where the seen entry is the whole nuclear norm."""
    way = np.array([np.cos(position["angle"]), np.sin(position["angle"])])
    truth = np.diag([1, position["second"]])
    X = truth + position["t"] * np.tensordot(way, UNSEEN, 1)
    empirical, risk = (
        sensing.objective(X, np.eye(2), A, np.tensordot(A, truth), 0)
        for A in (SEEN, 2 * np.concatenate([SEEN, UNSEEN]))  # four, of second moment I
    )
    price = linalg.nuclear_norm(X) ** 2 / 2
    least = SEEN[0, 0, 0] * truth[0, 0] / np.linalg.norm(SEEN[0], 2)
    return [X, np.tensordot(SEEN, X), [empirical, risk, price], [least**2 / 2] * 2]


# (12) the board ---------------------------------------------------------------------------------


def board_positions():
    """Few points, so that no worst point lies on a kink, where the slope is a choice."""
    rng = np.random.default_rng(9)
    radii, positions = ranged(rng, 0, 0.6, COUNT), []
    while len(positions) < COUNT:
        position = {
            "W": rng.normal(size=(4, 2)).tolist(), "a": rng.normal(size=4).tolist(), "alpha": 0.5,
            "X": rng.uniform(-1.2, 1.2, (2, 2)).tolist(), "Y": rng.choice([-1, 1], 2).tolist(),
            "nu": radii[len(positions)], "eta": 1,
        }  # fmt: skip
        network, attack = worst_of_board(position)
        if np.abs(attack.point @ network.W.T).min() > 1e-6:
            positions.append(position)
    return positions


def worst_of_board(position):
    network = TwoLayerNetwork(position["W"], position["a"], position["alpha"])
    return network, worst_case.worst_case(network, position["X"], position["Y"], position["nu"])


def board_expected(position):
    network, attack = worst_of_board(position)
    X, Y, nu = (position[name] for name in ("X", "Y", "nu"))
    clean = two_layer.margin(network, X, Y)
    pull = two_layer.weight_gradient(network, attack.point, Y)
    step = position["eta"] * (expit(-attack.margin)[:, None, None] * pull).mean(0)
    errors = [worst_case.robust_error(network, X, Y, radius) for radius in (0, nu)]
    losses = [two_layer.loss(z).mean() for z in (clean, attack.margin)]
    return [clean, attack.margin, errors, losses, network.W + step]


# (13) PGD from any start -------------------------------------------------------------------------


def pgd_positions():
    rng = np.random.default_rng(10)
    leaks, steps = ranged(rng, 0.05, 1, COUNT), ranged(rng, 0.02, 0.6, COUNT, log=True)
    starts = [[0.0, 0.0], [1.0, 0.0], *(0.7 * rng.uniform(-1, 1, (COUNT - 2, 2))).tolist()]
    positions = []
    for k, (alpha, eta, away) in enumerate(zip(leaks, steps, starts, strict=True)):
        drawn = TwoLayerNetwork(rng.normal(size=(4, 2)), rng.normal(size=4), alpha)
        network, x = (
            (two_layer.trap(alpha, 0.4), [0.15, 2.0]) if k % 5 == 0 else (drawn, [0.4, -0.3])
        )
        weights = {"W": network.W.tolist(), "a": network.a.tolist(), "alpha": alpha}
        positions.append(weights | {"x": x, "start": np.add(x, away).tolist(), "eta": eta})
    return positions


def pgd_expected(position):
    """The library's path begins at the center; from elsewhere, step by step."""
    network = TwoLayerNetwork(position["W"], position["a"], position["alpha"])
    x, path = position["x"], [np.array(position["start"])]
    while len(path) < 60:
        gradient = two_layer.input_gradient(network, path[-1], 1)
        path.append(margin_attacks.project(path[-1] - position["eta"] * gradient, x, 1.0))
    if position["start"] == x:
        of_library = margin_attacks.pgd_path(
            network, x, 1, 1.0, step_size=position["eta"], visits=60, loss="margin"
        )
        assert np.allclose(path, of_library.point, atol=1e-12)
    exact = worst_case.worst_case(network, x, 1, 1.0).margin
    return [path, network(path), exact, worst_case.level(network, x, 1, 1.0)]


# (14) dropout on XOR ------------------------------------------------------------------------------


def xor_positions():
    rng = np.random.default_rng(11)
    rates, widths = ranged(rng, 0.1, 1, COUNT), rng.integers(1, 30, COUNT).tolist()
    return [
        {
            "W": rng.normal(size=(m, 2)).tolist(),
            "a": rng.choice([-1, 1], m).tolist(),
            "lessons": [
                {"point": int(point), "mask": (rng.random(m) < q).astype(int).tolist()}
                for point in rng.integers(4, size=40)
            ],
            "q": q,
        }
        for q, m in zip(rates, widths, strict=True)
    ]


def xor_expected(position):
    X, Y = lazy.xor()
    top = np.array(position["a"]) / len(position["a"]) ** 0.5
    network, thinned, whole = TwoLayerNetwork(position["W"], top, 0), [], []
    for lesson in position["lessons"]:
        x, y, mask = X[lesson["point"]], Y[lesson["point"]], lesson["mask"]
        thinned.append(two_layer.margin(network[mask], x, y))
        whole.append(Y * TwoLayerNetwork(position["q"] * network.W, top, 0)(X))
        network = lazy.update(network, x, y, mask, step_size=np.log(2))
    return [thinned, whole, network.W]


PICTURES = {
    "masks": Picture(
        "book/index.html",
        lambda: [{"theta": theta} for theta in np.linspace(0.2, 0.95, COUNT).tolist()],
        "({ clean, penalty, mean, bars }, { network: { U, V, M } }) =>"
        " [U, V, M, clean, penalty, mean, bars]",
        losses_of_masks,
        ("(1 - theta) / theta *", "(1 - theta) *"),
    ),
    "landscape": Picture(
        "book/ch2_shallow_linear/landscape.html",
        landscape_positions,
        "({ value, mean, end, minimum, saddle, least }) =>"
        " [value, mean, end, minimum, saddle, least]",
        landscape_expected,
        ("kept * (1 + lam)", "kept"),
    ),
    "spectrum": Picture(
        "book/ch2_shallow_linear/two_layer.html",
        spectrum_positions,
        "({ rank, level, spectrum, value, critical }) =>"
        " [rank, level, spectrum, value, critical.map((c) => Math.min(c, 1e9))]",
        spectrum_expected,
        ("const mu = lam / r;", "const mu = lam;"),
    ),
    "jump": Picture(
        "book/ch3_deep_linear/what_dropout_finds.html",
        jump_positions,
        "({ value, spectrum }) => [value, spectrum.sort((a, b) => b - a)]",
        jump_expected,
        ("second ** 2 * share", "second * share"),
    ),
    "retentive": Picture(
        "book/ch4_generalization/retentiveness.html",
        retentive_positions,
        "({ beta, direction: [p, q], share, parts }) => [beta, share(Math.atan2(q, p)),"
        " ...[share, parts].map((part) => [0, Math.atan2(0.8, 0.6)].map(part))]",
        retentive_expected,
        ("(1 - mass) / 2, (1 - mass) / 2", "(1 - mass) / 2, 0"),
    ),
    "labels": Picture(
        "book/ch5_convergence/margin.html",
        labels_positions,
        """({ upper, margins, psi, gains }) => [
          upper, Math.max(0, upper - Math.min(...margins) - 1e-8),
          Math.max(1, ...psi.map((v) => Math.hypot(...v))),
          margins.map((margin, i) => gains[i].reduce((left, gain) => left - gain, margin))]""",
        labels_expected,
        ("mass = (to - from) / TURN", "mass = (to - from) / 4"),
    ),
    "worst": Picture(
        "book/ch6_adversarial/worst_cases.html",
        worst_positions,
        "({ answer, least, worst, path, margins }, { compute }, position) =>"
        " [answer, least, compute({ ...position, x: worst }).answer * position.y, path, margins]",
        worst_expected,
        (
            "candidates.push(x.map((c, i) => c - eps",
            "candidates.push(x.map((c, i) => c - 0.9 * eps",
        ),
    ),
    "board": Picture(
        "book/ch6_adversarial/index.html",
        board_positions,
        "({ clean, robust, next }) => [clean.margins, robust.margins,"
        " [clean.error, robust.error], [clean.loss, robust.loss], next]",
        board_expected,
        ("1 + Math.exp(robust.margins", "1 + Math.exp(clean.margins"),
    ),
    "pgd": Picture(
        "book/ch6_adversarial/pgd_finds_attacks.html",
        pgd_positions,
        "({ path, margins, least, level }) => [path, margins, least, level]",
        pgd_expected,
        ("Math.hypot((p - r) / 2, q)", "Math.hypot((p - r) / 2, 2 * q)"),
    ),
    "xor": Picture(
        "book/ch5_convergence/index.html",
        xor_positions,
        "({ steps, end }) =>"
        " [steps.map((step) => step.margin), steps.map((step) => step.margins), end]",
        xor_expected,
        ("h > 0 && mask[r] === 1", "h > 0"),
    ),
    "race": Picture(
        "book/companions/surprises/detector.html",
        race_positions,
        "({ criteria, wins, answers }, _, { coins }) =>"
        " [criteria, wins.map((n) => n ?? -1), answers(coins)]",
        race_expected,
        ("(1 - e) ** 2 / ((1 + e)", "(1 - e) ** 2 / ((1 - e)"),
    ),
    "fiber": Picture(
        "book/ch2_shallow_linear/index.html",
        fiber_positions,
        "({ units, products, squared, least, product }) =>"
        " [units, products, squared, least, product]",
        fiber_expected,
        ("+ norms ** 2", "+ norms"),
    ),
    "negative": Picture(
        "book/companions/surprises/negative_penalty.html",
        negative_positions,
        """({ law, clean, mean, variance, criterion, risk, penalty, shift }) => [
          [clean, mean, variance], [criterion, risk, penalty, shift],
          [law.reduce((total, [value, chance]) => total + (value > 1 ? chance : 0), 0),
            Math.max(...law.filter(([, chance]) => chance).map(([value]) => value))]]""",
        negative_expected,
        ("/ p ** 2 };", "/ p };"),
    ),
    "unseen": Picture(
        "book/ch4_generalization/index.html",
        unseen_positions,
        "({ X, answers, empirical, risk, price, cost, best, least }) =>"
        " [X, answers, [empirical, risk, cost], [least, price(best)]]",
        unseen_expected,
        ("2 * Math.abs", "Math.abs"),
    ),
}
names = pytest.mark.parametrize("name", PICTURES)


def distance(page, name):
    """The largest distance of the script to the library, relative to what is larger than 1."""
    picture = PICTURES[name]
    positions = picture.positions()
    assert len(positions) == COUNT
    script = f"""([name, positions]) => positions.map((position) => {{
      const picture = hand.pictures[name];
      return ({picture.numbers})(picture.compute(position), picture, position);
    }})"""
    distances = []
    for position, seen in zip(positions, page.evaluate(script, [name, positions]), strict=True):
        for part, wanted in zip(seen, picture.expected(position), strict=True):
            part, wanted = np.ravel(np.array(part, float)), np.ravel(np.array(wanted, float))
            assert part.shape == wanted.shape
            away = np.abs(part - wanted) / np.maximum(1, np.abs(wanted))
            distances.append(np.nan_to_num(away, nan=np.inf).max())
    return max(distances)


@names
def test_the_script_computes_what_the_library_computes(context, home, name):
    with browse.visit(context, home, PICTURES[name].page) as (page, found):
        assert distance(page, name) <= TOLERANCE
        assert found == []


@names
def test_a_broken_formula_is_seen(context, home, name):
    right, wrong = PICTURES[name].broken
    scripts = Path(__file__).parents[2] / "book/_static/hand"
    texts = {script: (scripts / f"{script}.js").read_text("utf-8") for script in (name, "hand")}
    script = next(script for script, text in texts.items() if right in text)

    def served(route):
        route.fulfill(body=texts[script].replace(right, wrong), content_type="text/javascript")

    page = context.new_page()
    page.route(re.compile(rf"hand/{script}\.js"), served)
    page.goto(home + PICTURES[name].page)
    assert distance(page, name) > 1e-3
    page.close()


STATE = """() => {
  const stage = document.querySelector(".hand-stage"), name = "aria-valuetext";
  return stage.querySelector(".hand-says").textContent
    + [...stage.querySelectorAll(`[${name}]`)].map((handle) => handle.getAttribute(name));
}"""
HANDLES = ".hand-stage :is(.hand-handle, input[type=range])"


def pressed(page, key, before):
    """Whether the key changes the state, within a second."""
    page.keyboard.press(key)
    for _ in range(20):
        page.wait_for_timeout(50)
        if page.evaluate(STATE) != before:
            return True
    return False


@names
def test_keys_move_everything_that_can_be_moved_and_words_say_so(context, home, name):
    with browse.visit(context, home, PICTURES[name].page) as (page, found):
        assert page.locator(".hand-stage output[aria-live=polite]").inner_text()
        handles = page.locator(HANDLES)
        assert handles.count()
        for k in range(handles.count()):
            handles.nth(k).focus()
            before, label = page.evaluate(STATE), handles.nth(k).get_attribute("aria-label")
            # one of them moves what stands at an end
            assert any(pressed(page, key, before) for key in ("ArrowUp", "ArrowLeft")), label
        assert found == []


def by_touch(page):
    """Functions that put a finger down, move it and lift it, as a phone reports it."""
    client = page.context.new_cdp_session(page)

    def send(kind, *points):
        touched = [{"x": x, "y": y} for x, y in points]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    return (
        lambda *point: send("touchStart", point),
        lambda *point: send("touchMove", point),
        lambda: send("touchEnd"),
    )


def by_mouse(page):
    def down(x, y):
        page.mouse.move(x, y)
        page.mouse.down()

    return down, page.mouse.move, page.mouse.up


def dragged(context, address, by, way):
    """What a picture says after its first handle was dragged along a way, and what went wrong."""
    with browse.visit(context, *address) as (page, _):
        page.set_viewport_size(NARROW)
        handle = page.locator(".hand-stage .hand-handle .grip").first
        handle.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        page.evaluate("""() => {
          window.canceled = 0;
          addEventListener("pointercancel", () => { window.canceled += 1; }, true);
        }""")
        down, move, up = by(page)
        box, start = handle.bounding_box(), page.evaluate("scrollY")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        down(x, y)
        for k in range(1, 7):
            move(x + way[0] * k / 6, y + way[1] * k / 6)
        up()
        page.wait_for_timeout(100)
        return page.evaluate(STATE), page.evaluate(f"[canceled, scrollY - {start}]")


@pytest.mark.parametrize("name", [name for name in PICTURES if name != "masks"])  # it has none
def test_a_finger_drags_as_a_mouse_does(context, home, name):
    ends = set()
    for way in ((60, 0), (-60, 0), (0, 60), (0, -60)):
        address = home, PICTURES[name].page
        state, wrong = dragged(context, address, by_touch, way)
        assert wrong == [0, 0], "the page scrolled under the finger"
        assert state == dragged(context, address, by_mouse, way)[0]
        ends.add(state)
    assert len(ends) > 1, "no way of the finger moves it"


SIZES = """() => [...document.querySelectorAll(".hand-stage :is(text, span, button, output)")]
  .filter((element) => element.textContent)
  .map((element) => parseFloat(getComputedStyle(element).fontSize))"""
CUT = """() => {
  const box = (element) => element.getBoundingClientRect();
  const { left, right } = box(document.querySelector(".hand-stage svg"));
  return [...document.querySelectorAll(".hand-stage svg text")]
    .filter((text) => box(text).left < left - 2 || box(text).right > right + 2)
    .map((text) => text.textContent);
}"""


@names
def test_on_a_phone_it_can_be_read(context, home, name):
    with browse.visit(context, home, PICTURES[name].page) as (page, _):
        page.set_viewport_size(NARROW)
        page.wait_for_timeout(100)
        with suppress(Late):  # a busy machine draws it again later
            page.wait_for_function(f"!({CUT})().length", timeout=5000)
        assert min(page.evaluate(SIZES)) >= 12
        assert page.evaluate(CUT) == []


@names
def test_without_scripts_and_on_paper_the_picture_of_the_cell_stands(context, home, name):
    still = ".hand-still:is(.frame, .animation)"
    with browse.visit(context, home, PICTURES[name].page) as (page, _):
        assert page.locator(".hand-stage").is_visible()
        assert page.locator(still).is_hidden()
        page.emulate_media(media="print")
        assert page.locator(".hand-stage").is_hidden()
        assert page.locator(still).is_visible()
    plain = context.browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(home + PICTURES[name].page)
    assert page.locator(".hand").is_hidden()
    assert page.locator(".hand-stage").count() == 0
    plain.close()


def test_nothing_moves_where_no_motion_is_wanted(context, home):
    with browse.visit(context, home, PICTURES["landscape"].page) as (page, _):
        page.emulate_media(reduced_motion="reduce")
        page.locator(".hand-stage button", has_text="Other coins").click()
        page.wait_for_timeout(60)
        assert "Training" not in page.locator(".hand-says").inner_text()
        page.emulate_media(reduced_motion="no-preference")
        page.locator(".hand-stage button", has_text="Train").first.click()
        page.wait_for_timeout(60)
        assert "Training" in page.locator(".hand-says").inner_text()


def test_other_pages_load_none_of_it(home, pytestconfig):
    root, used = browse.site(pytestconfig), {picture.page for picture in PICTURES.values()}
    loading = {
        name
        for name in browse.page_names(root)
        if "hand/hand.js" in (root / name).read_text("utf-8")
    }
    assert loading == used
