"""What dropout minimizes on ratings, by least squares: beyond Table 4-I."""

import numpy as np

from runproofs.experiments import ch4
from runproofs.experiments.base import experiment
from runproofs.linear import completion
from runproofs.linear import ratings as factors

METHODS = ("dropout", "empirical", "expected")


@experiment(
    "movielens-least-squares", over=("method", "seed"),
    quick={**ch4.QUICK, "method": METHODS, "p": 0.4, "width": 20, "sweeps": 10},
    paper={**ch4.PROTOCOL, "step": 20.0, "seed": (0, 1, 2), "ratings": "100k", "method": METHODS,
           "p": 0.4, "width": 30, "sweeps": 20},
)  # fmt: skip
def movielens_least_squares(method, p, width, sweeps, ratings, epochs, batch, step, share, seed=0):
    """What dropout minimizes, by SGD ("dropout") or by alternating ridge regressions.

    Those have the empirical regularizer, or the expected one with the frequencies of the training
    part. Returns the final "train" and "test" errors, that of predictions "clipped" to the range of
    the ratings, and both regularizers, "empirical" and "expected".
    """
    known = ch4.load(ratings, seed)
    train_part, test_part = factors.split(known, share, seed)
    shape = int(known.row.max()) + 1, int(known.column.max()) + 1
    law = completion.frequencies(train_part, shape)
    if method == "dropout":
        trained = ch4.train(p, width, known, epochs, batch, step, share, seed)[-1]
        U, V = (t.cpu().double().numpy() for t in (trained.U, trained.V))
    else:
        start = factors.he_factors(*shape, width, np.random.default_rng((seed, width)))
        U, V = (t.double().numpy() for t in start)
        lam, penalty = completion.rate(drop=p), None if method == "empirical" else law
        U, V, *_ = completion.als(U, V, train_part, lam, sweeps=sweeps, law=penalty)
    predicted = (U[test_part.row] * V[test_part.column]).sum(1)
    clipped = np.clip(predicted, known.value.min(), known.value.max())
    return {
        "train": completion.loss(U, V, train_part) ** 0.5,
        "test": completion.loss(U, V, test_part) ** 0.5,
        "clipped": ((clipped - test_part.value) ** 2).mean() ** 0.5,
        "empirical": completion.empirical_regularizer(U, V, train_part),
        "expected": completion.expected_regularizer(U, V, law),
    }
