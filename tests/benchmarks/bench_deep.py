"""Benchmarks of Chapter 3: sub-regularizers, second moments, enumeration, SGD with dropout."""

from functools import partial
from itertools import combinations, pairwise, product
from time import process_time

import numpy as np
import torch
from timing import in_turn, ratio, seconds

from runproofs.linalg import root_and_inverse
from runproofs.linear import deep
from runproofs.linear.deep import deep_training

torch.set_num_threads(1)


def network(sizes, rng):
    return [rng.standard_normal((b, a)) / a**0.5 for a, b in pairwise(sizes)]


def over_pivots_once(weights):
    """The sum over pivots with every partial product formed only once, as a fairer rival."""
    k = len(weights) - 1
    partial_maps = {(j, j): W for j, W in enumerate(weights)}
    for i, j in combinations(range(k + 1), 2):
        partial_maps[i, j] = weights[j] @ partial_maps[i, j - 1]
    heads = [np.linalg.norm(partial_maps[0, j], axis=1) for j in range(k)]
    tails = [np.linalg.norm(partial_maps[j + 1, k], axis=0) for j in range(k)]
    R = [0.0] * k
    for l in range(1, k + 1):
        for pivots in combinations(range(k), l):
            middles = [partial_maps[i + 1, j] for i, j in pairwise(pivots)]
            for nodes in product(*(range(len(weights[j])) for j in pivots)):
                term = heads[pivots[0]][nodes[0]] * tails[pivots[-1]][nodes[-1]]
                for W, (a, b) in zip(middles, pairwise(nodes), strict=True):
                    term *= W[b, a]
                R[l - 1] += term * term
    return R


def subregularizers():
    """Sub-regularizers: from layer to layer against over pivots, milliseconds"""
    rng = np.random.default_rng(0)
    yield (
        f"{'':12}{'summands':>9}{'literal':>10}{'ratio':>8}"
        f"{'products once':>15}{'ratio':>8}{'layers':>11}"
    )
    for k, d in [(2, 5), (3, 5), (4, 5), (5, 5), (6, 5), (2, 20), (3, 20)]:
        weights = network([d] * (k + 2), rng)
        rivals = (deep.subregularizers_over_pivots, over_pivots_once, deep.subregularizers)
        a, b, c = (seconds(partial(f, weights), 0.1) for f in rivals)
        name = f"deep.subregularizers, k = {k}, d = {d}"
        literal = ratio(name, "over pivots, literally", a, c)
        once = ratio(name, "over pivots, products once", b, c)
        yield (
            f"k = {k}, d = {d:2}{(1 + d) ** k - 1:9}{1e3 * a:10.2f}{literal:8.0f}"
            f"{1e3 * b:15.2f}{once:8.0f}{1e3 * c:11.3f}"
        )
    for name, f in (
        ("subregularizers", deep.subregularizers),
        ("regularizer", partial(deep.regularizer, lam=0.5)),
    ):
        for what, sizes in (
            ("depth, d = 50", [(k, 50) for k in (5, 10, 20)]),
            ("width, k = 20", [(20, d) for d in (50, 100, 200)]),
        ):
            nets = [network([d] * (k + 2), rng) for k, d in sizes]
            times = [seconds(partial(f, net), 0.2) for net in nets]
            grown = [k if "depth" in what else d for k, d in sizes]
            exponent = np.polyfit(np.log(grown), np.log(times), 1)[0]
            cells = "  ".join(f"{n}: {1e3 * t:.1f}" for n, t in zip(grown, times, strict=True))
            yield f"{name} in the {what}: exponent {exponent:.1f}   ({cells})"


class Net(torch.nn.Module):
    """A bias-free linear network with dropout on its hidden layers, as one would write it."""

    def __init__(self, sizes, theta):
        super().__init__()
        layers = []
        for a, b in pairwise(sizes):
            layers += [torch.nn.Linear(a, b, bias=False), torch.nn.Dropout(1 - theta)]
        self.layers = torch.nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.layers(x)


def plain_steps(target, theta, batch, steps):
    """The same steps for one run and one rate, with autograd."""
    d = len(target)
    net = Net([d, d, d, d], theta)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for _ in range(steps):
        x = torch.randn(batch, d)
        optimizer.zero_grad()
        loss = (net(x) - x @ target.T).square().sum(dim=1).mean()
        loss.backward()
        optimizer.step()


