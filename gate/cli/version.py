"""`rollout-gate version`."""

from __future__ import annotations

import click

from gate import __version__
from gate.cli.catalog import COMMANDS


@click.command("version", help=COMMANDS["version"])
def version() -> int:
    """Print it."""
    click.echo(__version__)
    return 0
