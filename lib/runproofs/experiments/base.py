"""Experiments: one definition, a quick scale for the page and the scale of the source, stored.

An author writes the function of *one* setting; ``over`` names the settings that are swept::

    @experiment(
        "figure-2-3",
        over=("lam", "r"),
        quick=dict(lam=(0.1, 0.5), r=(5,), runs=10, shape=(30, 20)),
        paper=dict(lam=(0.1, 0.5, 1.0), r=(20, 80), runs=50, shape=(120, 80)),
    )
    def dropout_reaches_the_optimum(lam, r, runs, shape, seed=0):
        ...
        return {"objective": objective}  # an array; the result has shape (lam, r, *objective.shape)

``dropout_reaches_the_optimum()`` runs the quick scale (SCALE=paper in the environment: the other);
``.paper()`` loads the stored run of the paper scale, which ``make paper FIGURE=figure-2-3`` makes.

A stored run carries the identity of the code that it reached. Where that code has changed since,
the run is ``stale()``, and ``make test`` fails, until ``python -m booktools revalidate figure-2-3``
has computed its first steps again and found them unchanged, which ``identities.txt`` notes beside
the stored runs, or ``make paper FIGURE=figure-2-3 FRESH=1`` all of them.
"""

import inspect
import itertools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial, update_wrapper
from pathlib import Path

import joblib
import numpy as np
from tqdm import tqdm

import runproofs.experiments.provenance as provenance
import runproofs.experiments.results as results
from runproofs.claims.registry import BOOK, demand_clone
from runproofs.experiments.results import Result, ResultError, load, load_if_valid, save

RESULTS = BOOK / "results"
IDENTITIES = "identities.txt"
SCALES = ("quick", "paper")

_registry: dict[str, "Experiment"] = {}


def registered() -> dict[str, "Experiment"]:
    """The experiments of all modules imported so far.

    Returns
    -------
    dict of Experiment
        By name, sorted.
    """
    return dict(sorted(_registry.items()))


def identities(folder: Path = RESULTS) -> dict[str, tuple[str, float]]:
    """The stored runs that other code made than today's: the lines of ``identities.txt``.

    Parameters
    ----------
    folder : Path, optional
        Where the stored runs lie; by default that of the book.

    Returns
    -------
    dict of (str, float)
        By name, the identity of today's code and the share of the numbers that it was seen to make
        again.
    """
    path = folder / IDENTITIES
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {name: (code, float(share)) for name, code, share in map(str.split, lines)}


# Running -----------------------------------------------------------------------------------------


class _Progress(joblib.Parallel):
    """joblib's loop with a progress bar that counts finished tasks, silent without a terminal."""

    def __init__(self, n_jobs, total, title):
        super().__init__(n_jobs=n_jobs)
        self.bar = tqdm(total=total, desc=title, disable=None, leave=False)

    def print_progress(self):
        self.bar.update(self.n_completed_tasks - self.bar.n)


def sweep(
    function: Callable, settings: Iterable[dict], n_jobs: int | None = None, title: str = ""
) -> list:
    """``[function(**s) for s in settings]``, in order, with a progress bar.

    Parameters
    ----------
    function : callable
        Takes the settings by name.
    settings : iterable of dict
        One entry a call.
    n_jobs : int, optional
        Calls at once; by default 1, or what an enclosing ``joblib.parallel_config`` says, backend
        included.
    title : str, optional
        Stands before the bar.

    Returns
    -------
    list
        What the calls returned.
    """
    settings = list(settings)
    parallel = _Progress(n_jobs, len(settings), title)
    with parallel.bar:
        return parallel(joblib.delayed(function)(**setting) for setting in settings)


def _compute(function: Callable, settings: dict, identity: dict, path: Path | None) -> Result:
    """One setting, timed; stored at `path` by the process that computed it, if there is a path."""
    start = time.perf_counter()
    arrays = function(**settings)
    seconds = round(time.perf_counter() - start, 6)
    result = Result(arrays, {**identity, "seconds": seconds, **provenance.machine()})
    if path:
        save(path, result)
    return result


