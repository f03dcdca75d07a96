"""The summary of `make bench`: what was measured, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent / "benchmarks"


@pytest.fixture
def timing():
    """The module that the benchmarks share, with nothing measured."""
    spec = importlib.util.spec_from_file_location("timing", BENCHMARKS / "timing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_summary_has_a_line_for_each_ratio_and_each_absent_peer(timing):
    assert list(timing.summary()) == []
    assert timing.ratio("equalizer", "as printed", 3.0, 2.0) == 1.5
    timing.absent("pgd", "torchattacks")
    head, equalizer, pgd = timing.summary()
    assert head.split() == ["kernel", "peer", "peer's", "time", "/", "ours"]
    assert equalizer.split() == ["equalizer", "as", "printed", "1.5"]
    assert pgd.split() == ["pgd", "torchattacks", "not", "installed"]


def test_calls_in_turn_are_timed_each_by_its_own_time(timing):
    """The control: a call of a hundred times the work takes longer, in either place."""
    short, long = (lambda n=n: sum(range(n)) for n in (2_000, 200_000))
    first, second = timing.in_turn((short, long), 1e-3)
    assert first < second
    first, second = timing.in_turn((long, short), 1e-3)
    assert first > second


@pytest.mark.parametrize("module", sorted(BENCHMARKS.glob("bench_*.py")), ids=lambda m: m.stem)
def test_every_module_of_benchmarks_adds_to_the_summary_and_is_run(module):
    assert "ratio(" in module.read_text()
    assert f"import {module.stem}\n" in (BENCHMARKS / "run.py").read_text()
