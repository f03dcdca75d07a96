"""Experiments: two scales, stored runs that are whole or refused, sweeps that resume."""

import io
import json
import platform
import re
import runpy
import sys
from functools import partial
from importlib.metadata import version

import joblib
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tqdm import tqdm

from runproofs import experiments
from runproofs.experiments import base, provenance, results
from runproofs.experiments.__main__ import main
from runproofs.experiments.base import experiment, sweep
from runproofs.experiments.results import Result, ResultError, load, save

QUICK = {"lam": (0.1, 0.5), "r": (2,), "n": 3}
PAPER = {"lam": (0.1, 0.5, 0.9), "r": (2, 4), "n": 5}


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "UNFINISHED", tmp_path / "unfinished")
    monkeypatch.setattr(base, "_registry", {})
    monkeypatch.delenv("SCALE", raising=False)


@pytest.fixture
def calls():
    """The settings (lam, r) of every call, in order."""
    return []


@pytest.fixture
def failing():
    """The settings (lam, r) in which the experiment fails, once."""
    return set()


@pytest.fixture
def gaussian(calls, failing):
    @experiment("gaussian-means", over=("lam", "r"), quick=QUICK, paper=PAPER)
    def gaussian_means(lam, r, n, seed=0):
        """Means of shifted normal numbers."""
        calls.append((lam, r))
        if (lam, r) in failing:
            failing.remove((lam, r))
            raise RuntimeError("the power went out")
        rng = np.random.default_rng([seed, r])
        return {"mean": lam + rng.normal(size=(n, r)).mean(axis=1), "r": r}

    return gaussian_means


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def rewrite(path, **changes):
    """The stored file again, its provenance changed."""
    result = load(path)
    save(path, Result(result, result.provenance | changes))


def test_a_call_runs_the_quick_scale_and_stacks_the_sweep(gaussian, calls):
    result = gaussian()
    assert result["mean"].shape == (2, 1, 3)
    assert result["r"].tolist() == [[2], [2]]
    assert calls == [(0.1, 2), (0.5, 2)]
    expected = [0.5 + row.mean() for row in np.random.default_rng([0, 2]).normal(size=(3, 2))]
    np.testing.assert_allclose(result["mean"][1, 0], expected, rtol=1e-14)
    assert gaussian.__doc__ == "Means of shifted normal numbers."
    assert not base.RESULTS.exists()
    with pytest.raises(ResultError, match=r"does not exist\. `make paper FIGURE=gaussian-means`"):
        gaussian.paper()
    assert same(gaussian(seed=7), gaussian(seed=7))
    assert not same(result, gaussian(seed=7))


def test_without_a_sweep_arrays_come_as_they_are():
    @experiment("one-setting", quick={"n": 3}, paper={"n": 4})
    def one_setting(n, seed):
        return {"x": np.arange(n), "torch": torch.ones(n), "name": "text"}

    assert one_setting()["x"].tolist() == [0, 1, 2]
    stored = one_setting.reproduce() and one_setting.paper()
    assert stored["x"].tolist() == [0, 1, 2, 3]
    assert stored["torch"].dtype == np.float32
    assert stored["name"] == "text"


def test_scale_in_the_environment_runs_and_stores_the_paper_scale(gaussian, calls, monkeypatch):
    monkeypatch.setenv("SCALE", "paper")
    assert gaussian()["mean"].shape == (3, 2, 5)
    assert len(calls) == 6
    assert same(gaussian(), gaussian.paper())
    assert len(calls) == 6  # stored, not computed again
    assert gaussian(lam=[0.3])["mean"].shape == (1, 2, 5)  # a changed run is not stored
    assert gaussian.paper()["mean"].shape == (3, 2, 5)
    monkeypatch.setenv("SCALE", "poster")
    with pytest.raises(ValueError, match=r"SCALE must be one of .* but it was 'poster'\."):
        gaussian()


