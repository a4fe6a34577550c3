"""The annotations of an object that runs once, as a Job: when it runs, and which apply made it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.core.model.lock import Lock

PREFIX: Final = "rollout-gate.dev/"
"""Nobody else gives annotations with this prefix a meaning."""

PHASE: Final = f"{PREFIX}phase"
"""When it runs: before the workloads of its manifest, or after them."""
BEFORE: Final = "before"
AFTER: Final = "after"
PHASES: Final = (BEFORE, AFTER)

REPLACE_FAILED: Final = f"{PREFIX}replace-failed"
"""`"true"` lets the gate delete one of this name that has failed, and create it again."""

LOCKS: Final = f"{PREFIX}locks"
"""The locks of the apply that made it, which the gate writes itself: as `name_locks` has them."""


def name_locks(locks: Iterable[Lock]) -> str:
    """Return the value of `LOCKS`: namespace and name of each Lease, separated by spaces."""
    return " ".join(f"{lock.namespace}/{lock.name}" for lock in locks)


def has_lock_of(value: object, locks: Iterable[Lock]) -> bool:
    """Tell whether a value of `LOCKS`, None for none, names one of the locks."""
    return bool(set(str(value or "").split()) & set(name_locks(locks).split()))
