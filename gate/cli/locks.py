"""`rollout-gate locks`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings


@command()
def locks(world: World, settings: Settings) -> int:
    """Who holds what since when, from which run, and what was left to be finished."""
    from gate.app import entry

    return entry.locks(world, settings)
