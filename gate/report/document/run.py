"""What a report knows about a run besides its attempt."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime, timedelta

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Announce
from gate.report.document.course import Course


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run it is: of which version, of which command, in which pipeline."""

    version: str
    attempt_id: str = ""
    command: str = ""
    run_url: str = ""
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class RunTimes:
    """When it ran.

    `started_at` is RFC 3339; `clock_start` and `clock_end` are the same run's monotonic seconds,
    the clock of the attempt's times.
    """

    started_at: str = ""
    clock_start: float = 0.0
    clock_end: float = 0.0

    def at(self, clock: float) -> str:
        """Return a time of the clock as RFC 3339, "" if `started_at` cannot be parsed."""
        try:
            start = datetime.fromisoformat(self.started_at)
        except ValueError:
            return ""
        moment = start + timedelta(seconds=clock - self.clock_start)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def seconds_at(self, clock: float) -> float:
        """Return a time of the clock in seconds since the start, as the document has it."""
        return seconds(clock - self.clock_start)


@dataclass(frozen=True, slots=True)
class RunCluster:
    """Against what it ran; `kubeconfig` is what the caller named, "" for nothing."""

    server: str = ""
    context: str = ""
    kubeconfig: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class CheckCall:
    """How `checks` asks the same: its flags, None if unknown, and the variables it needs too."""

    flags: tuple[str, ...] | None = None
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunLines:
    """What it has said; `cautions` are the `warnings` about what a failure could not return.

    `of_pods` are those about pods that run, each with its workload. `advice` is about the
    manifest, whatever becomes of the run.
    """

    timeline: tuple[Announce, ...] = ()
    warnings: tuple[str, ...] = ()
    cautions: frozenset[str] = frozenset()
    advice: tuple[str, ...] = ()
    of_pods: FrozenMap[str, Ref] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What became of records of attempts in locks.

    `is_locked` is whether locks of the attempt hold its record, `is_open` whether one is still
    there at the end: it could not be removed, or `verify` found it and left it. `has_recovered` is
    whether the run finished what an earlier attempt had left, and went on.
    """

    is_locked: bool = False
    is_open: bool = False
    has_recovered: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """What is known about a run besides its attempt.

    `places` are the file and line of the manifest's objects.
    """

    identity: RunIdentity
    times: RunTimes = RunTimes()
    cluster: RunCluster = RunCluster()
    check_call: CheckCall = CheckCall()
    lines: RunLines = RunLines()
    record: RunRecord = RunRecord()
    course: Course = field(default_factory=Course)
    places: FrozenMap[Ref, tuple[str, int]] = FrozenMap()


def seconds(duration: float) -> float:
    """Return a duration as the document has it: to the millisecond, never negative."""
    return round(max(0.0, duration), 3)
