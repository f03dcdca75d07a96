"""What dropout adds, against all masks, a whole Hessian, and sampled masks."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.modules.dropout import _DropoutNd

from helpers.networks import MODELS, cnn, images, made, mlp, transformer
from helpers.refusals import refusals
from runproofs.masks import all_masks
from runproofs.networks.dropout_report import dropout_report

CE, MSE = nn.CrossEntropyLoss(), nn.MSELoss()
G = torch.Generator().manual_seed(1)
X = torch.randn(7, 4, generator=G, dtype=torch.float64)
Y = torch.randn(7, 3, generator=G, dtype=torch.float64)
LABELS = torch.tensor([0, 1, 2, 0, 1, 2, 0])


class Twice(nn.Module):
    """One dropout layer, called two times."""

    def __init__(self, p):
        super().__init__()
        self.drop, self.one, self.two = nn.Dropout(p), nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        return self.one(self.drop(x)) + self.two(self.drop(torch.tanh(x)))


def net(*parts, p=0.5):
    """A sequence of parts: sizes of a linear map, "drop" or "maps", or what makes a module."""
    torch.manual_seed(0)
    drops = {
        "drop": lambda: nn.Dropout(p),
        "maps": lambda: nn.Dropout2d(p),
        "twice": lambda: Twice(p),
    }
    made = [nn.Linear(*m) if isinstance(m, tuple) else drops.get(m, m)() for m in parts]
    return nn.Sequential(*made).double().eval()


def by_all_masks(model, layer, loss, y, calls, x=X):
    """The mean loss over all masks, less the loss without one; masks are shared by the samples."""
    size = sum(calls)
    masks, law = map(torch.tensor, all_masks(size, keep=1 - layer.p))
    total = -loss(model(x), y).item()
    for mask, weight in zip(masks, law, strict=True):
        parts = iter(mask.split(calls))

        def drop(layer, given, h, parts=parts):
            return h * next(parts).reshape(1, -1, *[1] * (h.ndim - 2)) / (1 - layer.p)

        with layer.register_forward_hook(drop):
            total += (weight * loss(model(x), y)).item()
    return total


MAPS = (lambda: nn.Unflatten(1, (1, 2, 2)), lambda: nn.Conv2d(1, 5, 1), nn.ReLU, "maps")
EXACT = {
    "before the last layer": ([(4, 6), nn.ReLU, "drop", (6, 3)], [6]),
    "two linear maps behind": ([(4, 5), nn.Tanh, "drop", (5, 6), (6, 3)], [5]),
    "before a ReLU, which lets a factor through": ([(4, 6), "drop", nn.ReLU, (6, 3)], [6]),
    "at the inputs": (["drop", (4, 3)], [4]),
    "whole maps": ([*MAPS, nn.Flatten, (20, 3)], [5]),
    "called two times": (["twice"], [4, 4]),
}
SQUARED = {
    "mean": MSE,
    "half the sum over outputs": lambda o, y: (o - y).square().sum(1).mean() / 2,
    "correlated outputs": lambda o, y: ((o - y) @ torch.ones(3, 2).double()).square().mean(),
}


@pytest.mark.parametrize("loss", SQUARED)
@pytest.mark.parametrize("p", [0.2, 0.7])
@pytest.mark.parametrize("case", EXACT)
def test_the_exact_penalty_is_the_average_over_all_masks(case, p, loss):
    parts, calls = EXACT[case]
    model, loss = net(*parts, p=p), SQUARED[loss]
    (layer,) = (part for part in model.modules() if isinstance(part, _DropoutNd))
    (found,) = dropout_report(model, X, Y, loss, samples=2).layers
    expected = by_all_masks(model, layer, loss, Y, calls)
    assert found.exact
    assert found.penalty == pytest.approx(expected, rel=1e-10)
    assert found.units.sum() == pytest.approx(expected, rel=1e-10)
    assert found.lam == pytest.approx(p / (1 - p))
    assert found.share == pytest.approx(expected / (loss(model(X), Y).item() + expected))


def test_a_unit_pays_for_its_column():
    model = net((4, 6), nn.ReLU, "drop", (6, 3), p=0.2)
    (found,) = dropout_report(model, X, Y, MSE, samples=2).layers
    h, columns = model[:2](X).detach(), model[3].weight.detach()
    paid = 0.25 / 3 * columns.square().sum(0) * h.square().mean(0)
    np.testing.assert_allclose(found.units, paid, rtol=1e-12)
    order = np.argsort(-found.units)
    half = found.heaviest()
    assert half.tolist() == order[: len(half)].tolist()
    assert found.units[half].sum() >= found.units.sum() / 2 > found.units[half[:-1]].sum()
    assert sorted(found.heaviest(1)) == [j for j in range(6) if found.units[j] > 0]


BENT = {
    "a linear map behind": ([(4, 6), nn.ReLU, "drop", (6, 3)], 2),
    "a sigmoid behind": ([(4, 6), "drop", nn.Sigmoid, (6, 3)], 1),
    "normalized behind": ([(4, 6), "drop", lambda: nn.LayerNorm(6), (6, 3)], 1),
}


def whole_hessian(model, place, loss, y, lam):
    """Half of lambda times the trace, with ``h_j^2``, of the Hessian in the dropped activations."""
    h, above = model[: place + 1](X).detach(), model[place + 1 :]
    H = torch.autograd.functional.hessian(lambda h: loss(above(h), y), h)
    diagonal = H.reshape(h.numel(), h.numel()).diagonal().reshape(h.shape)
    return lam / 2 * (h.square() * diagonal).sum(0).numpy()


@pytest.mark.parametrize(("loss", "y"), [(CE, LABELS), (MSE, Y)], ids=["entropy", "squared"])
@pytest.mark.parametrize("case", BENT)
def test_the_second_order_term_is_that_of_the_whole_hessian(case, loss, y):
    parts, place = BENT[case]
    model = net(*parts, p=0.3)
    (found,) = dropout_report(model, X, y, loss, samples=2).layers
    expected = whole_hessian(model, place, loss, y, 0.3 / 0.7)
    assert found.exact == (loss is MSE and case == "a linear map behind")
    assert found.standard_error == 0
    np.testing.assert_allclose(found.units, expected, rtol=1e-9, atol=1e-15)


def test_a_wide_layer_is_estimated_with_its_standard_error():
    model = net((4, 200), "drop", nn.Softplus, (200, 3), p=0.3)
    expected = whole_hessian(model, 1, CE, LABELS, 0.3 / 0.7).sum()
    found = [dropout_report(model, X, LABELS, CE, samples=2, seed=s).layers[0] for s in range(12)]
    z = np.array([(f.penalty - expected) / f.standard_error for f in found])
    assert abs(z).max() < 6
    assert 0.3 < np.sqrt((z**2).mean()) < 2
    for f in found:
        assert f.units.sum() == pytest.approx(f.penalty, rel=1e-12)


def test_the_standard_error_of_sampled_masks_is_that_of_their_means():
    model = before("drop")()
    found = [dropout_report(model, X, Y, MSE, samples=20, seed=s) for s in range(60)]
    (f,) = found[0].layers
    sampled = np.array([report.layers[0].sampled for report in found])
    error = np.mean([report.layers[0].sampled_error for report in found])
    assert 0.75 < sampled.std() / error < 1.33
    assert abs(sampled.mean() - f.penalty) < 4 * error / math.sqrt(len(found))
    noisy = np.array([report.noisy for report in found])
    assert abs(noisy.mean() - found[0].loss - f.penalty) < 4 * error / math.sqrt(len(found))
    assert noisy.std() == pytest.approx(np.mean([r.noisy_error for r in found]), rel=0.33)


def test_samples_that_see_each_other_are_found_out():
    """Time comes first, there are as many times as samples, and the loss compares samples."""

    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.head = nn.Dropout(0.3), nn.Linear(4, 3)

        def forward(self, x):
            return torch.tanh(self.head(self.drop(x.transpose(0, 1)).cumsum(0))).sum(0)

    torch.manual_seed(0)
    model, x = First().double().eval(), torch.randn(5, 5, 4, generator=G, dtype=torch.float64)
    y = Y[:5]

    def compared(o, y):
        return ((o[1:] - o[:-1]) - y[1:]).square().mean()

    for part, loss in ((model, MSE), (net("drop", (4, 3)), compared)):
        given = x if part is model else X[:5]
        (found,) = dropout_report(part, given, y, loss, samples=2000).layers
        assert found.standard_error > 0
        if part is not model:
            error = math.hypot(found.standard_error, found.sampled_error)
            assert abs(found.penalty - found.sampled) < 4 * error


def test_small_activations_leave_nothing_but_the_second_order_term():
    away = []
    for scale in (0.5, 0.25, 0.1):
        model = net((4, 6), "drop", nn.Softplus, (6, 3), p=0.2)
        with torch.no_grad():
            for w in model[0].parameters():
                w *= scale
        (found,) = dropout_report(model, X, LABELS, CE, samples=2).layers
        away.append(abs(found.penalty / by_all_masks(model, model[1], CE, LABELS, [6]) - 1))
    assert away[2] < 0.6 * away[1] < 0.36 * away[0]
    assert away[2] < 0.02


@pytest.mark.parametrize("build", MODELS)
def test_what_is_exact_agrees_with_sampled_masks(build):
    model, (x, _) = made(build), images(24)
    y = torch.randn(24, 10, generator=G, dtype=torch.float64)
    report = dropout_report(model, x, y, MSE, samples=200)
    exact = [f for f in report.layers if f.exact]
    assert [f.name for f in exact] == [list(model.named_modules())[-2][0]]  # before the head
    for f in exact:
        assert abs(f.sampled - f.penalty) < 4 * f.sampled_error
        assert f.sampled_error < 0.2 * f.penalty
    assert report.loss == pytest.approx(MSE(model(x), y).item())
    assert abs(report.noisy - report.loss) > 3 * report.noisy_error


def test_noise_inside_attention_and_recurrent_layers_is_sampled():
    model, (x, y) = made(transformer), images(8)
    inside = [
        f
        for f in dropout_report(model, x, y, CE, samples=5).layers
        if f.kind == "MultiheadAttention"
    ]
    assert len(inside) == 2
    for f in inside:
        assert math.isnan(f.penalty)
        assert f.sampled_error > 0


class Buffered(nn.Module):
    """It counts its calls in training, in place and in a new buffer each time."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.register_buffer("counted", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.seen = self.seen + 1
            self.counted += 1
        return x


