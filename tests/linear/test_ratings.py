"""Dropout on rating matrices, against automatic differentiation and sums over all masks."""

import numpy as np
import pytest
import torch

from helpers.refusals import refusals
from runproofs.experiments import ch4
from runproofs.linear import ratings as factors
from runproofs.linear.ratings import Ratings
from runproofs.masks import all_masks

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def problem(rows=7, columns=5, width=3, n=12, seed=0, device="cpu"):
    """Tables of float64 and ratings with repeated rows, columns and pairs."""
    rng = np.random.default_rng(seed)
    U, V = factors.he_factors(rows, columns, width, rng, torch.float64, device)
    row, column = rng.integers(rows, size=n), rng.integers(columns, size=n)
    row[1], column[1] = row[0], column[0]
    return U, V, Ratings(row, column, rng.normal(3, 1, n))


def by_autograd(U, V, batch, kept, p, step_size):
    U, V = (t.clone().requires_grad_() for t in (U, V))
    product = U[torch.tensor(batch.row)] * V[torch.tensor(batch.column)]
    predicted = (product * torch.tensor(kept)).sum(1) / (1 - p)
    ((predicted - torch.tensor(batch.value)) ** 2).mean().backward()
    return U.detach() - step_size * U.grad, V.detach() - step_size * V.grad


@pytest.mark.parametrize("p", [0.0, 0.3, 0.75])
def test_a_step_is_that_of_automatic_differentiation(p):
    U, V, batch = problem(rows=20)
    before = U.clone(), V.clone()
    kept = (np.random.default_rng(1).random((12, 3)) >= p).astype(float)
    found = factors.sgd_step(U, V, batch, kept, 0.7, drop=p)
    for ours, theirs in zip(found, by_autograd(U, V, batch, kept, p, 0.7), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=1e-13)
    assert torch.equal(U, before[0])
    assert torch.equal(V, before[1])
    untouched = sorted(set(range(20)) - set(batch.row.tolist()))
    assert untouched
    assert torch.equal(found[0][untouched], U[untouched])


@pytest.mark.parametrize("p", [0.2, 0.6])
def test_the_mean_step_over_all_masks_is_that_of_the_penalized_loss(p):
    """L + p / (1 - p) R, with R the mean of sum_k (U_ik V_jk)^2 over the batch."""
    U, V, batch = problem(width=2, n=3)
    masks, law = all_masks(6, keep=1 - p)
    steps = [factors.sgd_step(U, V, batch, b.reshape(3, 2), 0.5, drop=p) for b in masks]
    mean = [sum(w * s[k] for w, s in zip(law, steps, strict=True)) for k in (0, 1)]
    for t in (U, V):
        t.requires_grad_()
    product = U[torch.tensor(batch.row)] * V[torch.tensor(batch.column)]
    loss = ((product.sum(1) - torch.tensor(batch.value)) ** 2).mean()
    gradients = torch.autograd.grad(loss + p / (1 - p) * (product**2).sum(1).mean(), (U, V))
    for found, t, gradient in zip(mean, (U, V), gradients, strict=True):
        torch.testing.assert_close(found, (t - 0.5 * gradient).detach(), rtol=1e-12, atol=1e-12)


def rmse(U, V, ratings):
    dense = (U @ V.T).cpu().numpy()
    return np.sqrt(np.mean((dense[ratings.row, ratings.column] - ratings.value) ** 2))


@pytest.mark.filterwarnings("error")  # of memory that does not fit
def test_the_error_is_that_of_the_dense_product_in_chunks(monkeypatch):
    U, V, batch = problem()
    options = {"epochs": 1, "batch": 5, "step_size": 0.01, "rng": 0}
    for chunk in (1, 5, 100):
        monkeypatch.setattr(factors, "CHUNK", chunk)
        trained = factors.train(batch, batch, U, V, drop=0.0, **options)
        expected = [rmse(U, V, batch), rmse(trained.U, trained.V, batch)]
        np.testing.assert_allclose(trained.test_rmse, expected, rtol=1e-14)


