"""`rollout-gate history NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def history(world: World, settings: Settings, name: str) -> int:
    """Newest first, each with its images, change cause and age."""
    from gate.app import entry

    return entry.history(world, settings, name)
