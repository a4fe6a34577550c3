"""Combine flags, variables and files into the settings of a command, and say what is wrong where.

A flag wins over the environment, the environment over the configuration files (a later file over an
earlier one), and a file over the default. Only the winner's value counts: lists are not joined
across layers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gate.config.files import Entry, read
from gate.config.metrics_settings import GATEWAY_VARIABLES
from gate.config.option import VARIABLE_PREFIX, closest
from gate.config.option_values import BadValuesError
from gate.config.parsing import parse_texts
from gate.config.secret_variables import SECRET_VARIABLES
from gate.config.settings import CONFIG_FILE, Settings, collect_settings, taken_by
from gate.config.taking import Fault, inside
from gate.config.together import Conflict, conflicts
from gate.config.unfilled import unfilled_variables
from gate.core.frozen import dataclass
from gate.core.kinds.check_variables import COMMAND_VARIABLES
from gate.errors import UsageErrors
from gate.manifests.source import escape_line

Layer = Mapping[str, Entry]

_SERVICE_LINK: Final = re.compile(rf"{VARIABLE_PREFIX}(PORT|SERVICE)(_|$)")


@dataclass(frozen=True, slots=True)
class _Problem:
    line: str
    hint: str = ""


class SettingsError(UsageErrors):
    """All that is wrong with the options of a command; `problems` has a line for each. Exit 2."""

    def __init__(self, problems: Sequence[_Problem]) -> None:
        super().__init__([(problem.line, problem.hint) for problem in problems])


def load(
    command: str,
    flags: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    folder: Path = Path(),
) -> Settings:
    """Return the settings of `command`.

    `flags` holds the options given on the command line by their names; `folder` is where
    `rollout-gate.yaml` is looked for. Raises SettingsError, which names all problems at once, even
    those in values that do not win and in options that the command does not take.
    """
    given = {name: Entry(value, collect_settings()[name].flag) for name, value in flags.items()}
    variables = _variables(environ)
    files = [_file(path) for path in _files(given, variables, folder)]
    layers = [*(layer for layer, _ in files), variables, given]
    wrong = [problem for _, unknown in files for problem in unknown]
    wrong += [problem for layer in layers for problem in _wrong(layer)]
    if wrong:
        raise SettingsError(wrong)
    wanted = {item.name for item in taken_by(command)}
    named = {name: entry for layer in layers for name, entry in layer.items()}
    winners = {name: entry for name, entry in named.items() if name in wanted}
    ignored = frozenset(name for name in named.keys() - wanted if named[name].value)
    values = {
        item.name: item.default_in(command) for item in taken_by(command) if item.option.off_in
    }
    values |= {name: entry.value for name, entry in winners.items()}
    settings = Settings.of(values, ignored)
    if wrong := [_conflict(each, winners) for each in conflicts(command, settings, environ)]:
        raise SettingsError(wrong)
    return settings


def unknown_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return a line for each of our variables that no option has, with the one that may be meant.

    They are not errors: for a Service named `rollout-gate`, the kubelet sets `ROLLOUT_GATE_PORT`,
    `ROLLOUT_GATE_SERVICE_HOST` and more in every pod of its namespace.
    """
    options = [item.variable for item in collect_settings().values() if item.option.in_environment]
    known = {*options, *SECRET_VARIABLES, *GATEWAY_VARIABLES}
    strangers = sorted(filter(_is_ours, environ.keys() - known - COMMAND_VARIABLES))
    return tuple(_unknown_variable(name, known) for name in strangers)


def _is_ours(variable: str) -> bool:
    return variable.startswith(VARIABLE_PREFIX) and not _SERVICE_LINK.match(variable)


def _unknown_variable(variable: str, known: Iterable[str]) -> str:
    """Return the complaint about a variable, with the flag to use or the variable likely meant."""
    for item in collect_settings().values():
        if item.variable == variable:
            return f"{variable} says nothing: {item.flag} has no variable"
    names = [name.removeprefix(VARIABLE_PREFIX) for name in sorted(known)]
    guess = closest(variable.removeprefix(VARIABLE_PREFIX), names)
    suggestion = f" (did you mean {VARIABLE_PREFIX}{guess}?)" if guess else ""
    return f"{escape_line(variable)} is no option{suggestion}"


def _variables(environ: Mapping[str, str]) -> Layer:
    """Return the layer of the environment; empty variables are ignored."""
    return {
        item.name: Entry(environ[item.variable], item.variable)
        for item in collect_settings().values()
        if item.option.in_environment and environ.get(item.variable, "").strip()
    }


def _files(given: Layer, variables: Layer, folder: Path) -> tuple[str, ...]:
    """Return the configuration files to read, the one that wins last."""
    for layer in (given, variables):
        if entry := layer.get("config"):
            if wrong := [*_wrong({"config": entry})]:
                raise SettingsError(wrong)
            return parse_texts(entry.value)
    default = folder / CONFIG_FILE
    return (str(default),) if os.path.lexists(default) else ()


def _file(path: str) -> tuple[Layer, list[_Problem]]:
    """Return the layer of a file, and a problem for each key that no option has."""
    names = {item.key: item.name for item in collect_settings().values() if item.option.in_file}
    layer: dict[str, Entry] = {}
    unknown: list[_Problem] = []
    for key, entry in read(path).items():
        if key in names:
            layer[names[key]] = entry
        else:
            unknown.append(_Problem(f"{entry.line}: {_unknown(key, names)}"))
    return layer, unknown


def _unknown(key: str, names: Mapping[str, str]) -> str:
    """Return the complaint about a key, with the key to use or the one likely meant."""
    for item in collect_settings().values():
        if item.key == key and item.option.file_key:
            return f'unknown key "{key}" (in a file it is {item.option.file_key})'
    hyphened = key.replace("_", "-")
    guess = hyphened if hyphened in names else closest(key, names)
    suggestion = f' (did you mean "{guess}"?)' if guess else ""
    return f'unknown key "{escape_line(key)}"{suggestion}'


def _wrong(layer: Layer) -> Iterator[_Problem]:
    """Yield what is wrong with the values of a layer."""
    values = {}
    for name, entry in layer.items():
        unfilled = [*unfilled_variables(name, entry.value)] if entry.file else []
        yield from (_problem(entry, fault) for fault in unfilled)
        if entry.value is None:
            yield _Problem(f"{entry.place}: has no value")
        elif not unfilled:
            values[name] = entry.value
    try:
        Settings.of(values)
    except BadValuesError as error:
        for name, cause in error.wrong.items():
            entry = layer[name]
            by_line = sorted(cause.faults, key=lambda fault: entry.mark_of(fault.path))
            yield from (_problem(entry, fault) for fault in by_line)


def _problem(entry: Entry, fault: Fault) -> _Problem:
    """Return the problem with a part of a value, with the line of that part."""
    about = inside(fault.path) if fault.subject is None else fault.subject
    message = f"{about}: {fault.message}" if about else fault.message
    return _Problem(f"{entry.place_of(fault.path)}: {message}", fault.hint)


def _conflict(conflict: Conflict, winners: Layer) -> _Problem:
    """Return the problem of a conflict, at the first of its options that was given."""
    entries = (winners[name] for name in conflict.options if name in winners)
    given = (entry.place_of(conflict.path) if conflict.path else entry.place for entry in entries)
    place = next(given, conflict.options[0].replace("_", "-"))
    return _Problem(f"{place}: {conflict.message}", conflict.hint)
