"""What every training loop needs: schedules of the step size, and a recorder of its course."""

from math import cos, pi

import numpy as np

from runproofs import _arguments as arguments


def cosine_schedule(initial, steps):
    """The step size t -> initial (1 + cos(pi t / steps)) / 2, which falls to 0 at t = steps.

    initial: larger than 0. steps: at least 1. Returns a function. Raises ValueError for bad
    arguments.
    """
    initial = arguments.positive("initial", initial)
    steps = arguments.positive_integer("steps", steps)
    return lambda t: initial * (1 + cos(pi * t / steps)) / 2


def step_decay(initial, factor, every):
    """The step size t -> initial * factor^(t // every), as in the experiments of Section 6.5.2.

    initial, factor: larger than 0. every: at least 1. Raises ValueError for bad arguments.
    """
    initial, factor = arguments.positive("initial", initial), arguments.positive("factor", factor)
    every = arguments.positive_integer("every", every)
    return lambda t: initial * factor ** (t // every)


def step_sizes(step_size):
    """A function of the step, from one or from a number larger than 0 (else ValueError)."""
    if callable(step_size):
        return step_size
    constant = arguments.positive("step_size", step_size)
    return lambda t: constant


class Recorder:
    """Calls `observe` on the state of a training at t = 0, at the times of `every`, at the end.

    observe: None, or returns a dict of arrays. every: None, a number of steps, or a list of them.
    Raises ValueError for a bad `every`.
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
            self.times.append(t)
            observed = self.observe(*state)
            self.records.append({name: np.asarray(a).copy() for name, a in observed.items()})

    def results(self):
        """The times, and the arrays observed, stacked along a leading axis."""
        names = self.records[0] if self.records else ()
        observed = {name: np.array([a[name] for a in self.records]) for name in names}
        return np.array(self.times, dtype=int), observed