@pytest.mark.parametrize("device", DEVICES)
def test_training_takes_every_rating_once_an_epoch_by_plain_steps(monkeypatch, device):
    seen, step = [], factors._step_

    def spy(U, V, row, column, value, kept, *rest):
        seen.append(Ratings(*(t.cpu().numpy() for t in (row, column, value))))
        step(U, V, row, column, value, kept, *rest)

    monkeypatch.setattr(factors, "_step_", spy)
    U, V, known = problem(device=device)
    options = {"epochs": 3, "batch": 5, "step_size": 0.01, "rng": 0}
    trained = factors.train(known, known, U, V, drop=0.0, **options)
    monkeypatch.undo()
    assert [len(part.value) for part in seen] == [5, 5, 2] * 3
    epochs = np.concatenate([part.value for part in seen]).reshape(3, 12)
    assert (np.sort(epochs) == np.sort(known.value)).all()
    assert (epochs[0] != epochs[1]).any()
    for part in seen:
        U, V = factors.sgd_step(U, V, part, np.ones((len(part.value), 3)), 0.01, drop=0.0)
    torch.testing.assert_close(trained.U, U, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(trained.V, V, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [0.0625, 0.4])
def test_masks_are_independent_coins_of_the_rate(device, p):
    """Means of 2 * 10^5 coins, and correlations between neighbors, to 5 standard errors."""
    n, width = 20_000, 10
    memory = torch.empty((n + 3, width), device=device)
    kept = factors._masks(p, np.random.default_rng(0), memory)(n).cpu().double().numpy()
    assert set(np.unique(kept)) == {0, 1}
    z = (kept - (1 - p)) / (p * (1 - p)) ** 0.5
    assert abs(z.mean()) < 5 / (n * width) ** 0.5
    assert np.abs(z.mean(0)).max() < 5 / n**0.5
    for lag in (1, 2, 4, width):  # within a mask, within a random word, from mask to mask
        assert abs((z.ravel()[lag:] * z.ravel()[:-lag]).mean()) < 5 / (n * width) ** 0.5


def test_the_rate_is_exact_to_the_last_number():
    """Of all 2^16 numbers that decide an entry, 2^16 p drop it."""

    class Counter:
        def integers(self, *_, **__):
            return np.arange(factors.LEVELS, dtype=np.uint16).view(np.uint64)

    for p in (1 / 65536, 0.25, 65535 / 65536):
        memory = torch.empty((factors.LEVELS // 8, 8))
        kept = factors._masks(p, Counter(), memory)(factors.LEVELS // 8)
        assert (kept == 0).sum() == p * factors.LEVELS


def test_every_rating_has_its_own_mask():
    """Row 0 gets the sum of two gradients; their variance is the sum if the masks differ."""
    U, V = torch.ones((1, 1), dtype=torch.float64), torch.ones((2, 1), dtype=torch.float64)
    known = Ratings([0, 0], [0, 1], [4.0, 4.0])
    options = {"epochs": 1, "batch": 2, "step_size": 0.5}
    runs = (
        factors.train(known, known, U, V, drop=0.5, **options, rng=seed) for seed in range(4000)
    )
    steps = [float(run.U - U) for run in runs]
    # a kept rating moves U by 0.5 (4 - 2) 2 = 2 (1.5 without the factor 1 / (1 - p)), others by 0
    values, counts = np.unique(np.round(steps, 12), return_counts=True)
    assert values.tolist() == [0, 2, 4]
    np.testing.assert_allclose(counts / 4000, [1 / 4, 1 / 2, 1 / 4], atol=5 * 0.5 / 4000**0.5)


def test_a_training_is_decided_by_its_seed_and_leaves_the_start_alone():
    U, V, known = problem()
    start = U.clone()
    options = {"epochs": 4, "batch": 4, "step_size": 0.1, "every": 3}
    runs = [factors.train(known, known, U, V, drop=0.3, **options, rng=seed) for seed in (0, 0, 1)]
    assert torch.equal(U, start)
    assert torch.equal(runs[0].U, runs[1].U)
    assert not torch.equal(runs[0].U, runs[2].U)
    assert runs[0].epochs.tolist() == [0, 3, 4]
    assert len(runs[0].test_rmse) == 3
    assert np.isclose(runs[0].test_rmse[-1], rmse(runs[0].U, runs[0].V, known), rtol=1e-14)


def test_he_factors_have_variance_two_over_the_width():
    U, V = factors.he_factors(3000, 2000, 8, 0)
    for t, rows in ((U, 3000), (V, 2000)):
        assert t.shape == (rows, 8)
        assert t.dtype == torch.float32
        assert abs(t.double().var() / 0.25 - 1) < 5 * (2 / t.numel()) ** 0.5


def test_split_parts_the_ratings():
    known = Ratings(np.arange(50), np.arange(50) + 100, np.arange(50) / 10)
    train, test = factors.split(known, 0.1, 3)
    assert len(test.row) == 5
    rows = np.concatenate([train.row, test.row])
    assert sorted(rows.tolist()) == list(range(50))
    for part in (train, test):
        assert (part.column == part.row + 100).all()
        assert (part.value == part.row / 10).all()
    assert factors.split(known, 0.1, 4)[1].row.tolist() != test.row.tolist()


# Refusals ----------------------------------------------------------------------------------------

U, V, KNOWN = problem()


def training(**change):
    """A call of `train` whose arguments are right but for these."""
    good = {"train": KNOWN, "test": KNOWN, "U": U, "V": V, "drop": 0.5}
    good |= {"epochs": 1, "batch": 4, "step_size": 0.1, "rng": 0}
    return lambda: factors.train(**(good | change))


test_training_refuses = refusals(
    (training(drop=1 - 1e-9), "drop must be a probability"),
    (training(step_size=0), "step_size must be"),
    (training(epochs=0), "epochs must be an integer that is at least 1"),
    (training(batch=2.0), "batch must be an integer that is at least 1"),
    (training(every=0), "every must be an integer that is at least 1"),
    (training(rng=None), "rng must be a NumPy Generator or a seed"),
    (training(test=Ratings([], [], [])), "test must be .* the lengths 0, 0, 0"),
    (training(test=Ratings([0], [0, 1], [1.0])), "they have the lengths 1, 2, 1"),
    (training(test=Ratings([7], [0], [1.0])), "Every row of test must be below 7, the length of"),
    (training(train=Ratings([0], [5], [1.0])), "Every column of train must be below 5"),
    (training(train=Ratings([-1], [0], [1.0])), "The rows of train must be integers .* least 0"),
    (training(train=Ratings([0], [0.5], [1.0])), "The columns of train must be integers"),
    (training(train=Ratings([0], [0], [np.nan])), "the values of train must have finite entries"),
    (training(U=torch.ones(7)), r"U must have 2 axes, none empty, but its shape is \(7,\)"),
    (training(V=torch.ones((5, 3))), "U and V must agree in .* number of columns, dtype"),
    (training(V=torch.full((5, 3), np.inf)), "V must be a tensor of finite floating-point numbers"),
)
test_the_others_refuse = refusals(
    (
        lambda: factors.sgd_step(U, V, KNOWN, np.ones((12, 2)), 0.1, drop=0.5),
        r"kept must be \(12, 3\)",
    ),
    (
        lambda: factors.sgd_step(U, V, KNOWN, np.full((12, 3), np.nan), 0.1, drop=0.5),
        "kept must be .*",
    ),
    (lambda: factors.sgd_step(U, V, KNOWN, np.full((12, 3), "1"), 0.1, drop=0.5), "kept must be"),
    (lambda: factors.sgd_step(U, V, KNOWN, np.ones((12, 3)) + 1j, 0.1, drop=0.5), "kept must be"),
    (
        lambda: factors.split(Ratings(np.ma.masked_array([0, 1], [0, 1]), [0, 1], [1, 2]), 0.5, 0),
        "the rows of ratings must have finite entries, but some are masked",
    ),
    (lambda: factors.split(KNOWN, 1.0, 0), "share must be a number"),
    (lambda: factors.split(KNOWN, 0.01, 0), "share must leave ratings in both parts"),
    (lambda: factors.he_factors(3, 3, 0, 0), "width must be an integer that is at least 1"),
)


# Table 4-I ---------------------------------------------------------------------------------------


def test_synthetic_ratings_have_stars_power_laws_and_no_pair_twice():
    made = ch4.synthetic_ratings(400, 300, 10_000, 0)
    assert set(made.value.tolist()) == {1, 2, 3, 4, 5}
    assert len(set(zip(made.row.tolist(), made.column.tolist(), strict=True))) == 10_000
    for ids, n in ((made.row, 400), (made.column, 300)):
        counts = np.sort(np.bincount(ids, minlength=n))
        assert counts[-n // 10 :].sum() > counts[: n // 2].sum()


def test_the_ids_of_the_real_data_are_made_dense(monkeypatch):
    gaps = ch4.data.Ratings(
        *(np.array(a) for a in ([5, 9, 5], [2, 2, 65133], [0.5, 4, 5], [1] * 3))
    )
    monkeypatch.setattr(ch4.data, "movielens", {"10m": gaps}.get)
    found = ch4.load("10m")
    assert [a.tolist() for a in found] == [[0, 1, 0], [0, 0, 1], [0.5, 4, 5]]


def test_the_printed_table_says_what_the_text_says():
    last, best, rates = ch4.PRINTED[:, 0], ch4.PRINTED[:, 1], ch4.PRINTED[:, 2:]
    assert (np.diff(last) > 0).all()
    assert (np.diff(best) < 0).all()
    assert np.round((best - rates.min(1)).min(), 4) == 0.0124
    assert rates.argmin(1).tolist() == [0, 2, 2, 3, 3]
