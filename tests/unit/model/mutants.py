"""Bugs planted in the core on purpose, each by name: what the model check has to find."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from gate.core.attempt import record as attempt_record
from gate.core.attempt.parts import Purpose, Rejection
from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import State, Trigger
from gate.core.kinds.stateful_set import blocking, completion
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model import lock_holder as holders
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.live_object import LiveObject
from gate.core.model.lock_holder import HasEnded, Holder
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan import rollback_plan
from gate.core.plan.plan import PlannedWrite, Target
from gate.core.plan.record import Followed
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Read, RemovePod, Write
from gate.core.recovery import resumption
from gate.core.recovery.object_state import ObjectState
from gate.core.rollout.blind_time import Blindness
from gate.core.rollout.judge import Applied, Rollout
from gate.core.rollout.policy import FailFast
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import BlockingPod
from gate.core.states import awaiting, closing, confirming, interference, unblocking, writing
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.confirming import Confirming
from gate.core.states.following import Following
from gate.core.states.inspecting import Inspecting
from gate.core.states.recording import Recording
from gate.core.states.rollback_start import is_failure_to_take_back
from gate.core.states.table import STATES
from gate.core.states.verdicts import Verdicts
from gate.core.states.writing import Writing
from gate.core.steps import answers, fold
from gate.core.versions import selection
from gate.core.writes import request, restoration, way_back, way_out

Plant = Callable[[pytest.MonkeyPatch], None]


class Planted(NamedTuple):
    """A bug, the scene in which it is found, what it breaks, and how many deviations that takes."""

    plant: Plant
    scene: str
    invariant: str
    deviations: int
    is_long: bool


PLANTED: list[Planted] = []


def found_in(
    scene: str, invariant: str, deviations: int = 0, *, is_long: bool = False
) -> Callable[[Plant], Plant]:
    """Enter a bug among those that the search has to find."""

    def enter(plant: Plant) -> Plant:
        PLANTED.append(Planted(plant, scene, invariant, deviations, is_long))
        return plant

    return enter


@found_in("good", "S1", 1, is_long=True)
def live_template_unchecked(patch: pytest.MonkeyPatch) -> None:
    """Whatever template is live is taken for ours."""
    patch.setattr(Applied, "still_stands", lambda _self, _live: True)


@found_in("crashing", "S2", 1, is_long=True)
def live_unchecked_before_the_rollback(patch: pytest.MonkeyPatch) -> None:
    """What is live is not looked at before it is written over."""
    patch.setattr(way_back, "is_ours", lambda _attempt, _ref: True)


@found_in("good", "L2")
def record_after_the_write(patch: pytest.MonkeyPatch) -> None:
    """The record is saved once the writes of the leg are done."""
    record, follow = STATES[State.RECORDING].enter, Following.enter

    def late(self: Following, attempt: Attempt, trigger: Trigger, verdicts: Verdicts) -> Step:
        attempt, first = follow(self, attempt, trigger, verdicts)
        attempt, second = record(attempt, trigger, verdicts)
        return attempt, (*first, *second)

    patch.setattr(Recording, "enter", lambda _self, attempt, *_: (attempt, ()))
    patch.setattr(Following, "enter", late)


@found_in("good", "S1", 1, is_long=True)
def verdict_on_an_old_generation(patch: pytest.MonkeyPatch) -> None:
    """Counters count although the controller has not observed our write."""
    patch.setattr(Rollout, "_is_observed", lambda _self, _live: True)


@found_in("good", "S2", 1)
def no_preconditions(patch: pytest.MonkeyPatch) -> None:
    """Writes name neither the uid nor the version that they were decided on."""
    send = request.send

    def bare(attempt: Attempt, head: PlannedWrite) -> Step:
        attempt, effects = send(attempt, head)
        return attempt, tuple(
            replace(one, uid=None, resource_version=None)
            for one in effects
            if isinstance(one, Write)
        )

    for module in (way_back, restoration, way_out):
        patch.setattr(module, "send", bare)


@found_in("good", "S1")
def no_confirming_read(patch: pytest.MonkeyPatch) -> None:
    """Success is believed to the watches."""
    next_trigger = Confirming.next_trigger

    def at_once(self: Confirming, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        success = attempt.course.purpose is Purpose.SUCCESS
        return Trigger.CONFIRMED if success else next_trigger(self, attempt, verdicts)

    patch.setattr(Confirming, "next_trigger", at_once)


@found_in("crashing", "S4")
def rollback_to_what_failed(patch: pytest.MonkeyPatch) -> None:
    """The way back applies what is live now instead of what was before."""
    restoration = rollback_plan._restoration

    def mistaken(ref: Ref, written: WrittenObject, _before: LiveObject) -> PlannedWrite:
        return restoration(ref, written, written.after)

    patch.setattr(rollback_plan, "_restoration", mistaken)


@found_in("configured-last-crashing", "S10")
def queue_sent_after_a_failure(patch: pytest.MonkeyPatch) -> None:
    """A failure that was confirmed does not stop the writes that are left."""
    enter, fails = Writing.enter, is_failure_to_take_back

    def again(self: Writing, attempt: Attempt, trigger: Trigger, verdicts: Verdicts) -> Step:
        is_left = trigger is Trigger.UNWRITTEN
        return (attempt, ()) if is_left else enter(self, attempt, trigger, verdicts)

    def once(attempt: Attempt, verdicts: Verdicts) -> bool:
        return math.isinf(attempt.course.confirming_since) and fails(attempt, verdicts)

    patch.setattr(Writing, "enter", again)
    patch.setattr(writing, "is_failure_to_take_back", once)
    patch.setattr(confirming, "is_failure_to_take_back", lambda _attempt, _verdicts: False)


@found_in("configured-once", "S12")
def needs_not_waited_for(patch: pytest.MonkeyPatch) -> None:
    """A write is sent although what it needs is not there yet."""
    patch.setattr(writing, "is_blocked", lambda _attempt, _verdicts: False)


@found_in("configured-once-crashing", "S1")
def failed_need_waited_for(patch: pytest.MonkeyPatch) -> None:
    """A write waits on for what has failed, since its policy takes nothing back."""
    patch.setattr(awaiting, "find_failed_needs", lambda _attempt, _verdicts: frozenset())
    patch.setattr(awaiting, "is_failure_to_take_back", lambda _attempt, _verdicts: False)


@found_in("configured", "S10", 1, is_long=True)
def queue_sent_after_a_refusal(patch: pytest.MonkeyPatch) -> None:
    """A write that was refused is passed over, and the next one is sent."""
    patch.setattr(answers, "_refused_out", lambda attempt, _rejection: attempt.past_head())


@found_in("good", "S11", 1, is_long=True)
def unanswered_write_forgotten(patch: pytest.MonkeyPatch) -> None:
    """The report says nothing of a write that was never answered."""
    without = closing._without_writes

    def forgetful(attempt: Attempt) -> Attempt:
        attempt = without(attempt)
        writes = replace(attempt.writes, set_aside=FrozenMap(), uncertain=False)
        return replace(attempt, writes=writes)

    patch.setattr(closing, "_without_writes", forgetful)


@found_in("good", "S2", 1)
def lost_lock_ignored(patch: pytest.MonkeyPatch) -> None:
    """That somebody else holds the lock changes nothing."""
    patch.setattr(fold, "_lease_lost", lambda attempt, *_: attempt)


@found_in("good", "S1", 1, is_long=True)
def lost_answer_taken_for_a_refusal(patch: pytest.MonkeyPatch) -> None:
    """A write whose answer was lost is taken for one that was refused."""

    def refused(attempt: Attempt, *_: object) -> Attempt:
        head = attempt.writes.queue[0]
        rejection = Rejection(head.ref, Reason.UNREACHABLE, CleanText("reset"))
        return replace(attempt, writes=replace(attempt.writes, rejection=rejection))

    patch.setattr(answers, "_kept_off", refused)


@found_in("crashing", "S1", 1, is_long=True)
def own_rollback_not_known_again(patch: pytest.MonkeyPatch) -> None:
    """After a lost answer, the gate's own rollback is taken for somebody else's change."""
    patch.setattr(way_back, "is_back", lambda _attempt, _head: False)
    patch.setattr(way_back, "find_shown", lambda *_: None)


@found_in("never-ready", "L1", 1, is_long=True)
def signal_ignored(patch: pytest.MonkeyPatch) -> None:
    """A signal is heard and not answered."""
    patch.setattr(interference, "_answer_signal", lambda _attempt, _state, **_: None)


@found_in("good", "L1", 1)
def never_gives_up(patch: pytest.MonkeyPatch) -> None:
    """An answer is waited for without an end."""
    patch.setattr(Attempt, "gives_up_at", property(lambda _attempt: math.inf))


@found_in("first-deleted", "L1", 1)
def last_look_without_an_end(patch: pytest.MonkeyPatch) -> None:
    """The answers of the last look are waited for without an end."""

    def patient(_self: Inspecting, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        return None if attempt.awaits(Read) else Trigger.INSPECTED

    patch.setattr(Inspecting, "next_trigger", patient)


@found_in("good", "L1")
def forgotten_alarm(patch: pytest.MonkeyPatch) -> None:
    """Nobody is asked to wake the attempt while it confirms."""
    times = interference.wake_times

    def silent(attempt: Attempt, state: StateBehaviour) -> Collection[float]:
        return () if attempt.course.state is State.CONFIRMING else tuple(times(attempt, state))

    patch.setattr(interference, "wake_times", silent)


@found_in("crashing", "S1", 1, is_long=True)
def record_without_a_baseline(patch: pytest.MonkeyPatch) -> None:
    """What served before is not in the record."""
    target = resumption._target

    def forgetful(followed: Followed, snapshot: Snapshot) -> Target:
        return target(replace(followed, baseline=Absent()), snapshot)

    patch.setattr(resumption, "_target", forgetful)


@found_in("never-ready", "S8", 1)
def blind_time_counts(patch: pytest.MonkeyPatch) -> None:
    """Time in which nobody could see counts as a lack of progress."""
    patch.setattr(Blindness, "seconds", lambda _self, _now: 0.0)


@found_in("good", "S8", 1)
def condition_believed_after_blindness(patch: pytest.MonkeyPatch) -> None:
    """A deadline condition is believed as soon as it is read."""
    patch.setattr(Blindness, "condition_stands", lambda _self, _now: True)


@found_in("configured-crashing", "S9", 1)
def foreign_key_keeps_the_whole_object(patch: pytest.MonkeyPatch) -> None:
    """One field of somebody else's keeps all the others from returning."""
    patch.setattr(restoration, "without_foreign", lambda _write, _foreign, _live: None)


