"""What holds for all tests: the contract's rows as marks, the beds, properties that stand still."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ("tests.contract", "tests.bed.fixtures")

# A run of the tests says the same each time; `make properties` searches anew.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("searching", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile("fixed")
