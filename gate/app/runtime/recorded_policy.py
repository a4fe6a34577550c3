"""The options of the judge as a recording's header has them: `replay` judges by the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gate.config import Settings, all_checks, as_configuration
from gate.config.fail_fast import COUNTS, GRACES, OFF
from gate.config.option import Group, Setting
from gate.config.settings import taken_by
from gate.core.model.int_or_percent import Share
from gate.core.rollout.policy import FailFast

CHECKS: Final = "checks"
_DOUBTS: Final = "on_inconclusive"


def recorded_policy(settings: Settings) -> dict[str, Any]:
    """Return the judge's options that differ from their defaults, as a configuration has them.

    All checks go under `checks`, wherever they came from.
    """
    changed = {
        item.key: _encode_option(getattr(settings, item.name))
        for item in verdict_options()
        if item.name != CHECKS and getattr(settings, item.name) != item.default
    }
    checks = as_configuration(all_checks(settings))
    return {**changed, **({CHECKS: checks} if checks else {})}


def verdict_options() -> Iterator[Setting]:
    """Yield the options that influence a verdict, also in a replay."""
    for item in taken_by("replay"):
        if item.option.group is Group.VERDICT or item.name in (CHECKS, _DOUBTS):
            yield item


def _encode_option(value: object) -> object:
    match value:
        case Share():
            return str(value)
        case FailFast():
            return [*_changes(value)]
        case _:
            return value


def _changes(limits: FailFast) -> Iterator[str]:
    """Yield the `KIND=VALUE` that turn the default limits into these."""
    usual = FailFast()
    for kind, names in {**GRACES, **{kind: (name,) for kind, name in COUNTS.items()}}.items():
        value = getattr(limits, names[0])
        if any(getattr(limits, name) != getattr(usual, name) for name in names):
            yield f"{kind}={OFF if value is None else f'{value:g}'}"