@found_in("configured-crashing", "S9", 1, is_long=True)
def foreign_key_not_looked_for(patch: pytest.MonkeyPatch) -> None:
    """What others changed is told from the server's conflicts alone."""
    patch.setattr(restoration, "foreign_fields", lambda _write, _written, _live: None)


@found_in("good", "S1", 1, is_long=True)
def recovery_takes_all_for_ours(patch: pytest.MonkeyPatch) -> None:
    """What is found after a kill is taken for what the killed gate wrote."""
    patch.setattr(resumption, "classify_object", lambda _kept, _fact: ObjectState.WRITTEN)


def same_job_proves_death(patch: pytest.MonkeyPatch) -> None:
    """A holder of the same job is taken for dead: it may be a stage beside, or another recovery."""

    def is_same_job(holder: Holder, observer: Holder, _has_ended: HasEnded) -> bool:
        mine, theirs = observer.identity.rpartition(" "), holder.identity.rpartition(" ")
        return mine[0] == theirs[0]

    patch.setattr(holders, "is_proven_dead", is_same_job)


def lock_of_the_living_is_free(patch: pytest.MonkeyPatch) -> None:
    """Whoever wants a lock need not wait for its holder."""
    patch.setattr(holders, "free_at", lambda *_: 0.0)


@found_in("kept-crashing", "S9")
def configuration_is_no_part_of_the_set(patch: pytest.MonkeyPatch) -> None:
    """The Deployment returns to what was verified, its configuration to what was before."""
    patch.setattr(selection, "configuration", lambda _candidates, _returns: iter(()))


