"""The experiments of the book: their stored runs are there, whole, small, and what is asked for."""

import inspect
from functools import reduce
from itertools import product

import numpy as np
import pytest
import torch

from runproofs.experiments import ch2, ch3, ch4, ch6, discover
from runproofs.experiments.results import Result
from runproofs.linear import deep
from runproofs.linear.shallow import optimal_spectrum

TINY = {"r": (2,), "lam": (0.5, 1.0), "runs": 2, "steps": 10, "shape": (4, 3), "decay": 0.5}


@pytest.mark.parametrize("name", discover())
def test_every_experiment_starts_from_seed_0_and_has_its_stored_run(name):
    experiment = discover()[name]
    assert inspect.signature(experiment.function).parameters["seed"].default == 0
    if experiment.not_run:  # said on the page and in the scoreboard; a stored run ends it
        assert not experiment.path.exists()
        return
    assert experiment.paper().provenance["seconds"] > 0
    assert experiment.path.stat().st_size < 200_000


COPIED = [  # tables of the thesis, in units of their last digit: sums of the rows and the columns
    (ch4.PRINTED, 1e4, (47811, 47478, 47590, 47702, 47757),
     (41732, 39410, 39803, 39165, 39024, 39204)),
    (ch6.PRINTED, 1e3, (1622, 81, 66, 156, 39), (260, 260, 69, 325, 325, 325, 10, 390)),
]  # fmt: skip


@pytest.mark.parametrize(("table", "unit", "rows", "columns"), COPIED, ids=["4-I", "6-I"])
def test_a_printed_table_is_as_it_was_copied(table, unit, rows, columns):
    """A digit that changes changes two sums."""
    digits = np.round(unit * table)
    np.testing.assert_allclose(unit * table, digits, atol=1e-9)
    assert (tuple(digits.sum(1)), tuple(digits.sum(0))) == (rows, columns)


@pytest.mark.parametrize("experiment", [ch2.figure_2_3, ch2.figure_2_3_constant_step])
def test_figure_2_3_starts_where_it_says(experiment):
    """Far from the teacher E objective = (1 + lam) d2 d0 r times both variances; at 0, ||M||^2."""
    settings = {"r": (2,), "lam": (0.5,), "steps": 1, "shape": (6, 4), "decay": 0.5, "eta": 1e-9}
    far = experiment(**settings, runs=4000, deviation=(30.0, 20.0))
    assert far["objective"][0, 0, 0] == pytest.approx(1.5 * 6 * 4 * 2 * 600**2, rel=0.05)
    zero = experiment(**settings, runs=2, deviation=(0.0, 0.0))
    teacher = sum(np.exp(-0.5 * i) ** 2 for i in range(4))
    assert zero["objective"][0, 0, 0] == pytest.approx(teacher, rel=1e-6)
    assert zero["variance"][0, 0, 0] == 0


def test_figure_2_3_averages_and_its_bands_leave_a_tenth_on_either_side():
    settings = TINY | {"lam": (0.5,), "deviation": (0.5, 0.5)}
    run = ch2.figure_2_3(**settings | {"runs": 21})
    final = sorted(run["final"][0, 0])
    low, high = run["objective_range"][0, 0, :, -1]
    assert [low, high] == pytest.approx([final[2], final[18]])
    low, high = run["variance_range"][0, 0]
    assert (low < run["variance"][0, 0]).all()
    assert (run["variance"][0, 0] < high).all()
    alone = [ch2.figure_2_3(**settings | {"runs": 1}, seed=k) for k in range(2)]
    for one in alone:
        np.testing.assert_array_equal(one["variance"], one["variance_range"][:, :, 0])
    assert (alone[0]["objective"] != alone[1]["objective"]).all()


def test_figure_2_3_ends_at_the_optimum_and_a_constant_step_above_it():
    settings = {**TINY, "lam": (0.5,), "runs": 20, "steps": 20_000, "deviation": (0.5, 0.5)}
    optimum = optimal_spectrum(ch2.spectrum((4, 3), 0.5), 2, 0.5)
    cosine = ch2.figure_2_3(**settings, eta=0.05)
    constant = ch2.figure_2_3_constant_step(**settings, eta=0.05)
    gaps = [run["final"].mean() / optimum.value - 1 for run in (cosine, constant)]
    assert -1e-6 < gaps[0] < 2e-3
    assert gaps[1] > 5 * gaps[0]
    expected = np.pad(optimum.spectrum, (0, 3))[:3]
    np.testing.assert_allclose(cosine["singular_values"][0, 0], expected, atol=0.01)
    times = cosine["times"][0, 0]
    assert (times[:5] == range(5)).all()
    assert np.diff(np.log(times[100:])).max() < 0.06, "evenly spread on a logarithmic scale"
    assert 100 < len(times) <= 241


