"""SGD with dropout on the factors of a rating matrix, of which few entries are known.

User i rates film j as ``U_i V_j^T``, with tables U (users, d) and V (films, d). Dropout trains
``sum_k b_k U_ik V_jk / (1 - p)`` on the known ratings, each with its own mask b, whose entries are
zero with probability p. Plain SGD is p = 0. A step touches only the rows that its batch names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs._tensors import check_factors, tensor

LEVELS = 1 << 16  # of a random number that decides one entry of a mask
CHUNK = 1024  # ratings predicted at once: their rows stay in the cache


class Ratings(NamedTuple):
    """Known entries of a matrix.

    Attributes
    ----------
    row, column : (n,) array_like or Tensor
        Places of the entries, whole numbers from 0.
    value : (n,) array_like or Tensor
        The entries, finite.
    """

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray


class CompletionTraining(NamedTuple):
    """Tables at the end of `train`, and the errors of the tables, without masks, on the way.

    Attributes
    ----------
    U : (rows, d) Tensor
        Table of the rows.
    V : (columns, d) Tensor
        Table of the columns.
    epochs : (k,) ndarray
        Numbers of epochs after which the errors were measured.
    train_rmse, test_rmse : (k,) ndarray
        Root mean squared errors on either set.
    """

    U: torch.Tensor
    V: torch.Tensor
    epochs: np.ndarray
    train_rmse: np.ndarray
    test_rmse: np.ndarray


def split(
    ratings: Ratings, share: float, rng: np.random.Generator | int
) -> tuple[Ratings, Ratings]:
    """Random disjoint parts of the ratings, for training and for testing.

    Parameters
    ----------
    ratings : Ratings
        The n ratings.
    share : float
        Share of the test set, in (0, 1); it gets ``round(share n)`` ratings.
    rng : numpy.random.Generator or int
        Source of randomness, or its seed.

    Returns
    -------
    train : Ratings
        Ratings for training.
    test : Ratings
        Ratings for testing.

    Raises
    ------
    ValueError
        If one of the parts would be empty.

    Examples
    --------
    >>> train, test = split(Ratings([0, 1, 2, 3], [0, 0, 1, 1], [5, 3, 4, 1]), 0.25, 0)
    >>> len(train.row), len(test.row)
    (3, 1)
    """
    ratings = _ratings("ratings", ratings)
    rng = arguments.generator(rng)
    n = len(ratings.row)
    share = arguments.number("share", share, above=0, below=1)
    count = round(share * n)
    if not 0 < count < n:
        raise ValueError(f"share must leave ratings in both parts, but {share} of {n} are {count}.")
    order = rng.permutation(n)
    parts = np.sort(order[count:]), np.sort(order[:count])
    return tuple(Ratings(*(a[part] for a in ratings)) for part in parts)


def he_factors(
    rows: int,
    columns: int,
    width: int,
    rng: np.random.Generator | int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Tables with Gaussian entries of variance ``2 / width``, He's rule for inputs of that width.

    Parameters
    ----------
    rows : int
        Length of the first table, at least 1.
    columns : int
        Length of the second table, at least 1.
    width : int
        Width d of both, at least 1.
    rng : numpy.random.Generator or int
        Source of randomness, or its seed.
    dtype : torch.dtype, optional
        Type of the entries, float32 by default.
    device : torch.device or str, optional
        Where the tables lie.

    Returns
    -------
    U : (rows, width) Tensor
        Table of the rows.
    V : (columns, width) Tensor
        Table of the columns.

    References
    ----------
    Section 4.6 of the thesis
    """
    sizes = {"rows": rows, "columns": columns, "width": width}
    for name, size in sizes.items():
        arguments.positive_integer(name, size)
    rng = arguments.generator(rng)
    kind = np.float64 if dtype == torch.float64 else np.float32
    tables = (rng.standard_normal((n, width), kind) for n in (rows, columns))
    scale = (2 / width) ** 0.5
    return tuple(torch.from_numpy(table).mul_(scale).to(device, dtype) for table in tables)