@pytest.mark.parametrize("guard", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_the_model_is_left_as_it_was(guard):
    model = nn.Sequential(Buffered(), made(mlp))
    model.train()
    model[1][2].eval()
    (x, y) = images(12)
    CE(model(x), y).backward()
    pending = CE(model(x), y)  # whose graph must not be touched
    modes = [part.training for part in model.modules()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    buffers = [id(b) for b in model.buffers()]
    grads = [w.grad.clone() for w in model.parameters()]
    hooks = [dict(part._forward_hooks | part._forward_pre_hooks) for part in model.modules()]
    rng, given, fast = torch.get_rng_state(), x.clone(), torch.backends.mha.get_fastpath_enabled()
    with guard():
        dropout_report(model, x, y, CE, samples=3)
        with pytest.raises(ValueError, match="loss"):
            dropout_report(model, x, y, lambda o, y: o, samples=3)
    assert [part.training for part in model.modules()] == modes
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name]), name
    assert [id(b) for b in model.buffers()] == buffers
    assert all(torch.equal(w.grad, g) for w, g in zip(model.parameters(), grads, strict=True))
    assert [dict(p._forward_hooks | p._forward_pre_hooks) for p in model.modules()] == hooks
    assert torch.equal(torch.get_rng_state(), rng)
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert torch.equal(x, given)
    pending.backward()


