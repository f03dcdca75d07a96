"""Benchmarks of Chapter 6: attacks, and the grid of Figure 6-2."""

import math
import resource
from functools import partial
from time import process_time

import numpy as np
import torch
from torch import nn

from runproofs.adversarial import attacks, margin_attacks
from runproofs.data import digits
from runproofs.networks import two_layer
from runproofs.reproductions.ch6_grid import READINGS, grid_topk, grid_topk_pruned

try:
    import foolbox
except ImportError:
    foolbox = None
try:
    import torchattacks
except ImportError:
    torchattacks = None

torch.set_num_threads(1)


def in_turn(functions, repeats=7):
    """Least processor time of each function, called in turn so that all meet the same load."""
    best = dict.fromkeys(functions, math.inf)
    for _ in range(repeats):
        for name, f in functions.items():
            start = process_time()
            f()
            best[name] = min(best[name], process_time() - start)
    return best


def trained_network():
    """A network with 256 hidden units trained on the digits, and 1000 of them."""
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
    return model.eval(), x[:1000], y[:1000]


def others(norm, model, x, y, eps, step, steps):
    """The same attack by the installed packages."""
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
    """PGD, 40 steps on 1000 digits: milliseconds, and ratio to ours"""
    if not (foolbox or torchattacks):
        yield "foolbox and torchattacks are not installed (requirements-agreement.txt): ours only."
    model, x, y = trained_network()
    for norm, eps, step in ((math.inf, 0.1, 0.01), (2, 0.6, 0.1)):
        ours = partial(
            attacks.pgd, model, x, y, norm=norm, eps=eps, step_size=step, steps=40, normalize=True
        )
        functions = {"this book": ours} | dict(others(norm, model, x, y, eps, step, 40))
        times = in_turn(functions, 25)
        for name, f in functions.items():
            success = (attacks.margin(model(f()), y) < 0).double().mean()
            yield (
                f"norm {norm:3}  {name:14}{1e3 * times[name]:9.1f}"
                f"{times[name] / times['this book']:7.2f}    success {success:.3f}"
            )


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
        "pixels, NumPy": partial(margin_attacks.pgd, net, x, y, 2, step_size=0.02, visits=41),
        "pixels, torch": partial(
            attacks.pgd, model, images, labels, norm=2, eps=2, step_size=0.02, steps=40,
            loss="reflected", clip=None, best_iterate=True,
        ),
    }  # fmt: skip
    times = in_turn(functions)
    results = [f() for f in functions.values()]
    points = [torch.as_tensor(getattr(result, "point", result)) for result in results]
    for (name, t), u in zip(times.items(), points, strict=True):
        yield (
            f"{name:16}{1e3 * t:9.1f}{t / times['hidden space']:7.1f}"
            f"    largest difference {(u - points[0]).abs().max():.0e}"
        )


def grids():
    """Figure 6-2, the best 1000 of 512,000,000 points: seconds, all of them and pruned"""
    for reading in READINGS:
        times = in_turn({f: partial(f, 1000, reading) for f in (grid_topk, grid_topk_pruned)}, 1)
        yield f"{reading:16}" + "".join(f"{t:9.3f}" for t in times.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"Largest memory of this process, torch included: {peak:.0f} MiB."


TABLES = [pgd, hidden_space, grids]
