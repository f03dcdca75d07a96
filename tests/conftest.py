"""Settings of the property tests: no deadline, since shared machines stall at times."""

from hypothesis import settings

settings.register_profile("book", deadline=None, max_examples=60)
settings.load_profile("book")
