"""Table 6-I: the batched training and the conventions of its attacks."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from runproofs.adversarial import attacks
from runproofs.reproductions import ch6
from runproofs.training import step_decay

EPS, STEP = (0.2, 1), (10, 10 / 64)


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


@pytest.fixture
def net():
    return ch6.initial(64, 7, generators(1))


@pytest.fixture
def batch():
    (X, Y), _ = ch6.zeros_and_ones("digits")
    return X[:64], Y[:64]


def test_the_split_of_the_digits_is_disjoint_and_balanced():
    counts = ch6.table_6_1_data()["counts"]
    assert counts.tolist() == [[88, 92], [90, 90]]


def test_logits_are_those_of_two_layers_of_torch(net, batch):
    W, b, a, c = (p[0] for p in net)
    first, second = torch.nn.Linear(64, 7), torch.nn.Linear(7, 1)
    with torch.no_grad():
        for layer, weight, bias in ((first, W, b[0]), (second, a.T, c[0])):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    expected = second(first(batch[0]).relu())[:, 0]
    torch.testing.assert_close(ch6.logits(net, batch[0]), expected)
    assert all(p.abs().max() <= 7**-0.5 for p in (a, c))
    assert all(0.1 < p.abs().max() <= 64**-0.5 for p in (W, b))


def test_networks_side_by_side_learn_as_they_do_alone():
    X, Y = ch6.zeros_and_ones("digits")[0]
    attacked = partial(ch6.attack, eps=EPS, step=STEP, inner=3)

    def learnt(*seeds):
        return ch6.train("R-PGD-2", X, Y, 5, 2, 16, 0.3, attacked, generators(*seeds))

    both, first, second = learnt(3, 4), learnt(3), learnt(4)
    for p, q, r in zip(both, first, second, strict=True):
        torch.testing.assert_close(p, torch.cat([q, r]), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(first[0], second[0], atol=1e-2)


def test_one_epoch_of_standard_training_is_plain_sgd(net, batch):
    X, Y = batch
    found = ch6.train("Standard", X, Y, 7, 1, 64, 0.3, None, generators(1))
    weights = [p.clone().requires_grad_() for p in net]
    loss = softplus(-Y * ch6.logits(weights, X)).mean()
    for p, q, g in zip(found, net, torch.autograd.grad(loss, weights), strict=True):
        torch.testing.assert_close(p, q - 0.3 * g)


def test_pgd_2_ascends_the_mean_of_a_batch_of_64_inside_the_box(net, batch):
    model = partial(ch6.logits, net)
    ours = ch6.attack("R-PGD-2", model, *batch, EPS, STEP, 25)
    mean = attacks.pgd(
        model, *batch, norm=2, eps=1, step_size=step_decay(10, 0.2, 10), steps=25,
        loss="reflected", reduction="mean", clip=(0, 1), best_iterate=True,
    )  # fmt: skip
    torch.testing.assert_close(ours, mean)
    assert ((ours >= 0) & (ours <= 1)).all()
    assert (ch6.attack("PGD-2*", model, *batch, EPS, STEP, 25) < 0).any()


@pytest.mark.parametrize("name", ch6.COLUMNS + ch6.EXTRA)
def test_every_attack_stays_in_its_ball(net, batch, name):
    x, y = batch
    moved = ch6.attack(name, partial(ch6.logits, net), x, y, EPS, (10, 10), 5) - x
    norm, radius = (2, 1) if "PGD-2" in name else (math.inf, 0.2)
    length = moved.norm(norm, dim=1)
    assert (length <= radius * (1 + 1e-5)).all()
    assert length.max() > radius / 2


def test_what_is_returned_adds_up():
    run = ch6.table_6_1(rule=("Standard",), epochs=1, runs=2)
    n = ch6.table_6_1_data()["counts"][1].sum()
    assert (run["points"].sum(-1) == n).all()
    np.testing.assert_allclose(run["flipped"].sum(-1), n * run["error"], atol=1e-4)
    assert (run["flipped"] <= run["points"][..., None, :]).all()
    assert ch6.errors(run).shape == (1, 2, len(ch6.COLUMNS + ch6.EXTRA))
