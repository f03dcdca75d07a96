"""Table 6-I: the batched training and the conventions of its attacks."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from runproofs import data
from runproofs.experiments import ch6

EPS, STEP = (0.2, 1), (10, 10 / 64)


def test_the_printed_digits_have_the_sums_of_the_page():
    """In thousandths, added up from the thesis; no reflection changes FGSM and BIM, by theorem."""
    printed = (1000 * ch6.PRINTED).round().astype(int)
    assert printed.sum(1).tolist() == [1622, 81, 66, 156, 39]
    assert printed.sum(0).tolist() == [260, 260, 69, 325, 325, 325, 10, 390]
    for kind in ("FGSM", "BIM"):
        plain, reflected = (ch6.COLUMNS.index(name) for name in (kind, f"R-{kind}"))
        assert (printed[:, plain] == printed[:, reflected]).all()


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


@pytest.fixture
def net():
    return ch6.initial(64, 7, generators(1))


@pytest.fixture
def batch():
    (X, Y), _ = ch6.zeros_and_ones("digits")
    return X[:64], Y[:64]


def test_the_initial_law_is_uniform_as_in_torch():
    """Standard deviation 1 / sqrt(3 d) of the first layer, 1 / sqrt(3 m) of the second."""
    W, b, a, c = ch6.initial(64, 900, generators(*range(30)))
    shapes = [(30, 900, 64), (30, 1, 900), (30, 900, 1), (30, 1, 1)]
    assert [p.shape for p in (W, b, a, c)] == shapes
    for p, into in ((W, 64), (b, 64), (a, 900), (c, 900)):
        assert p.abs().max() <= into**-0.5
        scaled = into**0.5 * p
        assert scaled.min() < -0.9 < 0.9 < scaled.max()
        if p is not c:
            torch.testing.assert_close(scaled.var(), torch.tensor(1 / 3), rtol=0.05, atol=0)
            assert scaled.mean().abs() < 0.02


def test_the_rate_falls_to_a_fifth_every_five_epochs(net, batch):
    """Against torch's optimizer and scheduler; one batch an epoch, so order does not count."""
    X, Y = batch
    found = ch6.train("Standard", X, Y, 7, 12, 64, 0.3, None, generators(1))
    W, b, a, c = (p[0] for p in net)
    first, second = torch.nn.Linear(64, 7), torch.nn.Linear(7, 1)
    layers = first.weight, first.bias, second.weight, second.bias
    with torch.no_grad():
        for p, q in zip(layers, (W, b[0], a.T, c[0]), strict=True):
            p.copy_(q)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.Flatten(0))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.2)
    for _ in range(12):
        optimizer.zero_grad()
        softplus(-Y * model(X)).mean().backward()
        optimizer.step()
        scheduler.step()
    W, b, a, c = (p[0] for p in found)
    for p, q in zip((W, b[0], a.T, c[0]), layers, strict=True):
        torch.testing.assert_close(p, q.detach(), rtol=1e-4, atol=1e-6)


def test_every_epoch_sees_every_image_once_in_a_new_order(batch):
    X, Y = batch
    seen = []

    def attacked(rule, model, u, y):
        seen.append(u.reshape(2, -1, 64))
        return u

    ch6.train("FGSM", X, Y, 5, 2, 24, 0.3, attacked, generators(0, 1))
    assert [u.shape[1] for u in seen] == [24, 24, 16] * 2
    numbers = {tuple(image.tolist()): k for k, image in enumerate(X)}
    orders = [
        tuple(numbers[tuple(image.tolist())] for image in images)
        for epoch in (seen[:3], seen[3:])
        for images in torch.cat(epoch, 1)
    ]
    assert all(sorted(order) == list(range(64)) for order in orders)
    assert len(set(orders)) == 4, "another one for each network and epoch"


