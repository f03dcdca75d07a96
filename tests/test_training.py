"""Schedules have the values that are promised; the recorder watches when it should."""

import math

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.training import Recorder, _step_sizes, cosine_schedule, step_decay


def test_cosine_schedule_falls_from_its_start_to_zero():
    eta = cosine_schedule(0.2, 100)
    assert eta(0) == 0.2
    assert eta(50) == pytest.approx(0.1, rel=1e-15)
    assert eta(100) == pytest.approx(0, abs=1e-17)
    values = [eta(t) for t in range(101)]
    assert values == sorted(values, reverse=True)


def test_step_decay_falls_at_every_multiple():
    size = step_decay(0.5, 0.3, 4)
    expected = [0.5] * 4 + [0.15] * 4 + [0.045]
    np.testing.assert_allclose([size(t) for t in range(9)], expected, rtol=1e-14)


def test_step_sizes_of_numbers_and_functions():
    assert [_step_sizes(0.25)(t) for t in (0, 7)] == [0.25, 0.25]
    assert [_step_sizes(lambda t: t / 4)(t) for t in (0, 1, 8)] == [0, 0.25, 2]


@pytest.mark.parametrize(
    ("every", "times"),
    [(None, [0, 7]), (3, [0, 3, 6, 7]), (7, [0, 7]), (100, [0, 7]), ([2, 5, 9], [0, 2, 5, 7])],
)
def test_recorder_watches_start_end_and_between(every, times):
    record = Recorder(lambda x: {"x": x, "square": x[0] ** 2}, every, 7)
    state = np.zeros(2)
    for t in range(8):
        state[:] = t
        record(t, state)
    found, observed = record.results()
    assert found.tolist() == times
    np.testing.assert_array_equal(observed["x"], np.transpose([times, times]))  # copies
    np.testing.assert_array_equal(observed["square"], np.square(times))


def test_what_was_seen_of_an_unfinished_training_is_there():
    record = Recorder(lambda x: {"x": x}, None, 7)
    record(0, 3.0)
    times, observed = record.results()
    assert (times.tolist(), observed["x"].tolist()) == ([0], [3])


def test_recorder_without_observer():
    record = Recorder(None, 2, 4)
    record(0, "anything")
    times, observed = record.results()
    assert times.shape == (0,)
    assert observed == {}


test_bad_arguments_are_named = refusals(
    (lambda: cosine_schedule(0, 10), "initial must be a number that is larger than 0"),
    (lambda: cosine_schedule(0.1, 0), "steps must be an integer that is at least 1"),
    (lambda: step_decay(0, 1, 1), "initial must be a number that is larger than 0"),
    (lambda: step_decay(1, 0, 1), "factor must be a number that is larger than 0"),
    (lambda: step_decay(1, 1, 0.5), "every must be an integer that is at least 1"),
    (lambda: _step_sizes(0), "step_size must be a number that is larger than 0"),
    (lambda: _step_sizes("fast"), "step_size must be a number"),
    (lambda: _step_sizes(lambda t: -t)(1), "step_size must be finite and at least 0, but at 1"),
    (lambda: _step_sizes(lambda t: math.inf)(0), "step_size must be finite .* at 0 it was inf"),
    (lambda: Recorder(None, 0, 5), "every must be an integer that is at least 1"),
    (lambda: Recorder(None, [1, 0.5], 5), "every must be an integer that is at least 1"),
    (lambda: Recorder(lambda: [1], 1, 5)(0), "observe must return a dict of arrays"),
)
