"""What fuzzing found interesting goes through its reader again, each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_in_a_corpus_breaks_its_reader(name: str) -> None:
    """Every input is read or refused as the target promises, the seeds among them."""
    target = TARGETS[name]
    kept = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    assert len(kept) > len(target.seeds)
    for data in (*target.seeds, *kept):
        target.run(data)


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_in_its_corpus(name: str) -> None:
    """Who fuzzes begins where the tests do."""
    kept = {path.read_bytes() for path in (CORPUS / name).iterdir()}
    assert set(TARGETS[name].seeds) <= kept
