"""Whether a version is at fault, or its surroundings kept it from starting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.core.kinds.registry import all_reasons
from gate.core.model.outcome import Reason

OF_SURROUNDINGS: Final = frozenset(one for one in all_reasons() if one.is_of_surroundings)
"""The reasons, of all kinds, that keep any version from starting, or a run from seeing it."""
STANDSTILLS: Final = (Reason.PROGRESS_DEADLINE_EXCEEDED, Reason.TIMEOUT)
"""The reasons of the clocks: what was wrong underneath, the causes say."""
_EXCUSES: Final = OF_SURROUNDINGS | {Reason.NOT_STARTED}


def is_excused(reason: str, causes: Sequence[str]) -> bool:
    """Tell whether the end of a version says nothing against it; causes stand most telling first.

    Where too little could be seen of it, what its pods show last does not count either.
    """
    if reason not in STANDSTILLS:
        return reason in _EXCUSES
    return bool(causes) and (causes[0] == Reason.UNREACHABLE or _EXCUSES.issuperset(causes))
