"""How a command is made: its name chooses its options, and its settings are its only input."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from gate import log, signals
from gate.cli.call import Call
from gate.cli.catalog import COMMANDS
from gate.cli.names import EXPLANATION, WorkloadArgument
from gate.clock import SystemClock
from gate.config import load, unknown_variables
from gate.config.option import Group, Setting
from gate.config.settings import taken_by

if TYPE_CHECKING:
    from gate.app.runtime.world import World

EPILOG = (
    "Most options can also be set by an environment variable (ROLLOUT_GATE_CONTEXT) and in"
    " rollout-gate.yaml (context: prod), whose keys rollout-gate schema config prints. --no-NAME"
    " turns a switch off."
)


class Command(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write one section for each group that has options."""
        name = self.name or ""
        mine = _flags_of(name)
        for group in Group:
            rows = [row(item, name) for item in mine if item.option.group is group]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)


def command(*arguments: click.Argument) -> Callable[[Callable[..., int]], click.Command]:
    """Make a command of a function that takes settings, and `arguments` by their names."""

    def make_command(function: Callable[..., int]) -> click.Command:
        name = function.__name__
        mine = _flags_of(name)

        def run(**given: Any) -> int:
            values = {item.name: given.pop(item.name) for item in mine}
            flags = {option: value for option, value in values.items() if value not in (None, ())}
            call = click.get_current_context().find_object(Call) or Call((), os.environ)
            settings = call.settings = load(name, flags, environ=call.environ)
            with _surroundings(call) as world:
                call.world = world
                call.configure_log(settings.log_format, settings.log_level, quiet=settings.quiet)
                for line in unknown_variables(call.environ):
                    log.warning("unknown-variable", text=line)
                with world.delivered(signals.ignore_signal):
                    exit_code = function(world, settings, **given)
                    call.ended_at = SystemClock().now()
                    signals.settle()
                return exit_code

        params = [*arguments, *map(_option, mine)]
        paragraphs = [COMMANDS[name], inspect.cleandoc(function.__doc__ or "")]
        if any(isinstance(argument, WorkloadArgument) for argument in arguments):
            paragraphs.append(EXPLANATION)
        text = "\n\n".join(paragraphs)
        return Command(name, callback=run, params=params, help=text, epilog=EPILOG)

    return make_command


def _flags_of(command: str) -> tuple[Setting, ...]:
    return tuple(item for item in taken_by(command) if item.option.on_command_line)


def _surroundings(call: Call) -> AbstractContextManager[World]:
    from gate.app.runtime.live_tree import on_terminals
    from gate.app.runtime.world import outside

    return on_terminals(call.world or outside())


def row(item: Setting, command: str) -> tuple[str, str]:
    """Return an option as a command's help shows it: how it is given, and what it does."""
    names = ", ".join(filter(None, (item.option.short, item.flag)))
    shown = item.shown_default_in(command)
    default = f" [default: {shown}]" if shown else ""
    several = "; repeatable" if item.repeated else ""
    return f"{names} {item.metavar}".rstrip(), f"{item.option.help}{several}{default}"


def _option(item: Setting) -> click.Option:
    """Return click's view of an option: text that the settings will read, or a switch."""
    short = [item.option.short] if item.option.short else []
    if item.opposite:
        return click.Option([item.name, *short, f"{item.flag}/{item.opposite}"], default=None)
    return click.Option(
        [item.name, *short, item.flag],
        metavar=item.metavar,
        multiple=item.repeated,
        default=None,
        shell_complete=_make_completer(item),
    )


def _make_completer(item: Setting) -> Callable[..., Any]:
    def complete_word(context: click.Context, parameter: click.Parameter, begun: str) -> Any:
        from gate.cli.completion import completion_of

        return completion_of(item)(context, parameter, begun)

    return complete_word
