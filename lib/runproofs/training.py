"""What every training loop needs: schedules of the step size, and a recorder of its course."""

from math import cos, inf, pi

import numpy as np

from runproofs import _arguments as arguments


def cosine_schedule(initial, steps):
    """The step size t -> initial (1 + cos(pi t / steps)) / 2, which falls to 0 at t = steps.

    initial: larger than 0. steps: at least 1. Returns a function. Raises ValueError for bad
    arguments. Cost: O(1) a call. Source: beyond the thesis.

    >>> [round(cosine_schedule(0.2, 100)(t), 3) for t in (0, 50, 100)]
    [0.2, 0.1, 0.0]
    """
    initial = arguments.number("initial", initial, above=0)
    steps = arguments.positive_integer("steps", steps)
    return lambda t: initial * (1 + cos(pi * t / steps)) / 2


def step_decay(initial, factor, every):
    """The step size t -> initial * factor^(t // every), as in the experiments of Section 6.5.2.

    initial, factor: larger than 0. every: at least 1. Returns a function. Raises ValueError for bad
    arguments. Cost: O(1) a call. Source: thesis, Section 6.5.2.

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
    """Calls `observe` on the state of a training at t = 0, at the times of `every`, at the end.

    observe: None, or a function of the state that returns a dict of arrays or CPU tensors, with the
    same names and shapes each time; they are copied. every: None, a number of steps, or a list of
    the times. steps: at least 1. Raises ValueError for a bad `every`, and if `observe` returns
    anything but a dict. Memory: all that was observed.
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

    def results(self):
        """The times, and the arrays observed, stacked along a leading axis."""
        names = self.records[0] if self.records else ()
        observed = {name: np.array([a[name] for a in self.records]) for name in names}
        return np.array(self.times, dtype=int), observed
