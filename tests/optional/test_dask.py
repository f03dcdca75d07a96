"""A sweep on a Dask cluster of two workers (`booktools optional dask`)."""

import os

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster

from runproofs import experiments
from runproofs.experiments import base, results
from runproofs.experiments.__main__ import main
from runproofs.experiments.base import sweep


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def test_a_sweep_is_the_same_on_two_workers(cluster):
    def worker(k):  # sent as it is: the workers do not find this file
        return k**2, os.getpid()

    with Client(cluster), joblib.parallel_config("dask"):
        found, processes = zip(*sweep(worker, [{"k": k} for k in range(20)]), strict=True)
    assert found == tuple(k**2 for k in range(20))
    assert os.getpid() not in processes
    assert len(set(processes)) == 2


def test_make_paper_runs_on_a_cluster(cluster, capsys, monkeypatch, tmp_path):
    """A real experiment, through the command, at a small scale; the same arrays as on one core."""
    monkeypatch.setattr(base, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "UNFINISHED", tmp_path / "unfinished")
    toy = experiments.discover()["figure-2-2"]
    monkeypatch.setitem(toy.scales, "paper", toy.scales["quick"] | {"steps": 200})
    scheduler = ["--scheduler", cluster.scheduler_address]
    assert main(["figure-2-2", "--backend", "dask", *scheduler, "--jobs", "2"]) == 0
    assert "figure-2-2: computed " in capsys.readouterr().out
    alone = toy(steps=200)
    stored = toy.paper()
    assert alone.keys() == stored.keys()
    assert all(np.array_equal(alone[name], stored[name]) for name in alone)