def test_provenance_is_complete_and_needs_no_pickle(gaussian):
    gaussian.reproduce()
    with np.load(gaussian.path, allow_pickle=False) as file:
        assert set(file.files) == {"mean", "r", "provenance"}
        assert json.loads(file["provenance"].item())["experiment"] == "gaussian-means"
    assert list(base.RESULTS.iterdir()) == [gaussian.path]
    assert not list(results.UNFINISHED.iterdir())
    about = gaussian.paper().provenance
    assert set(about) == {
        "format", "arrays", "experiment", "settings", "versions", "code",
        "seconds", "machine", "cpu", "threads", "system", "date", "commit", "data",
    }  # fmt: skip
    assert about["settings"] == {"seed": 0, "lam": [0.1, 0.5, 0.9], "r": [2, 4], "n": 5}
    packages = {"runproofs", "numpy", "scikit-learn", "scipy", "torch"}
    assert about["versions"].keys() == {"python", *packages}
    assert all(about["versions"][name] == version(name) for name in packages - {"runproofs"})
    assert about["machine"] == ("cuda" if torch.cuda.is_initialized() else "cpu")
    assert 0 < about["seconds"] < 60
    assert about["date"].endswith("+00:00")
    assert about["threads"] == str(torch.get_num_threads())
    assert about["system"] == platform.platform()
    assert about["cpu"]
    assert about["code"] == provenance.identity(gaussian.function)
    assert about["data"] == {}
    assert set(about["arrays"]) == {"mean", "r"}


def test_the_data_read_are_in_the_provenance():
    @experiment("on-mnist", quick={"images": "digits"}, paper={"images": "mnist"})
    def on_mnist(images, seed):
        return {"x": 0}

    assert on_mnist().provenance["data"] == {}
    files = on_mnist.reproduce().provenance["data"]
    assert len(files) == 4
    images = files["mnist/train-images-idx3-ubyte.gz"]
    assert images == "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    for settings, expected in (
        ({"images": "cifar-10"}, ["cifar-10-binary.tar.gz"]),
        ({"images": "cifar-10-first"}, ["cifar-10/first-4000-exact.npz"]),
        ({"ratings": "100k"}, ["ml-100k/u.data"]),
        ({"ratings": "1m"}, ["ml-1m.zip"]),
        ({"ratings": "10m"}, ["ml-10m.zip"]),
        ({"ratings": "synthetic"}, []),
    ):
        assert list(provenance.data_read(settings)) == expected


def forge(**changes):
    """Changes the provenance of a stored file."""
    return lambda one: rewrite(one.path, **changes)


def ask(**changes):
    """Changes the settings that are asked for."""
    return lambda one: one.scales["paper"].update(changes)


def truncate(keep):
    return lambda one: one.path.write_bytes(one.path.read_bytes()[:keep])


def save_in_format_1(one):
    with pytest.MonkeyPatch.context() as other:
        other.setattr(results, "FORMAT", 1)
        save(one.path, one())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        *((truncate(keep), r"it cannot be read \(.*\)\.") for keep in (0, 100, -200, -1)),
        (save_in_format_1, r"it holds format 1, not 3\."),
        (forge(experiment="figure-0-0"), "it holds experiment figure-0-0, not gaussian-m"),
        (ask(lam=(0.1, 0.5, 0.8)), r"it holds settings .*0\.9.*, not .*0\.8"),
        (ask(seed=1), r"it holds settings .*'seed': 0.*'seed': 1"),
    ],
)
def test_what_is_not_the_stored_run_is_refused_and_computed_anew(
    gaussian, calls, capsys, change, sentence
):
    gaussian.reproduce()
    change(gaussian)
    with pytest.raises(ResultError, match=rf"gaussian-means\.npz is refused: {sentence}"):
        gaussian.paper()
    calls.clear()
    gaussian.reproduce()
    assert len(calls) == 6
    said = capsys.readouterr().err
    assert "gaussian-means.npz is refused: " in said
    assert "It is computed anew." in said
    assert gaussian.paper()["mean"].shape == (3, 2, 5)


def test_pickled_objects_are_never_loaded(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, provenance=np.array(json.dumps({"format": 3})), x=np.array([object()]))
    with pytest.raises(ResultError, match=r"cannot be read .*allow_pickle=False"):
        load(path)
    with pytest.raises(ValueError, match="'x' was of dtype object"):
        Result({"x": np.array([object()])}, {})
    with pytest.raises(ValueError, match="'file' was of dtype float64"):
        Result({"file": np.ones(3)}, {})


def test_a_flipped_byte_is_refused_or_harmless(tmp_path):
    path = tmp_path / "flipped.npz"
    original = Result({"x": np.linspace(0, 1, 7), "n": np.arange(3)}, {"seed": 0, "who": "us"})
    save(path, original)
    content = path.read_bytes()
    about = load(path).provenance
    refused = 0
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 0x40
        path.write_bytes(flipped)
        try:
            found = load(path)
        except ResultError:
            refused += 1
        else:
            assert same(found, original), position
            assert found.provenance == about
    assert refused > len(content) / 2


