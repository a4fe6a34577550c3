"""`rollout-gate rehearse -f PATH...`."""

from __future__ import annotations

from gate.app.world import World
from gate.cli.command import command
from gate.cli.manifests import require_manifests
from gate.config import Settings
from gate.errors import UsageError


@command()
def rehearse(world: World, settings: Settings) -> int:
    """In virtual time, on this machine alone. Exit codes are those that apply would have."""
    require_manifests(settings, "rehearse")
    chosen = [settings.with_, settings.scenario, settings.all_ or None]
    if sum(choice is not None for choice in chosen) > 1:
        hint = "one at a time; a scenario file can hold several failures"
        raise UsageError("rehearse takes one of --with, --scenario and --all", hint=hint)
    from gate.app import commands

    return commands.rehearse(world, settings)
