"""Attacks on torch models under other grad modes, at extreme scales, and with bad arguments."""

import math
import warnings
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from helpers.classifiers import NORMS, batch, linear, mlp
from helpers.refusals import refusals
from runproofs.adversarial import attacks


def test_attacks_need_no_grad_mode_and_leave_no_graph_and_no_gradient():
    model, (x, y) = mlp(3), batch(6)
    options = {"norm": 2, "eps": 0.2, "step_size": 0.1, "steps": 3, "best_iterate": True}
    before = [p.clone() for p in model.parameters()]
    expected = attacks.pgd(model, x, y, **options)
    with torch.no_grad():
        quiet = attacks.pgd(model, x, y, **options)
        every = attacks.all_targets(model, x, y, **GOOD)
        assert not torch.is_grad_enabled()
    tracked = x.clone().requires_grad_()
    noisy = attacks.pgd(model, tracked, y, **options)
    for found in (quiet, noisy, every, attacks.fgsm(model, tracked, y, eps=0.2)):
        assert not found.requires_grad
    assert torch.equal(quiet, expected)
    assert torch.equal(noisy, expected)
    assert torch.equal(tracked, x)
    assert tracked.grad is None
    assert model.training
    for p, old in zip(model.parameters(), before, strict=True):
        assert torch.equal(p, old)
        assert p.grad is None


