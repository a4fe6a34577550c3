"""The entry point: the group of commands, and an exit code for whatever happens.

It knows the commands by name alone, so that `--help` loads none of them.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from gate import __version__, signals
from gate.cli import streams
from gate.cli.call import Call
from gate.cli.catalog import COMMANDS, PROGRAM
from gate.clock import SystemClock

if TYPE_CHECKING:
    from gate.app.runtime.world import World

CONTEXT: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


COLLECT_AFTER = 150_000
"""Allocations beyond deallocations between two collections; the interpreter's own is 700.

The imports of an apply make 100,000.
"""


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the catalogue's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"gate.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the one that may be meant."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        from gate.config.option import closest

        guess = closest(name, COMMANDS)
        suggestion = f" (did you mean {guess}?)" if guess else ""
        raise click.UsageError(f"no such command {name}{suggestion}", ctx)


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, message="%(version)s")
def rollout_gate() -> None:
    """Deploy to Kubernetes through a gate.

    Applies manifests, follows the rollout, judges it, and returns to what served before where it
    fails.
    """


def run(
    arguments: Sequence[str],
    world: World | None = None,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Run one command and return its exit code; nothing but SystemExit leaves it.

    `world` is what the command meets outside of itself, the process's own where it is None.
    """
    return _run(Call(tuple(arguments), environ, world))


def _run(call: Call) -> int:
    try:
        # Not click's own `main`: it takes a broken pipe, of a socket too, for exit 1.
        with rollout_gate.make_context(PROGRAM, list(call.arguments), obj=call) as context:
            return int(rollout_gate.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (Exception, KeyboardInterrupt, signals.Signalled) as error:  # noqa: BLE001 - each end has its code
        signals.settle()
        from gate.cli.failure import report_failure

        return report_failure(error, call)


def main() -> NoReturn:
    """Run the command of this process, and end it with the exit code."""
    # Imports make much and no garbage: looking for it as usual takes a tenth of the start.
    gc.set_threshold(COLLECT_AFTER)
    if instruction := os.environ.get("_ROLLOUT_GATE_COMPLETE"):
        from gate.cli.completion import complete

        sys.exit(complete(rollout_gate, instruction))
    signals.install()
    stdout, stderr = streams.harden()
    clock, call = SystemClock(), Call(tuple(sys.argv[1:]), os.environ)
    exit_code = _run(call)
    signals.settle()
    since = clock.now() if call.ended_at is None else call.ended_at
    streams.finish(stdout, stderr, clock, since, has_document=call.wants_document)
    if stdout.failure:
        from gate.cli.failure import code_without_output

        exit_code = code_without_output(exit_code, call)
    # Taking the interpreter apart takes 0.15 s, which a pipeline would wait for the verdict.
    os._exit(exit_code)