def test_the_same_seed_gives_the_same_report():
    model, (x, y) = made(cnn), images(8)
    one, two, other = (str(dropout_report(model, x, y, CE, samples=5, seed=s)) for s in (0, 0, 1))
    assert one == two != other


class Functional(nn.Module):
    def __init__(self, always):
        super().__init__()
        self.always = always

    def forward(self, x):
        return F.dropout(x, 0.5, training=self.always or self.training)


def before(drop, *after):
    return lambda: net((4, 6), nn.ReLU, drop, *after, (6, 3))


SAID = {
    "batch normalization": "Batch normalization stands behind dropout",
    "nonlinear": "the network is not linear",
    "eval": "Two passes in eval() differ",
    "train": "Two passes in train() differ",
    "mode": "came in train() mode",
    "zero": "p = 0 drops nothing",
    "one": "p = 1 drops everything",
    "uncalled": "Never called",
    "single": "nothing is dropped",
}
WARNED = {
    "nothing": (before("drop"), []),
    "no dropout": (before(nn.Identity), []),
    "a ReLU lets the mask through": (before("drop", nn.ReLU), []),
    "normalized before": (before(nn.Identity, lambda: nn.BatchNorm1d(6), "drop"), []),
    "normalized behind": (before("drop", lambda: nn.BatchNorm1d(6)), ["batch normalization"]),
    "normalized behind by the batch": (
        before("drop", lambda: nn.BatchNorm1d(6, track_running_stats=False)), ["nonlinear"],
    ),
    "normalized behind a layer": (
        before("drop", (6, 6), lambda: nn.BatchNorm1d(6), nn.ReLU),
        ["batch normalization", "nonlinear"],
    ),
    "a sigmoid": (before("drop", nn.Sigmoid), ["nonlinear"]),
    "F.dropout in eval": (before(lambda: Functional(True), "drop"), ["eval"]),
    "F.dropout in train": (before(lambda: Functional(False), "drop"), ["train"]),
    "train mode": (lambda: before("drop")().train(), ["mode"]),
    "p = 0": (before(lambda: nn.Dropout(0)), ["zero"]),
    "p = 1": (before(lambda: nn.Dropout(1)), ["one"]),
    "p = 0 before normalization": (
        before(lambda: nn.Dropout(0), lambda: nn.BatchNorm1d(6)), ["zero"],
    ),
    "never called": (lambda: Uncalled().double().eval(), ["uncalled"]),
    "between the layers of one": (lambda: Steps().double().eval(), ["single"]),
    "called two times, all linear": (lambda: Again().double().eval(), []),
    "more outputs in train": (lambda: Aux().double().eval(), []),
    "another branch is normalized": (lambda: Branches().double().eval(), []),
}  # fmt: skip


