"""What one sync of a Job makes of its pods: counts, conditions, and what is missing or too much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sandbox.controllers.job.pods import (
    ended_at,
    has_failed,
    index_of,
    indexes,
    is_indexed,
    is_tracked,
    match_policy,
    new_pods,
    parse_indexes,
    print_indexes,
    replaces_ended_alone,
    restarts,
)
from sandbox.controllers.pods import is_active, is_ready, is_terminating, phase
from sandbox.controllers.replica_sets import in_deletion_order
from sandbox.json import JSON, copy_json
from sandbox.objects.conditions import conditions_of, find
from sandbox.times import Timers

FIRST_BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS = 10.0, 600.0
COMPLETE, FAILED = "Complete", "Failed"
_FIRST = {COMPLETE: "SuccessCriteriaMet", FAILED: "FailureTarget"}
"""The condition that announces each end."""


def finished_at(job: JSON) -> str | None:
    """Return when a Job completed or failed for good, None where it goes on."""
    for condition in conditions_of(job):
        if condition["type"] in _FIRST and condition["status"] == "True":
            return str(condition["lastTransitionTime"])
    return None


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures since the last success, and when the last of them was."""

    failures: int = 0
    failed_at: str = ""

    def after(self, succeeded: Sequence[JSON], failed: Sequence[JSON]) -> Backoff:
        """Return the back-off with pods that have ended since."""
        counted = sorted(map(ended_at, failed))
        if not succeeded:
            last = counted[-1] if counted else self.failed_at
            return Backoff(self.failures + len(counted), last)
        latest = max(map(ended_at, succeeded))
        later = [at for at in counted if at > latest]
        return Backoff(len(later), later[-1] if later else "")

    def wait_seconds(self, timers: Timers) -> float:
        """Return how long the next pod has to wait; not positive: it need not."""
        if not self.failures:
            return 0.0
        seconds = FIRST_BACKOFF_SECONDS * 2.0 ** min(self.failures - 1, 30)
        return timers.seconds_until(self.failed_at, min(seconds, LONGEST_BACKOFF_SECONDS))


@dataclass(frozen=True, slots=True)
class End:
    """How a Job ends: the type of its last condition, its reason and message."""

    type: str
    reason: str
    message: str


