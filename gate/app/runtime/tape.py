"""Makes the recording of a run, which `--record` asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gate.app.runtime.command_start import CommandStart
from gate.clock import Clock
from gate.core.attempt.pod_replacement import Stage
from gate.core.attempt.state import Attempt
from gate.core.checks.questions import Answers, Errored
from gate.core.checks.tick_grid import Tick
from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Write
from gate.kube.kinds.registry import WATCHED_PLURALS, WORKLOAD_PLURALS
from gate.kube.paths.scope import does_select
from gate.report.document.run import Run

if TYPE_CHECKING:
    from gate.wire.recorder import Recorder

FLUSH_SECONDS: Final = 2.0
"""How long the end of a run waits until its recording is written."""


@dataclass(frozen=True, slots=True)
class _Workload:
    """A workload that was applied, as KIND/NAME, with the labels of its pods."""

    called: str
    labels: Mapping[str, str]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> _Workload:
        template = body["spec"]["template"].get("metadata") or {}
        called = f"{body['kind']}/{body['metadata']['name']}"
        return cls(called, template.get("labels") or {})


class Tape:
    """Taps a run for a recorder: lists, watch lines, the answers to the applies, measurements.

    Called from the threads that receive them; lists from before the first apply become the header.
    The recording begins with the last apply of the way out: of `workload_count`, or of fewer
    where a failure or the run's end comes before a workload that waits for the others.
    """

    def __init__(
        self, recorder: Recorder, clock: Clock, workload_count: int, policy: Mapping[str, Any]
    ) -> None:
        """Expect answers to the applies of `workload_count` workloads, at least one."""
        self._recorder = recorder
        self._clock = clock
        self._expected = workload_count
        self._policy = policy
        self._before: list[bytes] = []
        self._applied: list[bytes] = []
        self._applied_at = 0.0
        self._has_begun = False
        self._beginning = threading.Lock()
        self._workloads: tuple[_Workload, ...] = ()
        self._missing = False
        self._suspended_seconds = 0.0
        self._removed: set[str] = set()

    @property
    def is_empty(self) -> bool:
        """Whether no workload was applied."""
        return not self._applied

    def on_answer(
        self, method: str, path: str, query: Sequence[tuple[str, str]], body: bytes
    ) -> None:
        """Take a response of the server."""
        kind, name = _collection_of(path)
        if kind not in WATCHED_PLURALS:
            return
        if method == "GET" and not name:
            self._on_list(path, dict(query), body)
        elif method == "PATCH" and kind in WORKLOAD_PLURALS and _is_apply(query):
            self._applied_one(body)

    def line(self, line: bytes) -> None:
        """Take a line of a watch."""
        self._recorder.line(self._clock.now(), line)

    def on_measurement(self, check: str, tick: Tick, said: Answers | Errored) -> None:
        """Take the answer to a check."""
        self._recorder.record_measurement(self._clock.now(), check, tick, said)

    def writing(self, effect: Write) -> None:
        """Take a write that is about to be sent; after the applies it belongs to the way back."""
        if self._has_begun and is_workload(effect.ref):
            self._recorder.note_return(self._clock.now())

    def _note_removals(self, attempt: Attempt) -> None:
        for uid, one in attempt.workloads.replacements.items():
            if one.stage is Stage.ACCEPTED and uid not in self._removed:
                self._removed.add(uid)
                self._recorder.record_removal(self._clock.now(), uid)

    def _note_standstill(self, attempt: Attempt) -> None:
        seconds = attempt.interference.suspended_seconds
        if seconds > self._suspended_seconds:
            stood = seconds - self._suspended_seconds
            self._suspended_seconds = seconds
            self._recorder.record_standstill(self._clock.now(), stood)

    def on_step(self, attempt: Attempt) -> None:
        """Take a step of the attempt: note what it missed, and for how long it stood still."""
        if attempt.course.leg is Leg.BACK or attempt.ended:
            self._begin()
        self._note_removals(attempt)
        self._note_standstill(attempt)
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

    def _on_list(self, path: str, query: Mapping[str, str], body: bytes) -> None:
        if not self._applied:
            self._before.append(body)
            return
        about = self._find_listed(query)
        self._recorder.record_list(self._clock.now(), _namespace_of(path), body, about)

    def _find_listed(self, query: Mapping[str, str]) -> tuple[str, ...] | None:
        """Return the workloads that a list is about, as KIND/NAME; None if it selects nothing."""
        labels, name = query.get("labelSelector", ""), query.get("fieldSelector", "")
        if len(self._workloads) < len(self._applied) and (labels or name):
            self._workloads = tuple(_Workload.of(json.loads(body)) for body in self._applied)
        if labels:
            of_pods = ((one.called, one.labels) for one in self._workloads)
            return tuple(called for called, own in of_pods if does_select(labels, own))
        prefix, _, name = name.partition("metadata.name=")
        named = (one.called for one in self._workloads if one.called.endswith(f"/{name}"))
        return tuple(named) if name and not prefix else None

    def _applied_one(self, body: bytes) -> None:
        if self._has_begun:
            return
        self._applied.append(body)
        self._applied_at = self._clock.now()
        if len(self._applied) == self._expected:
            self._begin()

    def _begin(self) -> None:
        with self._beginning:
            if self._has_begun or self.is_empty:
                return
            self._has_begun = True
        self._recorder.header(
            self._applied_at, self._applied, before=self._before, policy=self._policy
        )


def _end(attempt: Attempt, run: Run) -> Mapping[str, Any]:
    from gate.report.document.document import document
    from gate.report.schema.recorded_result import recorded_end

    return recorded_end(document(attempt, run))


def _namespace_of(path: str) -> str:
    """Return the namespace of a path, "" for what lies in none."""
    return path.partition("/namespaces/")[2].partition("/")[0]


def _collection_of(path: str) -> tuple[str, str]:
    """Return the plural of what a path is about, and what comes behind it: a name, if any."""
    root, _, rest = path.partition("/namespaces/")
    if rest:
        kind, _, name = rest.partition("/")[2].partition("/")
        return kind, name
    versions = 2 if root.startswith("/api/") else 3
    kind, _, name = "/".join(root.split("/")[versions + 1 :]).partition("/")
    return kind, name


def _is_apply(query: Sequence[tuple[str, str]]) -> bool:
    """Tell whether it is an apply, not a dry run or a patch that takes over or resumes."""
    return ("dryRun", "All") not in query and any(name == "force" for name, _ in query)


def open_tape(start: CommandStart, workload_count: int) -> Tape | None:
    """Record until the command ends, if the settings ask for it; None without a recording."""
    path, clock, warn = start.settings.record, start.console.clock, start.console.warn
    if path is None:
        return None
    if not workload_count:
        warn(f"{path}: nothing is recorded: a recording is of workloads, the manifest has none")
        return None
    # Few runs are recorded: none but those load what it takes.
    from gate.app.runtime.recorded_policy import recorded_policy
    from gate.wire.recorder import Recorder

    recorder = Recorder.create(Path(path), warn, start.world.secrets)
    tape = Tape(recorder, clock, workload_count, recorded_policy(start.settings))
    ended = clock.start(partial(recorder.run, clock), "recorder")

    def finish() -> None:
        recorder.finish()
        if not clock.wait(FLUSH_SECONDS, ended):
            warn(f"{path}: the recording is cut off: the file takes nothing")
        elif tape.is_empty:
            warn(f"{path}: the recording is empty, since no workload was applied")

    start.stack.callback(finish)
    return tape
