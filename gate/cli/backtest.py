"""`rollout-gate backtest RECORDING...`."""

from __future__ import annotations

import click

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["recordings"], metavar="RECORDING...", nargs=-1, required=True))
def backtest(world: World, settings: Settings, recordings: tuple[str, ...]) -> int:
    """Each one as its run was judged, and as the options and --config would have it.

    RECORDING is a file, or a folder with files *.jsonl. What the options do not say stays as it was
    recorded. A check is judged again by its recorded answers where its name and query are the same;
    what was not asked then is inconclusive. Exit 2 where a recording cannot be judged.
    """
    from gate.app import entry

    return entry.backtest(world, settings, recordings)