class Uncalled(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(x)


class Branches(Uncalled):
    def __init__(self):
        super().__init__()
        self.norm, self.other = nn.BatchNorm1d(4), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.drop(x)) + self.other(torch.sigmoid(self.norm(x)))


class Steps(Uncalled):
    """A recurrent layer alone, which drops nothing; of one that is called nothing is said."""

    def __init__(self):
        super().__init__()
        with pytest.warns(UserWarning, match="num_layers greater than 1"):
            self.inside = nn.LSTM(4, 4, dropout=0.5)

    def forward(self, x):
        return self.head(self.drop(self.inside(x[None])[0][0]))


class Again(Uncalled):
    """One layer behind itself, and nothing but linear maps."""

    def __init__(self):
        super().__init__()
        self.middle = nn.Linear(4, 4)

    def forward(self, x):
        return self.head(self.drop(self.middle(self.drop(x))))


class Aux(Uncalled):
    """It has a second head in training."""

    def forward(self, x):
        outputs = self.head(self.drop(x))
        return (outputs, outputs) if self.training else outputs


@pytest.mark.parametrize("case", WARNED)
def test_warnings_are_where_they_should_be_and_only_there(case):
    build, expected = WARNED[case]
    warnings = dropout_report(build(), X, Y, MSE, samples=2).warnings
    assert [key for w in warnings for key in SAID if SAID[key] in w] == expected
    assert len(warnings) == len(expected)