@found_in("kept-crashing", "L3")
def what_was_verified_is_not_looked_for(patch: pytest.MonkeyPatch) -> None:
    """What stands right before is all that a failure may return to."""
    patch.setattr(selection, "_needs_verified", lambda _candidates: False)


@found_in("ordered-stuck", "S13")
def new_pod_taken_for_a_blocker(patch: pytest.MonkeyPatch) -> None:
    """The lowest pod that is not ready is removed, whatever its version."""
    find = blocking.find_blocking_pod

    def mistaken(view: Any, live: StatefulSet, limits: FailFast) -> BlockingPod | None:
        own = sorted(live.own_pods(view.pods.values()), key=lambda one: one.pod.name)
        unready = (BlockingPod(one.pod, None) for one in own if not one.pod.ready)
        return find(view, live, limits) or next(unready, None)

    patch.setattr(blocking, "find_blocking_pod", mistaken)


@found_in("ordered-crashing", "S13", 1, is_long=True)
def blocker_not_looked_at_again(patch: pytest.MonkeyPatch) -> None:
    """A removal that was decided is sent, whatever is read meanwhile."""

    def blind(attempt: Attempt, decided: Replacement) -> Step:
        how = attempt.plan.policy.response.blocked_pods
        number, ref = attempt.requests.next_id, decided.workload
        effect = RemovePod(number, ref, decided.pod, decided.uid, how)
        sent = replace(decided, stage=Stage.SENT, at=attempt.now)
        known = attempt.workloads.replacements.put(sent.uid, sent)
        workloads = replace(attempt.workloads, replacements=known)
        return replace(attempt, workloads=workloads).with_effect(effect), (effect,)

    patch.setattr(unblocking, "_send", blind)


