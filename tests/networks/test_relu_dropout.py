"""Dropout in two-layer ReLU networks, against listed masks, loops and automatic gradients."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch

from helpers.refusals import refusals
from runproofs.networks import relu_dropout


def problem(d0=3, d1=4, d2=2, n=5, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (d2, d1), (d0, d1), (n, d0), (n, d2)
    return [rng.normal(size=shape) for shape in shapes]


def by_loops(U, V, X, Y, p):
    """The dropout objective and its regularizer, without one matrix product."""
    total = penalty = 0.0
    for x, y in zip(X, Y, strict=True):
        active = [max(0.0, sum(a * b for a, b in zip(v, x, strict=True))) for v in V.T]
        for mask in product((0, 1), repeat=len(active)):
            probability = np.prod([(1 - p) if b else p for b in mask])
            out = [
                sum(u * b / (1 - p) * a for u, b, a in zip(row, mask, active, strict=True))
                for row in U
            ]
            total += probability * sum((t - f) ** 2 for t, f in zip(y, out, strict=True)) / len(X)
        penalty += sum((u**2).sum() * a**2 for u, a in zip(U.T, active, strict=True)) / len(X)
    return total, penalty


def test_fractions_stay_exact():
    one, third = np.array([[Fraction(1)]]), Fraction(1, 3)
    value = relu_dropout.objective_by_enumeration(one, one, one, 0 * one, drop=third)
    norm = relu_dropout.path_norm_squared(one / 3, one)
    assert (value, norm) == (Fraction(3, 2), Fraction(1, 9))
    assert isinstance(value, Fraction)
    assert isinstance(norm, Fraction)


@pytest.mark.parametrize("p", [0.0, 0.25, 0.8])
def test_objective_and_regularizer_by_loops(p):
    U, V, X, Y = problem()
    total, penalty = by_loops(U, V, X, Y, p)
    assert relu_dropout.objective(U, V, X, Y, drop=p) == pytest.approx(total, rel=1e-12)
    assert relu_dropout.objective_by_enumeration(U, V, X, Y, drop=p) == pytest.approx(
        total, rel=1e-12
    )
    assert relu_dropout.regularizer(U, V, X) == pytest.approx(penalty, rel=1e-12)


def test_networks_come_in_batches():
    nets = [problem(seed=seed) for seed in range(3)]
    U, V = (np.stack([net[i] for net in nets]) for i in (0, 1))
    X, Y = nets[0][2:]
    rates = np.array([0.0, 0.3, 0.6])
    together = relu_dropout.objective(U, V, X, Y, drop=rates)
    alone = [
        relu_dropout.objective(*net[:2], X, Y, drop=p) for net, p in zip(nets, rates, strict=True)
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-14)
    assert relu_dropout.flows(U, V, X).shape == (3, 4)
    assert relu_dropout.path_norm_squared(U, V).shape == (3,)


def test_flows_are_what_the_units_send_out_on_their_own():
    U, V, X, _ = problem()
    masses = [0.1, 0.2, 0.1, 0.25, 0.35]
    found = zip(relu_dropout.flows(U, V, X), relu_dropout.flows(U, V, X, masses), strict=True)
    for j, (psi, weighted) in enumerate(found):
        sent = np.maximum(X @ V[:, j], 0)[:, None] * U[:, j]
        squares = (sent**2).sum(1)
        assert psi == pytest.approx(np.sqrt(squares.mean()), rel=1e-13)
        assert weighted == pytest.approx(np.sqrt(masses @ squares), rel=1e-13)


def test_path_norm_by_listing_paths():
    U, V, _, _ = problem()
    paths = product(range(2), range(4), range(3))
    listed = sum(U[k, j] ** 2 * V[i, j] ** 2 for k, j, i in paths)
    assert relu_dropout.path_norm_squared(U, V) == pytest.approx(listed, rel=1e-13)


def test_coadaptation_at_its_ends_and_at_any_scale():
    for scale in (1e-200, 1.0, 1e200):
        assert relu_dropout.coadaptation(scale * np.array([3.0, 4.0])) ** 2 == pytest.approx(0.98)
    flows = [[1, 1, 1], [0, 7, 0], [1, 2, 3]]
    expected = [1, 3**-0.5, 6 / (3 * 14) ** 0.5]
    np.testing.assert_allclose(relu_dropout.coadaptation(flows), expected, rtol=1e-14)


def test_symmetrize_draws_a_fair_sign_for_each_example():
    X = np.arange(1.0, 2001.0).reshape(-1, 2)
    signs = relu_dropout.symmetrize(X, 3) / X
    assert (signs[:, 0] == signs[:, 1]).all()
    assert set(signs.ravel()) == {-1.0, 1.0}
    assert abs(signs[:, 0].mean()) < 5 / 1000**0.5  # false alarm 6e-7; the seed is fixed


def test_the_mean_gradient_of_the_masked_loss_is_that_of_the_objective():
    U, V, X, Y = (torch.tensor(t) for t in problem(d1=3, n=4))
    U.requires_grad_()
    V.requires_grad_()
    p, mean = 0.3, 0
    for bits in product((0, 1), repeat=3):
        kept = sum(bits)
        mask = torch.tensor(bits, dtype=U.dtype) / (1 - p)
        loss = relu_dropout.sampled_loss(U, V, X, Y, mask)
        mean = mean + (1 - p) ** kept * p ** (3 - kept) * loss
    A = torch.relu(X @ V)
    penalty = (U.square().sum(0) * A.square().mean(0)).sum()
    objective = (Y - A @ U.T).square().sum(1).mean() + p / (1 - p) * penalty
    found, expected = (torch.autograd.grad(f, (U, V)) for f in (mean, objective))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


# Training ----------------------------------------------------------------------------------------


def stack(runs=3, d1=6, dtype=torch.float64, seed=1):
    generator = torch.Generator().manual_seed(seed)
    U = torch.randn((1, 2, d1), generator=generator, dtype=dtype).repeat(runs, 1, 1)
    V = torch.randn((1, 3, d1), generator=generator, dtype=dtype).repeat(runs, 1, 1)
    return U, V


HOW = {"epochs": 4, "batch": 3, "step_size": 0.01}


def trained(p, runs=3, seed=5, **changes):
    X, Y = problem(n=8)[2:]
    generator = torch.Generator().manual_seed(seed)
    return relu_dropout.train(*stack(runs), X, Y, drop=p, **HOW | changes, generator=generator)


@pytest.mark.parametrize("optimizer", ["Adam", "SGD"])
def test_training_is_a_descent_on_the_masked_loss_of_each_network(optimizer):
    """The same steps, one network and one example at a time, with Adam written out."""
    X, Y = (torch.tensor(t) for t in problem(n=8)[2:])
    rates = [0.0, 0.25, 0.75]
    found = trained(rates, optimizer=optimizer)
    generator = torch.Generator().manual_seed(5)
    weights = [list(pair) for pair in zip(*stack(), strict=True)]
    moments = [[[0 * w, 0 * w] for w in pair] for pair in weights]
    t = 0
    for _ in range(4):
        order = torch.randperm(8, generator=generator)
        for start in (0, 3, 6):
            chosen = order[start : start + 3]
            coin = torch.rand((3, len(chosen), 6), generator=generator, dtype=torch.float64)
            t += 1
            for run, p in enumerate(rates):
                U, V = (w.clone().requires_grad_() for w in weights[run])
                loss = 0
                for k, i in enumerate(chosen):
                    mask = (coin[run, k] < 1 - p).double() / (1 - p)
                    out = U @ (mask * torch.relu(V.T @ X[i]))
                    loss = loss + (Y[i] - out).square().sum() / len(chosen)
                gradients = torch.autograd.grad(loss, (U, V))
                for w, moment, g in zip(range(2), moments[run], gradients, strict=True):
                    moment[0] = 0.9 * moment[0] + 0.1 * g
                    moment[1] = 0.999 * moment[1] + 0.001 * g**2
                    first, second = moment[0] / (1 - 0.9**t), moment[1] / (1 - 0.999**t)
                    step = g if optimizer == "SGD" else first / (second.sqrt() + 1e-8)
                    weights[run][w] = weights[run][w] - 0.01 * step
    for run in range(3):
        for name, w in zip("UV", weights[run], strict=True):
            torch.testing.assert_close(getattr(found, name)[run], w, rtol=1e-9, atol=1e-11)


def test_training_leaves_its_start_alone_repeats_itself_and_watches():
    U, V = stack()
    before = U.clone(), V.clone()
    X, Y = problem(n=8)[2:]
    watch = {"every": [3], "observe": lambda U, V: {"U": U}}
    generators = (torch.Generator().manual_seed(5) for _ in range(2))
    again = [
        relu_dropout.train(U, V, X, Y, drop=0.5, **HOW, **watch, generator=g) for g in generators
    ]
    assert torch.equal(U, before[0])
    assert torch.equal(V, before[1])
    assert torch.equal(again[0].V, again[1].V)
    assert again[0].times.tolist() == [0, 3, 12]
    np.testing.assert_array_equal(again[0].observed["U"][-1], again[0].U)
    assert not torch.equal(again[0].U[0], again[0].U[1]), "masks are independent"


U, V, X, Y = problem()
NETS, WITH = stack(), {**HOW, "generator": torch.Generator()}
enumerated = relu_dropout.objective_by_enumeration

test_wrong_arguments_are_refused = refusals(
    (lambda: relu_dropout.coadaptation([[1, 0], [0, 0]]), "a flow that is not 0"),
    (lambda: relu_dropout.coadaptation([1, -1]), "psi must be at least 0"),
    (lambda: relu_dropout.coadaptation(3.0), "psi must have a last axis"),
    (lambda: relu_dropout.flows(U, V, X, np.ones(5)), "masses must be 5 probabilities of sum 1"),
    (lambda: relu_dropout.flows(U, V, X[:, :2]), "X must have 3 columns"),
    (lambda: relu_dropout.objective(U, V, X, Y[:4], drop=0.5), "Y must have 5 rows"),
    (lambda: relu_dropout.path_norm_squared(U[:, :2], V), "U and V must agree"),
    (lambda: enumerated(U[None], V[None], X, Y, drop=0.5), "U must be one matrix"),
    (lambda: trained([0.5, 0.5]), "drop must be a number or have shape"),
    (lambda: trained(0.5, optimizer="LBFGS"), "optimizer must be Adam or SGD"),
    (lambda: trained(0.5, step_size=0), "step_size must be a number that is larger than 0"),
    (lambda: relu_dropout.train(NETS[0], V, X, Y, drop=0.5, **WITH), "V must be a tensor"),
    (
        lambda: relu_dropout.train(NETS[0], NETS[1].float(), X, Y, drop=0.5, **WITH),
        "U and V must agree",
    ),
    (lambda: relu_dropout.train(*NETS, X, Y, drop=0.5, **HOW, generator=3), "generator must be"),
    (lambda: relu_dropout.objective(U, V, X, Y, drop=1.0), "drop must"),
    (lambda: relu_dropout.objective(U, V, X, Y, drop=-0.1), "drop must"),
    (lambda: enumerated(U, V, X, Y, drop=1.0), "drop must"),
    (lambda: trained([0.2, 1.0, 0.3]), "drop must"),
    (lambda: trained(-0.1), "drop must"),
)
