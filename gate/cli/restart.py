"""`rollout-gate restart NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def restart(world: World, settings: Settings, name: str) -> int:
    """The next apply does not undo it: it is written by a field manager of its own."""
    from gate.app import entry

    return entry.restart(world, settings, name)
