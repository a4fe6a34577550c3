"""The annotations by which a manifest says when an object runs that runs once, as a Job."""

from __future__ import annotations

from typing import Final

PHASE: Final = "rollout-gate.dev/phase"
"""When it runs: before the workloads of its manifest, or after them."""
BEFORE: Final = "before"
AFTER: Final = "after"
PHASES: Final = (BEFORE, AFTER)

REPLACE_FAILED: Final = "rollout-gate.dev/replace-failed"
"""`"true"` lets the gate delete one of this name that has failed, and create it again."""
