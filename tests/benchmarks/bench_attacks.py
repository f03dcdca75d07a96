"""Benchmarks of Chapter 6: attacks, and the grid of Figure 6-2."""

import math
import resource
from functools import partial

import numpy as np
import torch
from timing import absent, in_turn, ratio
from torch import nn

from runproofs.adversarial import attacks, margin_attacks
from runproofs.data import digits
from runproofs.experiments.ch6_grid import READINGS, grid_topk, grid_topk_pruned
from runproofs.networks import two_layer

try:
    import foolbox
except ImportError:
    foolbox = None
try:
    import torchattacks
except ImportError:
    torchattacks = None

torch.set_num_threads(1)


def trained_network():
    """A network with 256 hidden units trained on the digits, and the digits."""
    data = digits()
    x = torch.tensor(data.pixels, dtype=torch.float32).reshape(-1, 1, 8, 8)
    y = torch.tensor(data.labels)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval(), x, y


def others(norm, model, x, y, eps, step, steps):
    """The same attack by those packages of the field that are installed."""
    if foolbox:
        wrapped = foolbox.PyTorchModel(model, bounds=(0, 1), device="cpu")
        attack = {math.inf: foolbox.attacks.LinfPGD, 2: foolbox.attacks.L2PGD}[norm]
        attack = attack(abs_stepsize=step, steps=steps, random_start=False)
        yield "foolbox", lambda: attack(wrapped, x, y, epsilons=eps)[1]
    if torchattacks:
        kind = {math.inf: torchattacks.PGD, 2: torchattacks.PGDL2}[norm]
        yield (
            "torchattacks",
            partial(kind(model, eps=eps, alpha=step, steps=steps, random_start=False), x, y),
        )


def pgd():
    """PGD, 40 steps on digits: milliseconds, and ratio to ours"""
    if not (foolbox and torchattacks):
        yield "foolbox or torchattacks is not installed (the extra `agreement`)."
    model, images, labels = trained_network()
    for norm, eps, step, n in (
        (norm, *size, n)
        for n in (1000, 10)
        for norm, size in ((math.inf, (0.1, 0.01)), (2, (0.6, 0.1)))
    ):
        x, y = images[:n], labels[:n]
        ours = partial(
            attacks.pgd, model, x, y, norm=norm, eps=eps, step_size=step, steps=40, normalize=True
        )
        functions = {"this book": ours, "foolbox": None, "torchattacks": None}
        functions |= others(norm, model, x, y, eps, step, 40)
        present = {name: f for name, f in functions.items() if f}
        times = dict(zip(present, in_turn(present.values(), 1e-3, rounds=12), strict=True))
        kernel = f"attacks.pgd, norm {norm}, {n} digits"
        for name, f in functions.items():
            start = f"norm {norm:3}, {n:4} digits  {name:14}"
            if f is None:
                absent(kernel, name)
                yield f"{start}not installed"
                continue
            success = (attacks.margin(model(f()), y) < 0).double().mean()
            times_ours = 1.0 if f is ours else ratio(kernel, name, times[name], times["this book"])
            yield f"{start}{1e3 * times[name]:9.2f}{times_ours:7.2f}    success {success:.3f}"


def hidden_space():
    """Reflected l_2 PGD, 40 steps, m = 100, d = 784, 256 samples: milliseconds, and ratio"""
    rng = np.random.default_rng(0)
    net = two_layer.TwoLayerNetwork(
        rng.standard_normal((100, 784)) / 28, rng.standard_normal(100), 0
    )
    x, y = rng.random((256, 784)), rng.choice([-1.0, 1.0], 256)
    W, a = torch.tensor(net.W), torch.tensor(net.a)
    model, images, labels = (lambda u: torch.relu(u @ W.T) @ a), torch.tensor(x), torch.tensor(y)
    functions = {
        "hidden space": partial(margin_attacks.pgd_hidden, net, x, y, 2, step_size=0.02, visits=41),
        "pixels, NumPy": partial(
            margin_attacks.algorithm_5, net, x, y, 2, step_size=0.02, visits=41
        ),
        "pixels, torch": partial(
            attacks.pgd, model, images, labels, norm=2, eps=2, step_size=0.02, steps=40,
            loss="reflected", clip=None, best_iterate=True,
        ),
    }  # fmt: skip
    times = dict(zip(functions, in_turn(functions.values(), 0.05, rounds=7), strict=True))
    results = [f() for f in functions.values()]
    points = [torch.as_tensor(getattr(result, "point", result)) for result in results]
    for (name, t), u in zip(times.items(), points, strict=True):
        fastest = times["hidden space"]
        ours = name == "hidden space"
        slower = 1.0 if ours else ratio("margin_attacks.pgd_hidden", name, t, fastest)
        yield (
            f"{name:16}{1e3 * t:9.1f}{slower:7.1f}"
            f"    largest difference {(u - points[0]).abs().max():.0e}"
        )


def grids():
    """Figure 6-2, the best 1000 of 512,000,000 points: seconds, all of them and pruned, ratio"""
    for reading in READINGS:
        ways = [partial(f, 1000, reading) for f in (grid_topk, grid_topk_pruned)]
        every, pruned = in_turn(ways, 1e-3, rounds=1)
        slower = ratio(f"grid_topk_pruned, {reading}", "all points", every, pruned)
        yield f"{reading:16}{every:9.3f}{pruned:9.3f}{slower:9.1f}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"Largest memory of this process, torch included: {peak:.0f} MiB."


TABLES = [pgd, hidden_space, grids]
