import json
import os
import subprocess
import sys

import numpy as np
import pytest

from booktools import rounding

PAGE = """# A page

```{code-cell} ipython3
import numpy as np

from runproofs.book.claims import claim

x = np.random.default_rng(0).normal(size=1000)
total = %r
```

```{code-cell} ipython3
assert x.sum() == total
```

```{code-cell} ipython3
with claim("thesis/preliminaries-network") as check:
    check("far from its limit").equal(x, 1.0001 * x, tol=1e-3)
    check("near its limit").equal(x.sum() - total, 0, tol=2e-14, scale=1)
    check("a truth value").fails(False)
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE % float(np.random.default_rng(0).normal(size=1000).sum()), "utf-8")
    return path


def test_a_cell_and_a_row_that_hang_on_the_last_bits_are_found(page, tmp_path, capsys):
    found = tmp_path / "found"
    arguments = [str(page), "--jitter", "1", "2", "--jobs", "1", "--out", str(found)]
    assert rounding.main(arguments) == 1
    said = capsys.readouterr().out
    assert "page:13, as found, jitter 1: AssertionError" in said
    assert "as found, jitter 0" not in said
    assert "thesis/preliminaries-network: near its limit [room" in said
    assert "far from" not in said.split("near its limit")[-1]
    assert "3 runs of pages: 2 red cells; 1 of 2 rows with room are fragile, and 1 rows" in said
    runs = [json.loads(line) for line in found.read_text("utf-8").splitlines()]
    assert [one["jitter"] for one in runs] == [0, 1, 2]


def test_kernels_are_those_of_the_environment(page, tmp_path):
    """What a child computes with, OpenBLAS itself says."""
    page.write_text(
        "```{code-cell} ipython3\nimport numpy, threadpoolctl\n"
        "used = {part.get('architecture') for part in threadpoolctl.threadpool_info()}\n"
        "raise ValueError(used - {None})\n```\n"
    )
    for name in set(rounding.runnable()) & {"Haswell", "Sandybridge"}:
        [one] = rounding.measured((name, 0), 1, [page])
        assert one["red"] == [[2, f"ValueError: {{{name!r}}}"]]


MOVED = """
import numpy as np, torch
from booktools.rounding import patch
drawn = np.random.default_rng(0).normal(size=10_000)
torch.manual_seed(0); of_torch = torch.randn(10_000)
patch({jitter})
again = np.random.default_rng(0).normal(size=10_000)
assert (again == np.random.default_rng(0).normal(size=10_000)).all()  # the same in the same way
units = (again - drawn) / np.spacing(np.abs(drawn))
assert set(np.unique(np.round(units))) <= set(range(-5, 6)) and 0 < np.mean(units != 0) < 1
assert np.random.default_rng(0).normal() != 0 and np.linalg.norm([3.0, 4.0]) == 5
torch.manual_seed(0); moved = (torch.randn(10_000) - of_torch).abs()
assert 0 < (moved / of_torch.abs()).max() < 3e-7
print(hash(again.tobytes()))
"""


def test_a_jitter_moves_draws_by_units_in_the_last_place_each_in_its_way():
    environment = {"PYTHONPATH": "tests", "PYTHONHASHSEED": "0"}
    said = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", MOVED.format(jitter=jitter)],
            capture_output=True, text=True, check=True, env=os.environ | environment,
        ).stdout
        for jitter in (1, 2)
    }  # fmt: skip
    assert len(said) == 2


def test_the_margin_is_the_least_room_over_its_standard_deviation():
    def runs(*rooms):
        return [{"page": "p", "rows": [["c", "s", True, "", "", room]]} for room in rooms]

    [(key, (margin, _))] = rounding.margins(runs([3.0], [4.0], [5.0])).items()
    assert key == ("p", "c", "s", 1)
    assert margin == 3
    [(margin, rooms)] = rounding.margins(runs([3.0, 1.0], [3.5, 3.0])).values()
    assert rooms == [1.0, 3.0]
    assert margin == pytest.approx(2**-0.5)
    [(margin, _)] = rounding.margins(runs([1.0], [1.0])).values()
    assert margin == float("inf")
    [(margin, _)] = rounding.margins(runs([-3.0], [-4.0], [-5.0])).values()
    assert margin == 3
    [(margin, _)] = rounding.margins(runs([-3.0], [1.0])).values()
    assert margin < -1
    assert not rounding.margins(runs([], []))
