"""What every training loop needs: schedules of the step size, and a recorder of its course."""

from collections.abc import Callable
from math import cos, inf, pi

import numpy as np

from runproofs import _arguments as arguments


def cosine_schedule(initial: float, steps: int) -> Callable:
    """The step size ``t -> initial (1 + cos(pi t / steps)) / 2``, which falls to 0 at t = steps.

    Parameters
    ----------
    initial : float
        Step size at t = 0, larger than 0.
    steps : int
        Number of steps, at least 1.

    Returns
    -------
    callable
        Takes t, returns the step size.

    Examples
    --------
    >>> [round(cosine_schedule(0.2, 100)(t), 3) for t in (0, 50, 100)]
    [0.2, 0.1, 0.0]
    """
    initial = arguments.number("initial", initial, above=0)
    steps = arguments.positive_integer("steps", steps)
    return lambda t: initial * (1 + cos(pi * t / steps)) / 2


def step_decay(initial: float, factor: float, every: int) -> Callable:
    """The step size ``t -> initial * factor^(t // every)``.

    Parameters
    ----------
    initial : float
        Step size at t = 0, larger than 0.
    factor : float
        What it is multiplied by, larger than 0.
    every : int
        After how many steps, at least 1.

    Returns
    -------
    callable
        Takes t, returns the step size.

    References
    ----------
    Section 6.5.2 of the thesis

    Examples
    --------
    >>> [step_decay(0.5, 0.25, 10)(t) for t in (0, 9, 10, 20)]
    [0.5, 0.5, 0.125, 0.03125]
    """
    initial = arguments.number("initial", initial, above=0)
    factor = arguments.number("factor", factor, above=0)
    every = arguments.positive_integer("every", every)
    return lambda t: initial * factor ** (t // every)


def _step_sizes(step_size):
    """A function of the step t = 0, 1, ..., from a function or from a number.

    step_size: larger than 0, or a function whose values are at least 0. Returns a function that
    raises ValueError when it meets another value. Cost: O(1) a call.
    """
    if not callable(step_size):
        constant = arguments.number("step_size", step_size, above=0)
        return lambda t: constant

    def checked(t):
        size = step_size(t)
        if not 0 <= size < inf:
            raise ValueError(f"step_size must be finite and at least 0, but at {t} it was {size}.")
        return size

    return checked


class Recorder:
    """Calls a function on the state of a training: at the start, on the way and at the end.

    Parameters
    ----------
    observe : callable or None
        Takes the state; returns a dict of arrays or CPU tensors, of the same names and shapes each
        time, which are copied. None observes nothing.
    every : int, list of int or None
        Number of steps between two calls, or the times of the calls, at least 1; None for none.
    steps : int
        Number of steps of the training, at least 1.
    """

    def __init__(self, observe, every, steps):
        if np.ndim(every) == 0:
            every = steps if every is None else arguments.positive_integer("every", every)
            every = range(every, steps, every)
        self.observe = observe
        self.watched = {0, steps, *(arguments.positive_integer("every", t) for t in every)}
        self.times, self.records = [], []

    def __call__(self, t, *state):
        if self.observe is not None and t in self.watched:
            observed = self.observe(*state)
            if not isinstance(observed, dict):
                raise ValueError(f"observe must return a dict of arrays, but it gave {observed!r}.")
            self.times.append(t)
            self.records.append({name: np.asarray(a).copy() for name, a in observed.items()})

    def results(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """What was observed, and when.

        Returns
        -------
        times : (k,) ndarray of int
            Numbers of steps made.
        observed : dict of ndarray
            The arrays by name, stacked along a leading axis of length k.
        """
        names = self.records[0] if self.records else ()
        observed = {name: np.array([a[name] for a in self.records]) for name in names}
        return np.array(self.times, dtype=int), observed
