"""The experiments of the book: their stored runs are there, whole, small, and what is asked for."""

import numpy as np
import pytest

from heuristics.experiments import discover
from heuristics.reproductions import ch2
from heuristics.shallow import optimal_spectrum

TINY = {"r": (2,), "lam": (0.5, 1.0), "runs": 2, "steps": 10, "shape": (4, 3), "decay": 0.5}


@pytest.mark.parametrize("name", discover())
def test_every_experiment_has_its_stored_run(name):
    experiment = discover()[name]
    if experiment.not_run:  # said on the page and in the scoreboard; a stored run ends it
        assert not experiment.path.exists()
        return
    assert experiment.paper().provenance["seconds"] > 0
    assert experiment.path.stat().st_size < 200_000


@pytest.mark.parametrize("experiment", [ch2.figure_2_3, ch2.figure_2_3_constant_step])
def test_figure_2_3_reports_what_it_promises(experiment):
    small = experiment(**TINY, deviation=(0.5, 0.5))
    count = len(small["times"][0, 0])
    assert small["times"][0, 0, 0] == 0
    assert small["times"][0, 0, -1] == 10
    assert {name: array.shape for name, array in small.items()} == {
        "times": (1, 2, count), "objective": (1, 2, count), "variance": (1, 2, count),
        "objective_range": (1, 2, 2, count), "variance_range": (1, 2, 2, count),
        "final": (1, 2, 2), "singular_values": (1, 2, 3),
    }  # fmt: skip
    np.testing.assert_allclose(small["objective"][..., -1], small["final"].mean(-1))


def test_the_optima_are_those_of_the_spectrum():
    values = ch2.optima(TINY)
    sigma = np.exp([0, -0.5, -1.0])
    assert values.shape == (1, 2)
    assert values[0, 1] == pytest.approx(optimal_spectrum(sigma, 2, 1.0).value, rel=1e-12)
    assert values[0, 0] < values[0, 1]


def test_figure_2_2_keeps_tied_weights_and_axes():
    toy = ch2.figure_2_2(lam=(1.0,), starts=((1.0, 0.0), (0.3, 0.4)), runs=2, steps=100)
    assert toy["path"].shape == (1, 2, 6, 2)
    assert (toy["path"][0, 0, :, 1] == 0).all()
    assert (toy["path"][0, 1, -1] != 0).all()
    assert toy["untied"] < 1e-12
