"""What a report knows about a run besides its attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Announce
from gate.report.document.course import Course


@dataclass(frozen=True, slots=True)
class Run:
    """What is known about a run besides its attempt: who ran it, against what, when.

    `started_at` is RFC 3339; `clock_start` and `clock_end` are the same run's monotonic seconds,
    the clock of the attempt's times. `kubeconfig` is what the caller named, "" for nothing.
    `check_flags` are those with which `checks` asks the same, None if they are unknown, and
    `check_variables` the names of environment variables that it needs as well.
    `is_locked` is whether locks of the attempt hold its record, `has_open_record` whether one is
    still there at the end: it could not be removed, or `verify` found it and left it.
    `has_recovered` is whether the run finished what an earlier attempt had left, and went on.
    `going_namespaces` are those that were being deleted when the attempt had ended.
    `cautions` are the `warnings` about what a failure could not return.
    `places` are the file and line of the manifest's objects.
    """

    version: str
    attempt_id: str
    command: str
    started_at: str
    clock_start: float
    clock_end: float
    run_url: str = ""
    traceparent: str = ""
    server: str = ""
    context: str = ""
    kubeconfig: str = ""
    check_flags: tuple[str, ...] | None = None
    check_variables: tuple[str, ...] = ()
    cluster_uid: str = ""
    timeline: tuple[Announce, ...] = ()
    warnings: tuple[str, ...] = ()
    cautions: frozenset[str] = frozenset()
    places: FrozenMap[Ref, tuple[str, int]] = FrozenMap()
    course: Course = field(default_factory=Course)
    is_locked: bool = False
    has_open_record: bool = False
    has_recovered: bool = False
    going_namespaces: frozenset[str] = frozenset()

    def at(self, clock: float) -> str:
        """Return a time of the clock as RFC 3339, "" if `started_at` cannot be parsed."""
        try:
            start = datetime.fromisoformat(self.started_at)
        except ValueError:
            return ""
        moment = start + timedelta(seconds=clock - self.clock_start)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds(duration: float) -> float:
    """Return a duration as the document has it: to the millisecond, never negative."""
    return round(max(0.0, duration), 3)
