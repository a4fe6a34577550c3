"""Two gates on one Deployment at the same time: never two writers at once, one way back each.

`ROLLOUT_GATE_RACES` says how many races there are; each has its own moment and its own versions.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.played.bed import PlayedUsers, sandbox_bed
from tests.races import race

pytestmark = pytest.mark.sandbox_only("`make races` runs them")

RACES = int(os.environ.get("ROLLOUT_GATE_RACES", "10"))


@pytest.mark.long
@pytest.mark.contract("B520")
@pytest.mark.parametrize(
    "seed",
    range(RACES),
)
def test_a_race(tmp_path: Path, seed: int) -> None:
    """Both come to the right end, one after the other, whoever was first."""
    with sandbox_bed(tmp_path) as bed:
        assert isinstance(bed.users, PlayedUsers)
        ended = race.run(bed, seed, bed.users.played.clock.wait)
    race.assert_right(ended)
