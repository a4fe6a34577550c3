"""Reads what `replay` judges: a recording, and the policy that it is judged by."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gate.app.replay.judgement import Recording
from gate.app.runtime.recorded_policy import CHECKS, verdict_options
from gate.config import Settings, policy
from gate.core.frozen import dataclass
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveObject
from gate.core.rollout.policy import Policy
from gate.errors import UsageError
from gate.report.schema.result import SCHEMA
from gate.wire import trace

_START_BYTES: Final = 4096
"""Enough of a file to recognize it by its `schema`."""
_ONE_LINERS: Final = ("check", "http_check", "smoke_test")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recording, the policy that it was recorded under, and the requested policy.

    `end` is what the recording holds of its run's result, None if nothing.
    """

    recording: Recording
    then: Policy
    now: Policy
    end: dict[str, Any] | None = None


_DEADLINE: Final = "progress_deadline"
"""A deadline that is asked for is asked of a recording without an end, too."""


def load(file: str, settings: Settings) -> Loaded:
    """Read a recording; UsageError with file and line if it is not one.

    The requested policy is the recorded one, overridden by what was set explicitly in `settings`.
    """
    try:
        found = trace.read(Path(file))
    except UsageError:
        _refuse_result(file)
        raise
    then, now = _policies(file, found.policy, settings)
    end = found.end()
    recording = Recording(
        before=found.before,
        before_live={live.ref: _before(found, live) for live in found.applied},
        applied=found.applied,
        events=found.events(),
        checks=then.checks,
        is_silent_after=end is None and _DEADLINE in settings.given,
    )
    return Loaded(recording, then, now, end)


def _refuse_result(file: str) -> None:
    """Raise UsageError if the file is a result document.

    Skips what is not a regular file: it was read to its end, and a named pipe would wait for
    another writer.
    """
    if not Path(file).is_file():
        return
    try:
        with Path(file).open("rb") as stream:
            start = stream.read(_START_BYTES)
    except OSError:
        return
    if f'"{SCHEMA}"'.encode() in start:
        raise UsageError(
            f"{file}: this is a result document, not a recording",
            hint=f"to render it: {shlex.join(['rollout-gate', 'report', file])}",
        )


def _before(found: trace.Recording, applied: LiveObject) -> Fact[LiveObject]:
    """Return the workload before the apply, Absent if the recording has none."""
    for live in found.before_live:
        if live.ref == applied.ref:
            return Known(live)
    return Absent()


def _policies(file: str, recorded: Mapping[str, Any], settings: Settings) -> tuple[Policy, Policy]:
    known = {item.key: item.name for item in verdict_options()}
    values = {known[key]: value for key, value in recorded.items() if key in known}
    try:
        then = Settings.of(values)
    except ValueError as error:
        raise UsageError(f"{file}:1: the policy of this recording cannot be read") from error
    before, now = policy(then), policy(then.with_values(**_with_given(then, settings)))
    if "bake" not in settings.given:
        # A longer window would ask for measurements that the run never made.
        budgets = replace(now.budgets, evidence_seconds=before.budgets.evidence_seconds)
        now = replace(now, budgets=budgets)
    return before, now


def _with_given(then: Settings, settings: Settings) -> dict[str, Any]:
    """Return the settings that were set explicitly; a check from a flag replaces its namesake."""
    given = {name: getattr(settings, name) for name in settings.given}
    if CHECKS not in given:
        replaced = {check.name for name in _ONE_LINERS for check in getattr(settings, name)}
        given[CHECKS] = tuple(check for check in then.checks if check.name not in replaced)
    return given