@found_in("ordered-crashing", "L2")
def removal_not_in_the_record(patch: pytest.MonkeyPatch) -> None:
    """Nobody who comes next knows which pod is removed."""
    patch.setattr(attempt_record, "_with_removed", lambda _attempt, record: record)


@found_in("ordered-crashing", "S2", 1, is_long=True)
def removal_without_the_lock(patch: pytest.MonkeyPatch) -> None:
    """A removal that was decided is sent although somebody else holds the lock by then."""
    may = unblocking._may_remove

    def always(attempt: Attempt) -> bool:
        return may(replace(attempt, interference=replace(attempt.interference, lock_lost=None)))

    patch.setattr(unblocking, "_may_remove", always)
    lost_lock_ignored(patch)


@found_in("ordered-crashing", "L2")
def blocker_left_in_place(patch: pytest.MonkeyPatch) -> None:
    """The way back waits for a controller that waits for the broken pod."""
    patch.setattr(unblocking, "_find_due", lambda _attempt, _ref: None)


@found_in("ordered", "S1")
def ordered_counters_of_an_old_generation(patch: pytest.MonkeyPatch) -> None:
    """The counters of a StatefulSet count before its controller has observed the write."""
    patch.setattr(Rollout, "_is_observed", lambda _self, _live: True)
    patch.setattr(StatefulSet, "is_observed", property(lambda _live: True))


@found_in("ordered-crashing", "S1")
def blocked_pod_counted_as_replaced(patch: pytest.MonkeyPatch) -> None:
    """A way back is complete once its revision is the newest, whatever the pods run."""
    patch.setattr(completion, "completion", lambda *_: Reason.COMPLETE)
