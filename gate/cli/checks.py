"""`rollout-gate checks [-f PATH...] [NAME...]`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import names_argument
from gate.config import Settings


@command(names_argument())
def checks(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Each check is asked once, about the workloads that NAME or the manifest names.

    Exit codes: 0 all required ones pass, 6 one fails, 7 one cannot be decided, 2 and 3 where it
    cannot be asked. With --show: print a ready-made check; nothing is asked.
    With --power: say before a deploy what the comparisons by counts could show, from the traffic of
    the last hour or as given; exit 0.
    """
    from gate.app import entry

    return entry.checks(world, settings, names)