def ascent(net, x, y, loss):
    """Gradient of the plain or of the reflected loss of the first network, by hand."""
    W, b, a, c = (p[0] for p in net)
    hidden = x @ W.T + b
    z = y * (hidden.relu() @ a[:, 0] + c[0, 0])
    slope = -1 / (1 + z.exp()) if loss == "plain" else -1 / (1 + (-z).exp())
    return (slope * y)[:, None] * ((hidden > 0) * a[:, 0]) @ W


@pytest.mark.parametrize("name", ch6.COLUMNS + ch6.EXTRA)
def test_an_attack_moves_as_its_name_says(net, batch, name):
    """Small steps, so that the gradient stays: 10, then 10 of a fifth, then 1 of a fifth of it."""
    x, y = (v.double() for v in batch)
    net = [p.double() for p in net]
    step = (2e-6, 1e-6)
    moved = ch6.attack(name, partial(ch6.logits, net), x, y, (0.01, 10), step, 21) - x
    g = ascent(net, x, y, "reflected" if name.startswith("R-") else "plain")
    direction = {
        "FGSM": 0.01 * g.sign(), "BIM": 12.04 * 2e-6 * g.sign(), "PGD-∞": 12.04 * 2e-6 * g,
        "PGD-2": 12.04 * 1e-6 * g, "PGD-2*": 12.04 * 2e-6 * g,
        "unit PGD-2": 12.04 * 2e-6 * g / g.norm(dim=1, keepdim=True),
    }  # fmt: skip
    expected = direction[name.removeprefix("R-")]
    if name in ("PGD-2", "R-PGD-2"):
        expected = (x + expected).clamp(0, 1) - x
        assert not torch.allclose(expected, 12.04 * 1e-6 * g), "the box is felt"
    scale = expected.abs().max()
    assert (moved - expected).abs().max() < 1e-3 * scale


@pytest.mark.parametrize("name", ch6.COLUMNS[2:] + ch6.EXTRA)
def test_an_attack_returns_the_visited_point_of_least_margin(net, batch, name):
    """Steps that leap too far; under the plain loss some images end elsewhere."""
    x, y = batch
    visited = []

    def model(u):
        visited.append(y * ch6.logits(net, u).detach())
        return ch6.logits(net, u)

    u = ch6.attack(name, model, x, y, (30.0, 30.0), (3e3, 3e3), 7)
    margins = torch.stack(visited)
    assert len(margins) == 8
    torch.testing.assert_close(y * ch6.logits(net, u), margins.amin(0))
    assert name.startswith("R-") or (margins[-1] > margins.amin(0) + 0.01).any()


def test_labels_and_splits_of_the_two_data_sets(monkeypatch):
    digits, kinds = data.digits()
    kept = [k for k in range(len(kinds)) if kinds[k] in (0, 1)]
    for (found, labels), chosen in zip(
        ch6.zeros_and_ones("digits"), (kept[::2], kept[1::2]), strict=True
    ):
        np.testing.assert_array_equal(found, np.float32(digits[chosen]))
        assert labels.tolist() == [1.0 if kinds[k] == 1 else -1.0 for k in chosen]
    assert ch6.table_6_1_data()["counts"].tolist() == [[88, 92], [90, 90]]
    rng = np.random.default_rng(0)
    made = {
        split: data.Images(rng.random((6, 28, 28)), np.array([2, 0, 1, 9, 1, k]))
        for split, k in (("train", 0), ("test", 3))
    }
    monkeypatch.setattr(data, "mnist", made.get)
    for (found, labels), split, chosen in zip(
        ch6.zeros_and_ones("mnist"), made, ([1, 2, 4, 5], [1, 2, 4]), strict=True
    ):
        pixels = made[split].pixels[chosen].reshape(-1, 784)
        np.testing.assert_array_equal(found, np.float32(pixels))
        assert labels.tolist() == [-1, 1, 1, -1][: len(chosen)]


