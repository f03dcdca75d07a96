"""What the report finds, against closed forms, exact worst cases, and masked gradients."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

from helpers.classifiers import NORMS, batch, mlp
from helpers.networks import MODELS, images, made
from helpers.refusals import refusals
from runproofs.adversarial import attacks
from runproofs.adversarial.attack_report import _certified, attack_report
from runproofs.adversarial.worst_case import worst_case
from runproofs.networks.two_layer import TwoLayerNetwork

X, Y = batch(60)
MLP = nn.Sequential(mlp(3), nn.Identity()).eval()


def blobs(n=200, seed=0):
    """Three clouds in the plane, and a ReLU network trained to tell them apart."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (n,), generator=g)
    centers = torch.tensor([[0.3, 0.3], [0.7, 0.3], [0.5, 0.7]], dtype=torch.float64)
    x = (centers[y] + 0.1 * torch.randn(n, 2, generator=g, dtype=torch.float64)).clamp(0, 1)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3)).double()
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval(), x, y


NET, POINTS, CLASSES = blobs()


@pytest.mark.parametrize("norm", NORMS)
def test_a_linear_classifier_is_robust_where_its_margin_is_larger_than_the_dual_norm(norm):
    x, y = batch(80, outputs=1)
    model = nn.Linear(12, 1).double().eval()
    dual = torch.linalg.vector_norm(model.weight, 1 if norm == math.inf else 2)
    margins = y * model(x)[:, 0]
    eps = 1.2 * margins[margins > 0].median().item() / dual.item()
    report = attack_report(model, x, y, eps, norm, clip=None)
    expected = (margins > eps * dual).double().mean().item()
    assert 0 < expected < report.accuracy == (margins > 0).double().mean().item()
    assert report.robust_accuracy == pytest.approx(expected)
    for row in report.attacks[:-1]:
        assert row.robust.tolist() == (margins > eps * dual).tolist()
    assert math.isnan(report.certified_accuracy)
    assert report.warnings == ()


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_a_certificate_is_below_the_exact_worst_case_and_equals_it_without_kinks(alpha):
    rng = np.random.default_rng(3)
    W, a = rng.normal(size=(6, 2)), rng.normal(size=6)
    model = nn.Sequential(
        nn.Linear(2, 6, bias=False), nn.LeakyReLU(alpha), nn.Linear(6, 1, bias=False)
    )
    model.double().eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor(W))
        model[2].weight.copy_(torch.tensor(a)[None])
    x, net = rng.normal(size=(300, 2)), TwoLayerNetwork(W, a, alpha)
    y = np.where(net(x) > 0, 1.0, -1.0)
    eps = 0.2
    exact = worst_case(net.at_each_point(), x, y, eps).margin
    tensors = torch.tensor(x), torch.tensor(y)
    with torch.no_grad():
        bound = _certified(model, *tensors, model(tensors[0])[:, 0], eps, 2).numpy()
    assert (bound <= exact + 1e-12).all()
    stable = (abs(x @ W.T) >= eps * np.linalg.norm(W, axis=1)).all(1)
    assert 20 < stable.sum() < 280
    np.testing.assert_allclose(bound[stable], exact[stable], atol=1e-12)
    report = attack_report(model, *tensors, eps, 2, clip=None)
    assert report.certified_accuracy == (bound > 0).mean() > 0
    assert report.certified_accuracy <= (exact > 0).mean() <= report.robust_accuracy


class Jump(nn.Module):
    """Its parts are a certified network; its forward rounds the inputs before, to 0 and 1."""

    def __init__(self):
        super().__init__()
        self.one, self.bend, self.two = nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2)
        with torch.no_grad():
            values = [[1.0]], [0.0], [[0.0], [1]], [0.7, 0]
            for p, value in zip(self.parameters(), values, strict=True):
                p.copy_(torch.tensor(value))

    def forward(self, x):
        return self.two(self.bend(self.one(x.round())))


def test_nothing_is_certified_where_a_forward_may_do_more_than_its_parts():
    x, eps = torch.zeros(1, 1), 0.6  # the parts alone are robust: 0.7 > 0.6
    model = Jump().eval()
    assert model(x).argmax() == 0
    assert model(x + eps).argmax() == 1
    assert math.isnan(attack_report(model, x, [0], eps).certified_accuracy)
    parts = nn.Sequential(model.one, model.bend, model.two)
    assert attack_report(parts, x, [0], eps).certified_accuracy == 1


