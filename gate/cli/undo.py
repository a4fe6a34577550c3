"""`rollout-gate undo NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def undo(world: World, settings: Settings, name: str) -> int:
    """Its configuration goes back with it.

    A restart that was verified counts as the same version: it is taken back only where no other
    version was verified before.

    As careful as a rollback, and verified like one; works on a paused Deployment too.

    What a Job did cannot be undone.
    """
    from gate.app import entry

    return entry.undo(world, settings, name)
