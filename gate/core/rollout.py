"""The judge: a fold of observations of one Deployment, with a verdict that may change.

No effects and no end: deadline conditions clear, complete pods crash while baking. The rules
stand in the order in which they decide, `Rollout.verdict`; their sources are the contract's
sections 3 and 4.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gate.core import fields
from gate.core.body import Body, FrozenMap
from gate.core.causes import (
    NEVER,
    Cause,
    Trouble,
    denial_grace,
    ordered,
    summed,
    trouble_of,
)
from gate.core.done import amount, done
from gate.core.events import Kind, Listed, Observed, Vanished
from gate.core.fact import Absent
from gate.core.objects import CleanText, Deployment, Pod, Ref, ReplicaSet, Template
from gate.core.outcome import Reason
from gate.core.policy import Policy
from gate.core.progress import CONDITION_LAG_SECONDS, Progress, longest_legal_seconds, stalled_at
from gate.core.snapshot import Snapshot
from gate.core.tracks import PodTrack

NOT_OBSERVING_SECONDS = 30.0
"""A controller that has not seen our generation for so long is named as a cause."""
CONDITION_ROUNDING_SECONDS = 1.0
"""Times in conditions are whole seconds, so ours may seem that much older than our write."""
ENOUGH_DOOMED_PODS = 2
"""One bad node is no bad version: one of many doomed pods waits for the clocks."""


class VerdictKind(enum.StrEnum):
    """What stands of one rollout."""

    COMPLETE = "complete"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    PROGRESSING = "progressing"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What stands, the rule that decided, and what was wrong underneath, most telling first."""

    kind: VerdictKind
    reason: Reason
    message: CleanText
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What our own apply returned, or what `verify` found.

    `owned` is the FieldsV1 tree under `spec.template` that our manager owned in that answer,
    None where managed fields are not known. `at` is monotonic seconds of the write.
    """

    uid: str
    generation: int
    template: Template
    owned: Body | None
    at: float
    new_template: bool
    spec_changed: bool


@dataclass(frozen=True, slots=True)
class Rollout:
    """One Deployment on its way to `applied`.

    `deadline_decides` is false while a rollback is verified: its condition can still be the
    failed version's. `troubles` holds those of each pod (by uid), kept up to date by `observe`.
    """

    applied: Applied
    policy: Policy
    snapshot: Snapshot
    progress: Progress
    total_seconds: float
    deadline_decides: bool = True
    unobserved_since: float | None = None
    create_error_since: float | None = None
    troubles: FrozenMap[str, Trouble] = field(default_factory=FrozenMap)

    @classmethod
    def start(
        cls,
        applied: Applied,
        snapshot: Snapshot,
        policy: Policy,
        *,
        total_seconds: float | None = None,
        deadline_decides: bool = True,
    ) -> Rollout:
        """Begin to follow at the moment of the write; `total_seconds` None is `auto`."""
        begun = snapshot.begin()
        live = begun.live
        auto = longest_legal_seconds(live) if live is not None else math.inf
        rollout = cls(
            applied,
            policy,
            begun,
            Progress(applied.at),
            auto if total_seconds is None else total_seconds,
            deadline_decides,
        )
        return _with_all_troubles(_refolded(rollout, applied.at))

    @property
    def ref(self) -> Ref:
        """The Deployment that is followed."""
        return self.snapshot.ref

    def observe(self, event: Observed | Vanished | Listed) -> Rollout:
        """Return the rollout after `event`."""
        snapshot = self.snapshot.fold(event)
        if snapshot is self.snapshot:
            return self
        folded = _refolded(replace(self, snapshot=snapshot), event.at)
        match event:
            case Observed(_, Pod() as pod):
                return _with_trouble(folded, pod.uid)
            case Observed(_, Deployment() | ReplicaSet()):
                same = folded.followed_uid == self.followed_uid
                return folded if same else _with_all_troubles(folded)
            case Vanished(_, Kind.POD, uid):
                return replace(folded, troubles=folded.troubles.drop(uid))
            case _:
                return _with_all_troubles(folded)

    @property
    def followed_uid(self) -> str:
        """The uid of the ReplicaSet that is followed, "" while there is none."""
        return self.progress.followed_uid

    def new_pods(self) -> tuple[PodTrack, ...]:
        """Return the pods of the followed ReplicaSet that count."""
        return self.snapshot.pods_of(self.snapshot.current())

    @property
    def ends_at(self) -> float:
        """When the total budget ends, monotonic seconds."""
        return self.applied.at + self.total_seconds

    def verdict(self, now: float) -> Verdict:
        """Return what stands at `now`: the first rule that has something to say."""
        live = self.snapshot.live
        if live is None:
            return self._of_missing()
        for rule in (
            self._departed,
            self._paused,
            self._fail_fast,
            self._create_error,
            self._complete,
            self._deadline_condition,
            self._clocks,
        ):
            verdict = rule(live, now)
            if verdict is not None:
                return verdict
        message = CleanText(self.counted(live))
        return Verdict(VerdictKind.PROGRESSING, Reason.PROGRESSING, message, self.causes(now))

    def wake_at(self, now: float) -> float:
        """Return the next time after `now` at which the verdict may change by itself."""
        return min((at for at in self._times() if at > now), default=math.inf)

    def has_evidence(self, now: float) -> bool:
        """Tell whether anything speaks against the new version already (for an interrupt)."""
        if self.verdict(now).kind is VerdictKind.FAILED:
            return True
        suspects = {Reason.CRASH_LOOP, Reason.IMAGE_PULL, Reason.CONTAINER_CONFIG}
        if any(trouble.rule in suspects for trouble in self._new_troubles()):
            return True
        current = self.snapshot.current()
        return current is not None and current.uid in self.snapshot.denied_since

    def still_ours(self, live: Deployment) -> bool:
        """Tell whether what our apply set in `spec.template` is still there.

        Additions by others do not count; where managed fields are not known, the whole template
        has to be ours.
        """
        if live.template.body == self.applied.template.body:
            return True
        if self.applied.owned is None:
            return False
        return fields.still_holds(
            self.applied.template.body.thaw(),
            self.applied.owned.thaw(),
            live.template.body.thaw(),
        )

    def causes(self, now: float) -> tuple[Cause, ...]:
        """Return what is wrong now, most telling first."""
        found = list(summed(self._new_troubles(), len(self.new_pods())))
        current = self.snapshot.current()
        if current is not None and current.failure is not None:
            found.append(Cause(Reason.POD_CREATE_DENIED, current.failure.message))
        if self.unobserved_since is not None:
            silent = now - self.unobserved_since
            if silent >= NOT_OBSERVING_SECONDS:
                text = CleanText(f"the controller has not seen our change for {silent:.0f} s")
                found.append(Cause(Reason.CONTROLLER_NOT_OBSERVING, text))
        return ordered(found)

    def counted(self, live: Deployment) -> str:
        """Return how far it is, in one line."""
        current = self.snapshot.current()
        available = current.available_replicas if current is not None else 0
        return (
            f"{available} of {live.replicas} new pods available, "
            f"{live.updated_replicas} updated, {live.status_replicas} in all"
        )

    def _of_missing(self) -> Verdict:
        if isinstance(self.snapshot.deployment, Absent):
            return _superseded(Reason.DELETED, "the Deployment was deleted")
        message = CleanText("the Deployment could not be read yet")
        return Verdict(VerdictKind.PROGRESSING, Reason.PROGRESSING, message)

    def _departed(self, live: Deployment, _now: float) -> Verdict | None:
        if live.uid != self.applied.uid:
            return _superseded(Reason.DELETED, "the Deployment was deleted and created again")
        if live.deleting:
            return _superseded(Reason.DELETED, "the Deployment is being deleted")
        if live.generation < self.applied.generation or self.still_ours(live):
            return None
        images = ", ".join(live.template.images())
        return _superseded(Reason.SUPERSEDED, f"somebody else changed the pod template: {images}")

    def _paused(self, live: Deployment, now: float) -> Verdict | None:
        if not live.paused:
            return None
        message = CleanText("the Deployment is paused")
        kind = VerdictKind.FAILED if now >= self.ends_at else VerdictKind.HELD
        return Verdict(kind, Reason.PAUSED, message, self.causes(now))

    def _fail_fast(self, live: Deployment, now: float) -> Verdict | None:
        if not self._observed(live):
            return None
        return self._doomed(live, now) or self._denied(now)

    def _doomed(self, live: Deployment, now: float) -> Verdict | None:
        doomed = [trouble for trouble in self._new_troubles() if now >= trouble.ripe_at]
        if not doomed:
            return None
        existing = len(self.new_pods())
        tolerated = amount(self.policy.tolerate, live.replicas, 0)
        enough = len(doomed) >= ENOUGH_DOOMED_PODS or len(doomed) == existing
        if len(doomed) <= tolerated or not enough:
            return None
        causes = summed(doomed, existing)
        rule = next(trouble.rule for trouble in doomed if trouble.cause is causes[0].reason)
        return Verdict(VerdictKind.FAILED, rule, causes[0].message, self.causes(now))

    def _denied(self, now: float) -> Verdict | None:
        current = self.snapshot.current()
        failure = current.failure if current is not None else None
        if failure is None or now < self._denial_ripe_at():
            return None
        reason = Reason.POD_CREATE_DENIED
        return Verdict(VerdictKind.FAILED, reason, failure.message, self.causes(now))

    def _denial_ripe_at(self) -> float:
        current = self.snapshot.current()
        if current is None or current.failure is None:
            return NEVER
        grace, progress_counts = denial_grace(current.failure, self.policy.fail_fast)
        since = self.snapshot.denied_since[current.uid]
        if progress_counts:
            since = max(since, self.progress.last_at)
        return NEVER if grace is None else since + grace

    def _create_error(self, live: Deployment, now: float) -> Verdict | None:
        """Decide on the one error that a generation nobody observes may still show."""
        condition = live.condition("Progressing")
        if condition is None or now < self._create_error_ripe_at():
            return None
        reason = Reason.REPLICA_SET_CREATE_ERROR
        causes = ordered((Cause(reason, condition.message), *self.causes(now)))
        return Verdict(VerdictKind.FAILED, reason, condition.message, causes)

    def _create_error_ripe_at(self) -> float:
        grace = self.policy.fail_fast.replica_set_create_seconds
        if self.create_error_since is None or grace is None:
            return NEVER
        return self.create_error_since + grace

    def _complete(self, live: Deployment, _now: float) -> Verdict | None:
        if not self._observed(live) or not done(self.snapshot, live, self.policy):
            return None
        reason = Reason.COMPLETE if self.applied.spec_changed else Reason.NO_CHANGE
        if live.replicas == 0:
            reason = Reason.VACUOUS
        return Verdict(VerdictKind.COMPLETE, reason, CleanText(self.counted(live)))

    def _deadline_condition(self, live: Deployment, now: float) -> Verdict | None:
        if not self.deadline_decides or not self._observed(live) or not live.deadline_exceeded:
            return None
        if now < self._deadline_believed_at(live):
            return None
        condition = live.condition("Progressing")
        message = condition.message if condition is not None else CleanText("")
        reason = Reason.PROGRESS_DEADLINE_EXCEEDED
        return Verdict(VerdictKind.FAILED, reason, message, self.causes(now))

    def _deadline_believed_at(self, live: Deployment) -> float:
        """From when on a deadline condition can be about our generation.

        Measured: 26 ms after a write the condition can still be the old rollout's although
        `observedGeneration` has caught up.
        """
        return self.applied.at + live.progress_deadline_seconds - CONDITION_ROUNDING_SECONDS

    def _clocks(self, live: Deployment, now: float) -> Verdict | None:
        reason = Reason.PROGRESS_DEADLINE_EXCEEDED
        if now >= stalled_at(self.progress, live):
            silent = now - self.progress.last_at
            message = CleanText(f"no progress for {silent:.0f} s (the gate's own clock)")
            return Verdict(VerdictKind.FAILED, reason, message, self.causes(now))
        if now < self.ends_at:
            return None
        standing = now - self.progress.last_at
        if standing < live.progress_deadline_seconds - CONDITION_LAG_SECONDS:
            reason = Reason.TIMEOUT
        message = CleanText(f"not complete within {self.total_seconds:.0f} s: {self.counted(live)}")
        return Verdict(VerdictKind.FAILED, reason, message, self.causes(now))

    def _observed(self, live: Deployment) -> bool:
        return live.observed_generation >= max(live.generation, self.applied.generation)

    def _times(self) -> Iterator[float]:
        live = self.snapshot.live
        yield self.ends_at
        yield self._denial_ripe_at()
        yield self._create_error_ripe_at()
        yield from (trouble.ripe_at for trouble in self._new_troubles())
        if self.unobserved_since is not None:
            yield self.unobserved_since + NOT_OBSERVING_SECONDS
        if live is not None:
            yield stalled_at(self.progress, live)
            if live.deadline_exceeded:
                yield self._deadline_believed_at(live)

    def _new_troubles(self) -> Iterator[Trouble]:
        """Iterate the troubles of the followed ReplicaSet's pods alone."""
        followed = self.followed_uid
        for uid, trouble in self.troubles.items():
            if followed and self.snapshot.pods[uid].pod.owner_uid == followed:
                yield trouble


