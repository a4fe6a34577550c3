"""`rollout-gate replay FILE`."""

from __future__ import annotations

import click

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["file"], metavar="FILE"))
def replay(world: World, settings: Settings, file: str) -> int:
    """On the recording's own time, under the policy that the options say."""
    from gate.app import entry

    return entry.replay(world, settings, file)
