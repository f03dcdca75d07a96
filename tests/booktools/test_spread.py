"""How far other arithmetic takes stored runs: what is measured, and written down."""

import numpy as np

from booktools import spread, values
from helpers.stored import spreads
from runproofs.claims.registry import BOOK


def test_what_an_array_has_shares_of():
    assert spread.unit(np.arange(9, 440, 7) / 449) == 449
    assert spread.unit(np.float32(np.arange(3, 895, 5) / 898)) == 898
    assert spread.unit(np.sqrt(np.arange(2, 90)) / 10) is None
    assert spread.unit(np.array([0.5, 1.5])) is None
    assert spread.unit(np.arange(3)) == 1


def off(entry, total=0.0, mean=0.0):
    return {"entry": entry, "total": total, "mean": mean}


def test_a_spread_is_the_largest_in_units_that_fit():
    assert spread.of_array([(off(1 / 449), 449, 1), (off(2 / 449), 449, 1)]) == "2/449"
    assert spread.of_array([(off(2), 1, 700), (off(0), 1, 700)]) == "2/1"
    assert spread.of_array([(off(3e-9), None, 1), (off(1.23e-8), None, 1)]) == 1.2e-8
    chaotic = [(off(0.3, 0.02, 0.01), 449, 1), (off(0.1, 0.03, 0.001), 449, 1)]
    assert spread.of_array(chaotic) == {"total": 0.03, "mean": 0.01}
    runs = [["72.1 ± 1.4", "5"], ["72.1 ± 2.1", "5"], ["73.9 ± 1.4", "6"]]
    assert spread.of_tables(runs) == {"numbers": 0.024, "errors": 0.33}


def test_the_tables_of_every_page_were_measured():
    pages = {path.relative_to(BOOK).with_suffix("").as_posix() for path in spread.TABLES}
    assert set(spreads()["tables"]) == pages
    assert all(set(of) == set(values.EXACT) for of in spreads()["tables"].values())
