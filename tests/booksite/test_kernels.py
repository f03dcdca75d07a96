"""Kernels that are forked from one process are like those that start by themselves."""

import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_cache.executors.utils import single_nb_execution
from jupyter_client.provisioning import local_provisioner

from booksite import kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux")
CODE = """
import os, random, sys
import matplotlib.pyplot as plt
print(os.getcwd(), __name__, "secret" in globals(), os.environ["OMP_NUM_THREADS"])
secret = sys.modules["secret"] = 1
print(os.system("exit 3") >> 8)
plt.plot([0, 1])
plt.show()
"""


@pytest.fixture
def forking(monkeypatch):
    started = []
    monkeypatch.setattr(local_provisioner, "launch_kernel", local_provisioner.launch_kernel)
    forked = kernels.Forked
    monkeypatch.setattr(kernels, "Forked", lambda pid: started.append(pid) or forked(pid))
    kernels.fork_kernels()
    return started


def ran(code, folder):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "", "language": "python"}
    single_nb_execution(notebook, folder, 60, allow_errors=True, shutdown_kernel="immediate")
    return notebook.cells[0].outputs


def test_a_forked_kernel_begins_anew_where_its_page_lies(forking, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for _ in range(2):
        said, drawn = ran(CODE, tmp_path)
        assert said.text.split() == [str(tmp_path), "__main__", "False", "1", "3"]
        assert "image/png" in drawn.data
    assert len(set(forking)) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in forking)


def test_a_forked_kernel_that_dies_is_noticed(forking, tmp_path):
    with pytest.raises(Exception, match="Kernel died"):
        ran("import os; os._exit(1)", tmp_path)
