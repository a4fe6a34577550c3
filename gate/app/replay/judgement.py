"""Judges a recording on its own time, with the same attempt that judges live rollouts.

The attempt is like that of `verify`: it writes nothing, so all its reads are answered from what the
recording has shown so far, and its checks from the recording's measurements.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from gate.app.replay.recorded_answers import RecordedAnswers
from gate.core.attempt.check_conclusions import combine_verdicts, find_against
from gate.core.attempt.ending import Ending
from gate.core.attempt.new_rollout import applied_of, start_following
from gate.core.attempt.state import Attempt
from gate.core.checks.spec import Check
from gate.core.frozen import dataclass
from gate.core.kinds.registry import unseen
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import CleanText, Ref, Watched
from gate.core.model.outcome import AnyReason, Outcome
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.protocol.effects import (
    Announce,
    Ask,
    Asking,
    Collect,
    Effect,
    Read,
    Release,
    SaveRecord,
)
from gate.core.protocol.events import (
    Answer,
    AttemptEvent,
    Collected,
    ContactFailed,
    ReadBack,
    Recorded,
    Released,
    Suspended,
    Woke,
)
from gate.core.rollout.baseline import Baseline, baseline_of
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.verdict import Verdict
from gate.core.steps.step import begin, step, wake_at
from gate.report.check_report.rows import check_lines, check_rows
from gate.report.document.course import Course
from gate.report.schema.check_verdict import CheckResult
from gate.report.style.style import Style
from gate.report.views.timeline import timeline_line
from gate.wire.measurements import Measured
from gate.wire.trace import PodRemoved, Reached, Seen, TraceEvent


class Stands(enum.StrEnum):
    """The judgement of a recorded rollout; of several workloads the first in this order counts.

    These are the verdict's kinds, and what checks add to them.
    """

    FAILED = "failed"
    SUPERSEDED = "superseded"
    HELD = "held"
    PROGRESSING = "progressing"
    INCONCLUSIVE = "inconclusive"
    COMPLETE = "complete"


_MOST_TELLING = tuple(Stands)


@dataclass(frozen=True, slots=True)
class Recording:
    """The contents of a recording: the state before, the answers to the applies, what came after.

    `checks` are those of the recorded run. `is_silent_after` is whether to judge it as if nothing
    had come after its last line.
    """

    before: tuple[Watched, ...]
    before_live: LiveFacts
    applied: tuple[LiveObject, ...]
    events: Iterable[TraceEvent]
    checks: tuple[Check, ...] = ()
    is_silent_after: bool = False


@dataclass(frozen=True, slots=True)
class Playback:
    """What a recording played: the attempt in its last state, how it got there, what it said."""

    attempt: Attempt
    course: Course
    timeline: tuple[Announce, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of `replay`; of several workloads, for the one that counts (`Stands`).

    `decided_at` is in seconds of the recording, None while undecided.
    """

    verdict: Stands
    reason: AnyReason
    message: CleanText
    causes: tuple[Cause, ...]
    decided_at: float | None
    new_revision: bool
    baseline: Fact[Baseline]
    playback: Playback
    checks: tuple[CheckResult, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the JSON object that `replay --output json` prints."""
        causes = [
            {"reason": cause.reason.value, "message": cause.message, "pods": cause.pods}
            for cause in self.causes
        ]
        back = self.baseline.value.revision if isinstance(self.baseline, Known) else None
        return {
            "verdict": self.verdict.value,
            "reason": self.reason.value,
            "causes": causes,
            "decided_at": self.decided_at,
            "new_revision": self.new_revision,
            "would_roll_back_to": back,
            "checks": [*self.checks],
        }

    def text(self, *, is_quiet: bool = False) -> str:
        """Return text for people: the timeline unless quiet, the verdict, its causes."""
        lines = [] if is_quiet else [timeline_line(line, 0.0) for line in self.playback.timeline]
        when = "undecided" if self.decided_at is None else f"after {self.decided_at:.1f} s"
        lines.append(f"{self.verdict}: {self.reason} ({when}): {self.message}")
        lines.extend(f"  {cause.reason}: {cause.message}" for cause in self.causes)
        lines.extend(f"  {line}" for line in check_lines(self.checks, Style()))
        if isinstance(self.baseline, Known):
            lines.append(f"  a rollback would return to {self.baseline.value.revision_words}")
        return "\n".join(lines) + "\n"


def judge(recording: Recording, *policies: Policy) -> tuple[Judged, ...]:
    """Judge a recording under each policy, reading it once; some may be undecided at its end."""
    players = [_Player(recording, policy) for policy in policies]
    for event in recording.events:
        undecided = [player for player in players if not player.attempt.ended]
        if not undecided:
            break
        for player in undecided:
            player.play(event)
    if recording.is_silent_after:
        for player in players:
            player.let_a_deadline_pass()
    return tuple(player.judge_now() for player in players)


class _Player:
    """Feeds a recording to one attempt and answers what it asks."""

    def __init__(self, recording: Recording, policy: Policy) -> None:
        snapshots = [self._snapshot(live.ref, recording.before) for live in recording.applied]
        plan = Plan(
            "replay",
            tuple(Target(known.ref, known, baseline_of(known)) for known in snapshots),
            tuple(PlannedObject(ref, fact) for ref, fact in recording.before_live.items()),
            (),
            policy,
            may_retreat=False,
        )
        self.timeline: list[Announce] = []
        self._measurements = RecordedAnswers(recording.checks, policy.checks)
        self._missing = False
        self._unread: list[Read] = []
        self.attempt, effects = begin(plan, 0.0)
        self.attempt = self._follow_applies(recording, snapshots)
        self.course = Course().after_step(self.attempt)
        self._answer(effects)

    @staticmethod
    def _snapshot(ref: Ref, before: Iterable[Watched]) -> Snapshot:
        snapshot = unseen(ref)
        for thing in before:
            snapshot = snapshot.fold(Observed(0.0, thing))
        return snapshot

    def _follow_applies(self, recording: Recording, snapshots: Iterable[Snapshot]) -> Attempt:
        """Return the attempt following what the recorded applies returned."""
        attempt = replace(
            self.attempt, workloads=replace(self.attempt.workloads, rollouts=FrozenMap())
        )
        for live, snapshot in zip(recording.applied, snapshots, strict=True):
            before = recording.before_live[live.ref]
            was = before.value if isinstance(before, Known) else None
            applied = applied_of(0.0, was, live, FIELD_MANAGER)
            if live.workload is not None:
                known = snapshot.fold(Observed(0.0, live.workload))
                attempt = start_following(attempt, applied, known)
        return attempt

    def play(self, event: TraceEvent) -> None:
        """Take the next line of the recording."""
        began_at = event.at - event.seconds if isinstance(event, Suspended) else event.at
        self._wake_until(began_at)
        if self.attempt.ended or isinstance(event, Reached):
            return
        if isinstance(event, PodRemoved):
            self._restart_clock(event.uid)
            return
        if isinstance(event, Seen):
            self._see(event.at)
            return
        if not isinstance(event, Measured):
            self._missing |= isinstance(event, ContactFailed)
            self._hear(event)
            return
        answer = self._measurements.take_measurement(event)
        if answer is not None and answer.effect_id in self.attempt.requests.outstanding:
            self._hear(answer)

    def let_a_deadline_pass(self) -> None:
        """Let as much time pass as nothing may move in."""
        seconds = self.attempt.plan.policy.budgets.progress_deadline_seconds
        self._wake_until(self.attempt.now + seconds)

    def _restart_clock(self, uid: str) -> None:
        """Give the workload of a removed pod a whole deadline, as the run did."""
        workloads = self.attempt.workloads
        restarted = {
            ref: rollout.restart_clock(self.attempt.now)
            for ref, rollout in workloads.rollouts.items()
            if uid in rollout.snapshot.pods
        }
        rollouts = workloads.rollouts.put_all(restarted)
        self.attempt = replace(self.attempt, workloads=replace(workloads, rollouts=rollouts))

    def _see(self, at: float) -> None:
        """Answer the reads that waited while facts were missing: the run has its answers now."""
        self._missing = False
        self._hear(Woke(at))
        waiting, self._unread = self._unread, []
        for read in waiting:
            if read.effect_id in self.attempt.requests.outstanding:
                self._hear(self._read(self.attempt.now, read.effect_id, read.ref))

    def _wake_until(self, at: float) -> None:
        """Let time pass up to `at`, when the next line of the recording comes."""
        while not self.attempt.ended:
            due_at = wake_at(self.attempt)
            if due_at > at or math.isinf(due_at):
                return
            self._hear(Woke(due_at))

    def _hear(self, event: AttemptEvent) -> None:
        """Take one step, and answer whatever the attempt asks for."""
        self.attempt, effects = step(self.attempt, event)
        self.course = self.course.after_step(self.attempt)
        self._answer(effects)

    def _answer(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Announce):
                self.timeline.append(effect)
            else:
                answer = self._answer_to(effect)
                if answer is not None and answer.effect_id in self.attempt.requests.outstanding:
                    self._hear(answer)

    def _answer_to(self, effect: Asking) -> Answer | None:
        """Return the answer, None if the recording has not shown it yet."""
        now = self.attempt.now
        match effect:
            case SaveRecord(effect_id):
                return Recorded(now, effect_id)
            case Read() if self._missing:
                self._unread.append(effect)
                return None
            case Read(effect_id, ref):
                return self._read(now, effect_id, ref)
            case Collect(effect_id):
                return Collected(now, effect_id, ())
            case Release(effect_id):
                return Released(now, effect_id)
            case Ask():
                return self._measurements.ask(effect, now)
            case _:
                raise TypeError(f"a replay writes nothing, not even {effect}")

    def _read(self, now: float, effect_id: int, ref: Ref) -> ReadBack:
        """Answer a read with the latest state that the recording has shown."""
        snapshot = self.attempt.workloads.rollouts[ref].snapshot
        live = snapshot.live
        if live is None:
            return ReadBack(now, effect_id, Absent())
        body = live.template.body
        known = LiveObject(ref, live.uid, live.resource_version, body, body, live)
        sets = tuple(snapshot.revisions.values())
        pods = tuple(track.pod for track in snapshot.pods.values())
        nodes = tuple(snapshot.nodes.present.values())
        return ReadBack(now, effect_id, Known(known), sets, pods, nodes)

    def judge_now(self) -> Judged:
        """Return the current judgement."""
        attempt = self.attempt
        stands = {
            ref: self._stands(ref, rollout) for ref, rollout in attempt.workloads.rollouts.items()
        }
        ref = min(stands, key=lambda ref: _MOST_TELLING.index(stands[ref][0]))
        verdict, found = stands[ref]
        return Judged(
            verdict=verdict,
            reason=found.reason,
            message=found.message,
            causes=found.causes,
            decided_at=attempt.result.verdict_at if attempt.ended else None,
            new_revision=any(r.applied.new_template for r in attempt.workloads.rollouts.values()),
            baseline=attempt.plan.target(ref).baseline,
            playback=Playback(attempt, self.course, tuple(self.timeline)),
            checks=tuple(check_rows(attempt)),
        )

    def _stands(self, ref: Ref, rollout: Rollout) -> tuple[Stands, Verdict | Ending]:
        """Return the judgement of a workload, with the ending or verdict behind it."""
        ending = self.attempt.result.endings.get(ref)
        if ending is not None and ending.outcome is Outcome.INCONCLUSIVE:
            return Stands.INCONCLUSIVE, ending
        found = rollout.verdict(self.attempt.now)
        found = combine_verdicts(found, find_against(self.attempt).get(ref)) or found
        return Stands(found.kind), found
