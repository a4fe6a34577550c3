"""`rollout-gate pause NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def pause(world: World, settings: Settings, name: str) -> int:
    """A Deployment's pods stay as they are until it is resumed; a suspended Job's are deleted.

    StatefulSets and DaemonSets cannot be paused.
    """
    from gate.app import entry

    return entry.pause(world, settings, name)
