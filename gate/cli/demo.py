"""`rollout-gate demo [SCENARIO]`."""

from __future__ import annotations

import click

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["scenario_name"], metavar="[SCENARIO]", required=False, default=""))
def demo(world: World, settings: Settings, scenario_name: str) -> int:
    """Nothing is written but to this terminal, and nothing is left behind.

    SCENARIO is one of good, slow-start, restart-once, crash (without one), oom, image-pull,
    image-denied, config-error, never-ready, flapping, unschedulable, quota, superseded, paused,
    deleted, stale-deadline, first-deployment.
    """
    from gate.app import entry

    return entry.demo(world, settings, scenario_name)