_REACHED = End(COMPLETE, "CompletionsReached", "Reached expected number of succeeded pods")
_EXCEEDED = End(FAILED, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
_LATE = End(FAILED, "DeadlineExceeded", "Job was active longer than specified deadline")


@dataclass(slots=True)
class JobSync:
    """One sync: `status` is what is to be written, `is_changed` where it is not yet."""

    job: JSON
    pods: list[JSON]
    status: JSON
    active: list[JSON]
    backoff: Backoff
    timers: Timers
    finished: End | None = None
    created: int = 0
    deleted: list[JSON] = field(default_factory=list)
    is_changed: bool = False

    @classmethod
    def of(cls, job: JSON, pods: list[JSON], backoff: Backoff, timers: Timers) -> JobSync:
        """Count the pods as they are, and see whether that is the end."""
        status = copy_json(job.get("status") or {})
        status.setdefault("uncountedTerminatedPods", {})
        sync = cls(job, pods, status, [pod for pod in pods if is_active(pod)], backoff, timers)
        if "startTime" not in status and not sync._is_suspended:
            status["startTime"] = timers.wall()
        sync.backoff = backoff.after(sync._new("Succeeded"), sync._new(FAILED))
        sync.finished = sync._end()
        return sync

    @property
    def _spec(self) -> JSON:
        found: JSON = self.job["spec"]
        return found

    @property
    def _is_suspended(self) -> bool:
        return bool(self._spec.get("suspend"))

    def _list_uncounted(self, how: str) -> list[str]:
        found: list[str] = self.status["uncountedTerminatedPods"].get(how) or []
        return found

    def _new(self, how: str) -> list[JSON]:
        """Return the pods that have ended in one way and are in no count yet."""
        known = self._list_uncounted(how.lower())
        tracked = [pod for pod in self.pods if is_tracked(pod) and _uid(pod) not in known]
        if how == FAILED:
            return [pod for pod in tracked if has_failed(self.job, pod)]
        return [pod for pod in tracked if phase(pod) == how]

    def _succeeded_indexes(self) -> set[int]:
        done = [pod for pod in self.pods if is_tracked(pod) and phase(pod) == "Succeeded"]
        return parse_indexes(self.status.get("completedIndexes", "")) | indexes(self.job, done)

    def _count_succeeded(self) -> int:
        if is_indexed(self.job):
            return len(self._succeeded_indexes())
        counted = self.status.get("succeeded", 0) + len(self._list_uncounted("succeeded"))
        return int(counted + len(self._new("Succeeded")))

    def _end(self) -> End | None:
        """Return how the Job ends, as an earlier sync has said or as its pods say now."""
        conditions = self.status.get("conditions") or []
        for last, first in _FIRST.items():
            found = find(conditions, first)
            if found is not None:
                return End(last, found["reason"], found["message"])
        new_failed = self._new(FAILED)
        for pod in self.pods:
            message = match_policy(self.job, pod)[0] if has_failed(self.job, pod) else ""
            if message:
                return End(FAILED, "PodFailurePolicy", message)
        failed = self.status.get("failed", 0) + len(self._list_uncounted("failed"))
        failed += sum(match_policy(self.job, pod)[1] for pod in new_failed)
        limit = self._spec["backoffLimit"]
        if failed > limit or restarts(self.job, self.pods) >= max(limit, 1):
            return _EXCEEDED
        left = self.deadline_seconds()
        return _LATE if left is not None and left <= 0 else None

    def deadline_seconds(self) -> float | None:
        """Return how long the Job may still run, None where nothing says so."""
        seconds, started = self._spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if seconds is None or started is None or self._is_suspended:
            return None
        return self.timers.seconds_until(started, seconds)

    def _count_wanted(self) -> int:
        """Return how many pods are to run."""
        if self._is_suspended:
            return 0
        parallelism, completions = self._spec["parallelism"], self._spec.get("completions")
        if completions is None:
            return len(self.active) if self._count_succeeded() else int(parallelism)
        return max(min(int(completions) - self._count_succeeded(), int(parallelism)), 0)

    def surplus(self) -> list[JSON]:
        """Return the running pods that are too many, those that do least first."""
        count = max(len(self.active) - self._count_wanted(), 0)
        return in_deletion_order(self.active, (), self.timers.epoch())[:count]

    def missing(self) -> list[JSON]:
        """Return the pods to create."""
        count = self._count_wanted() - len(self.active)
        if replaces_ended_alone(self.job):
            count -= sum(map(is_terminating, self.pods))
        pending: Iterable[int] = ()
        if is_indexed(self.job):
            taken = self._succeeded_indexes() | indexes(self.job, self.active)
            pending = (each for each in range(self._spec["completions"]) if each not in taken)
        return new_pods(self.job, max(count, 0), pending)

    def note_deleted(self, pods: list[JSON], *, is_done: bool) -> None:
        """Count pods that were deleted; a Job that ends has to wait until all are."""
        if is_done:
            self.deleted = pods
        else:
            self.finished = None

    def conclude(self, said: Callable[[str, str], None]) -> None:
        """See whether the Job is complete; else say whether it is suspended."""
        running, succeeded = self._running(), self._count_succeeded()
        completions = self._spec.get("completions")
        enough = succeeded > 0 if completions is None else succeeded >= completions
        if enough and not running:
            self.finished = _REACHED
            return
        before = find(self.status.get("conditions") or [], "Suspended")
        if self._is_suspended is (before is not None and before["status"] == "True"):
            return
        word = "suspended" if self._is_suspended else "resumed"
        status = "True" if self._is_suspended else "False"
        self._set("Suspended", status, f"Job{word.capitalize()}", f"Job {word}")
        said(word.capitalize(), f"Job {word}")
        if self._is_suspended:
            self.status.pop("startTime", None)
        else:
            self.status["startTime"] = self.timers.wall()

    def _set(self, kind: str, status: str, reason: str, message: str) -> None:
        """Write a condition in its place, or behind the others."""
        now = self.timers.wall()
        made = {"type": kind, "status": status, "lastProbeTime": now, "lastTransitionTime": now}
        made |= {"reason": reason, "message": message}
        found = self.status.get("conditions") or []
        self.status["conditions"] = [
            *(made if each["type"] == kind else each for each in found),
            *([] if find(found, kind) else [made]),
        ]
        self.is_changed = True

    def _running(self) -> int:
        return len(self.active) + self.created - len(self.deleted)

    def count_ended(self) -> list[JSON]:
        """Note in the status what is to be counted; return the pods that are to be let go."""
        counts = {
            "active": self._running(),
            "ready": sum(map(is_ready, self.active)) - sum(map(is_ready, self.deleted)),
            "terminating": sum(map(is_terminating, self.pods)) + len(self.deleted),
        }
        before = {"active": 0, "ready": None, "terminating": None, **self.status}
        self.is_changed |= any(before[name] != count for name, count in counts.items())
        self.status |= counts
        self._count({_uid(pod) for pod in self.pods if is_tracked(pod)})
        is_going = self.finished is not None or "deletionTimestamp" in self.job["metadata"]
        ended = [
            pod
            for pod in self.pods
            if is_tracked(pod)
            and (is_going or phase(pod) == "Succeeded" or has_failed(self.job, pod))
        ]
        for pod in ended:
            self._note(pod)
        if is_indexed(self.job):
            self._write_indexes()
        if self.finished is not None and not find(
            self.status.get("conditions") or [], _FIRST[self.finished.type]
        ):
            end = self.finished
            self._set(_FIRST[end.type], "True", end.reason, end.message)
        return ended

    def _note(self, pod: JSON) -> None:
        """Note a pod that has ended, once; an ignored failure and one without a number never."""
        uid, failed = _uid(pod), self._list_uncounted("failed")
        if phase(pod) == "Succeeded" and uid not in failed:
            if not is_indexed(self.job):
                self._add("succeeded", uid)
            return
        ends_badly = self.finished is not None and self.finished.type == FAILED
        counts = has_failed(self.job, pod) or ends_badly
        is_known = not is_indexed(self.job) or index_of(self.job, pod) is not None
        if counts and is_known and match_policy(self.job, pod)[1]:
            self._add("failed", uid)

    def _add(self, how: str, uid: str) -> None:
        known = self._list_uncounted(how)
        if uid not in known:
            self.status["uncountedTerminatedPods"][how] = [*known, uid]
            self.is_changed = True

    def _write_indexes(self) -> None:
        found = self._succeeded_indexes()
        text = print_indexes(found)
        self.is_changed |= text != self.status.get("completedIndexes", "")
        self.status |= {"completedIndexes": text, "succeeded": len(found)}

    def _count(self, held: set[str]) -> None:
        """Count what was noted and is no longer held by a finalizer."""
        noted = self.status["uncountedTerminatedPods"]
        for how in ("succeeded", "failed"):
            left = [uid for uid in noted.get(how) or () if uid in held]
            released = len(noted.get(how) or ()) - len(left)
            if released:
                self.status[how] = self.status.get(how, 0) + released
                noted[how] = left
                self.is_changed = True

    def count_released(self, released: Iterable[JSON]) -> bool:
        """Count the pods that were let go; say whether that was the end."""
        self.is_changed = False
        gone = {_uid(pod) for pod in released}
        self._count({_uid(pod) for pod in self.pods if is_tracked(pod)} - gone)
        waits = any(self._list_uncounted(how) for how in ("succeeded", "failed"))
        if self.finished is None or waits or self.status["terminating"]:
            return False
        self._set(self.finished.type, "True", self.finished.reason, self.finished.message)
        if self.finished.type == COMPLETE:
            self.status["completionTime"] = self.timers.wall()
        return True


def _uid(pod: JSON) -> str:
    return str(pod["metadata"]["uid"])
