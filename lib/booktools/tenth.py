"""For pytest: --tenth takes a tenth of the cases of each test that has many; the gate does."""

from collections import Counter, defaultdict
from itertools import count

MANY = 12


def pytest_addoption(parser):
    parser.addoption("--tenth", type=int, help="0 to 9, modulo 10: of a test with many cases")


def pytest_collection_modifyitems(config, items):
    tenth = config.option.tenth
    if tenth is not None:
        sizes = Counter(item.originalname for item in items)
        numbers = defaultdict(count)
        parts = {True: [], False: []}
        for item in items:
            number = next(numbers[item.originalname])
            chosen = sizes[item.originalname] <= MANY or number % 10 == tenth % 10
            parts[chosen].append(item)
        config.hook.pytest_deselected(items=parts[False])
        items[:] = parts[True]
