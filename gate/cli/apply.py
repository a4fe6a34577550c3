"""`rollout-gate apply -f PATH...`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.manifests import require_manifests
from gate.config import Settings


@command()
def apply(world: World, settings: Settings) -> int:
    """Judges Deployments, StatefulSets, DaemonSets and Jobs.

    Several workloads are one attempt: followed together, rolled back together.
    """
    require_manifests(settings, "apply")
    from gate.app import entry

    return entry.apply(world, settings)
