"""The runs with other steps are those of Table 4-I, and alpha is what Theorem 11 bounds."""

import numpy as np
import pytest

from runproofs.experiments import ch4, ch4_steps

TINY = {"p": (0.0, 0.4), "width": (6,), "epochs": 3}


def test_runs_and_alpha_by_the_mean_over_all_pairs():
    found = ch4_steps.table_4_1_steps(**TINY, step=(5.0,))
    again = ch4.table_4_1(**TINY, step=5.0)
    np.testing.assert_array_equal(found["test"][0, 0], again["test"][:, 0, 0])
    known = ch4.load("synthetic", 0)
    part, _, trained = ch4.train(0.4, 6, known, 3, 500, 5.0, 0.1, 0)
    U, V = (t.double().numpy() for t in (trained.U, trained.V))
    p, q = (np.bincount(ids, minlength=len(t)) for ids, t in ((part.row, U), (part.column, V)))
    pairs = np.einsum("i,k,ij,kj->", p, q, U**2, V**2) / len(part.row) ** 2
    assert found["alpha"][0, 0, 1] == pytest.approx(6 * pairs, rel=1e-9)


def test_a_run_that_diverges_has_no_alpha():
    found = ch4_steps.table_4_1_steps(**TINY, step=(1e9,))
    assert np.isnan(found["alpha"]).all()
