"""What dropout minimizes on ratings: each method by itself."""

import numpy as np
import pytest

from runproofs.experiments import ch4, ch4_least_squares
from runproofs.linear import completion
from runproofs.linear import ratings as factors

P, WIDTH, SEED = 0.4, 6, 1
TINY = {"p": P, "width": WIDTH, "seed": (SEED,), "epochs": 3, "batch": 500, "step": 5.0,
        "share": 0.1, "ratings": "synthetic", "sweeps": 12}  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return ch4_least_squares.movielens_least_squares(**TINY, method=ch4_least_squares.METHODS)


def test_dropout_is_the_training_of_table_4_1(run):
    known = ch4.load("synthetic", SEED)
    part, rest = factors.split(known, 0.1, SEED)
    trained = ch4.train(P, WIDTH, known, 3, 500, 5.0, 0.1, SEED)[-1]
    U, V = (t.double().numpy() for t in (trained.U, trained.V))
    shown = (U[rest.row] * V[rest.column]).sum(1)
    within = np.clip(shown, known.value.min(), known.value.max())
    expected = {
        "train": np.mean(((U[part.row] * V[part.column]).sum(1) - part.value) ** 2) ** 0.5,
        "test": np.mean((shown - rest.value) ** 2) ** 0.5,
        "clipped": np.mean((within - rest.value) ** 2) ** 0.5,
        "empirical": completion.empirical_regularizer(U, V, part),
    }
    for name, value in expected.items():
        assert run[name][0, 0] == pytest.approx(value, rel=1e-6), name


def test_each_of_the_others_is_best_at_its_own_price(run):
    lam = completion.rate(drop=P)
    for name, own, other in (("empirical", 1, 2), ("expected", 2, 1)):
        price = run["train"][:, 0] ** 2 + lam * run[name][:, 0]
        assert price[own] < 0.999 * price[other]
        assert price[own] < 0.8 * price[0]


def test_the_frequencies_are_those_of_the_training_part(run):
    known = ch4.load("synthetic", SEED)
    part, _ = factors.split(known, 0.1, SEED)
    shape = int(known.row.max()) + 1, int(known.column.max()) + 1
    law = completion.frequencies(part, shape)
    start = factors.he_factors(*shape, WIDTH, np.random.default_rng((SEED, WIDTH)))
    U, V = (t.double().numpy() for t in start)
    U, V, *_ = completion.als(U, V, part, completion.rate(drop=P), sweeps=12, law=law)
    assert run["expected"][2, 0] == pytest.approx(completion.expected_regularizer(U, V, law))
