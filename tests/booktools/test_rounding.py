"""Rows that hang on the last bits: they are found, in the arithmetic of other machines."""

import numpy as np
import pytest

from booktools import arithmetic, rounding
from booktools.children import in_child

PAGE = """# A page

```{code-cell} ipython3
import numpy as np
from runproofs.claims.block import claim
x = np.random.default_rng(0).normal(size=1000)
total = %r
assert x.sum() == total
```

```{code-cell} ipython3
with claim("thesis/preliminaries-network", evidence="computed") as check:
    check("far from its limit").equal(x, 1.0001 * x, tol=1e-3)
    check("near its limit").equal(x.sum() - total, 0, tol=2e-14, scale=1)
    check("a truth value").fails(False)
```
"""


def test_a_cell_and_a_row_that_hang_on_the_last_bits_are_found(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE % float(np.random.default_rng(0).normal(size=1000).sum()), "utf-8")
    assert rounding.main([str(page), "--jitter", "1", "2", "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "page:4, as found, jitter 1: AssertionError" in said
    assert "as found, jitter 0" not in said
    assert "fragile: page, thesis/preliminaries-network: near its limit [room" in said
    assert "fragile: page, thesis/preliminaries-network: far from" not in said
    assert "3 runs of pages: 2 failures, 1 fragile rows." in said


def test_kernels_are_those_of_the_environment(tmp_path):
    """What a child computes with, OpenBLAS itself says."""
    page = tmp_path / "page.md"
    page.write_text(
        "```{code-cell} ipython3\nimport numpy, threadpoolctl\n"
        "used = {part.get('architecture') for part in threadpoolctl.threadpool_info()}\n"
        "raise ValueError(used - {None})\n```\n"
    )
    for name in set(arithmetic.runnable()) & {"Haswell", "Sandybridge"}:
        [one] = rounding.measured(name, 0, 1, [page])
        assert one["red"] == [[2, f"ValueError: {{{name!r}}}"]]


def drawn(jitter):
    import torch

    if jitter:
        arithmetic.patch(jitter)
    torch.manual_seed(0)
    norm = np.linalg.norm([3.0, 4.0])
    return np.random.default_rng(0).normal(size=9999), torch.randn(9999).double().numpy(), norm


def test_a_jitter_moves_draws_by_units_in_the_last_place_each_in_its_way():
    found = [in_child(lambda k=k: drawn(k)) for k in (0, 1, 1, 2)]
    (numpys, torches, _), other, same, last = found
    assert np.array_equal(other[0], same[0])
    assert not np.array_equal(other[0], last[0])
    assert 0 < np.abs(other[0] / numpys - 1).max() < 1e-15
    assert 0 < np.abs(other[1] / torches - 1).max() < 3e-7
    assert {norm for *_, norm in found} == {5.0}


def test_the_margin_is_the_least_room_over_its_standard_deviation():
    for rooms, expected in (
        ([[3.0], [4.0], [5.0]], 3), ([[3.0, 1.0], [3.5, 3.0]], 2**-0.5),
        ([[1.0], [1.0]], float("inf")), ([[-3.0], [-4.0], [-5.0]], 3),
    ):  # fmt: skip
        runs = [{"page": "p", "rows": [["c", "s", room]]} for room in rooms]
        [(margin, _)] = rounding.margins(runs).values()
        assert margin == pytest.approx(expected)
