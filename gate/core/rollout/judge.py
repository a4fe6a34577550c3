"""The judge: a fold of observations of one Deployment, with a verdict that may change.

It has no effects and no end: deadline conditions clear, complete pods crash while baking.
`Rollout.ruling` has the rules in the order in which they decide; their sources are in the
contract's "Done", "Taking over" and "Failing".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText, ClusterEvent, Deployment, Pod, Ref
from gate.core.model.outcome import Reason
from gate.core.rollout.applied import Applied
from gate.core.rollout.blind_time import Blindness
from gate.core.rollout.causes import Cause, Trouble, has_crashed, order_causes, sum_up_troubles
from gate.core.rollout.completion import amount, describe_counts, has_completed, is_rolled_out, lag
from gate.core.rollout.controller_faults import (
    Hindrances,
    denial,
    denial_ripe_at,
    fatal_denial,
    is_quota,
)
from gate.core.rollout.deadlines import (
    condition_believed_at,
    condition_exceeded,
    no_progress,
    total_over,
)
from gate.core.rollout.lost_availability import Availability
from gate.core.rollout.new_pods import NewPods
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import Policy
from gate.core.rollout.progress import Progress, longest_legal_seconds, stalled_at
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.verdict import Verdict, VerdictKind

__all__ = ["Applied", "Rollout", "Verdict", "VerdictKind"]


@dataclass(frozen=True, slots=True)
class Rollout:
    """One Deployment on its way to `applied`.

    `total_seconds` count from `budget_from`. `deadline_decides` is false while a rollback is
    verified: of all clocks only its total ends it. `settled` is whether it was complete at any
    time: from then on the bake window is part of its time. Graces, and times in `snapshot`, go by
    the clock of `blind_time`, which stops while blind.
    """

    applied: Applied
    policy: Policy
    snapshot: Snapshot
    progress: Progress
    total_seconds: float
    budget_from: float
    deadline_decides: bool = True
    settled: bool = False
    hindrances: Hindrances = field(default_factory=Hindrances)
    new: NewPods = field(default_factory=NewPods)
    blindness: Blindness = field(default_factory=Blindness)

    @classmethod
    def start(
        cls,
        applied: Applied,
        snapshot: Snapshot,
        policy: Policy,
        *,
        total_seconds: float | None = None,
        budget_from: float | None = None,
        deadline_decides: bool = True,
    ) -> Rollout:
        """Start following at the moment of the write; `total_seconds` None is `auto`.

        The budget counts from the write too unless it began earlier (several Deployments), and so
        does the history of pods unless the snapshot's has already begun.
        """
        begun = snapshot if snapshot.written else snapshot.begin(applied.at)
        live = begun.live
        auto = longest_legal_seconds(live) if live is not None else math.inf
        rollout = cls(
            applied,
            policy,
            begun,
            Progress(applied.at),
            auto if total_seconds is None else total_seconds,
            applied.at if budget_from is None else budget_from,
            deadline_decides,
        )
        return rollout._after_all(applied.at, begun, NewPods())

    @property
    def ref(self) -> Ref:
        """The Deployment that is followed."""
        return self.snapshot.ref

    @property
    def followed_uid(self) -> str:
        """The uid of the ReplicaSet that is followed, "" while there is none."""
        return self.snapshot.current_uid

    @property
    def troubles(self) -> FrozenMap[str, Trouble]:
        """What is wrong with the followed ReplicaSet's pods, by uid."""
        return self.new.troubles

    @property
    def ends_at(self) -> float:
        """When the total budget ends, monotonic seconds."""
        bake_seconds = self.policy.longest_bake_seconds if self.settled else 0.0
        return self.budget_from + self.total_seconds + bake_seconds

    def new_pods(self) -> tuple[PodTrack, ...]:
        """Return the pods of the followed ReplicaSet that count."""
        return self.snapshot.pods_of(self.snapshot.current())

    def still_ours(self, live: Deployment) -> bool:
        """Tell whether what our apply set in `spec.template` is still there."""
        return self.applied.still_stands(live)

    def observe(self, event: Observed | Vanished | Listed) -> Rollout:
        """Return the rollout after `event`."""
        clock = self.blindness.clock(event.at)
        known = event if clock == event.at else replace(event, at=clock)
        snapshot = self.snapshot.fold(known)
        if snapshot is self.snapshot:
            return self
        match event:
            case Observed(_, Pod() as pod):
                return self._after_pod(event.at, snapshot, pod.uid)
            case Observed(_, ClusterEvent() as told):
                return self._after_pod(event.at, snapshot, told.about_uid)
            case Vanished(_, Kind.POD, uid):
                return self._after_pod(event.at, snapshot, uid)
            case Listed(_, Kind.POD | Kind.EVENT):
                return self._after_all(event.at, snapshot, NewPods())
            case _:
                return self._after_all(event.at, snapshot, self.new)

    def without_facts(self, since: float) -> Rollout:
        """Return the rollout after facts stopped arriving; the last one arrived at `since`."""
        return replace(self, blindness=self.blindness.without_facts(max(since, self.applied.at)))

    def controllers_silent(self, at: float, since: float) -> Rollout:
        """Return the rollout with its controller manager silent since then, infinite if it acts."""
        began = max(since, self.applied.at)
        return replace(self, blindness=self.blindness.controllers_silent(at, began))

    def read_well(self, at: float) -> Rollout:
        """Return the rollout after a complete quorum read."""
        blindness = self.blindness.read_well(at)
        return self if blindness is self.blindness else replace(self, blindness=blindness)

    def _after_pod(self, at: float, snapshot: Snapshot, uid: str) -> Rollout:
        """Look at one pod alone: the counters behind the progress marks did not change."""
        live = snapshot.live
        if live is None:
            return replace(self, snapshot=snapshot)
        before, after = self.snapshot.pods.get(uid), snapshot.pods.get(uid)
        new = self.new.after(before, after, live.template, self.policy.fail_fast)
        if self.policy.wait_for_termination:
            return self._after_all(at, snapshot, new)
        return Rollout(
            self.applied,
            self.policy,
            snapshot,
            self.progress,
            self.total_seconds,
            self.budget_from,
            self.deadline_decides,
            self.settled,
            self.hindrances,
            new,
            self.blindness.fold(at, snapshot, live, new.ready),
        )

    def _after_all(self, at: float, snapshot: Snapshot, new: NewPods) -> Rollout:
        """Judge from all that is known: the Deployment, a ReplicaSet or a list of pods was seen."""
        live = snapshot.live
        if live is None:
            return replace(self, snapshot=snapshot, new=NewPods())
        complete = self._is_observed(live) and has_completed(snapshot, live, self.policy)
        same = new.replica_set_uid == snapshot.current_uid != ""
        new = new if same else NewPods.of(snapshot, self.policy.fail_fast)
        blindness = self.blindness.fold(at, snapshot, live, new.ready)
        blind_seconds = blindness.seconds(at)
        return Rollout(
            self.applied,
            self.policy,
            snapshot,
            self.progress.fold(at, snapshot, complete=complete, blind_seconds=blind_seconds),
            self.total_seconds,
            self.budget_from,
            self.deadline_decides,
            self.settled or complete,
            self.hindrances.fold(at - blind_seconds, live),
            new,
            blindness,
        )

    def verdict(self, now: float) -> Verdict:
        """Return the verdict at `now`; progressing if no rule decides."""
        ruled = self.ruling(now)
        if ruled is not None:
            return ruled
        live = self.snapshot.live
        said = "the Deployment could not be read yet"
        if live is not None:
            said = self.count(live) + lag(self.snapshot, live)
        kind, reason = VerdictKind.PROGRESSING, Reason.PROGRESSING
        return Verdict(kind, reason, CleanText(said), self.causes(now))

    def ruling(self, now: float) -> Verdict | None:
        """Return the verdict of the first rule that applies, None while none does."""
        live = self.snapshot.live
        if live is None:
            gone = isinstance(self.snapshot.workload, Absent)
            said = "the Deployment was deleted"
            return Verdict.of_superseded(Reason.DELETED, said) if gone else None
        return (
            self.applied.find_departure(live)
            or self._judge_pause(live, now)
            or self._fail_for(self._fatal(live, now), now)
            or self._complete(live)
            or self._fail_for(self._availability_lost(now), now)
            or self._fail_for(self._late(live, now), now)
        )

    def wake_at(self, now: float) -> float:
        """Return the next time after `now` at which the verdict may change without an event."""
        return min((at for at in self._times(now) if at > now), default=math.inf)

    def has_evidence(self, now: float) -> bool:
        """Tell whether anything speaks against the new version already (for an interrupt).

        Injected containers do not, nor does a quota, which denies pods as long as old ones count.
        """
        ruled = self.ruling(now)
        if ruled is not None and ruled.kind is VerdictKind.FAILED:
            return ruled.reason is not Reason.PAUSED
        failure = denial(self.snapshot)
        if failure is not None and not is_quota(failure):
            return True
        return self.new.suspicious or self._has_crashed()

    def _has_crashed(self) -> bool:
        """Look through all new pods: too much work for anything but a signal."""
        live = self.snapshot.live
        return live is not None and any(
            has_crashed(track, live.template)
            for track in self.snapshot.pods.values()
            if self.new.is_of(track)
        )

    def causes(self, now: float) -> tuple[Cause, ...]:
        """Return what is wrong now, most telling first."""
        of_pods = sum_up_troubles(self.troubles.values(), self.new.count)
        hindering = self.hindrances.causes(self.snapshot)
        return order_causes((*of_pods, *hindering, *self.blindness.causes(now)))

    def count(self, live: Deployment) -> str:
        """Return in words how many of its pods are available."""
        which = "new" if self.applied.spec_changed else ""
        return describe_counts(self.snapshot, live, which if self.deadline_decides else "old")

    def is_complete(self, live: Deployment) -> bool:
        """Tell whether the strict predicate holds: our generation is observed, and all is there."""
        return self._is_observed(live) and has_completed(self.snapshot, live, self.policy)

    def is_held(self) -> bool:
        """Tell whether the controller knows of a pause: it scales no ReplicaSet while it lasts."""
        live = self.snapshot.live
        return live is not None and live.paused and self._is_observed(live)

    def _judge_pause(self, live: Deployment, now: float) -> Verdict | None:
        """Return that a pause holds it or, in the end, failed it; what is complete is not held."""
        if not live.paused or (self.is_complete(live) and is_rolled_out(self.snapshot, live)):
            return None
        kind = VerdictKind.FAILED if now >= self.ends_at else VerdictKind.HELD
        return Verdict(kind, Reason.PAUSED, CleanText("the Deployment is paused"), self.causes(now))

    def _fatal(self, live: Deployment, now: float) -> Cause | None:
        """Return what is fatal without a deadline; unobserved, only a create error shows."""
        limits, clock = self.policy.fail_fast, self.blindness.clock(now)
        if self._is_observed(live):
            tolerated = amount(self.policy.tolerate, live.replicas, 0)
            of_pods = self.new.fatal(clock, tolerated)
            fatal = of_pods or fatal_denial(self.snapshot, self.progress, limits, clock)
            if fatal is not None:
                return fatal
        return self.hindrances.fatal(live, limits, clock)

    def _complete(self, live: Deployment) -> Verdict | None:
        if not self.is_complete(live):
            return None
        reason = Reason.COMPLETE if self.applied.spec_changed else Reason.NO_CHANGE
        if live.replicas == 0:
            message = CleanText("0 replicas are wanted, and no pod runs")
            return Verdict(VerdictKind.COMPLETE, Reason.VACUOUS, message)
        return Verdict(VerdictKind.COMPLETE, reason, CleanText(self.count(live)))

    def _availability_lost(self, now: float) -> Cause | None:
        """Return that a complete version no longer serves; a rollback has only its total."""
        availability = self._availability()
        return None if availability is None else availability.find_loss(self.blindness.clock(now))

    def _availability(self) -> Availability | None:
        live = self.snapshot.live
        if live is None or not (self.settled and self.deadline_decides):
            return None
        return Availability.of(self.new_pods(), live.progress_deadline_seconds)

    def _late(self, live: Deployment, now: float) -> Cause | None:
        """Return what the clocks say, the controller's own first; a rollback has only its total."""
        stalled = None
        if self.deadline_decides:
            stalled = self._find_exceeded_deadline(live, now) or no_progress(
                live, self.progress, self.blindness, now
            )
        if stalled is not None or now < self.ends_at:
            return stalled
        over = total_over(live, self.progress, self.total_seconds, self.blindness.clock(now))
        count = self.count(live) + lag(self.snapshot, live)
        return replace(over, message=CleanText(f"{over.message}: {count}"))

    def _find_exceeded_deadline(self, live: Deployment, now: float) -> Cause | None:
        """Return the controller's deadline condition as a cause, if it can be believed now."""
        if not self._is_observed(live) or not self.blindness.condition_stands(now):
            return None
        current = self.snapshot.current()
        name = current.name if current is not None else ""
        return condition_exceeded(live, self.applied, name, now)

    def _fail_for(self, why: Cause | None, now: float) -> Verdict | None:
        if why is None:
            return None
        return Verdict(VerdictKind.FAILED, why.reason, why.message, self.causes(now))

    def _is_observed(self, live: Deployment) -> bool:
        return live.observed_generation >= max(live.generation, self.applied.generation)

    def _times(self, now: float) -> Iterator[float]:
        live, blindness = self.snapshot.live, self.blindness
        yield self.ends_at
        yield from blindness.times(now)
        for clock in self._clocks(blindness.clock(now)):
            yield blindness.time_of(clock, now)
        if live is not None and live.deadline_exceeded:
            yield condition_believed_at(live, self.applied.at)

    def _clocks(self, clock: float) -> Iterator[float]:
        """Iterate the times that are due by the clock that stops while blind."""
        limits, live = self.policy.fail_fast, self.snapshot.live
        yield denial_ripe_at(self.snapshot, self.progress, limits)
        yield self.hindrances.create_error_ripe_at(limits)
        yield from self.new.ripe_times(clock)
        availability = self._availability()
        if availability is not None:
            yield from availability.times()
        if live is not None:
            yield stalled_at(self.progress, live)