def _assemble(parts: list[Result], shape: tuple[int, ...], identity: dict) -> Result:
    """Stack the results of all settings along leading axes, one for each swept setting."""
    layouts = [{name: array.shape for name, array in part.items()} for part in parts]
    if any(layout != layouts[0] for layout in layouts):
        raise ValueError(
            "Every setting of a sweep returns arrays of the same names and shapes (pad what is "
            f"shorter), but {identity['experiment']!r} returned {layouts}."
        )
    arrays = {
        name: np.stack([part[name] for part in parts]).reshape(shape + layout)
        for name, layout in layouts[0].items()
    }
    abouts = [part.provenance for part in parts]
    return Result(
        arrays,
        {
            **identity,
            "commit": provenance.commit(),
            "data": provenance.data_read(identity["settings"]),
            "seconds": round(sum(about["seconds"] for about in abouts), 6),
            **{key: " + ".join(sorted({a[key] for a in abouts})) for key in provenance.machine()},
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    )


class Experiment:
    """A function of one setting with its two scales; made by the decorator `experiment`.

    Parameters
    ----------
    function : callable
        Takes one setting; returns a dict of arrays.
    name : str
        Name of the file.
    over : tuple of str
        Settings that are swept.
    scales : dict of dict
        Settings of "quick" and of "paper".
    not_run : str
        Why no run of the paper scale is stored yet, or empty.
    """

    def __init__(self, function, name, over, scales, not_run):
        update_wrapper(self, function)
        self.function, self.name, self.over, self.scales = function, name, over, scales
        self.not_run = not_run

    @property
    def path(self) -> Path:
        """Where the run of the paper scale is stored."""
        return RESULTS / f"{self.name}.npz"

    def __call__(self, **changes) -> Result:
        """Run the quick scale, or the one that the environment variable SCALE names.

        `changes` replace settings of that scale; a changed run is not stored. The paper scale
        unchanged is `reproduce()`.
        """
        scale = os.environ.get("SCALE", "quick")
        if scale not in SCALES:
            raise ValueError(f"SCALE must be one of {SCALES}, but it was {scale!r}.")
        if unknown := set(changes) - set(self.scales[scale]):
            raise ValueError(
                f"{self.name!r} has the settings {sorted(self.scales[scale])}, "
                f"not {sorted(unknown)}."
            )
        if scale == "paper" and not changes:
            return self.reproduce()
        return self._run(self.scales[scale] | changes, folder=None)

    def paper(self) -> Result:
        """The stored run of the paper scale.

        Returns
        -------
        Result
            The arrays, with their provenance.

        Raises
        ------
        ResultError
            If there is none that is valid; it says how to compute it.
        """
        try:
            return load(self.path, **self._asked())
        except ResultError as error:
            why = f" It has not been run: {self.not_run}." if self.not_run else ""
            message = f"{error}{why} `make paper FIGURE={self.name}` computes it."
            raise ResultError(message) from None

    def stale(self) -> bool:
        """Whether the stored run was made by other code than it would be today.

        Returns
        -------
        bool
            False too if today's code was seen to make it again.
        """
        known = identities(self.path.parent)
        code = known[self.name][0] if self.name in known else self.paper().provenance.get("code")
        return code != provenance.identity(self.function)

    def stored(self) -> Result | None:
        """The stored run of the paper scale, if it is valid.

        Returns
        -------
        Result or None
            None if there is none, or none that is valid.
        """
        return load_if_valid(self.path, **self._asked())

    def reproduce(self) -> Result:
        """The run of the paper scale: the stored one if valid, else a new one.

        Returns
        -------
        Result
            The arrays, with their provenance.
        """
        stored = self.stored()
        return self.compute() if stored is None else stored

    def compute(self, fresh: bool = False) -> Result:
        """Run the paper scale and store it.

        Parameters
        ----------
        fresh : bool, optional
            Do not resume an interrupted run.

        Returns
        -------
        Result
            The arrays, with their provenance.

        Raises
        ------
        SystemExit
            Without a clone of the book, which it is stored in.

        Notes
        -----
        Every finished setting is kept under .unfinished at once, so that an interrupted run resumes
        at the next; what other code, versions or settings left there is refused.
        """
        demand_clone("A run at the paper scale, which is stored,")
        folder = results.UNFINISHED / self.name
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        result = self._run(self.scales["paper"], folder)
        save(self.path, result)
        if self.name in identities(self.path.parent):
            self.revalidated(None)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def revalidated(self, share: float | None) -> None:
        """Record that today's code makes a share of the stored numbers again.

        Parameters
        ----------
        share : float or None
            The share, which whoever calls this has measured; None for all, the run being new.
        """
        known = identities(self.path.parent)
        known.pop(self.name, None)
        if share is not None:
            known[self.name] = provenance.identity(self.function), share
        lines = [f"{name} {code} {share:.3g}\n" for name, (code, share) in sorted(known.items())]
        (self.path.parent / IDENTITIES).write_text("".join(lines), "utf-8")

    def _asked(self) -> dict:
        return {"experiment": self.name, "settings": _plain(self.scales["paper"])}

    def _run(self, settings: dict, folder: Path | None) -> Result:
        identity = {
            "experiment": self.name,
            "versions": provenance.versions(),
            "code": provenance.identity(self.function),
        }
        axes = [_values(name, settings[name]) for name in self.over]
        parts, tasks = [], []
        for index, values in enumerate(itertools.product(*axes)):
            setting = settings | dict(zip(self.over, values, strict=True))
            about = {**identity, "settings": _plain(setting)}
            path = folder / f"{index:03}.npz" if folder else None
            parts.append(load_if_valid(path, **about) if path else None)
            if parts[-1] is None:
                tasks.append({"settings": setting, "identity": about, "path": path})
        if len(tasks) < len(parts):
            done = f"{len(parts) - len(tasks)} of {len(parts)} settings were finished before"
            tqdm.write(f"{self.name}: {done}, the rest follows.", file=sys.stderr)
        computed = iter(sweep(partial(_compute, self.function), tasks, title=self.name))
        parts = [next(computed) if part is None else part for part in parts]
        shape = tuple(len(axis) for axis in axes)
        return _assemble(parts, shape, {**identity, "settings": _plain(settings)})


def _values(name: str, values) -> list:
    if not isinstance(values, list | tuple | range | np.ndarray) or not len(values):
        raise ValueError(
            f"{name} is swept: it must be a sequence of values, but it was {values!r}."
        )
    return list(values)


def _plain(settings: dict) -> dict:
    """The settings as JSON has them, which is how a stored file holds them."""
    return json.loads(json.dumps(settings, default=lambda value: np.asarray(value).tolist()))


def experiment(
    name: str, *, quick: dict, paper: dict, over: tuple[str, ...] = (), not_run: str = ""
) -> Callable:
    """Decorator: make the function of one setting, ``f(..., seed)``, an `Experiment`.

    Parameters
    ----------
    name : str
        Name of the file: lower-case words joined by hyphens ("figure-2-3").
    quick, paper : dict
        Settings of the two scales, the same names in both; seed, the same for every setting, may be
        among them and is 0 otherwise.
    over : tuple of str, optional
        Settings whose values are sequences to sweep; results get one leading axis for each, in this
        order.
    not_run : str, optional
        Why no run of the paper scale is stored yet; such an experiment runs only when it is named.

    Returns
    -------
    callable
        Takes the function, which returns a dict of arrays; returns the `Experiment`.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"name must be lower-case words joined by hyphens, but it was {name!r}.")

    def register(function: Callable) -> Experiment:
        parameters = set(inspect.signature(function).parameters)
        scales = {"quick": {"seed": 0, **quick}, "paper": {"seed": 0, **paper}}
        for scale, settings in scales.items():
            if set(settings) != parameters:
                raise ValueError(
                    f"The {scale} settings of {name!r} must be the arguments of its function, "
                    f"{sorted(parameters)} (seed among them), but they are {sorted(settings)}."
                )
        if not set(over) <= parameters:
            raise ValueError(f"over must name settings of {name!r}, but it was {over!r}.")
        made = Experiment(function, name, tuple(over), scales, not_run)
        known = _registry.get(name, made)
        if (known.__module__, known.__qualname__) != (made.__module__, made.__qualname__):
            raise ValueError(f"name must be new, but {name!r} is {known.__qualname__} already.")
        _registry[name] = made  # the same cell or module run again
        return made

    return register
