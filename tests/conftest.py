"""One profile for all property tests: the same examples on every run, unless asked otherwise.

HYPOTHESIS_PROFILE=random draws new ones each time and remembers what failed. There is no deadline,
since shared machines stall at times.
"""

import os

from hypothesis import settings

COMMON = {"deadline": None, "max_examples": 60}
settings.register_profile("book", **COMMON, derandomize=True, database=None)
settings.register_profile("random", **COMMON, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))
