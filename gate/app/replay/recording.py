"""Recordings: what `replay` judges, and what `--record` writes during a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from gate.app.replay.judgement import Recording
from gate.clock import Clock
from gate.config import Settings, all_checks, as_configuration, policy
from gate.config.fail_fast import COUNTS, GRACES, OFF
from gate.config.option import Group, Setting
from gate.config.settings import taken_by
from gate.core.attempt.state import Attempt
from gate.core.checks.questions import Answers, Errored
from gate.core.checks.run import Tick
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.int_or_percent import Share
from gate.core.model.live_object import LiveObject
from gate.core.protocol.effects import Write
from gate.core.rollout.policy import FailFast, Policy
from gate.errors import UsageError
from gate.kube.kinds import registry
from gate.report.document.document import document
from gate.report.document.run import Run
from gate.report.schema.recorded_result import recorded_end
from gate.report.schema.result import SCHEMA
from gate.wire import trace
from gate.wire.recorder import Recorder
from gate.wire.secret_values import SecretValues

FLUSH_SECONDS: Final = 2.0
"""How long the end of a run waits until its recording is written."""
_START_BYTES: Final = 4096
"""Enough of a file to recognize it by its `schema`."""
_CHECKS: Final = "checks"
_ONE_LINERS: Final = ("check", "http_check", "smoke_test")
_DOUBTS: Final = "on_inconclusive"


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recording, the policy that it was recorded under, and the requested policy.

    `end` is what the recording holds of its run's result, None if nothing.
    """

    recording: Recording
    then: Policy
    now: Policy
    end: dict[str, Any] | None = None


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
    recording = Recording(
        before=found.before,
        before_live={live.ref: _before(found, live) for live in found.applied},
        applied=found.applied,
        events=found.events(),
        checks=then.checks,
    )
    return Loaded(recording, then, now, found.end())


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
    """Return the Deployment before the apply, Absent if the recording has none."""
    for live in found.before_live:
        if live.ref == applied.ref:
            return Known(live)
    return Absent()


def _policies(file: str, recorded: Mapping[str, Any], settings: Settings) -> tuple[Policy, Policy]:
    known = {item.key: item.name for item in _judging()}
    values = {known[key]: value for key, value in recorded.items() if key in known}
    try:
        then = Settings.model_validate(values)
    except ValueError as error:
        raise UsageError(f"{file}:1: the policy of this recording cannot be read") from error
    before, now = policy(then), policy(then.model_copy(update=_told_over(then, settings)))
    if "bake" not in settings.model_fields_set:
        # A longer window would ask for measurements that the run never made.
        now = replace(now, evidence_seconds=before.evidence_seconds)
    return before, now


def _told_over(then: Settings, settings: Settings) -> dict[str, Any]:
    """Return the settings that were set explicitly; a check from a flag replaces its namesake."""
    told = {name: getattr(settings, name) for name in settings.model_fields_set}
    if _CHECKS not in told:
        anew = {check.name for name in _ONE_LINERS for check in getattr(settings, name)}
        told[_CHECKS] = tuple(check for check in then.checks if check.name not in anew)
    return told


# -- writing ---------------------------------------------------------------------------------------


def policy_told(settings: Settings) -> dict[str, Any]:
    """Return the judge's options that differ from their defaults, as a configuration has them.

    All checks go under `checks`, wherever they came from.
    """
    told = {
        item.key: _encode_option(getattr(settings, item.name))
        for item in _judging()
        if item.name != _CHECKS and getattr(settings, item.name) != item.default
    }
    checks = as_configuration(all_checks(settings))
    return {**told, **({_CHECKS: checks} if checks else {})}


def _judging() -> Iterator[Setting]:
    """Yield the options that influence a verdict, also in a replay."""
    for item in taken_by("replay"):
        if item.option.group is Group.VERDICT or item.name in (_CHECKS, _DOUBTS):
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


