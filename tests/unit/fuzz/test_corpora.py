"""What fuzzing found interesting goes through its reader again, each time."""

from __future__ import annotations

import pytest

from tests.fuzz.corpus import read_corpus
from tests.fuzz.minimise import MOST_ENTRIES
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_in_a_corpus_breaks_its_reader(name: str) -> None:
    """Every input is read or refused as the target promises, the seeds among them."""
    target = TARGETS[name]
    kept = read_corpus(name)
    assert len(target.seeds) < len(kept) <= MOST_ENTRIES + len(target.seeds)
    for data in (*target.seeds, *kept):
        target.run(data)