def test_figure_2_2_follows_the_gradient_flow_without_dropout():
    """|u|^2 grows as a logistic curve toward M, at the speed 2 M; the step is small."""
    flow = ch2.figure_2_2(lam=(0.0,), M=2.0, starts=((0.3, 0.4),), runs=40, steps=6000, eta=1e-4)
    t = 1e-4 * 20 * np.arange(301)
    expected = 2 / (1 + (2 / 0.25 - 1) * np.exp(-4 * t))
    found = (flow["path"][0, 0] ** 2).sum(-1)
    np.testing.assert_allclose(found, expected, rtol=0.12)
    assert found[-1] == pytest.approx(expected[-1], rel=0.05)


def test_figure_2_2_ends_at_the_equalized_optimum_and_averages_the_last_half():
    """M / (r + lam) = u_i^2, from each of the starts and in every run."""
    toy = ch2.figure_2_2(lam=(0.25, 1.0), starts=((1.2, 0.05), (-0.1, 0.4)), runs=3, steps=16_000)
    for k, lam in enumerate((0.25, 1.0)):
        np.testing.assert_allclose(toy["tail"][k], (2 / (2 + lam)) ** 0.5, rtol=0.06)
    path = toy["path"][:, :, -401:]
    np.testing.assert_allclose(toy["tail"][:, :, 0], np.abs(path).mean(2), rtol=1e-6)
    assert toy["path"].shape[2] == 16_000 // 20 + 1
    assert (toy["untied"] < 1e-12).all()


def test_the_teacher_is_a_product_of_gaussians_plus_noise():
    plain = ch3.teacher((300, 7, 200), 4, 0.0, 5)
    assert plain.shape == (200, 300)
    assert np.linalg.matrix_rank(plain) == 4
    assert plain.var() == pytest.approx(4, rel=0.25)
    noise = (ch3.teacher((300, 7, 200), 4, 0.1, 5) - plain) / 0.1
    assert noise.var() == pytest.approx(1, rel=0.02)
    assert abs(noise.mean()) < 0.02
    assert np.abs(np.corrcoef(noise.ravel(), plain.ravel())[0, 1]) < 0.02


def test_the_start_is_uniform_and_every_run_has_its_own():
    """Entries between +-1 / sqrt(d_i d_{i-1}), of a third of that square as variance."""
    weights = ch3.start((90, 60, 120), 2, 3)
    assert [W.shape for W in weights] == [(1, 60, 90), (1, 120, 60)]
    for W, size in zip(weights, (5400, 7200), strict=True):
        scaled = size**0.5 * W
        assert -1 <= scaled.min() < -0.99 < 0.99 < scaled.max() <= 1
        assert abs(scaled.mean()) < 0.03
        assert scaled.var() == pytest.approx(1 / 3, rel=0.05)
    for run, seed in ((1, 3), (2, 4), (3, 2)):
        assert (ch3.start((90, 60, 120), run, seed)[0] != weights[0]).all()
    assert torch.equal(ch3.start((90, 60, 120), 2, 3)[0], weights[0])


TWO = {"widths": (3, 4, 2), "rank": 1, "noise": 0.1}


def expected_risk(weights, N, theta):
    """E ||N x - (1/theta) W_2 diag(b) W_1 x||^2 over x ~ N(0, I) and all 16 masks."""
    W1, W2 = weights
    total = 0
    for mask in product((0.0, 1.0), repeat=len(W1)):
        weight = np.prod([theta if b else 1 - theta for b in mask])
        error = N - W2 @ (torch.tensor(mask, dtype=W1.dtype)[:, None] * W1) / theta
        total = total + weight * (error**2).sum()
    return total


