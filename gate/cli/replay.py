"""`rollout-gate replay FILE`."""

from __future__ import annotations

import click

from gate.cli.command import command
from gate.config import Settings


@command(click.Argument(["file"], metavar="FILE"))
def replay(settings: Settings, file: str) -> int:
    """On the recording's own time, under the policy that the options say."""
    from gate.app import commands

    return commands.replay(settings, file)
