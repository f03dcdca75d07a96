"""Record that today's code reproduces a stored run: `python -m booktools revalidate NAME...`.

The test of its prefix computes the first steps of the run and compares them with the stored ones.
"""

import argparse
import sys

import pytest

from runproofs.claims.registry import BOOK
from runproofs.experiments import discover

ELSEWHERE = {  # compared by another test than that of the prefix
    "autoattack-digits": "optional/test_agreement.py::test_autoattack_does_today_what_is_stored",
    "table-6-2-small": "optional/test_settings.py::test_a_network_on_cifar_10_comes_out_again",
}


class Passed:
    """A pytest plugin that adds up the share of the numbers that the passed tests compared."""

    share = 0.0

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.share += dict(report.user_properties).get("share", 0)


def revalidate(one) -> bool:
    """Test whether today's code reproduces the stored run of an experiment; if so, record it."""
    if not one.stale():
        print(f"{one.name}: nothing to do, it is of today's code.")
        return True
    test, passed = f"experiments/test_prefix.py::test_prefix[{one.name}]", Passed()
    test = f"{BOOK.parent}/tests/{ELSEWHERE.get(one.name, test)}"
    if pytest.main(["-q", "-p", "no:cacheprovider", test], plugins=[passed]) or not passed.share:
        print(f"{one.name}: not recorded, the test of its prefix did not pass.", file=sys.stderr)
        return False
    one.revalidated(passed.share)
    print(f"{one.name}: recorded; today's code made {passed.share:.1%} of it again.")
    return True


def main(arguments: list[str]) -> int:
    """Revalidate the named experiments, or all stored ones; 1 if one does not pass."""
    parser = argparse.ArgumentParser("python -m booktools revalidate", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    known = discover()
    names = parser.parse_args(arguments).names or [n for n, one in known.items() if not one.not_run]
    results = [revalidate(known[name]) for name in names]  # all, also after one that fails
    return int(not all(results))
