"""`rollout-gate resume NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def resume(world: World, settings: Settings, name: str) -> int:
    """The rollout that was held back is judged as any other."""
    from gate.app import entry

    return entry.resume(world, settings, name)
