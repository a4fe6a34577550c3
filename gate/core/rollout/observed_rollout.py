"""A rollout of one workload as far as it is known: a fold of what was observed of it."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Self

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import ClusterEvent, Pod, Ref, Workload
from gate.core.rollout.applied import Applied
from gate.core.rollout.blind_time import Blindness
from gate.core.rollout.causes import Trouble
from gate.core.rollout.controller_faults import Hindrances
from gate.core.rollout.new_pods import NewPods
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast, Policy
from gate.core.rollout.progress import Progress
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.total_budget import TotalBudget
from gate.core.rollout.workload_kind import AnyKind


@dataclass(frozen=True, slots=True)
class ObservedRollout:
    """One workload on its way to `applied`, as it was observed.

    `deadline_decides` is false while a rollback is verified: of all clocks only its total ends it.
    `settled` is whether it was complete at any time: from then on the bake window is part of its
    time. Graces, and times in `snapshot`, go by the clock of `blind_time`, which stops while blind.
    """

    applied: Applied
    policy: Policy
    snapshot: Snapshot
    progress: Progress
    budget: TotalBudget
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
    ) -> Self:
        """Start following at the moment of the write; `total_seconds` None is `auto`.

        The budget counts from the write too unless it began earlier (several workloads), and so
        does the history of pods unless the snapshot's has already begun.
        """
        begun = snapshot
        if not snapshot.written:
            begun = snapshot.begin(applied.at, is_retried=applied.is_retried)
        live = begun.live
        auto = snapshot.kind.longest_legal_seconds(live, policy) if live is not None else math.inf
        rollout = cls(
            applied,
            policy,
            begun,
            Progress(applied.at),
            TotalBudget(
                auto if total_seconds is None else total_seconds,
                applied.at if budget_from is None else budget_from,
            ),
            deadline_decides,
        )
        return rollout._after_all(applied.at, begun, NewPods())

    @property
    def ref(self) -> Ref:
        """The workload that is followed."""
        return self.snapshot.ref

    @property
    def kind(self) -> AnyKind:
        """What kind of workload it is."""
        return self.snapshot.kind

    @property
    def fail_fast(self) -> FailFast:
        """The limits that hold for its pods."""
        return self.kind.fail_fast(self.policy.fail_fast)

    @property
    def followed_uid(self) -> str:
        """The uid of the revision that is followed, "" while there is none."""
        return self.snapshot.current_uid

    @property
    def troubles(self) -> FrozenMap[str, Trouble]:
        """What is wrong with the followed revision's pods, by uid."""
        return self.new.troubles

    def new_pods(self) -> tuple[PodTrack, ...]:
        """Return the pods of the followed revision that count."""
        key = self.snapshot.current_key
        return self.snapshot.pods_with(key) if key else ()

    def still_ours(self, live: Workload) -> bool:
        """Tell whether what our apply set in `spec.template` is still there."""
        return self.applied.still_stands(live)

    def observe(self, event: Observed | Vanished | Listed) -> Self:
        """Return the rollout after `event`."""
        clock = self.blindness.clock(event.at)
        known = event if clock == event.at else replace(event, at=clock)
        snapshot = self.snapshot.fold(known)
        if snapshot is self.snapshot:
            return self
        match event:
            case Observed(_, Pod() as pod):
                return self._after_pod(event.at, snapshot, pod.uid)
            case Observed(_, ClusterEvent(about_uid=uid)) if uid in snapshot.pods:
                return self._after_pod(event.at, snapshot, uid)
            case Vanished(_, Kind.POD, uid):
                return self._after_pod(event.at, snapshot, uid)
            case Listed(_, Kind.POD | Kind.EVENT):
                return self._after_all(event.at, snapshot, NewPods())
            case _:
                return self._after_all(event.at, snapshot, self.new)

    def without_facts(self, since: float) -> Self:
        """Return the rollout after facts stopped arriving; the last one arrived at `since`."""
        return replace(self, blindness=self.blindness.without_facts(max(since, self.applied.at)))

    def controllers_silent(self, at: float, since: float) -> Self:
        """Return the rollout with its controller manager silent since then, infinite if it acts."""
        began = max(since, self.applied.at)
        return replace(self, blindness=self.blindness.controllers_silent(at, began))

    def read_well(self, at: float) -> Self:
        """Return the rollout after a complete quorum read."""
        blindness = self.blindness.read_well(at)
        return self if blindness is self.blindness else replace(self, blindness=blindness)

    def after_suspension(self, at: float, seconds: float) -> Self:
        """Return the rollout after the gate stood still until `at`: no clock of it counts that."""
        budget = replace(self.budget, begins_at=self.budget.begins_at + seconds)
        return replace(self, budget=budget, blindness=self.blindness.after_suspension(at, seconds))

    def restart_clock(self, at: float) -> Self:
        """Return the rollout with a whole deadline ahead: what stood in its way is removed."""
        seconds = self.blindness.seconds(at)
        return replace(self, progress=replace(self.progress, last_at=at, blind_seconds=seconds))

    def _after_pod(self, at: float, snapshot: Snapshot, uid: str) -> Self:
        """Look at one pod alone: the counters behind the progress marks did not change."""
        live = snapshot.live
        if live is None:
            return replace(self, snapshot=snapshot, hindrances=self.hindrances.with_faults(()))
        before, after = self.snapshot.pods.get(uid), snapshot.pods.get(uid)
        kind, fail_fast = snapshot.kind, self.fail_fast
        new = self.new.after(kind, before, after, live.template, fail_fast)
        counts_more = new.count != self.new.count or new.ready != self.new.ready
        is_asked = self.policy.requirement.wait_for_termination or kind.pods_show_progress
        if is_asked or counts_more:
            return self._after_all(at, snapshot, new)
        limit = kind.deadline_seconds(live, self.policy)
        return self._with_parts(
            snapshot,
            self.progress,
            self.hindrances.with_faults(kind.faults(snapshot, live, fail_fast)),
            new,
            self.blindness.fold(at, snapshot, live, limit, new.ready),
            settled=self.settled,
        )

    def _after_all(self, at: float, snapshot: Snapshot, new: NewPods) -> Self:
        """Judge from all that is known: a workload, a revision or a list of pods was seen."""
        live = snapshot.live
        if live is None:
            return replace(
                self, snapshot=snapshot, new=NewPods(), hindrances=self.hindrances.with_faults(())
            )
        kind, observed = snapshot.kind, self._is_observed(live)
        complete = observed and kind.completion(snapshot, live, self.policy) is not None
        same = new.key == snapshot.current_key != ""
        new = new if same else NewPods.of(snapshot, self.fail_fast)
        limit = kind.deadline_seconds(live, self.policy)
        blindness = self.blindness.fold(at, snapshot, live, limit, new.ready)
        blind_seconds = blindness.seconds(at)
        faults = kind.faults(snapshot, live, self.fail_fast)
        after = self._with_parts(
            snapshot,
            self.progress.fold(at, snapshot, complete=complete, blind_seconds=blind_seconds),
            self.hindrances.fold(at - blind_seconds, faults),
            new,
            blindness,
            settled=self.settled or complete,
        )
        is_counted = observed and self.deadline_decides
        applied = self.applied.with_counted(live, kind) if is_counted else self.applied
        return after if applied is self.applied else replace(after, applied=applied)

    def _with_parts(
        self,
        snapshot: Snapshot,
        progress: Progress,
        hindrances: Hindrances,
        new: NewPods,
        blindness: Blindness,
        *,
        settled: bool,
    ) -> Self:
        """Spell out what `replace` does, which is faster: it is done with each observation."""
        return type(self)(
            self.applied,
            self.policy,
            snapshot,
            progress,
            self.budget,
            self.deadline_decides,
            settled,
            hindrances,
            new,
            blindness,
        )

    def _is_observed(self, live: Workload) -> bool:
        return live.observed_generation >= max(live.generation, self.applied.generation)