def sgd_step(
    U: torch.Tensor,
    V: torch.Tensor,
    ratings: Ratings,
    kept: ArrayLike | torch.Tensor,
    step_size: float,
    *,
    drop: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step of SGD on the mean over a batch of ``(y - sum_k b_k U_ik V_jk / (1 - p))^2``.

    Parameters
    ----------
    U : (rows, d) Tensor
        Table of the rows, which is not changed.
    V : (columns, d) Tensor
        Table of the columns, which is not changed.
    ratings : Ratings
        Batch of n ratings, which may name a row or column many times.
    kept : (n, d) array_like or Tensor
        Masks b, one for each rating, of ones and zeros.
    step_size : float
        Factor of the gradient, above 0.
    drop : float
        Probability p of a zero in the masks, in [0, 1).

    Returns
    -------
    U : (rows, d) Tensor
        New table of the rows.
    V : (columns, d) Tensor
        New table of the columns.

    Notes
    -----
    Cost: ``O(n d)``, and a copy of the tables.
    """
    check_factors(U, V, ndim=2)
    batch = _on(U, V, "ratings", ratings)
    drop = arguments.drop_probability(drop)
    step_size = arguments.number("step_size", step_size, above=0)
    kept = tensor("kept", kept, U.dtype, U.device)
    if kept.shape != (len(batch.row), U.shape[1]) or not ((kept == 0) | (kept == 1)).all():
        raise ValueError(
            f"kept must be {(len(batch.row), U.shape[1])}, a mask of zeros and ones for each "
            f"rating, but its shape is {tuple(kept.shape)} or it has other entries."
        )
    U, V = U.clone(), V.clone()
    _step_(U, V, *batch, kept, 1 / (1 - drop), step_size, _workspace(U, len(batch.row)))
    return U, V


@torch.no_grad()
def train(
    train: Ratings,
    test: Ratings,
    U: torch.Tensor,
    V: torch.Tensor,
    *,
    drop: float,
    epochs: int,
    batch: int,
    step_size: float,
    rng: np.random.Generator | int,
    every: int = 1,
) -> CompletionTraining:
    """SGD with dropout, in epochs of all training ratings in random order, and its errors.

    Parameters
    ----------
    train : Ratings
        The n ratings for training.
    test : Ratings
        Ratings for testing.
    U : (rows, d) Tensor
        Table of the rows at the start, whose dtype and device decide the arithmetic; not changed.
    V : (columns, d) Tensor
        Table of the columns at the start, not changed.
    drop : float
        Probability p of dropping a factor, in [0, 1), rounded to a multiple of ``2^-16``, which is
        then exact; 0 is plain SGD.
    epochs : int
        Number of epochs, at least 1.
    batch : int
        Number of ratings in a batch, at least 1; the last of an epoch may be smaller.
    step_size : float
        Factor of the gradient of a batch's mean squared error, above 0.
    rng : numpy.random.Generator or int
        Source of randomness, or its seed.
    every : int, optional
        Number of epochs between two measurements, at least 1; start and end are measured, too.

    Returns
    -------
    CompletionTraining
        Tables and errors; a training that diverges ends in infinities or NaN.

    Notes
    -----
    Cost: ``O(n d)`` per epoch, whatever the size of the tables.

    References
    ----------
    :claim:`thesis/table-4-I`, :claim:`thesis/figure-4-1`
    """
    check_factors(U, V, ndim=2)
    train, test = _on(U, V, "train", train), _on(U, V, "test", test)
    drop = arguments.drop_probability(round(arguments.drop_probability(drop) * LEVELS) / LEVELS)
    epochs = arguments.positive_integer("epochs", epochs)
    n, batch = len(train.row), arguments.positive_integer("batch", batch)
    every = arguments.positive_integer("every", every)
    step_size = arguments.number("step_size", step_size, above=0)
    rng = arguments.generator(rng)

    U, V = U.clone(), V.clone()
    work, memory = _workspace(U, min(batch, n)), U.new_empty((min(batch, n), U.shape[1]))
    draw = _masks(drop, rng, memory)
    times, errors = [0], [(_rmse(U, V, train), _rmse(U, V, test))]
    for epoch in range(epochs):
        order = torch.from_numpy(rng.permutation(n)).to(U.device)
        shuffled = [a[order] for a in train]
        for part in zip(*(a.split(batch) for a in shuffled), strict=True):
            _step_(U, V, *part, draw(len(part[0])), 1 / (1 - drop), step_size, work)
        if (epoch + 1) % every == 0 or epoch + 1 == epochs:
            times.append(epoch + 1)
            errors.append((_rmse(U, V, train), _rmse(U, V, test)))
    return CompletionTraining(U, V, np.array(times), *np.array(errors).T)


def _step_(U, V, row, column, value, kept, scale, step_size, work):
    """The step in place. kept: None, or masks (n, d), overwritten. work: from `_workspace`."""
    A, B, C = (buffer[: len(row)] for buffer in work)
    torch.index_select(U, 0, row, out=A)
    torch.index_select(V, 0, column, out=B)
    if kept is not None:
        A.mul_(kept)
    error = value - torch.mul(A, B, out=C).sum(1).mul_(scale)
    factor = error.mul_(2 * step_size * scale / len(row))[:, None]
    if kept is not None:
        B.mul_(kept)
    # both from the old tables; a row that is named twice gets the sum of its gradients
    U.index_add_(0, row, B.mul_(factor))
    V.index_add_(0, column, A.mul_(factor))


def _workspace(U, n):
    """Memory for the rows of a batch, taken once: fresh pages would cost as much as the step."""
    return [U.new_empty((n, U.shape[1])) for _ in range(3)]


def _masks(p, rng, memory):
    """A function of n that draws masks (n, d) into the memory (at least n, d); None for p = 0."""
    # An entry is dropped if one of 2^16 equally likely numbers is below 2^16 p.
    if p == 0:
        return lambda n: None
    width, threshold = memory.shape[1], int(p * LEVELS)
    if memory.device.type != "cpu":
        coins = torch.Generator(memory.device).manual_seed(int(rng.integers(2**62)))
        options = {"generator": coins, "device": memory.device, "dtype": torch.int32}
        return lambda n: memory[:n].copy_(torch.randint(LEVELS, (n, width), **options) >= threshold)

    def masks(n):
        words = rng.integers(2**64 - 1, size=-(-n * width // 4), dtype=np.uint64, endpoint=True)
        kept = words.view(np.uint16)[: n * width] >= threshold
        # as bytes: torch converts them several times faster than booleans
        return memory[:n].copy_(torch.from_numpy(kept.view(np.uint8)).view(n, width))

    return masks


def _rmse(U, V, ratings):
    total, work = 0.0, _workspace(U, CHUNK)
    for row, column, value in zip(*(a.split(CHUNK) for a in ratings), strict=True):
        A, B, C = (buffer[: len(row)] for buffer in work)
        torch.index_select(U, 0, row, out=A)
        torch.index_select(V, 0, column, out=B)
        error = torch.mul(A, B, out=C).sum(1) - value
        total += (error * error).sum(dtype=torch.float64)
    return float(total / len(ratings.row)) ** 0.5


# Arguments ---------------------------------------------------------------------------------------


def _ratings(name, ratings):
    """Three NumPy arrays of equal length, at least 1; ids are integers from 0, values finite."""
    row, column, value = ratings
    value = arguments.vector(f"the values of {name}", value) if np.size(value) else np.empty(0)
    ids = [
        arguments.array(f"the {what} of {name}", a)
        for what, a in (("rows", row), ("columns", column))
    ]
    if not len(value) == np.size(ids[0]) == np.size(ids[1]) > 0:
        sizes = ", ".join(str(np.size(a)) for a in (*ids, value))
        raise ValueError(
            f"{name} must be rows, columns and values of one length, at least 1, but they have "
            f"the lengths {sizes}."
        )
    ids = (
        arguments.integers(f"The {what} of {name}", a, size=len(value))
        for what, a in zip(("rows", "columns"), ids, strict=True)
    )
    return Ratings(*ids, value)


def _on(U, V, name, ratings):
    """The ratings as tensors beside U; their ids must lie within the tables."""
    ratings = _ratings(name, (a.cpu() if isinstance(a, torch.Tensor) else a for a in ratings))
    for what, ids, table in (("row", ratings.row, U), ("column", ratings.column, V)):
        if ids.max() >= len(table):
            raise ValueError(
                f"Every {what} of {name} must be below {len(table)}, the length of its table, "
                f"but one is {ids.max()}."
            )
    row, column = (tensor("ids", a, device=U.device) for a in (ratings.row, ratings.column))
    return Ratings(row, column, tensor("values", ratings.value, U.dtype, U.device))
