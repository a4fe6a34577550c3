"""What causes of earlier versions say in their message alone, as the values that came later.

The sentences are those that such a version wrote. They stand here as they were: what was written
does not change, whatever a sentence reads today.
"""

from __future__ import annotations

import re
from typing import Final

from gate.core.rollout.causes import Crash

_CRASH: Final = re.compile(
    r"(init container )?([a-z0-9-]+): .*?, exit code (?:-?\d+|unknown),"
    r" (?:not restarted yet|\d+ restarts?(?:, \w+ of them while this run watched)?)(: \S)?"
)


def find_crash(message: str) -> Crash | None:
    """Return the container that a message says has ended, None if it is about something else."""
    found = _CRASH.match(message)
    return Crash(found[2], bool(found[1]), bool(found[3])) if found is not None else None


def find_need(message: str) -> str:
    """Return the object of which a message says that it was needed and why it was not ready."""
    return message.partition(": ")[0]
