"""What the size of the steps does to Table 4-I, and dropout to the alpha of Theorem 11."""

import numpy as np

from runproofs.experiments import ch4
from runproofs.experiments.base import experiment
from runproofs.linear import completion


@experiment(
    "table-4-1-steps", over=("step", "width", "p"),
    quick={**ch4.QUICK, "seed": 0, "step": (2.0, 5.0)},
    paper={**ch4.PROTOCOL, "ratings": "100k", "width": (30, 70),
           "p": (0.0, 0.2, 0.4), "step": (2.0, 5.0, 10.0, 20.0, 30.0, 40.0)},
)  # fmt: skip
def table_4_1_steps(p, width, ratings, epochs, batch, step, share, seed=0):
    """A run of Table 4-I, and its alpha.

    Returns, at "times", numbers of epochs, "train" and "test" errors, float32; and "alpha", width
    times the expected regularizer at the end, with the frequencies of the training part; NaN where
    the run diverged.
    """
    known = ch4.load(ratings, seed)
    part, _, trained = ch4.train(p, width, known, epochs, batch, step, share, seed)
    U, V = (t.cpu().double().numpy() for t in (trained.U, trained.V))
    law = completion.frequencies(part, (len(U), len(V)))
    ended = np.isfinite(U).all() and np.isfinite(V).all()
    return {
        "times": trained.epochs,
        "train": np.float32(trained.train_rmse),
        "test": np.float32(trained.test_rmse),
        "alpha": width * completion.expected_regularizer(U, V, law) if ended else np.nan,
    }