@pytest.mark.parametrize("name", ch6.COLUMNS + ch6.EXTRA)
def test_every_attack_stays_in_its_ball(net, batch, name):
    x, y = batch
    moved = ch6.attack(name, partial(ch6.logits, net), x, y, EPS, (10, 10), 5) - x
    norm, radius = (2, 1) if "PGD-2" in name else (math.inf, 0.2)
    length = moved.norm(norm, dim=1)
    assert (length <= radius * (1 + 1e-5)).all()
    assert length.max() > radius / 2


def test_what_is_returned_is_counted_network_by_network():
    """Each network trained alone, and everything counted image by image."""
    options = {"epochs": 3, "eps": (0.02, 1.2), "hidden": 20, "inner": 12, "step": (0.5, 0.3)}
    run = ch6.table_6_1(rule=("Standard", "R-PGD-2"), seed=(4,), runs=2, **options)
    (X, Y), (x, y) = ch6.zeros_and_ones("digits")
    attacked = partial(ch6.attack, eps=(0.02, 1.2), step=(0.5, 0.3), inner=12)
    n, names = len(x), ch6.COLUMNS + ch6.EXTRA
    shares = []
    for i, rule in enumerate(("Standard", "R-PGD-2")):
        for j, seed in enumerate((4, 5)):
            net = ch6.train(rule, X, Y, 20, 3, 8, 0.3, attacked, generators(seed))
            model = partial(ch6.logits, net)
            of = {name: run[name][i, 0, j] for name in run}
            z = np.array([float(v) for v in y * model(x)])
            assert of["clean"] == pytest.approx(np.count_nonzero(z < 0) / n)
            W, b, a, _ = (p[0] for p in net)
            squares = ((((x @ W.T + b > 0) * a[:, 0]) @ W) ** 2).sum(1).tolist()
            assert of["gradient"] == pytest.approx(sorted(squares)[(n - 1) // 2], rel=1e-3)
            bins = [min(max(math.floor(v), -2), 31) + 2 for v in z]
            assert of["points"].tolist() == [bins.count(k) for k in range(34)]
            wrong = {name: (y * model(attacked(name, model, x, y)) < 0).tolist() for name in names}
            for k, name in enumerate(names):
                flipped = [v for v, w in zip(bins, wrong[name], strict=True) if w]
                assert abs(of["flipped"][k] - [flipped.count(k) for k in range(34)]).sum() <= 2
                assert of["error"][k] == pytest.approx(len(flipped) / n, abs=1.01 / n)
            reach = 10 * 0.5 + 2 * 0.1  # of a dozen steps
            predicted = [
                v <= 0 or (math.exp(v) + v - 1 <= reach * g and v < 1.2 * g**0.5)
                for v, g in zip(z, squares, strict=True)
            ]
            mistaken = sum(a != b for a, b in zip(predicted, wrong["PGD-2*"], strict=True)) / n
            expected = [sum(predicted) / n, mistaken]
            np.testing.assert_allclose(of["law"], expected, atol=2.01 / n)
            shares.append(expected)
    assert 0.05 < np.mean(shares, axis=0)[0] < 0.95, "the law predicts some flips, and not all"
    assert max(mistaken for _, mistaken in shares) < 0.5, "the law is mostly right"


def test_margins_beyond_the_edges_join_the_last_bins(monkeypatch):
    """Logits of a network that knows the labels, times large numbers, small ones and -1."""
    margins = torch.linspace(-9, 60, 180)
    monkeypatch.setattr(ch6, "clean_margins", lambda *_: (margins, torch.ones(180)))
    run = ch6.table_6_1(rule=("Standard",), epochs=1, runs=1)
    counts = run["points"][0, 0, 0]
    inner = [int(((margins >= k) & (margins < k + 1)).sum()) for k in range(-1, 31)]
    assert counts.tolist() == [int((margins < -1).sum()), *inner, int((margins >= 31).sum())]


def test_errors_stand_for_rules_networks_and_attacks():
    """Seeds and the networks of one seed are networks alike."""
    error = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    np.testing.assert_array_equal(ch6.errors({"error": error}), error.reshape(2, 12, 5))
