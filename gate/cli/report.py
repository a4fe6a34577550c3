"""`rollout-gate report FILE`."""

from __future__ import annotations

import click

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["file"], metavar="FILE"))
def report(world: World, settings: Settings, file: str) -> int:
    """FILE is a result as JSON, or a recording, which is judged again."""
    from gate.app import entry

    return entry.report(world, settings, file)
