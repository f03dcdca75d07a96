"""Table 4-I and Figure 4-1: dropout on the factors of MovieLens.

The thesis takes MovieLens 10M; the stored run has MovieLens 100K, the quick one invented ratings.
Where the text leaves a choice open (start, split, order of the ratings), it is ours.
"""

import numpy as np
import torch

from runproofs import data
from runproofs.experiments.base import experiment
from runproofs.linear import ratings as factors

RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
WIDTHS = (30, 70, 110, 150, 190)
# rows: widths; columns: plain SGD at its last and at its best iterate, then p = .1, .2, .3, .4
PRINTED = np.array([
    [0.8041, 0.7938, 0.7805, 0.785, 0.7991, 0.8186],
    [0.8315, 0.7897, 0.7899, 0.7771, 0.7763, 0.7833],
    [0.8431, 0.7873, 0.7988, 0.7813, 0.7742, 0.7743],
    [0.8472, 0.7858, 0.8042, 0.7852, 0.7756, 0.7722],
    [0.8473, 0.7844, 0.8069, 0.7879, 0.7772, 0.772],
])  # fmt: skip
PROTOCOL = {"p": RATES, "width": WIDTHS, "epochs": 100, "batch": 2000, "share": 0.1}
QUICK = {
    "p": (0.0, 0.2, 0.4), "width": (10, 40, 80), "epochs": 60, "batch": 500, "share": 0.1,
    "step": 5.0, "seed": (0,), "ratings": "synthetic",
}  # fmt: skip


def synthetic_ratings(users, films, count, rng):
    """Invented ratings of 1 to 5 stars by busy and idle users, of blockbusters and of rarities.

    The k-th busiest user and the k-th best known film have a weight of k^-0.8, and pairs are drawn
    by the product of their weights, each at most once. A rating is 3.5 with biases of user and film
    (deviations 0.4 and 0.5), a taste of rank 3 (deviation 0.5) and noise (0.7), rounded. Returns
    `ratings.Ratings`.
    """
    rng = np.random.default_rng(rng)
    weights = (rng.permutation(np.arange(1, n + 1.0) ** -0.8) for n in (users, films))
    log_weight = np.log(np.outer(*weights)).ravel()
    drawn = np.argsort(log_weight + rng.gumbel(size=users * films))[-count:]  # without repetition
    user, film = np.divmod(np.sort(drawn), films)
    bias = 0.4 * rng.standard_normal(users)[user] + 0.5 * rng.standard_normal(films)[film]
    tastes, kinds = rng.standard_normal((users, 3)), rng.standard_normal((films, 3))
    taste = 0.5 / 3**0.5 * (tastes[user] * kinds[film]).sum(1)
    stars = np.rint(3.5 + bias + taste + 0.7 * rng.standard_normal(count))
    return factors.Ratings(user, film, np.clip(stars, 1, 5))


def load(name, seed=0):
    """Ratings by name, "100k", "1m", "10m", with ids 0, 1, ...; or "synthetic", by the seed."""
    if name == "synthetic":
        return synthetic_ratings(400, 300, 10_000, seed)
    found = data.movielens(name)
    user, film = (np.unique(ids, return_inverse=True)[1] for ids in (found.user, found.item))
    return factors.Ratings(user, film, found.rating)


def train(p, width, ratings, epochs, batch, step, share, seed):
    """Both parts of the seed's split, and the `CompletionTraining` on them."""
    known = load(ratings, seed) if isinstance(ratings, str) else ratings
    parts = factors.split(known, share, seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = int(known.row.max()) + 1, int(known.column.max()) + 1, width
    start = factors.he_factors(*shape, np.random.default_rng((seed, width)), device=device)
    options = {"epochs": epochs, "batch": batch, "step_size": step}
    rng = np.random.default_rng((seed, width, 1))
    return *parts, factors.train(*parts, *start, drop=p, **options, rng=rng)


@experiment(
    "table-4-1", over=("p", "width", "seed"), quick=QUICK,
    paper={**PROTOCOL, "step": 20.0, "seed": (0, 1, 2), "ratings": "100k"},
)  # fmt: skip
def table_4_1(p, width, ratings, epochs, batch, step, share, seed=0):
    """Train and test error of one run, at "times", the numbers of epochs: "train" and "test"."""
    *_, trained = train(p, width, ratings, epochs, batch, step, share, seed)
    return {
        "times": trained.epochs,
        "train": np.float32(trained.train_rmse),
        "test": np.float32(trained.test_rmse),
    }


for name, step, hours in (("1m", 20.0, "half an hour"), ("10m", 1.0, "six hours")):
    experiment(
        f"table-4-1-{name}", over=("p", "width", "seed"), quick=QUICK,
        paper={**PROTOCOL, "step": step, "seed": (0,), "ratings": name},
        not_run=f"it needs MovieLens {name.upper()} and some {hours} of one core",
    )(table_4_1.function)  # fmt: skip
