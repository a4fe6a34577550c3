"""The annotations by which a manifest says when an object runs that runs once, as a Job."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "rollout-gate.dev/"
"""Nobody else gives annotations with this prefix a meaning, and the gate writes none with it."""

PHASE: Final = f"{PREFIX}phase"
"""When it runs: before the workloads of its manifest, or after them."""
BEFORE: Final = "before"
AFTER: Final = "after"
PHASES: Final = (BEFORE, AFTER)

REPLACE_FAILED: Final = f"{PREFIX}replace-failed"
"""`"true"` lets the gate delete one of this name that has failed, and create it again."""
