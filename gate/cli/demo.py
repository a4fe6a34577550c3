"""`rollout-gate demo [SCENARIO]`."""

from __future__ import annotations

import click

from gate.app.world import World
from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["scenario_name"], metavar="[SCENARIO]", required=False, default=""))
def demo(world: World, settings: Settings, scenario_name: str) -> int:
    """Nothing is written but to this terminal, and nothing is left behind."""
    from gate.app import commands

    return commands.demo(world, settings, scenario_name)