class Rows(nn.Dropout):
    """It drops whole samples."""

    def forward(self, h):
        return h * F.dropout(torch.ones_like(h[:, :1]), self.p, self.training)


class Cut(nn.Module):
    def forward(self, h):
        return 2 * h.detach()


def test_layers_without_a_formula_say_why():
    rest = "sampled only"
    for drop, words in (
        (lambda: nn.AlphaDropout(0.2), "no mask of mean 1"),
        (lambda: nn.Dropout(1), "everything is dropped"),
        (lambda: Rows(0.5), "a way of its own"),
        (lambda: nn.Sequential(nn.Dropout(0.5), Cut()), "derivatives do not see"),
        (lambda: nn.Sequential(nn.Dropout(0.5), Cut(), nn.Sigmoid()), "derivatives do not see"),
        (lambda: nn.Sequential(Functional(True), nn.Dropout(0.5)), "eval() differ"),
    ):
        (found,) = dropout_report(before(drop)(), X, Y, MSE, samples=2).layers
        assert math.isnan(found.penalty)
        assert words in found.reason
        assert found.reason.endswith(rest)
        assert not found.exact


def test_each_kind_of_bend_is_named():
    parts = before("drop", nn.ReLU, (6, 6), nn.GELU, (6, 6), nn.ReLU)
    (found,) = dropout_report(parts(), X, Y, MSE, samples=2).layers
    assert found.reason.endswith("since behind it stands ReLU and GELU")


def test_a_function_with_one_derivative_is_sampled():
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()

    class Sine(nn.Module):
        def forward(self, x):
            return Once.apply(x)

    (found,) = dropout_report(before("drop", Sine)(), X, Y, MSE, samples=2).layers
    assert "cannot be differentiated twice" in found.reason
    assert math.isnan(found.penalty)


def test_a_loss_that_is_a_square_near_the_outputs_alone_is_none():
    for loss in (nn.HuberLoss(delta=10), nn.L1Loss(), lambda o, y: (o - y).pow(3).mean()):
        (found,) = dropout_report(before("drop")(), X, Y, loss, samples=2).layers
        assert not found.exact


def test_single_precision_is_enough():
    for p in (0.1, 0.5, 0.9):
        model = net((4, 6), nn.ReLU, "drop", (6, 3), p=p)
        (found,) = dropout_report(model, X, Y, MSE, samples=2).layers
        (single,) = dropout_report(model.float(), X.float(), Y.float(), MSE, samples=2).layers
        assert single.exact
        assert single.penalty == pytest.approx(found.penalty, rel=1e-4)


def test_single_precision_knows_where_it_is_not_enough():
    model = net((4, 6), "drop", nn.Sigmoid, (6, 3)).float()
    model[-1].bias.data += 1e5
    (found,) = dropout_report(model, X.float(), Y.float() + 1e5, MSE, samples=2).layers
    assert not found.exact
    assert "try float64" in found.reason
    (found,) = dropout_report(model.double(), X, Y + 1e5, MSE, samples=2).layers
    assert "Sigmoid" in found.reason


def test_another_hook_of_the_layer_comes_behind_its_mask():
    model = before("drop")()
    with model[2].register_forward_hook(lambda part, given, h: 2 * h + 1):
        (found,) = dropout_report(model, X, Y, MSE, samples=2).layers
    (plain,) = dropout_report(model, X, Y, MSE, samples=2).layers
    assert found.exact
    assert found.penalty == pytest.approx(4 * plain.penalty)


def test_tensors_of_inference_mode_serve():
    model, expected = before("drop")(), str(dropout_report(before("drop")(), X, Y, MSE))
    with torch.inference_mode():
        assert str(dropout_report(model, X.clone(), Y.clone(), MSE)) == expected