@pytest.mark.parametrize("norm", NORMS)
def test_a_certificate_holds_at_every_point_of_the_ball(norm):
    eps, g = 0.08, torch.Generator().manual_seed(0)
    with torch.no_grad():
        bound = _certified(NET, POINTS, CLASSES, NET(POINTS), eps, norm)
        for _ in range(200):
            u = POINTS + attacks._random(POINTS, norm, eps, g)
            assert (attacks.margin(NET(u), CLASSES) >= bound - 1e-12).all()
        none = _certified(NET, POINTS, CLASSES, NET(POINTS), 0.0, norm)
        torch.testing.assert_close(none, attacks.margin(NET(POINTS), CLASSES))
    report = attack_report(NET, POINTS, CLASSES, eps, norm)
    assert report.certified_accuracy == (bound > 0).double().mean().item() > 0.3
    assert report.certified_accuracy <= report.robust_accuracy < report.accuracy
    assert report.warnings == ()


def test_nothing_is_certified_where_more_may_stand_than_the_layers():
    """Here the outputs are nearly those of the layers, but for a function that no module shows."""

    class Hidden(nn.Sequential):
        def forward(self, x):
            return super().forward(x) + 1e-4 * torch.sin(1e6 * x[:, :1])

    kink = nn.ReLU()
    again = nn.Sequential(nn.Linear(2, 3), kink, nn.Linear(3, 3), kink)
    nn.init.constant_(again[2].bias, 50)  # so that the second one does nothing here
    for model in (Hidden(*NET), again.double()):
        with torch.no_grad():
            logits = model.eval()(POINTS)
            assert _certified(model, POINTS, CLASSES, logits, 0.01, 2) is None


@pytest.mark.parametrize("norm", NORMS)
def test_the_rows_are_the_attacks(norm):
    report = attack_report(MLP, X, Y, 0.1, norm, steps=7, starts=3)
    size = {"norm": norm, "eps": 0.1, "steps": 7, "step_size": 0.25 / 7, "normalize": True}
    names = [(row.name, row.steps, row.starts) for row in report.attacks]
    for loss, name in {
        "ce": "cross entropy",
        "reflected": "reflected loss",
        "margin": "margin",
    }.items():
        u = attacks.pgd(MLP, X, Y, loss=loss, best_iterate=True, **size)
        row = report.attacks[names.index((name, 7, 1))]
        assert row.robust.tolist() == (attacks.margin(MLP(u), Y) > 0).tolist()
    u = attacks.all_targets(MLP, X, Y, **size)
    row = report.attacks[names.index(("all targets", 7, 1))]
    assert row.robust.tolist() == (attacks.margin(MLP(u), Y) > 0).tolist()
    assert ("margin", 35, 1) in names
    assert ("margin, random starts", 7, 3) in names
    every = np.all([row.robust for row in report.attacks], axis=0)
    assert report.robust_accuracy == every.mean()
    worst = attacks.margin(MLP(report.worst), Y)
    assert (worst > 0).tolist() == every.tolist()
    lengths = torch.linalg.vector_norm((report.worst - X).flatten(1), norm, dim=1)
    assert lengths.max() <= 0.1 + 1e-12
    assert 0 <= report.worst.min() <= report.worst.max() <= 1


class Do(nn.Module):
    def __init__(self, do):
        super().__init__()
        self.do = do

    def forward(self, x):
        return self.do(x)


def of(inputs=None, logits=None):
    """The network with a function before and one behind it."""
    parts = [Do(inputs)] if inputs else []
    return nn.Sequential(*parts, NET, *([Do(logits)] if logits else [])).eval()


SAID = {
    "mode": "came in train() mode",
    "noise": "Two passes in eval() differ",
    "probable": "look like probabilities",
    "none": "gives no gradient",
    "saturated": "Cross entropy has lost",
    "zero": "is exactly 0",
    "box": "With the whole box allowed",
    "loss": "Cross entropy misses",
    "one": "One step flips",
    "steps": "Five times the steps",
    "starts": "Random starts flip",
    "blind": "Without gradients",
}
MASKED = {
    "plain": (of(), []),
    "rounded inputs": (of(lambda x: (16 * x).round() / 16), ["zero", "box", "starts", "blind"]),
    "no gradient": (of(lambda x: x.detach()), ["none"]),
    "large logits": (of(logits=lambda f: 100 * f), ["saturated", "loss"]),
    "noise": (of(lambda x: x + 0.05 * torch.randn_like(x)), ["noise"]),
    "probabilities": (of(logits=lambda f: f.softmax(1)), ["probable"]),
    "one class": (of(logits=lambda f: f + torch.tensor([100.0, 0, 0])), ["saturated"]),
}


@pytest.mark.parametrize("case", MASKED)
def test_masked_gradients_are_found_out_and_nothing_else_is(case):
    model, expected = MASKED[case]
    report = attack_report(model, POINTS, CLASSES, 0.1)
    found = [key for w in report.warnings for key in SAID if SAID[key] in w]
    assert found == expected
    assert len(found) == len(report.warnings)
    honest = attack_report(NET, POINTS, CLASSES, 0.1).robust_accuracy
    if case == "rounded inputs":
        gradients = np.all([row.robust for row in report.attacks[:4]], axis=0).mean()
        assert gradients == report.accuracy > honest + 0.1
        assert report.no_gradient == 1


