"""`rollout-gate sandbox --kubeconfig FILE`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings
from gate.errors import UsageError


@command()
def sandbox(world: World, settings: Settings) -> int:
    """It is empty, and serves on loopback until a signal.

    How to make a version fail in it: docs/sandbox.md, Behaviours.
    """
    if not settings.kubeconfig:
        hint = "as in: rollout-gate sandbox --kubeconfig sandbox.kubeconfig"
        raise UsageError("rollout-gate sandbox: no kubeconfig to write", hint=hint)
    from gate.app import entry

    return entry.sandbox(world, settings)