def _refolded(rollout: Rollout, at: float) -> Rollout:
    """Bring the marks and the times of first sight up to date."""
    live = rollout.snapshot.live
    if live is None:
        return rollout
    observed = live.observed_generation >= live.generation
    condition = live.condition("Progressing")
    erring = condition is not None and condition.reason == "ReplicaSetCreateError"
    return replace(
        rollout,
        progress=rollout.progress.fold(at, rollout.snapshot),
        unobserved_since=None if observed else _first(rollout.unobserved_since, at),
        create_error_since=_first(rollout.create_error_since, at) if erring else None,
    )


def _with_trouble(rollout: Rollout, uid: str) -> Rollout:
    track = rollout.snapshot.pods.get(uid)
    trouble = _judged(rollout, track) if track is not None else None
    known = rollout.troubles.get(uid)
    if trouble == known:
        return rollout
    troubles = rollout.troubles.drop(uid)
    return replace(rollout, troubles=troubles if trouble is None else troubles.put(uid, trouble))


def _with_all_troubles(rollout: Rollout) -> Rollout:
    judged = ((uid, _judged(rollout, track)) for uid, track in rollout.snapshot.pods.items())
    troubles = FrozenMap((uid, trouble) for uid, trouble in judged if trouble is not None)
    return replace(rollout, troubles=troubles)


def _judged(rollout: Rollout, track: PodTrack) -> Trouble | None:
    live = rollout.snapshot.live
    if live is None or track.pod.deleting or track.pod.phase in ("Failed", "Succeeded"):
        return None
    return trouble_of(track, live.template, rollout.policy.fail_fast)


def _superseded(reason: Reason, message: str) -> Verdict:
    return Verdict(VerdictKind.SUPERSEDED, reason, CleanText(message))


def _first(since: float | None, at: float) -> float:
    return at if since is None else since
