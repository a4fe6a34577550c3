"""Where an attempt came from, as the CI host that ran it says."""

from __future__ import annotations

import re
from typing import Final

from gate.core.frozen import dataclass

COMMIT: Final = re.compile("[0-9a-f]{7,64}")
"""A commit's hash in full or short, SHA-1 or SHA-256."""
MOST_ACTOR_CHARACTERS: Final = 128
_SHORT_COMMIT: Final = 8


@dataclass(frozen=True, slots=True)
class Origin:
    """The pipeline run of an attempt; each text is one clean line, "" if unknown.

    `run_url` is the run's page, `actor` who started it, `commit` the hash that it was run for.

    """

    run_url: str = ""
    actor: str = ""
    commit: str = ""

    @property
    def short_commit(self) -> str:
        """The commit as people compare it."""
        return self.commit[:_SHORT_COMMIT]


NO_ORIGIN: Final = Origin()
"""The origin of an attempt that no CI host ran, or whose host did not say."""