@given(arrays(st.sampled_from(["f8", "f4", "i8", "?", "c16"]), array_shapes(min_side=0)))
def test_what_is_saved_is_loaded(tmp_path_factory, array):
    path = tmp_path_factory.getbasetemp() / "round-trip.npz"
    save(path, Result({"x": array}, {"settings": {"lam": [0.1]}}))
    found = load(path, settings={"lam": [0.1]})
    assert found["x"].dtype == array.dtype
    np.testing.assert_array_equal(found["x"], array)


def test_an_interrupted_save_leaves_the_old_file(monkeypatch, tmp_path):
    path = tmp_path / "results" / "old.npz"
    save(path, Result({"x": np.ones(2)}, {}))
    beside = []

    def half(file, **_):
        file.write(b"half a file")
        beside.extend(path.parent.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(KeyboardInterrupt):
        save(path, Result({"x": np.zeros(2)}, {}))
    assert load(path)["x"].tolist() == [1, 1]
    assert beside == [path]  # a process that is killed here leaves nothing among the results
    assert not list(results.UNFINISHED.iterdir())


@pytest.fixture
def interrupted(gaussian, calls, failing):
    """An experiment whose run at the paper scale failed in its third setting."""
    failing.add((0.5, 2))
    with pytest.raises(RuntimeError, match="the power went out"):
        gaussian.reproduce()
    assert calls == [(0.1, 2), (0.1, 4), (0.5, 2)]
    assert not gaussian.path.exists()
    calls.clear()
    return gaussian


def test_an_interrupted_run_computes_only_the_rest(interrupted, calls, capsys):
    resumed = interrupted.reproduce()
    assert calls == [(0.5, 2), (0.5, 4), (0.9, 2), (0.9, 4)]
    assert "2 of 6 settings were finished before" in capsys.readouterr().err
    whole = interrupted(**PAPER)
    assert same(resumed, whole)
    assert same(interrupted.paper(), whole)


def test_a_fresh_run_ignores_what_an_interrupted_one_left(interrupted, calls):
    interrupted.compute(fresh=True)
    assert len(calls) == 6


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda part: part.write_bytes(part.read_bytes()[:-30]), "it cannot be read"),
        (lambda part: rewrite(part, code="another"), "it holds code another, not "),
        (lambda part: rewrite(part, versions={"numpy": "1"}), "it holds versions {'numpy': '1'}"),
        (lambda part: rewrite(part, settings={}), "it holds settings {}, not "),
    ],
)
def test_a_broken_part_or_one_of_another_run_is_computed_anew(
    interrupted, calls, capsys, change, sentence
):
    part = sorted((results.UNFINISHED / "gaussian-means").iterdir())[0]
    change(part)
    interrupted.reproduce()
    assert calls == [(0.1, 2), (0.5, 2), (0.5, 4), (0.9, 2), (0.9, 4)]
    assert f"{part} is refused: {sentence}" in capsys.readouterr().err


GRID = [{"base": b, "exp": e} for b in (2, 3) for e in (1, 2, 5)]


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_sweep_is_the_same_on_two_workers(backend, capsys):
    alone = sweep(pow, GRID, n_jobs=1, title="powers")
    assert alone == [2, 4, 32, 3, 9, 243]
    captured = capsys.readouterr()
    assert captured.out + captured.err == "", "without a terminal there is no progress bar"
    with joblib.parallel_config(backend, n_jobs=2):
        assert sweep(pow, GRID) == alone


def test_an_experiment_is_the_same_on_two_workers(gaussian):
    alone = gaussian(**PAPER)
    with joblib.parallel_config("loky", n_jobs=2):
        assert same(gaussian.reproduce(), alone)


def test_progress_counts_finished_settings_on_a_terminal(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(base, "tqdm", partial(tqdm, mininterval=0, miniters=1))
    sweep(pow, GRID, n_jobs=1, title="powers")
    assert "powers:   0%" in terminal.getvalue()
    counts = re.findall(r"\d+(?=/6)", terminal.getvalue())
    assert list(dict.fromkeys(counts)) == ["0", "1", "2", "3", "4", "5", "6"]


def test_ragged_results_are_refused():
    @experiment("ragged", over=("r",), quick={"r": (2, 3)}, paper={"r": (2,)})
    def ragged(r, seed):
        return {"x": np.ones(r)}

    with pytest.raises(ValueError, match=r"same names and shapes .* 'ragged' returned .*\(2,\).*"):
        ragged()


def test_settings_that_do_not_fit_are_refused(gaussian):
    with pytest.raises(ValueError, match=r"has the settings \['lam', 'n', 'r', 'seed'\], not \['t"):
        gaussian(theta=0.5)
    for swept in (0.5, ()):
        with pytest.raises(ValueError, match=r"^lam is swept: it must be a sequence of values"):
            gaussian(lam=swept)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "Figure 2.3"}, "name must be lower-case words joined by hyphens"),
        ({"paper": {"m": 1}}, r"paper settings of 'name' .* \['n', 'seed'\] .* \['m', 'seed'\]"),
        ({"quick": {}}, r"quick settings of 'name' must be the arguments of its function"),
        ({"over": ("lam",)}, r"over must name settings of 'name', but it was \('lam',\)"),
    ],
)
def test_definitions_that_do_not_fit_are_refused(arguments, sentence):
    arguments = {"name": "name", "quick": {"n": 1}, "paper": {"n": 1}} | arguments
    with pytest.raises(ValueError, match=sentence):
        experiment(arguments.pop("name"), **arguments)(lambda n, seed=0: {"n": n})