@pytest.mark.parametrize("batch", [None, 200_000])
def test_one_step_of_training_descends_the_risk_averaged_over_outputs(batch):
    """By eta / 2 outputs / 1.4 times the gradient, found by autograd over all masks."""
    rates = (0.4, 0.8)
    trained = ch3.train(
        5, rates, **TWO, steps=1, eta=0.3, batch=batch, seed=2, every=1, observe=lambda weights: {}
    )
    N = torch.tensor(ch3.teacher(**TWO, seed=2))
    for k, theta in enumerate(rates):
        weights = [W[0].requires_grad_() for W in ch3.start(TWO["widths"], 5, 2)]
        slopes = torch.autograd.grad(expected_risk(weights, N, theta), weights)
        for W, before, g in zip(trained.weights, weights, slopes, strict=True):
            moved = W[k, 0] - before.detach()
            tolerance = 1e-12 if batch is None else 0.03
            torch.testing.assert_close(
                moved.double(), -0.3 / 2 / 1.4 * g, rtol=0, atol=tolerance * float(g.abs().max())
            )
        assert trained.weights[0].dtype == (torch.float64 if batch is None else torch.float32)


def test_runs_with_one_start_see_other_samples():
    """Seeds and runs do not share random numbers."""
    common = {**TWO, "steps": 1, "eta": 0.3, "batch": 2, "every": 1, "observe": lambda weights: {}}
    seen = []
    for run, seed in product(range(3), range(3)):
        moved = ch3.train(run, (1.0,), **common, seed=seed)
        start = ch3.start(TWO["widths"], run, seed)
        change = (moved.weights[1][0, 0] - start[1][0].float()).flatten()
        seen.append(tuple(change.tolist()))
    assert len(set(seen)) == 9


@pytest.mark.parametrize("experiment", [ch3.figure_3_2_exact, ch3.figure_3_2])
def test_figure_3_2_measures_the_map_and_the_expected_risk(experiment):
    """At a start that hardly moves; 32 steps are observed every second one."""
    sampled = {} if experiment is ch3.figure_3_2_exact else {"batch": 3}
    rates = (0.3, 0.9)
    run = experiment(run=(1,), theta=rates, **TWO, steps=32, eta=1e-9, seed=4, **sampled)
    W1, W2 = (W[0] for W in ch3.start(TWO["widths"], 1, 4))
    N, M = ch3.teacher(**TWO, seed=4), (W2 @ W1).numpy()
    s = np.linalg.eigvalsh(M @ M.T)[::-1] ** 0.5
    assert run["times"][0].tolist() == list(range(0, 33, 2))
    np.testing.assert_allclose(run["risks"][0], ((N - M) ** 2).sum(), rtol=1e-5)
    np.testing.assert_allclose(run["singular_values"][0], [s, s], rtol=1e-4)
    assert (run["ranks"] == np.count_nonzero(s > 0.5)).all()
    for k, theta in enumerate(rates):
        risk = expected_risk((W1, W2), torch.tensor(N), theta)
        assert run["objective"][0, k] == pytest.approx(float(risk), rel=1e-5)
        gaps = deep.equalization_gaps([W1.numpy(), W2.numpy()], 1 / theta - 1).parts
        np.testing.assert_allclose(run["gaps"][0, k], gaps, rtol=1e-4)


def test_the_rank_of_figure_3_2_counts_singular_values_above_a_half():
    """On its way up the only singular value is at 1/3 and at 2/3."""
    for steps, least in ((60, 0.25), (100, 0.5)):
        run = ch3.figure_3_2_exact(run=(1,), theta=(0.3,), **TWO, steps=steps, eta=0.02, seed=4)
        value = run["singular_values"].max()
        assert least < value < 2 * least
        assert run["ranks"][0, -1, 0] == (least == 0.5)


