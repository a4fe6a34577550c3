"""`${NAME}` in a configuration file, which would be taken literally: the gate fills nothing in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.config.option import Setting
from gate.config.settings import collect_settings
from gate.config.taking import Fault, Path

_VARIABLE: Final = re.compile(
    r"\$\{(?:\{(?P<expression>.*?)\}\}|!?(?P<name>[A-Za-z_]\w*))", re.ASCII | re.DOTALL
)
"""As of a shell, also with a default; or, in two braces, as of a CI host."""
_PLAIN: Final = re.compile(r"\s*[\w.-]+\s*", re.ASCII)

_FILLED_IN_LATER: Final = frozenset({"check", "smoke_test"})
_FILLED_IN_LATER_OF_CHECKS: Final = frozenset(
    {"query", "bad", "total", "freshness", "min-samples", "pods", "command"}
)
"""Queries have variables of their own, and a command may be a shell's."""


def unfilled_variables(name: str, value: object) -> Iterator[Fault]:
    """Yield a fault for each text of an option's value that has a variable which stays as it is."""
    if name in _FILLED_IN_LATER:
        return
    for path, text in _texts(value, ()):
        is_own = name == "checks" and not _FILLED_IN_LATER_OF_CHECKS.isdisjoint(path[1:2])
        if not is_own and (found := _VARIABLE.search(text)):
            message = f"{_show(found)} is not filled in: values of this file stand as they are"
            about = ".".join(step for step in path if isinstance(step, str))
            yield Fault(path, message, _hint(name, path), about)


def _show(found: re.Match[str]) -> str:
    """Return a variable by its name alone: a default, or a text of an expression, may be secret."""
    expression = found["expression"]
    if expression is None:
        return f"${{{found['name']}}}"
    return f"${{{{{expression if _PLAIN.fullmatch(expression) else ' … '}}}}}"


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(part, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _texts(part, (*path, index))


def _hint(name: str, path: Path) -> str:
    if setting := _find_setting(name, path):
        return f"take the key out, and set {setting.variable} or {setting.flag}"
    return "write the value itself, or fill the file in before the run"


def _find_setting(name: str, path: Path) -> Setting | None:
    """Return the setting that gives such a value outside of a file, None if none does."""
    settings = collect_settings()
    if settings[name].option.in_environment:
        return settings[name]
    key = f"{settings[name].key}: {path[0]}" if path else ""
    same = (item for item in settings.values() if key and item.option.file_key == key)
    return next(same, None)