def test_the_precision_loses_a_gradient_where_a_probability_rounds_to_1():
    for dtype, margins, lost in (
        (torch.float32, [10.0, 20.0], [0, 1]),
        (torch.float64, [20.0, 40.0], [0, 1]),
    ):
        x = torch.tensor([[m / 50] for m in margins], dtype=dtype)
        model = nn.Linear(1, 2, bias=False).to(dtype)
        with torch.no_grad():
            model.weight.copy_(torch.tensor([[50.0], [0.0]]))
        report = attack_report(model, x, [0, 0], 0.1)
        assert report.saturated == np.mean(lost)


def test_more_steps_and_starts_are_warned_of():
    """A wall of no slope with a gap: the input sits on a plateau, and the cliff is near."""

    def wall(x):
        z = 10 * (x[:, :1] - 0.62).clamp_min(0)
        return torch.cat([1 - 100 * z, 0 * z], 1)

    x = torch.full((20, 1), 0.55, dtype=torch.float64)
    report = attack_report(Do(wall).eval(), x, [0] * 20, 0.1)
    assert report.no_gradient == 1
    assert any("Random starts flip" in w for w in report.warnings)
    assert report.robust_accuracy < 0.8


@pytest.mark.parametrize("guard", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_the_model_is_left_as_it_was(guard):
    model, (x, y) = made(MODELS[4]), images(12)
    model.train()
    model[2].eval()
    nn.functional.cross_entropy(model(x), y).backward()
    modes = [part.training for part in model.modules()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    grads = [w.grad.clone() for w in model.parameters()]
    rng, given = torch.get_rng_state(), x.clone()
    with guard():
        report = attack_report(model, x, y, 0.1, steps=3, starts=1)
    assert any("train() mode" in w for w in report.warnings)
    assert [part.training for part in model.modules()] == modes
    assert all(torch.equal(v, state[name]) for name, v in model.state_dict().items())
    assert all(torch.equal(w.grad, g) for w, g in zip(model.parameters(), grads, strict=True))
    assert torch.equal(torch.get_rng_state(), rng)
    assert torch.equal(x, given)


@pytest.mark.parametrize("build", MODELS)
def test_it_takes_the_models_that_people_use(build):
    model, (x, _) = made(build).float(), images(12)
    x = x.float()
    report = attack_report(model, x, model(x).argmax(1), 0.1, steps=4, starts=1)
    assert report.accuracy == 1
    with torch.no_grad():
        before, after = (attacks.margin(model(u), model(x).argmax(1)) for u in (x, report.worst))
    assert (after < before).all()
    assert math.isnan(report.certified_accuracy)


def test_the_same_seed_gives_the_same_report():
    one, two = (attack_report(MLP, X, Y, 0.1, seed=4) for _ in "12")
    assert torch.equal(one.worst, two.worst)
    assert not torch.equal(one.worst, attack_report(MLP, X, Y, 0.1, seed=5).worst)


def test_tensors_of_inference_mode_serve():
    expected = str(attack_report(MLP, X, Y, 0.1))
    with torch.inference_mode():
        assert str(attack_report(MLP, X.clone(), Y.clone(), 0.1)) == expected


def test_it_reads_as_text_as_a_table_and_as_a_picture():
    report = attack_report(NET.train(), POINTS, CLASSES, 0.1)
    NET.eval()
    text, html = str(report), report._repr_html_()
    for said in (*report.warnings, f"{100 * report.robust_accuracy:.2g}%", "all targets"):
        assert said in text
        assert said in html
    _, ax = plt.subplots()
    report.plot(ax)
    assert [bar.get_width() for bar in ax.patches] == [r.robust.mean() for r in report.attacks]
    plt.close("all")


test_refusals = refusals(
    (lambda: attack_report(abs, X, Y, 0.1), "model must be a torch.nn.Module"),
    (lambda: attack_report(MLP, X + 1, Y, 0.1), "x must lie in the box"),
    (lambda: attack_report(MLP, X.byte(), Y, 0.1), "not sparse, but it was torch.uint8 of shape"),
    (lambda: attack_report(MLP, X, Y + 3, 0.1), "y must contain only labels"),
    (lambda: attack_report(MLP, X, Y, -0.1), "eps must be"),
    (lambda: attack_report(MLP, X, Y, 0.1, 1), "norm must be 2 or inf"),
    (lambda: attack_report(MLP, X, Y, 0.1, steps=0), "steps must be an integer"),
    (lambda: attack_report(MLP, X, Y, 0.1, starts=0), "starts must be an integer"),
)