class Tape:
    """Taps a run for a recorder: lists, watch lines, the answers to the applies, measurements.

    Called from the threads that receive them; lists from before the apply become the header.
    """

    def __init__(
        self, recorder: Recorder, clock: Clock, deployments: int, policy: Mapping[str, Any]
    ) -> None:
        """Expect answers to the applies of `deployments` Deployments, at least one."""
        self._recorder = recorder
        self._clock = clock
        self._expected = deployments
        self._policy = policy
        self._before: list[bytes] = []
        self._applied: list[bytes] = []
        self._missing = False

    @property
    def complete(self) -> bool:
        """Whether every Deployment of the recording was applied."""
        return len(self._applied) >= self._expected

    def on_answer(
        self, method: str, path: str, query: Sequence[tuple[str, str]], body: bytes
    ) -> None:
        """Take a response of the server."""
        kind, _, name = path.partition("/namespaces/")[2].partition("/")[2].partition("/")
        if kind not in registry.WATCHED_PLURALS:
            return
        if method == "GET" and not name:
            self._on_list(path, body)
        elif method == "PATCH" and kind in registry.WORKLOAD_PLURALS and _is_apply(query):
            self._applied_one(body)

    def line(self, line: bytes) -> None:
        """Take a line of a watch."""
        self._recorder.line(self._clock.now(), line)

    def on_measurement(self, check: str, tick: Tick, said: Answers | Errored) -> None:
        """Take the answer to a check."""
        self._recorder.record_measurement(self._clock.now(), check, tick, said)

    def writing(self, effect: Write) -> None:
        """Take a write that is about to be sent; after the applies it belongs to the way back."""
        if self.complete and is_workload(effect.ref):
            self._recorder.record_return(self._clock.now())

    def on_step(self, attempt: Attempt) -> None:
        """Take a step of the attempt: note when facts start or stop being missing."""
        missing = any(
            rollout.blindness.is_unseen for rollout in attempt.workloads.rollouts.values()
        )
        if missing == self._missing:
            return
        self._missing, at = missing, self._clock.now()
        if missing:
            self._recorder.unseen(at, "a request or a watch failed")
        else:
            self._recorder.record_seen(at)

    def on_end(self, attempt: Attempt, run: Run) -> None:
        """Take the end of the attempt."""
        self._recorder.record_ending(self._clock.now(), partial(_end, attempt, run))

    def _on_list(self, path: str, body: bytes) -> None:
        if self.complete:
            namespace = path.partition("/namespaces/")[2].partition("/")[0]
            self._recorder.record_list(self._clock.now(), namespace, body)
        else:
            self._before.append(body)

    def _applied_one(self, body: bytes) -> None:
        if self.complete:
            return
        self._applied.append(body)
        if len(self._applied) == self._expected:
            self._recorder.header(
                self._clock.now(), self._applied, before=self._before, policy=self._policy
            )


def _end(attempt: Attempt, run: Run) -> Mapping[str, Any]:
    return recorded_end(document(attempt, run))


def _is_apply(query: Sequence[tuple[str, str]]) -> bool:
    """Tell whether it is an apply, not a dry run or a patch that takes over or resumes."""
    return ("dryRun", "All") not in query and any(name == "force" for name, _ in query)


@contextmanager
def record_run(
    settings: Settings,
    clock: Clock,
    deployments: int,
    warn: Callable[[str], None],
    secrets: SecretValues | None = None,
) -> Iterator[Tape | None]:
    """Record, if the settings ask for it, while the block runs; yields None without a recording."""
    path = settings.record
    if path is None:
        yield None
        return
    if not deployments:
        warn(f"{path}: nothing is recorded: a recording is of Deployments, the manifest has none")
        yield None
        return
    recorder = Recorder.create(Path(path), warn, secrets)
    tape = Tape(recorder, clock, deployments, policy_told(settings))
    ended = clock.start(partial(recorder.run, clock), "recorder")
    try:
        yield tape
    finally:
        recorder.finish()
        if not clock.wait(FLUSH_SECONDS, ended):
            warn(f"{path}: the recording is cut off: the file takes nothing")
        elif not tape.complete:
            warn(f"{path}: the recording is empty, since not every Deployment was applied")
