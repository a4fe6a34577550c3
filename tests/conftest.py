"""What holds for all tests: the contract's rows as marks, the beds, properties that stand still."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from gate.ci.host import MARKS

pytest_plugins = (
    "tests.contract",
    "tests.bed.fixtures",
    "tests.long",
    "tests.faults.reliability",
)

# A run of the tests says the same each time, with fewer examples in `make test` than in
# `make test-long`; `make properties` searches again.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("searching", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile("fixed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected, which stays to the end, from being searched for garbage again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _of_no_host() -> Iterator[None]:
    """Run every test as on no CI host: one that runs them must not be told of their verdicts."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, _ in MARKS.values():
            patch.delenv(variable, raising=False)
        yield
