"""Benchmarks of Chapter 4: SGD with dropout on the factors of a rating matrix."""

from functools import partial

import numpy as np
import torch
from timing import in_turn, ratio

from runproofs.linear import ratings as factors

USERS, FILMS, BATCH, RATE = 72_000, 11_000, 2000, 0.4  # as in MovieLens 10M
torch.set_num_threads(1)


class Modules(torch.nn.Module):
    """The same prediction from torch's parts: two embeddings and dropout of their product."""

    def __init__(self, U, V, sparse):
        super().__init__()
        tables = (torch.nn.Embedding(*t.shape, sparse=sparse) for t in (U, V))
        self.users, self.films = tables
        self.users.weight.data, self.films.weight.data = U.clone(), V.clone()
        self.dropout = torch.nn.Dropout(RATE)

    def forward(self, user, film):
        return self.dropout(self.users(user) * self.films(film)).sum(1)


def by_modules(model, optimizer, user, film, stars):
    optimizer.zero_grad()
    ((model(user, film) - stars) ** 2).mean().backward()
    optimizer.step()


def in_place(U, V, user, film, stars, draw, work):
    kept = draw(len(user))
    factors._step_(U, V, user, film, stars, kept, 1 / (1 - RATE), 1e-3, work)


def steps():
    """Ratings: a step of SGD with dropout at the size of MovieLens 10M, milliseconds

    The plain way is nn.Embedding, nn.Dropout, autograd and torch's SGD: its gradients are tables of
    zeros but for the rows of the batch. With sparse=True they are the rows of the batch alone.
    """
    rng = np.random.default_rng(0)
    drawn = rng.integers(USERS, size=BATCH), (FILMS * rng.random(BATCH) ** 3).astype(int)
    batch = [torch.tensor(a) for a in drawn] + [torch.tensor(rng.integers(1, 6, BATCH)).float()]
    yield f"{'':9}{'dense':>9}{'sparse':>9}{'ours':>8}{'dense / ours':>15}{'sparse / ours':>15}"
    for width in (70, 190):
        U, V = factors.he_factors(USERS, FILMS, width, 0)
        calls = []
        for sparse in (False, True):
            model = Modules(U, V, sparse)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
            calls.append(partial(by_modules, model, optimizer, *batch))
        work, memory = factors._workspace(U, BATCH), torch.empty((BATCH, width))
        draw = factors._masks(RATE, np.random.default_rng(1), memory)
        calls.append(partial(in_place, U, V, *batch, draw, work))
        dense, sparse, ours = 1e3 * in_turn(calls, 0.1)
        name = f"a step of SGD on ratings, d = {width}"
        yield (
            f"d = {width:3}  {dense:9.2f}{sparse:9.2f}{ours:8.2f}"
            f"{ratio(name, 'torch, dense gradients', dense, ours):15.0f}"
            f"{ratio(name, 'torch, sparse gradients', sparse, ours):15.1f}"
        )


TABLES = [steps]
