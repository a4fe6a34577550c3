"""`rollout-gate verify NAME...`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import names_argument
from gate.config import Settings
from gate.errors import UsageError


@command(names_argument())
def verify(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """For what helm, Argo CD or kubectl rolled out; nothing is rolled back."""
    if bool(names) == bool(settings.selector):
        hint = "as in: rollout-gate verify web; or: rollout-gate verify -l app=web"
        raise UsageError("verify takes either names or a selector", hint=hint)
    from gate.app import entry

    return entry.verify(world, settings, names)
