"""`rollout-gate schema config|result|checks`."""

from __future__ import annotations

import json

import click

from gate.cli.catalog import COMMANDS


@click.command("schema", help=COMMANDS["schema"])
@click.argument("document", type=click.Choice(["config", "result", "checks"]))
def schema(document: str) -> int:
    """Print it."""
    if document == "config":
        from gate.config.json_schema import schema as schema_of
    elif document == "checks":
        from gate.report.schema.json_schema import checks_schema as schema_of
    else:
        from gate.report.schema.json_schema import result_schema as schema_of
    click.echo(json.dumps(schema_of(), indent=2))
    return 0
