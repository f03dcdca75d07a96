"""The attacks against foolbox and torchattacks: `booktools optional agreement` runs this.

Same model, start, step and number of steps: the adversarial examples must agree to rounding,
in float64. The model has batch normalization and dropout; where it is in training mode, both sides
go to evaluation mode and back.
"""

import math
from copy import deepcopy

import foolbox
import numpy as np
import pytest
import torch
import torchattacks
from torch import nn

from runproofs.adversarial import attacks
from runproofs.data import digits
from runproofs.experiments.ch6_autoattack import autoattack_digits

EPS = {math.inf: 0.15, 2: 1.0}
STEP = {math.inf: 0.02, 2: 0.2}
STEPS = 20


@pytest.fixture(scope="module")
def digits_model():
    """A network with 96 % accuracy or more on the digits, and 200 of them."""
    data = digits()
    x = torch.tensor(data.pixels, dtype=torch.float64).reshape(-1, 1, 8, 8)
    y = torch.tensor(data.labels)
    torch.manual_seed(0)
    hidden = nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1)
    model = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(64, 10)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    assert (attacks.margin(model(x), y) > 0).double().mean() > 0.96
    return model, x[:200], y[:200]


@pytest.fixture(params=["eval", "train"])
def trained(digits_model, request):
    model, x, y = digits_model
    return deepcopy(model).train(request.param == "train"), x, y


def by_foolbox(attack, eps, model, x, y):
    """By a copy in evaluation mode, for which foolbox asks."""
    wrapped = foolbox.PyTorchModel(deepcopy(model).eval(), bounds=(0, 1), device="cpu")
    return attack(wrapped, x, y, epsilons=eps)[1]  # before foolbox's own final clipping


def assert_same(ours, theirs, model, x, y):
    assert (ours - x).abs().max() > 0.01  # an attack that does nothing would agree with itself
    model = deepcopy(model).eval()
    assert (attacks.margin(model(ours), y) < 0).double().mean() > 0.2
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


def ours_pgd(model, x, y, norm):
    options = {"eps": EPS[norm], "step_size": STEP[norm], "steps": STEPS}
    return attacks.pgd(model, x, y, norm=norm, normalize=True, **options)


def test_fgsm_and_foolbox(trained):
    theirs = by_foolbox(foolbox.attacks.FGSM(random_start=False), EPS[math.inf], *trained)
    assert_same(attacks.fgsm(*trained, eps=EPS[math.inf]), theirs, *trained)


def test_fgsm_and_torchattacks(trained):
    theirs = torchattacks.FGSM(trained[0], eps=EPS[math.inf])(*trained[1:])
    assert_same(attacks.fgsm(*trained, eps=EPS[math.inf]), theirs, *trained)


@pytest.mark.parametrize(
    ("norm", "theirs"), [(math.inf, foolbox.attacks.LinfPGD), (2, foolbox.attacks.L2PGD)]
)
def test_pgd_and_foolbox(trained, norm, theirs):
    attack = theirs(abs_stepsize=STEP[norm], steps=STEPS, random_start=False)
    result = by_foolbox(attack, EPS[norm], *trained)
    assert_same(ours_pgd(*trained, norm), result, *trained)


@pytest.mark.parametrize(
    ("norm", "theirs"), [(math.inf, torchattacks.PGD), (2, torchattacks.PGDL2)]
)
def test_pgd_and_torchattacks(trained, norm, theirs):
    # torchattacks adds 1e-10 to the lengths that it divides by, and some gradients are as short
    options = {"eps_for_division": 1e-30} if norm == 2 else {}
    attack = theirs(
        trained[0], eps=EPS[norm], alpha=STEP[norm], steps=STEPS, random_start=False, **options
    )
    assert_same(ours_pgd(*trained, norm), attack(*trained[1:]), *trained)


@pytest.mark.parametrize(("z", "count", "moves"), [(25, 128, 0.4), (30, 1, 0.4), (30, 128, 0.0008)])
def test_what_torchattacks_adds_to_lengths(z, count, moves):
    """Two logits, the border at distance 0.3: as the page on attacks tells of version 3.5.1."""

    class Sure(nn.Module):
        def forward(self, u):
            first = z - z / 0.3 * (u.flatten(1)[:, 0] - 0.5)
            return torch.stack([first, 0 * first], 1)

    x, y = torch.full((count, 1, 1, 2), 0.5, dtype=torch.float64), torch.zeros(count, dtype=int)
    how = {"eps": 0.4, "alpha": 0.05, "steps": 20, "random_start": False}
    for options, length in (({}, moves), ({"eps_for_division": 1e-30}, 0.4)):
        u = torchattacks.PGDL2(Sure(), **how, **options)(x, y)
        assert (u - x).flatten(1).norm(dim=1).max().item() == pytest.approx(length, abs=1e-4)
    ours = attacks.pgd(Sure(), x, y, norm=2, normalize=True, eps=0.4, step_size=0.05, steps=20)
    assert (ours - x).flatten(1).norm(dim=1).min().item() == pytest.approx(0.4)


def test_modes_come_back_here_and_a_frozen_layer_is_thawed_there(digits_model):
    model, x, y = digits_model
    model = deepcopy(model).train()
    model[2].eval()
    attacks.fgsm(model, x, y, eps=0.1)
    assert model.training
    assert not model[2].training
    torchattacks.FGSM(model, eps=0.1)(x, y)
    assert model[2].training


def test_another_step_disagrees(trained):
    """The control: the comparison notices a step that is one percent longer."""
    theirs = torchattacks.PGDL2(trained[0], eps=1, alpha=0.202, steps=STEPS, random_start=False)
    with pytest.raises(AssertionError):
        assert_same(ours_pgd(*trained, 2), theirs(*trained[1:]), *trained)


def test_autoattack_does_today_what_is_stored(record_property):
    """Within three of 898 images, which other kernels may move."""
    stored, found = (
        autoattack_digits.paper(),
        autoattack_digits.function(**autoattack_digits.scales["paper"] | {"seed": 0}),
    )
    names = ("clean", "protocol", "targets", "autoattack")
    for name in names:
        assert abs(found[name] - stored[name][0]) < 3.5 / 898
    compared = sum(np.size(found[name]) for name in names)
    record_property("share", compared / sum(array.size for array in stored.values()))
    assert found["targets"] < found["protocol"] - 0.01
