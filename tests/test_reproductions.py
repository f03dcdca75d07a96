"""The experiments of the book: their stored runs are there, whole, small, and what is asked for."""

import numpy as np
import pytest

from runproofs.linear.shallow import optimal_spectrum
from runproofs.reproductions import ch2, ch3, discover

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


SHORT = {"run": (0, 1), "steps": 3}


def test_figure_3_2_reports_what_it_promises():
    exact = ch3.figure_3_2_exact(**SHORT, theta=(0.5, 0.9))
    sampled = ch3.figure_3_2(**SHORT, theta=(0.5, 0.9), batch=7)
    for result in (exact, sampled):
        assert {name: array.shape for name, array in result.items()} == {
            "times": (2, 4), "risks": (2, 4, 2), "ranks": (2, 4, 2), "objective": (2, 2),
            "singular_values": (2, 2, 20), "gaps": (2, 2, 2),
        }  # fmt: skip
    np.testing.assert_allclose(exact["risks"][:, 0], sampled["risks"][:, 0], rtol=1e-6)
    assert (exact["risks"][0, 0] != exact["risks"][1, 0]).all(), "every run has its own start"
    assert (exact["objective"] != sampled["objective"]).all()


def test_figure_3_3_reports_what_it_promises():
    exact, sampled = ch3.figure_3_3_exact(**SHORT), ch3.figure_3_3(**SHORT, batch=7)
    for result in (exact, sampled):
        assert {name: array.shape for name, array in result.items()} == {
            "times": (2, 4), "gaps": (2, 4, 6), "map": (2, 4, 5),
        }  # fmt: skip
    np.testing.assert_allclose(exact["gaps"][:, 0], sampled["gaps"][:, 0], rtol=1e-5)


def test_local_optima_are_those_of_the_ranks_reached():
    stored = ch3.figure_3_2_exact.paper()
    spectra, values = ch3.local_optima(stored)
    assert ((spectra > ch3.KEPT).sum(-1) == stored["ranks"][:, -1]).all()
    assert (values <= stored["objective"] * (1 + 1e-12)).all(), "none ends below its optimum"


def test_the_step_size_of_chapter_3_falls_at_once_and_every_10000_steps():
    steps = ch3.schedule(1.0, outputs=2)
    times = (0, 9_999, 10_000, 20_000)
    assert [steps(t) for t in times] == pytest.approx([0.5 / 1.4**k for k in (1, 1, 2, 3)])