def test_a_name_belongs_to_one_experiment():
    def define(name):
        def function(n, seed):
            return {"n": n}

        function.__qualname__ = name
        return experiment("the-name", quick={"n": 1}, paper={"n": 1})(function)

    define("first")
    again = define("first")  # a cell that is run twice
    assert base._registry == {"the-name": again}
    with pytest.raises(ValueError, match="'the-name' is first already"):
        define("second")


CHAPTER = """
import numpy as np
from runproofs.experiments.base import experiment

@experiment("figure-0-1", over=("r",), quick={"r": (1,)}, paper={"r": (1, 2, 3)})
def squares(r, seed):
    return {"square": np.array(r**2)}
"""


@pytest.fixture
def chapter(monkeypatch, tmp_path):
    """A chapter module that `discover` finds, alone."""
    (tmp_path / "ch0.py").write_text(CHAPTER)
    monkeypatch.setattr(experiments, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "runproofs.experiments.ch0", raising=False)
    yield
    sys.modules.pop("runproofs.experiments.ch0", None)


@pytest.mark.parametrize("arguments", [[], ["figure-0-1", "--jobs", "2"]])
def test_the_command_stores_the_paper_scale(chapter, capsys, arguments):
    assert main(arguments) == 0
    path = base.RESULTS / "figure-0-1.npz"
    assert capsys.readouterr().out.startswith(f"figure-0-1: computed {path} (")
    assert load(path)["square"].tolist() == [1, 4, 9]


def test_the_command_says_what_it_keeps_and_what_it_computes(chapter, capsys):
    def said(*arguments):
        capsys.readouterr()
        assert main([*arguments]) == 0
        return capsys.readouterr().out

    said()
    path = experiments.discover()["figure-0-1"].path
    content = path.read_bytes()
    kept = said()
    assert kept.startswith("figure-0-1: kept ")
    assert "changed" not in kept
    assert path.read_bytes() == content
    rewrite(path, code="other")
    assert "made by code that has changed since; FRESH=1 computes it anew" in said()
    assert said("--fresh").startswith("figure-0-1: computed ")
    assert "changed" not in said()


def test_make_paper_passes_its_variables_on(dry_make):
    variables = "FIGURE=figure-2-3", "FRESH=1", "JOBS=3", "BACKEND=dask", "SCHEDULER=tcp://here:8"
    options = "figure-2-3 --fresh --jobs 3 --backend dask --scheduler tcp://here:8"
    for some, expected in ((variables, options), ((), "--jobs 1")):
        said = dry_make("paper", *some).stdout.replace("\\\n", " ")
        [call] = [line for line in said.splitlines() if "runproofs.experiments" in line]
        words = [".venv/bin/python", "-m", "runproofs.experiments", *expected.split()]
        assert call.split() == words


def test_an_interrupted_command_says_that_it_resumes(chapter, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments.discover()["figure-0-1"], "compute", interrupt)
    assert main([]) == 130
    assert "figure-0-1: interrupted; the same command resumes it." in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_python_m_sees_the_registered_experiments(chapter, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["experiments", "figure-9-9"])
    with pytest.raises(SystemExit) as exit_:
        runpy.run_module("runproofs.experiments", run_name="__main__")
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert said == "Unknown experiment figure-9-9: the known ones are figure-0-1.\n"
    assert not base.RESULTS.exists()


def test_the_stored_results_of_the_book_are_valid(monkeypatch):
    """Every file under book/results belongs to an experiment and is what that one asks for."""
    monkeypatch.undo()
    known = experiments.discover()
    assert list(known) == sorted(known)
    beside = {base.RESULTS / name for name in ("spread.yml", base.IDENTITIES)}
    for path in set(base.RESULTS.glob("*")) - beside:
        assert path.stem in known, path.name
        known[path.stem].paper()