def test_figure_3_3_measures_the_gaps_and_the_map():
    widths = (3, 4, 2, 1)
    settings = {"widths": widths, "rank": 1, "noise": 0.1, "theta": 0.6, "steps": 1000, "eta": 1e-9}
    run = ch3.figure_3_3_exact(run=(3,), **settings, seed=2)
    weights = [W[0].numpy() for W in ch3.start(widths, 3, 2)]
    expected = reduce(lambda M, W: W @ M, weights)
    np.testing.assert_allclose(run["map"][0], [expected[0]] * len(run["map"][0]), rtol=1e-4)
    times = run["times"][0]
    assert times[0] == 0
    assert times[-1] == 1000
    assert np.diff(np.log(times[30:])).max() < 0.09, "evenly spread on a logarithmic scale"
    parts, total = run["gaps"][0, :, :-1], run["gaps"][0, :, -1]
    gaps = deep.equalization_gaps(weights, 1 / 0.6 - 1)
    np.testing.assert_allclose(parts[0], gaps.parts, rtol=1e-5)
    assert total[0] == pytest.approx(gaps.total, rel=1e-5)
    assert (parts.min(1) <= total).all(), "r is an average of the r_l"
    assert (total <= parts.max(1)).all()


def taught(spectra, ranks, rates):
    """A made-up run of Figure 3-2, whose teacher has three singular values m: (result, m)."""
    settings = {"widths": (4, 5, 6, 3), "rank": 2, "noise": 0.5, "seed": 1, "theta": rates}
    m = np.linalg.svd(ch3.teacher((4, 5, 6, 3), 2, 0.5, 1), compute_uv=False)
    arrays = {"singular_values": spectra(m), "ranks": np.array(ranks, dtype=np.uint8)[:, None]}
    return Result(arrays, {"settings": settings}), m


def test_unevenness_compares_what_the_survivors_lose():
    """Losses 1 and 3 (spread 2, mean 2) at 0.6; 2, 2, 2 at 0.9; at 0.3 whatever it may be."""
    losses = [[[9, 1, 0], [1, 3, 1e9], [2, 2, 2]], [[0, 1, 5], [4, 4, 4], [2, 1, 1]]]
    result, _ = taught(lambda m: m - np.array(losses), [[3, 2, 3], [3, 3, 1]], (0.3, 0.6, 0.9))
    assert ch3.unevenness(result) == pytest.approx(1.0)
    assert ch3.unevenness(result, least=0.6) == pytest.approx(1.0)
    assert ch3.unevenness(result, least=0.7) == pytest.approx(0.0, abs=1e-12)
    assert ch3.unevenness(result, least=0.1) == pytest.approx(9 / (10 / 3))


def test_local_optima_have_the_rank_that_was_reached():
    """Zero padded; where hardly anything is dropped, the truncated teacher is the optimum."""
    result, m = taught(lambda m: np.zeros((2, 2, 3)), [[1, 2], [2, 3]], (0.9, 1 - 1e-9))
    spectra, values = ch3.local_optima(result)
    assert (spectra > 0).sum(-1).tolist() == [[1, 2], [2, 3]]
    np.testing.assert_allclose(spectra[:, 1], [[m[0], m[1], 0], m], rtol=1e-6)
    np.testing.assert_allclose(values[:, 1], [m[2] ** 2, 0], atol=1e-6)
    assert (spectra[:, 0] < m).all()
    assert (values[:, 0] > [m[1] ** 2 + m[2] ** 2, m[2] ** 2]).all()


def test_the_step_size_of_chapter_3_falls_at_once_and_every_10000_steps():
    steps = ch3.schedule(1.0, outputs=2)
    times = (0, 9_999, 10_000, 20_000)
    assert [steps(t) for t in times] == pytest.approx([0.5 / 1.4**k for k in (1, 1, 2, 3)])


def test_a_quick_scale_differs_from_the_other_in_size_alone():
    """The same networks, rates among those of the source, the same law of the start."""
    for experiment in discover().values():
        quick, paper = experiment.scales["quick"], experiment.scales["paper"]
        for name in ("widths", "rank", "noise", "M", "starts", "hidden", "loss"):
            assert quick.get(name) == paper.get(name), (experiment.name, name)
        if {"deviation", "shape"} <= set(quick):
            for settings in (quick, paper):
                start = [d**-0.5 for d in settings["shape"]]
                assert list(settings["deviation"]) == pytest.approx(start, rel=1e-12)
            assert quick["shape"][0] / quick["shape"][1] == paper["shape"][0] / paper["shape"][1]
        if "theta" in quick and np.ndim(quick["theta"]):
            assert set(quick["theta"]) <= set(paper["theta"])
        if "lam" in quick:
            assert set(np.ravel(quick["lam"])) <= set(np.ravel(paper["lam"]))
