"""`rollout-gate status NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def status(world: World, settings: Settings, name: str) -> int:
    """Exit codes: 0 complete, 6 failed, 7 progressing or paused half-way, 3 no such workload."""
    from gate.app import entry

    return entry.status(world, settings, name)
