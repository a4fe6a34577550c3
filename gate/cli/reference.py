"""`python -m gate.cli.reference` prints docs/cli.md: commands and options, as they are declared."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator

import click

from gate.cli.catalog import COMMANDS, PROGRAM
from gate.cli.exit_codes import table
from gate.cli.main import CONTEXT
from gate.config.fail_fast import COUNTS, GRACES, OFF
from gate.config.option import Group, Setting
from gate.config.settings import collect_settings
from gate.manifests.kinds.rules import LintCode


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_HEAD = f"""\
# The command line

For looking things up: every command, option and exit code. Generated from the declarations in
`gate/config/settings.py` by `python -m gate.cli.reference > docs/cli.md`.

- `NAME`: a Deployment, as `web`, `deployment/web` or `deploy/web`; or another workload with its
  kind: `statefulset/db` or `sts/db`, `daemonset/agent` or `ds/agent`, `job/migrate`. Kinds are
  taken in the plural, in any case and with their group, too, as in `deployment.apps/web`
- `DURATION`: seconds, or like `90s`, `10m`, `1h30m`
- `N|N%`: a count or a share of the pods
- `KIND=VALUE`: a duration for {_join_names(GRACES)}, a count for {_join_names(COUNTS)}; or `{OFF}`
- `CODE`: {_join_names(LintCode)}
- `CHECK`: `name: QUERY <= 0.5` or `name: QUERY >= 2`; the last comparison outside brackets is
  the bound, which is inclusive
- `COMMAND`: a program and its arguments, split as a shell splits them but run without a shell; it
  runs once, when the new version is complete: earlier it would reach both versions
"""

_SIGNALS = """\
The first signal (Ctrl-C, a cancelled job) ends a run within 5 s: it does what `--on-interrupt`
says, and reports. A second one ends it at once, in the middle of what it is at: nothing more is
written, and a write that is under way may still be done. There is no report then, but one line on
stderr that says what had been written and what to run next, as `rollout-gate recover`.
"""

_FEW = 5
"""Up to so many commands that do not take an option, the others are not listed."""

_LAYERS = """\
## Where an option can be set

An option has one name in three forms: the flag `--on-failure`, the environment variable
`ROLLOUT_GATE_ON_FAILURE`, and the key `on-failure` of a configuration file. A flag wins over the
environment, the environment over the files, the files over the default. Only the winner counts:
lists are not joined.

- A switch is turned off by its opposite, `--no-observe`; elsewhere it is `true` or `false`.
- A repeatable option is given once for each value; a variable has one value a line, a file a list.
- An empty variable is ignored.
- The configuration is `rollout-gate.yaml` in the working directory, if it exists, or the files
  that `--config` names; later files win. Paths in it are relative to the working directory.
  [config.schema.json](config.schema.json) describes it; an unknown key or a wrong value is an error
  with its line.
- Values in it stand as they are: `${NAME}`, which nothing would fill in, is an error that names the
  environment variable and the flag to give the value by. Queries, label matchers and commands of
  checks can have `${NAME}`.
- A command ignores variables and keys of options that it does not take.
- Some keys exist only in a file: `checks` (health checks with all their keys), `prometheus` (the
  server and how to reach it), and `services` (the same for the services of HTTP checks).
- Secrets are not options: they come from the kubeconfig, from the files that `prometheus` and
  `services` name, and from `ROLLOUT_GATE_PROMETHEUS_TOKEN`, or `ROLLOUT_GATE_PROMETHEUS_USER` with
  `ROLLOUT_GATE_PROMETHEUS_PASSWORD`; for `--pushgateway` the same with `PUSHGATEWAY` in the names.
"""


def reference() -> str:
    """Return the page."""
    codes = "\n".join(("## Exit codes\n", *table(), "", _SIGNALS))
    parts = [_HEAD, "\n".join(_commands()), codes, _LAYERS, "## Options\n"]
    parts += ["\n".join(_options(group)) for group in Group]
    return "\n".join(parts)


def _commands() -> Iterator[str]:
    yield "## Commands\n"
    yield "| command | what it does |"
    yield "|---|---|"
    for name, line in COMMANDS.items():
        command: click.Command = getattr(importlib.import_module(f"gate.cli.{name}"), name)
        context = click.Context(command, info_name=f"{PROGRAM} {name}", **CONTEXT)
        pieces = (piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")
        yield f"| `{' '.join((PROGRAM, name, *map(_cell, pieces)))}` | {_cell(line)} |"
    yield ""


def _options(group: Group) -> Iterator[str]:
    yield f"### {group}\n"
    yield "| flag | default | what it does | taken by |"
    yield "|---|---|---|---|"
    for item in collect_settings().values():
        if item.option.group is group:
            yield f"| {_flag(item)} | {_default(item)} | {_help(item)} | {_commands_of(item)} |"
    yield ""


def _flag(item: Setting) -> str:
    given = f"{item.flag} {_cell(item.metavar)}".rstrip()
    if not item.option.on_command_line:
        return f"`{item.key}:`"
    return f"`{item.option.short}`, `{given}`" if item.option.short else f"`{given}`"


def _default(item: Setting) -> str:
    return item.shown_default or ("off" if item.opposite else "")


def _help(item: Setting) -> str:
    notes = (
        "; repeatable" if item.repeated else "",
        _file_note(item),
        "" if item.option.in_environment or not item.option.on_command_line else "; no variable",
    )
    return _cell(item.option.help + "".join(notes))


def _file_note(item: Setting) -> str:
    if not item.option.on_command_line:
        return "; only in a file"
    place = f"; in a file `{item.option.file_key}`" if item.option.file_key else "; not in a file"
    return "" if item.option.in_file else place


def _commands_of(item: Setting) -> str:
    others = [name for name in COMMANDS if name not in item.option.commands]
    if len(others) <= _FEW:
        return f"all but {', '.join(others)}"
    return ", ".join(name for name in COMMANDS if name in item.option.commands)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
