"""Drives the real core through an attempt: answers what it asks, keeps what it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref, Watched
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target
from gate.core.protocol.effects import (
    Announce,
    Collect,
    Effect,
    FindUsers,
    Read,
    Release,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import (
    AttemptEvent,
    Collected,
    Evidence,
    ReadBack,
    Recorded,
    Released,
    UsersFound,
    Woke,
    Written,
)
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.observations import Kind, Observed, Vanished
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin, step, wake_at
from gate.report.document.course import Course
from gate.report.document.run import Run, RunCluster, RunIdentity, RunLines, RunRecord, RunTimes
from tests.unit.core.leaves import ref_of
from tests.unit.report.cluster import Workload, managed_by, stored

ATTEMPT_ID = "5f0c2d9a41be"
STARTED = "2026-11-21T12:00:00+00:00"


def run_of(stage: Stage) -> Run:
    """Return the run of a stage, begun 1.5 s before its attempt."""
    return Run(
        RunIdentity("1.0.0", ATTEMPT_ID, "apply", "https://ci.example/runs/42"),
        RunTimes(STARTED, 98.5, stage.attempt.now + 0.2),
        RunCluster("https://10.0.0.1:6443", "prod", uid="c0ffee"),
        lines=RunLines(tuple(stage.timeline)),
        record=RunRecord(is_locked=True),
        course=stage.course,
    )


class Stage:
    """One attempt on workloads that a test changes by hand; time starts at 100 s."""

    def __init__(
        self,
        workloads: Iterable[Workload],
        applied: Iterable[dict[str, Any]],
        policy: Policy | None = None,
        others: Iterable[LiveObject] = (),
        *,
        exists: bool = True,
        answer: Callable[[Write], AttemptEvent | None] | None = None,
        readable: bool = True,
    ) -> None:
        """Plan to apply the bodies `applied`; `others` are there before.

        `answer` may answer a write itself; where it returns None the write is taken. Without
        `readable` no read is answered by what is there.
        """
        self.workloads = {workload.ref: workload for workload in workloads}
        self.others = {live.ref: live for live in others}
        self.deleted: set[Ref] = set()
        self.evidence: tuple[Evidence, ...] = ()
        self.timeline: list[Announce] = []
        self.answer = answer
        self.readable = readable
        plan = self._plan([*applied], policy or Policy(), exists=exists)
        self.attempt, effects = begin(plan, 100.0)
        self.course = Course().after_step(self.attempt)
        self._perform(effects)

    def _plan(self, bodies: list[dict[str, Any]], policy: Policy, *, exists: bool) -> Plan:
        targets = []
        for ref, workload in self.workloads.items():
            snapshot = replace(unseen(ref), workload=Absent())
            for thing in workload.objects() if exists else ():
                snapshot = snapshot.fold(Observed(100.0, thing))
            targets.append(Target(ref, snapshot, baseline_of(snapshot)))
        writes = tuple(PlannedWrite(ref_of(body), Verb.APPLY, Body.of(body)) for body in bodies)
        objects = tuple(
            PlannedObject(write.ref, self._fact(write.ref, exists=exists)) for write in writes
        )
        return Plan("apply", tuple(targets), objects, writes, policy)

    def _fact(self, ref: Ref, *, exists: bool) -> Known[LiveObject] | Absent:
        if ref in self.others:
            return Known(self.others[ref])
        there = exists and ref in self.workloads
        return Known(self.workloads[ref].live()) if there else Absent()

    def hear(self, event: AttemptEvent) -> None:
        """Step once, and answer whatever is asked for."""
        if isinstance(event, Vanished) and event.kind == DEPLOYMENT:
            self.deleted |= {one.ref for one in self.workloads.values() if one.uid == event.uid}
        self.attempt, effects = step(self.attempt, event)
        self.course = self.course.after_step(self.attempt)
        self._perform(effects)

    def show(self, after: float, *more: Watched) -> None:
        """Let `after` seconds pass, then show all workloads as they are, and `more`."""
        at = self.attempt.now + after
        self.wait_until(at)
        for workload in self.workloads.values():
            for uid in self._gone(workload):
                self.hear(Vanished(at, Kind.POD, uid))
            for thing in (*workload.objects(), *more):
                self.hear(Observed(at, thing))

    def _gone(self, workload: Workload) -> list[str]:
        """Return the uids of pods that the attempt knows and that are there no more."""
        rollout = self.attempt.workloads.rollouts.get(workload.ref)
        known = rollout.snapshot.pods if rollout is not None else {}
        there = {pod.uid for other in self.workloads.values() for pod in other.core_pods()}
        return [uid for uid in known if uid not in there]

    def serve_again(self, after: float = 3.0) -> None:
        """Let the version before serve alone, as the third revision, after so many seconds."""
        for workload in self.workloads.values():
            workload.serving(f"shop/{workload.name}:1", 3)
        self.show(after)

    def wait_until(self, at: float) -> None:
        """Wake the attempt whenever it asks for it until `at`."""
        while not self.attempt.ended and wake_at(self.attempt) <= at:
            self.hear(Woke(wake_at(self.attempt)))

    def wait_out(self) -> None:
        """Let time pass until the attempt has ended."""
        while not self.attempt.ended and wake_at(self.attempt) < math.inf:
            self.hear(Woke(wake_at(self.attempt)))

    def _taken(self, write: Write) -> AttemptEvent:
        """Answer a write as a server does that takes it."""
        at = self.attempt.now + 0.01
        if write.verb is Verb.DELETE:
            self.others.pop(write.ref, None)
            self.deleted.add(write.ref)
            return Written(at, write.effect_id, None)
        if write.ref not in self.workloads:
            body = {**write.body.thaw()}
            live = stored(body, f"uid-{write.ref.name}", [managed_by("rollout-gate", body)])
            is_new = write.ref not in self.others
            self.others[write.ref] = live
            return Written(at, write.effect_id, live, is_created=is_new)
        workload = self.workloads[write.ref]
        _merge(workload, write)
        return Written(at, write.effect_id, workload.live(), is_created=write.uid is None)

    def _perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Announce):
                self.timeline.append(effect)
                continue
            if effect.effect_id in self.attempt.requests.outstanding:
                self.hear(self._answer(effect))

    def _answer(self, effect: Effect) -> AttemptEvent:
        at = self.attempt.now
        match effect:
            case SaveRecord(effect_id):
                return Recorded(at, effect_id)
            case Release(effect_id):
                return Released(at, effect_id)
            case FindUsers(effect_id):
                return UsersFound(at, effect_id, FrozenMap())
            case Collect(effect_id):
                return Collected(at, effect_id, self.evidence)
            case Write():
                own = self.answer(effect) if self.answer is not None else None
                return own if own is not None else self._taken(effect)
            case Read():
                return self._read(effect)
            case _:
                raise TypeError(effect)

    def _read(self, read: Read) -> ReadBack:
        if not self.readable:
            return ReadBack(self.attempt.now, read.effect_id, Unknown("timed out"))
        if read.ref not in self.workloads or read.ref in self.deleted:
            other = self.others.get(read.ref)
            fact = Known(other) if other is not None else Absent()
            return ReadBack(self.attempt.now, read.effect_id, fact)
        workload = self.workloads[read.ref]
        sets, pods = None, None
        if read.whole_rollout:
            sets, pods = workload.core_sets(), workload.core_pods()
        return ReadBack(self.attempt.now, read.effect_id, Known(workload.live()), sets, pods)


def _merge(workload: Workload, write: Write) -> None:
    """Change a Deployment as its server would."""
    body = write.body.thaw()
    if write.verb is Verb.MERGE:
        workload.paused = body["spec"].get("paused", workload.paused)
        workload.replicas = body["spec"].get("replicas", workload.replicas)
        workload.generation += 1
        return
    changed = body["spec"] != workload.body["spec"]
    workload.body = {**workload.body, "spec": {**workload.body["spec"], **body["spec"]}}
    workload.managers = [managed_by("rollout-gate", workload.body)]
    if changed:
        workload.generation += 1


def log_lines(pod: str, *lines: str) -> Evidence:
    """Return the tail of a log as it is collected."""
    return Evidence("log", pod, "web", CleanText("\n".join(lines)), "")
