"""`rollout-gate preflight -f PATH...`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.manifests import require_manifests
from gate.config import Settings


@command()
def preflight(world: World, settings: Settings) -> int:
    """It takes the options of apply, so that a pipeline changes one word.

    Of metrics it checks the options, and pushes, writes and serves nothing: it is no attempt.
    """
    require_manifests(settings, "preflight")
    from gate.app import entry

    return entry.preflight(world, settings)