@pytest.mark.parametrize(("dtype", "step"), [(torch.float32, 1e25), (torch.float64, 1e200)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("norm", NORMS)
def test_steps_far_out_of_the_ball_end_on_its_surface(norm, normalize, dtype, step):
    """On a linear classifier one step of any length is the optimum."""
    w = torch.tensor([3.0, -4], dtype=dtype)
    x = torch.tensor([[0.5, 0.25], [-1, 2]], dtype=dtype)
    options = {"norm": norm, "eps": 0.5, "step_size": step, "steps": 2, "clip": None}
    u = attacks.pgd(
        lambda u: u @ w, x, torch.tensor([1, -1]), loss="margin", normalize=normalize, **options
    )
    way = torch.tensor([0.3, -0.4] if norm == 2 else [0.5, -0.5], dtype=dtype)
    torch.testing.assert_close(u, x + way * torch.tensor([[-1.0], [1]]), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("dtype", "small"),
    [
        (torch.float32, 1e-22), (torch.float32, 1e-30),  # the squares have few digits, or none
        (torch.float64, 1e-162), (torch.float64, 1e-250),
    ],
)  # fmt: skip
def test_gradients_whose_squares_underflow_still_have_a_direction(dtype, small):
    """A sample whose gradient is 0 stays; eps, step and model at a small scale do as well."""
    w = torch.tensor([-3.0, -4], dtype=dtype)
    x = torch.tensor([[1.0, 1], [2, 0], [0, 0]], dtype=dtype)
    kinked = torch.tensor([1 / small, 1, 0], dtype=dtype)  # usual, small and no gradient
    options = {"norm": 2, "loss": "margin", "clip": None, "steps": 1, "normalize": True}
    u = attacks.pgd(
        lambda u: kinked * (u @ (small * w)), x, torch.tensor([1, -1, 1]), eps=1, step_size=0.5,
        **options,
    )  # fmt: skip
    expected = x + 0.5 * torch.tensor([[0.6, 0.8], [-0.6, -0.8], [0, 0]], dtype=dtype)
    torch.testing.assert_close(u, expected, rtol=1e-6, atol=1e-7)
    u = attacks.pgd(
        lambda u: u @ w, 0 * x, torch.tensor([1, -1, 1]), eps=small, step_size=5 * small, **options
    )
    way = torch.tensor([[0.6, 0.8], [-0.6, -0.8], [0.6, 0.8]], dtype=dtype)
    torch.testing.assert_close(u, small * way, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("dtype", "small"),
    [
        (torch.float16, 1e-3), (torch.float16, 1e-5), (torch.float16, 1e-6),
        (torch.bfloat16, 1e-39), (torch.float32, 1e-39), (torch.float32, 1e-44),
        (torch.float64, 1e-310),
    ],
)  # fmt: skip
def test_subnormal_gradients_have_the_length_one_too(dtype, small):
    x = torch.tensor([[0.5] * 4, [0.25] * 4], dtype=dtype)
    options = {"norm": 2, "eps": 0.25, "step_size": 0.25, "steps": 1, "loss": "margin"}
    kinked = torch.tensor([small, 0], dtype=dtype)  # the second sample has no gradient
    u = attacks.pgd(lambda u: kinked * u.sum(1), x, [1, 1], normalize=True, **options)
    assert u.dtype == dtype
    assert u[0].tolist() == [0.375] * 4
    assert torch.equal(u[1], x[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_losses_of_half_precision_are_those_of_float32(dtype):
    logits, y = torch.tensor([[9.0, -1], [3, 2.5]], dtype=dtype), torch.tensor([0, 1])
    seen = []
    model, x = (lambda u: logits + 0 * u), torch.full((2, 2), 0.5, dtype=dtype)
    attacks.pgd(model, x, y, loss=lambda f, y: seen.append(f) or f[:, 0], **GOOD)
    assert torch.equal(seen[0], logits.float())
    assert torch.equal(attacks.margin(logits, y), torch.tensor([10, -0.5]))


def test_a_sample_without_gradient_stays_at_any_step():
    x, y = torch.full((2, 3), 0.5), torch.tensor([1, -1])
    options = {"norm": 2, "eps": 0.1, "step_size": 1e30, "steps": 2, "normalize": True}
    assert torch.equal(attacks.pgd(lambda u: 0 * u.sum(1), x, y, **options), x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("start", [False, True])
def test_both_ends_of_the_box_are_reached_and_kept(norm, start):
    """Toward the corners (low, high): pixels stop there, and the others go on."""
    x = torch.tensor([[-0.9, 1.9, 0.5]], dtype=torch.float64)
    model, y = linear([0, 0, 0], [-3, 2, 1]), torch.tensor([0])
    u = attacks.pgd(
        model, x, y, norm=norm, eps=0.5, step_size=5, steps=3, clip=(-1, 2), random_start=start,
        generator=torch.Generator().manual_seed(0),
    )  # fmt: skip
    assert u[0, :2].tolist() == [-1, 2]
    assert 0.5 < u[0, 2] <= 1


GOOD = {"norm": 2, "eps": 0.1, "step_size": 0.1, "steps": 2}
ATTACKS = [
    partial(attacks.pgd, **GOOD), partial(attacks.all_targets, **GOOD),
    partial(attacks.fgsm, eps=0.1), partial(attacks.bim, eps=0.1, step_size=0.1, steps=2),
]  # fmt: skip


@pytest.fixture
def stochastic():
    """A model in training mode but for one part, with dropout and running statistics."""
    torch.manual_seed(0)
    layers = nn.Linear(12, 20), nn.BatchNorm1d(20), nn.Tanh(), nn.Dropout(0.5), nn.Linear(20, 3)
    model = nn.Sequential(*layers, nn.Dropout(0.5).eval()).double()
    model(torch.rand(50, 12, dtype=torch.float64))
    return model


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_module_is_attacked_in_evaluation_mode_and_has_its_own_mode_afterwards(
    attack, stochastic
):
    x, y = batch(6)
    before, modes = deepcopy(stochastic.state_dict()), [m.training for m in stochastic.modules()]
    found = attack(stochastic, x, y)
    with pytest.raises(ValueError, match="labels 0 to 2"):
        attack(stochastic, x, y + 3)
    assert modes == [m.training for m in stochastic.modules()] == [True] * 6 + [False]
    for name, value in stochastic.state_dict().items():
        assert torch.equal(value, before[name])
    assert torch.equal(found, attack(stochastic.eval(), x, y))


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_work_in_inference_mode_and_on_its_tensors(attack):
    model, (x, y) = mlp(3), batch(6)
    with torch.inference_mode():
        inside, labels = x.clone(), y.clone()
        found = attack(model, inside, labels)
    assert torch.equal(found, attack(model, x, y))
    assert torch.equal(attack(model, inside, labels), found)


KINDS = ["i1", "u1", "u2", "u4", "u8", "<i8", ">i8", ">u2", ">f4", "f2"]


@pytest.mark.parametrize("outputs", [1, 3])
def test_labels_may_come_in_any_array(outputs):
    x, y = batch(6, outputs=outputs)
    y = abs(y).numpy().astype(int)  # 1, or 0 to 2
    expected = ATTACKS[0](mlp(outputs), x, torch.tensor(y))
    frozen = np.repeat(y, 2)[::2]
    frozen.setflags(write=False)
    forms = [y.tolist(), y[::-1].copy()[::-1], frozen, *(y.astype(kind) for kind in KINDS)]
    forms += [torch.tensor(y).to(kind) for kind in (torch.uint16, torch.uint32, torch.uint64)]
    for form in forms:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of torch, of memory that is read-only
            assert torch.equal(ATTACKS[0](mlp(outputs), x, form), expected)
    for bad in (np.ma.masked_array(y, y >= 0), y + 7j, y.astype(str), (y - 3).astype("u8"), [[]]):
        with pytest.raises(ValueError, match="y must"):
            ATTACKS[0](mlp(outputs), x, bad)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_model_may_overwrite_its_input(attack):
    model, (x, y) = mlp(3), batch(6)
    before = x.clone()
    found = attack(lambda u: model(u.mul_(2)), x, y)
    assert torch.equal(x, before)
    assert torch.equal(found, attack(lambda u: model(2 * u), x, y))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": torch.tensor([0, 3, 1, 1])}, "labels 0 to 2, but it contains 3"),
        ({"y": torch.tensor([0, 0.5, 1, 1])}, "labels 0 to 2"),
        ({"y": torch.tensor([0, 1])}, "y must have shape"),
        ({"model": mlp(1)}, "labels -1 and 1, but it contains"),
        ({"model": lambda x: x.reshape(4, 3, 4)}, "model must return logits"),
        ({"x": torch.full((4, 12), math.nan)}, "x must have finite entries"),
        ({"x": torch.zeros(4, 12, dtype=torch.long)}, "x must be"),
        ({"x": torch.zeros(0, 12)}, "x must be"),
        ({"eps": -0.1}, "eps must"),
        ({"eps": math.nan}, "eps must"),
        ({"steps": 0}, "steps must"),
        ({"steps": 1.5}, "steps must"),
        ({"norm": 1}, "norm must"),
        ({"norm": np.array([2, 2])}, "norm must be 2 or inf"),
        ({"loss": np.array(["ce"])}, "loss must be a function, ce, .* or margin"),
        ({"x": torch.zeros(4, 12).to_sparse()}, "x must be .* a sparse one"),
        ({"model": mlp(3).float()}, "x must be torch.float32 on cpu, like the parameters"),
        ({"loss": "hinge"}, "loss must"),
        ({"reduction": "none"}, "reduction must"),
        ({"random_start": True}, "generator must"),
        ({"y": torch.tensor([False, True, True, True])}, "y must contain real numbers"),
        ({"y": [[0, 1], [2]]}, "y must be an array"),
        ({"x": np.zeros((4, 12))}, "x must be"),
        ({"x": torch.zeros(12)}, "x must be"),
        ({"x": torch.full((4, 12), -0.1)}, "x must lie in the box from 0.0 to 1.0"),
        ({"clip": 1}, "clip must"),
        ({"clip": (0, math.nan)}, "clip must"),
        ({"eps": [0.1]}, "eps must"),
        ({"step_size": lambda t: math.nan if t else 0.1}, "step_size must"),
        ({"step_size": lambda t: "a"}, "step_size must"),
        ({"loss": ["ce"]}, "loss must"),
        ({"loss": lambda f, y: f.sum()}, "model and loss must give"),
        ({"loss": lambda f, y: None}, "model and loss must give"),
        ({"loss": lambda f, y: f.detach()[:, 0]}, "model and loss must give"),
        ({"model": lambda x: torch.ones(4, 3, requires_grad=True)}, "model and loss must give"),
        ({"model": lambda x: x.detach().numpy()}, "model must return floating-point"),
        ({"model": lambda x: math.nan * x}, "model must return finite"),
        ({"model": lambda x: x[:, :3].sqrt(), "x": torch.zeros(4, 12)}, "must be smaller"),
    ],
)
def test_bad_arguments_get_one_clear_sentence(change, sentence):
    x, y = batch(4)
    call = {"model": mlp(3), "x": x, "y": y, **GOOD, **change}
    if isinstance(call["x"], torch.Tensor) and call["x"].is_floating_point():
        call["x"] = call["x"].double()
    with pytest.raises(ValueError, match=sentence) as error:
        attacks.pgd(call.pop("model"), call.pop("x"), call.pop("y"), **call)
    assert str(error.value).endswith(".")
    assert str(error.value).count(". ") == 0


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_a_network_of_nan_is_nowhere_robust(broken):
    """Not at the start, not after the last step, and not for the margin alone."""
    x, y = batch(4)
    model, calls = mlp(3), []

    def breaks_down(u):
        calls.append(u)
        return math.nan * model(u) if len(calls) == broken else model(u)

    with pytest.raises(ValueError, match="model must return finite"):
        attacks.pgd(breaks_down, x, y, best_iterate=True, **GOOD)
    calls.clear()
    with pytest.raises(ValueError, match="model must return finite"):
        attacks.all_targets(breaks_down, x, y, **GOOD)
    with pytest.raises(ValueError, match="logits must be finite"):
        attacks.margin(torch.tensor([[math.nan, 1.0]]), [0])


test_margins_of_bad_arguments = refusals(
    (lambda: attacks.margin(torch.tensor([[1, 2]]), [0]), "logits must be floating-point"),
    (lambda: attacks.margin(torch.ones(2, 2, 2), [0, 1]), "their shape is"),
    (lambda: attacks.margin(torch.ones(2, 3), [0, 3]), "labels 0 to 2"),
    (lambda: attacks.margin(torch.ones(2, 1), [0, 1]), "labels -1 and 1"),
    (lambda: attacks.all_targets(mlp(1), *batch(4, outputs=1), **GOOD), "at least two logits"),
)


@pytest.mark.parametrize(("dtype", "large"), [(torch.float32, 1e39), (torch.float16, 1e5)])
@pytest.mark.parametrize("name", ["eps", "step_size"])
def test_numbers_that_the_dtype_cannot_hold_are_refused(name, dtype, large):
    x, y = torch.full((2, 3), 0.5, dtype=dtype), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=f"{name} must be .* and at most .* in torch.float"):
        attacks.pgd(lambda u: u, x, y, **(GOOD | {name: large}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ends_of_the_box_are_those_that_the_dtype_holds(dtype):
    """In float32, 0.1 is larger and -0.7 less than in float64."""
    x, y = torch.tensor([[-0.7, 0.1]], dtype=dtype), torch.tensor([1])
    options = GOOD | {"norm": math.inf, "eps": 1}
    u = attacks.pgd(lambda u: u.sum(1), x, y, clip=(-0.7, 0.1), **options)
    assert x.min() == u.min() <= u.max() < x.max()
    with pytest.raises(ValueError, match=r"box from -0\.7 to 0\.09"):
        attacks.pgd(lambda u: u.sum(1), x, y, clip=(-0.7, 0.09), **options)


def test_large_logits_are_finite_though_their_sum_is_not():
    found = attacks.margin(torch.tensor([[3e38, 3e38], [3e38, 1e38]]), [0, 0])
    torch.testing.assert_close(found, torch.tensor([0, 2e38]))


def test_a_loss_may_be_of_another_dtype_than_the_inputs():
    x, y = batch(4)
    single = mlp(3).float()
    u = attacks.pgd(lambda u: single(u.float()), x, y, loss=lambda f, y: f[:, 0].double(), **GOOD)
    assert u.dtype == torch.float64
    assert (u != x).any()


def test_one_gradient_too_long_among_others_has_its_direction():
    slopes = torch.tensor([[1.0, 0], [3e36, -4e36]])  # float32: the inverse length underflows
    x, y = torch.zeros(2, 2), torch.tensor([1, 1])
    options = {"norm": 2, "eps": 1, "step_size": 1, "steps": 1, "loss": "margin", "clip": None}
    u = attacks.pgd(lambda u: (u * slopes).sum(1), x, y, normalize=True, **options)
    torch.testing.assert_close(u, torch.tensor([[-1.0, 0], [-0.6, 0.8]]))


def test_the_largest_number_of_the_dtype_is_allowed():
    largest = torch.finfo(torch.float32).max
    options = {"norm": math.inf, "eps": 0.5, "step_size": largest, "steps": 1, "loss": "margin"}
    x, w = torch.zeros(1, 2), torch.tensor([1.0, -1])
    u = attacks.pgd(lambda u: u @ w, x, torch.tensor([1]), normalize=True, clip=None, **options)
    assert u.tolist() == [[-0.5, 0.5]]