def sampled_training():
    """Figure 3-2's training, widths 20-20-20-20, 19 rates: microseconds a run, rate and step"""
    d, steps, theta = 20, 20, np.arange(1, 20) / 20
    target = torch.randn(d, d)
    yield f"{'':14}{'plain':>9}{'batched':>9}{'ratio':>9}{'41 runs, 16010 steps':>24}"
    for batch in (1000, 200, 20):
        weights = [torch.randn(1, d, d) / d**0.5 for _ in range(3)]
        options = {"steps": steps, "step_size": 1e-4, "batch": batch}
        options["generator"] = torch.Generator().manual_seed(0)
        plain = partial(plain_steps, target, 0.5, batch, steps)
        batched = partial(
            deep_training.train_sampled, target.numpy(), weights, keep=theta, **options
        )
        a, b = in_turn((plain, batched), 0.01, rounds=7) / [steps, steps * len(theta)]
        faster = ratio(f"deep_training.train_sampled, batch {batch}", "torch, one run", a, b)
        hours = b * len(theta) * 41 * 16010 / 3600
        yield f"batch {batch:5}   {1e6 * a:9.1f}{1e6 * b:9.1f}{faster:9.1f}{hours:18.2f} hours"
    weights = [torch.randn(41, d, d) / d**0.5 for _ in range(3)]
    start = process_time()
    deep_training.train_exact(target.numpy(), weights, keep=theta, steps=5, step_size=1e-4)
    per_step = (process_time() - start) / 5
    yield (
        f"Exact gradient: {1e6 * per_step / 41 / 19:.1f} microseconds, "
        f"{per_step * 16010 / 3600:.2f} hours at that scale."
    )


def roots_by_four_factorizations(C):
    """C^{1/2} and its inverse by a check, a root and an inversion that know nothing of another."""
    for _ in range(2):  # that C is semidefinite, that it is definite
        np.linalg.eigvalsh(C)
    values, W = np.linalg.eigh(C)
    root = (W * np.sqrt(values)) @ W.T
    return root, np.linalg.inv(root)


def second_moments():
    """Root of a second moment and its inverse: one factorization against four, milliseconds"""
    rng = np.random.default_rng(0)
    yield f"{'':10}{'four':>9}{'one':>9}{'ratio':>7}{'|R^-1 C R^-1 - I|':>21}"
    for d in (50, 200, 784):
        A = rng.standard_normal((d, 2 * d))
        C = A @ A.T / d
        a = seconds(partial(roots_by_four_factorizations, C))
        b = seconds(partial(root_and_inverse, C))
        _, inverse = root_and_inverse(C)
        error = np.linalg.norm(inverse @ C @ inverse - np.eye(d), 2)
        faster = ratio(f"root_and_inverse, d = {d}", "four factorizations", a, b)
        yield f"d = {d:3}   {1e3 * a:9.2f}{1e3 * b:9.2f}{faster:7.1f}{error:21.1e}"


def enumerated_in_a_loop(weights, X, Y, theta):
    """The objective, mask by mask."""
    maps, probabilities = deep.masked_maps(weights, keep=theta)
    return probabilities @ [((Y - X @ M.T) ** 2).sum(axis=1).mean() for M in maps]


def enumeration():
    """Expected loss over all masks: batched products against a loop, milliseconds"""
    rng = np.random.default_rng(0)
    yield f"{'':24}{'loop':>9}{'batched':>9}{'ratio':>7}"
    for nodes, samples in ((6, 8), (10, 8), (14, 8), (10, 200), (10, 5000)):
        weights = network([3, nodes // 2, nodes // 2, 2], rng)
        X, Y = rng.standard_normal((samples, 3)), rng.standard_normal((samples, 2))
        a = seconds(partial(enumerated_in_a_loop, weights, X, Y, 0.7))
        b = seconds(partial(deep.objective_by_enumeration, weights, X, Y, keep=0.7))
        what = f"2^{nodes} masks, {samples} samples"
        faster = ratio(f"deep.objective_by_enumeration, {what}", "mask by mask", a, b)
        yield f"{what:24}{1e3 * a:9.2f}{1e3 * b:9.2f}{faster:7.1f}"


TABLES = [subregularizers, second_moments, enumeration, sampled_training]