def test_words_are_whole_numbers():
    torch.manual_seed(0)
    model = nn.Sequential(nn.EmbeddingBag(9, 6), nn.Dropout(0.5), nn.Linear(6, 3)).eval()
    words = torch.randint(9, (7, 5), generator=G)
    (found,) = dropout_report(model, words, Y.float(), MSE, samples=2).layers
    columns, h = model[2].weight.detach().square().sum(0), model[0](words).detach()
    assert found.exact
    assert found.penalty == pytest.approx((columns * h.square().mean(0)).sum().item() / 3, rel=1e-4)


def test_arrays_come_in_the_precision_of_the_model():
    model = before("drop")().float()
    one = dropout_report(model, X.numpy(), Y.float().numpy(), MSE, samples=2)
    assert str(one) == str(dropout_report(model, X.float(), Y.float(), MSE, samples=2))


def test_it_reads_as_text_as_a_table_and_as_a_picture():
    model = nn.Sequential()
    model.add_module("a<b", nn.Dropout(0.5))
    model.add_module("head", nn.Linear(4, 3))
    report = dropout_report(model.double(), X, Y, MSE)
    text, html = str(report), report._repr_html_()
    assert f"{report.layers[0].penalty:.4g}" in text
    assert f"{report.layers[0].penalty:.4g}" in html
    assert "a<b" in text
    assert "a&lt;b" in html
    assert "a<b" not in html
    assert all(warning in text for warning in report.warnings)
    _, ax = plt.subplots()
    report.plot(ax)
    assert ax.patches[0].get_width() == report.layers[0].penalty
    plt.close("all")
    assert str(dropout_report(before(nn.Identity)(), X, Y, MSE)).endswith("has no dropout layer.")


MODEL = before("drop")()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_traced_model_is_refused():
    with pytest.raises(ValueError, match="before torch"):
        dropout_report(torch.jit.trace(MODEL, X), X, Y, MSE)


LOW, LAZY = before("drop")().bfloat16(), nn.Sequential(nn.LazyLinear(3), nn.Dropout(0.5))
test_refusals = refusals(
    (lambda: dropout_report(LOW, X.bfloat16(), Y, MSE), "model must compute in 32 bits"),
    (lambda: dropout_report(LAZY, X, Y, MSE), "model must have its weights"),
    (
        lambda: dropout_report(MODEL, X.float(), Y, MSE),
        "model does not take .* torch.float32 on cpu",
    ),
    (
        lambda: dropout_report(MODEL, X, Y[:3], torch.dist),
        r"loss does not take \(7, 3\) .* and \(3, 3\)",
    ),
    (lambda: dropout_report(MODEL, X, LABELS + 1, CE), "loss does not take .* out of bounds"),
    (lambda: dropout_report(MODEL, X, Y, nn.MSELoss), "loss must be a function"),
    (lambda: dropout_report(MODEL, X, Y, lambda o, y: o - y), r"it returns shape \(7, 3\)"),
    (lambda: dropout_report(abs, X, Y, MSE), "model must be a torch.nn.Module"),
    (lambda: dropout_report(MODEL, X[:0], Y[:0], MSE), "x must be a non-empty batch"),
    (lambda: dropout_report(nn.LSTM(4, 3).double(), X, Y, MSE), "one floating-point tensor"),
    (lambda: dropout_report(MODEL, X, Y, lambda o, y: 1), "loss must return one finite number"),
    (lambda: dropout_report(MODEL, X, Y * math.nan, MSE), "loss must return one finite number"),
    (lambda: dropout_report(MODEL, X, Y, MSE, samples=1), "samples must be an integer"),
    (lambda: dropout_report(MODEL, X, Y, MSE, seed=-1), "seed must be an integer"),
    (lambda: dropout_report(MODEL, X, Y, MSE).layers[0].heaviest(0), "share must be"),
)
